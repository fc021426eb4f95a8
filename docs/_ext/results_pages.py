"""Pages made from what commands stored: benchmarks, reproductions and news.

No figure in them is typed by hand. They are written when a build starts, into files
that git does not keep.
"""

from __future__ import annotations

import ast
import html
import importlib.util
import itertools
import json
import math
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import reproductions  # noqa: E402
from reproductions import coverage  # noqa: E402
from reproductions.figure_style import for_dark  # noqa: E402
from reproductions.figures import CAPTIONS  # noqa: E402

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from reproductions.tables import Table

# So many tables are folded: their titles tell which to open.
_MANY = 6
_FIGURE = re.compile(
    r"!\[(?P<alt>[^\]]*)\]\((?P<file>(?:\.\./)?figures/(?P<name>[^/)]+)/[^)]+)\)"
)
# The chart of CPU times: its width, and of that a factor of ten at most.
_WIDTH, _DECADE = 420, 110.0
_SHOWN = ("job", "peer", "cpu_ratio", "memory_ratio", "target", "met")
# Said in other columns already.
_HIDDEN = {*_SHOWN, "cpu_seconds", "peer_cpu_seconds"}


def number(value: Any) -> str:
    """A figure as people read it: three digits that matter."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *([*row] for row in rows)]
    cells = (
        [cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def stored_benchmarks(root: Path) -> list[Path]:
    """The results of the benchmarks that compare with peers, in rows."""
    found = sorted((root / "benchmarks" / "results").glob("*.json"))
    return [p for p in found if _has_jobs(json.loads(p.read_text(encoding="utf-8")))]


def _has_jobs(stored: dict[str, Any]) -> bool:
    """Whether it measures time at all: some compare accuracies only."""
    rows = stored.get("rows", ())
    return any("job" in row and _is_timed(row) for row in rows)


def _is_timed(row: dict[str, Any]) -> bool:
    return any(row.get(k) is not None for k in ("cpu_seconds", "cpu_ratio"))


def benchmark_page(path: Path) -> str:
    """One stored run of the benchmarks as a section."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    rows = stored.get("rows", [])
    head = ("job", "against", "CPU s", "theirs", "CPU", "memory", "target", "met")
    cells = [_benchmark_row(row) for row in rows]
    # A column that says nothing is left out: tables have to fit a phone.
    said = [any(row[i] != "–" for row in cells) for i in range(len(head))]
    shown = table(
        itertools.compress(head, said), (itertools.compress(row, said) for row in cells)
    )
    details = [line for line in map(_details, rows) if line]
    if details:
        details = ["```{dropdown} All measurements", *details, "```"]
    load = stored.get("load_average")
    made = f"`{stored['command']}` on {stored.get('machine', 'an unknown machine')}"
    if load is not None:
        made += f", load average {load:.1f} when it ended"
    title = path.stem.replace("_", " ").capitalize()
    parts = [f"## {title}", shown, f"{made}.", "\n".join(details)]
    return "\n\n".join(part for part in parts if part)


def benchmark_chart(paths: Iterable[Path]) -> str:
    """Bars of all CPU ratios with a peer, the best first; losses point left."""
    rows = [
        row
        for path in paths
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]
        if row.get("cpu_ratio") and row.get("peer")
    ]
    rows.sort(key=lambda row: -row["cpu_ratio"])
    lengths = [math.log10(row["cpu_ratio"]) for row in rows]
    even = 4 + _DECADE * max(0.0, -min(lengths, default=0.0))
    scale = min(_DECADE, (_WIDTH - even - 90) / max(lengths, default=1.0))
    bars = []
    for i, row in enumerate(rows):
        length = round(scale * lengths[i], 1)
        kind = "win" if length >= 0 else "loss"
        y = 50 * i + 24
        said = _compared(row["cpu_ratio"]).replace("*", "")
        bars += [
            f'<text x="4" y="{y}"><tspan class="job">{_short(row["job"])}</tspan>'
            f'<tspan class="peer" x="4" dy="13">against {_short(row["peer"])}</tspan>'
            "</text>",
            f'<rect class="{kind}" x="{even + min(length, 0)}" y="{y + 18}" '
            f'width="{max(abs(length), 1)}" height="10"/>',
            f'<text class="value" x="{even + max(length, 0) + 6}" y="{y + 27}">'
            f"{said}</text>",
        ]
    height = 50 * len(rows) + 24
    return "\n".join(
        [
            "```{raw} html",
            f'<svg class="bars" viewBox="0 0 {_WIDTH} {height}" role="img" '
            'aria-label="CPU time against peers; the tables below say the same">',
            *bars,
            "</svg>",
            "```",
        ]
    )


def _short(text: str) -> str:
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return html.escape(short)


def _benchmark_row(row: dict[str, Any]) -> list[str]:
    ratio = row.get("cpu_ratio")
    memory = row.get("memory_ratio")
    return [
        str(row.get("job", "")),
        str(row.get("peer") or "–"),
        number(row.get("cpu_seconds")),
        number(row.get("peer_cpu_seconds")),
        _compared(ratio),
        _compared(None if not memory else 1 / memory),
        str(row.get("target") or "–"),
        number(row.get("met")),
    ]


def _compared(times_less: float | None) -> str:
    """How much less, or more, than the peer; a loss reads as a loss."""
    if times_less is None:
        return "–"
    times = f"{float(f'{max(times_less, 1 / times_less):.3g}'):,}".removesuffix(".0")
    return f"{times}× less" if times_less >= 1 else f"**{times}× more**"


def _details(row: dict[str, Any]) -> str:
    """Whatever else a row says, in one line."""
    extra = {
        k: v
        for k, v in row.items()
        if k not in _HIDDEN and not isinstance(v, dict | list)
    }
    said = ", ".join(
        f"{k.replace('_', ' ')} {number(v)}" for k, v in extra.items() if v is not None
    )
    return f"- {row.get('job', '')}: {said}" if said else ""


def reproduction_page(path: Path, figures: Path) -> str:
    """One stored reproduction as a page: command, tables, figures."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    name = path.stem
    module = reproductions.load(name)
    about = (module.__doc__ or "").strip()
    tables = module.tables(stored["result"])
    body = "\n\n".join(map(_folded if len(tables) > _MANY else _open, tables))
    versions = ", ".join(f"{k} {v}" for k, v in sorted(stored["versions"].items()))
    kind = (
        " This is the quick form, on fewer documents and draws."
        if stored["quick"]
        else ""
    )
    files = sorted(figures.glob("*.svg"))
    pictures = [_figure(name, f) for f in files if not f.stem.endswith("-dark")]
    return "\n\n".join(
        [
            f"# {name.replace('-', ' ').capitalize()}",
            about,
            f"Made by `{stored['command']}` with {versions}.{kind} "
            f"This page is written from `reproductions/results/{path.name}`.",
            _times(module, stored),
            "## Tables",
            body,
            *(["## Figures", *pictures] if pictures else []),
        ]
    )


def _times(module: reproductions.Reproduction, stored: dict[str, Any]) -> str:
    """What the parts took, and which of them are of an earlier run."""
    seconds = stored.get("seconds", {})
    earlier = [part for part in module.PARTS if part not in seconds]
    said = [stored["remarks"]] if "remarks" in stored else []
    if seconds:
        said.append(f"CPU minutes: {sum(seconds.values()) / 60:.1f}.")
    if seconds and earlier:
        said.append(f"Of an earlier run, not timed: {', '.join(earlier)}.")
    return " ".join(said)


def _open(table: Table) -> str:
    return f"### {table.title}\n\n{table.markdown()}"


def _folded(table: Table) -> str:
    return f"````{{dropdown}} {table.title}\n{table.markdown()}\n````"


def _figure(name: str, file: Path) -> str:
    alt, caption = CAPTIONS[f"{name}/{file.stem}"]
    source = f"../figures/{name}/{file.name}"
    return f"```{{figure}} {source}\n:alt: {alt}\n\n{caption}\n```"


def changes_page(changelog: str, fragments: Iterable[Path]) -> str:
    """The changelog with the unreleased news first, by kind."""
    news: dict[str, list[str]] = {"Added": [], "Changed": [], "Fixed": []}
    for file in sorted(fragments):
        text = " ".join(file.read_text(encoding="utf-8").split())
        kind, colon, rest = text.partition(": ")
        known = bool(colon) and kind in news
        news[kind if known else "Added"].append(f"- {rest if known else text}")
    past = re.sub(r"\A# Changelog\s*", "", changelog)
    past = re.sub(r"Changes since the last release are [^\n]*\n?", "", past)
    groups = [f"### {kind}\n\n" + "\n".join(news[kind]) for kind in news if news[kind]]
    unreleased = ["## Not yet released", *groups] if groups else []
    return "\n\n".join(part for part in (*unreleased, past.strip()) if part)


def layers_page(pyproject: Path) -> str:
    """The layers of the import contract, from the top, with what each holds."""
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    rows = []
    for layer in contract["layers"]:
        names = [name.strip(" ()") for name in layer.split("|")]
        about = "; ".join(_first_line(f"earmark.{name}") for name in names)
        rows.append([", ".join(f"`{name}`" for name in names), about])
    return table(("layer", "what lives there"), rows)


def _first_line(module: str) -> str:
    """The first sentence of a module's docstring, without importing it."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        return "not in this installation"
    text = Path(found.origin).read_text(encoding="utf-8")
    lines = (ast.get_docstring(ast.parse(text)) or "").splitlines() or [""]
    return lines[0].rstrip(".")


def toctree(docs: Path, patterns: Iterable[str]) -> str:
    """A toctree of the pages that exist, so that parts can be built alone."""
    found = [
        f"/{page.relative_to(docs).with_suffix('').as_posix()}"
        for pattern in patterns
        for page in sorted(docs.glob(pattern))
    ]
    return (
        "\n".join(["```{toctree}", ":maxdepth: 1", "", *found, "```"]) if found else ""
    )


def write_pages(docs: Path, root: Path = ROOT) -> None:
    """Write all generated pages below ``docs``; unchanged files are left alone."""
    stored = stored_benchmarks(root)
    measured = (benchmark_chart(stored), *map(benchmark_page, stored))
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    fragments = (root / "changes").glob("*.md")
    generated = {
        "benchmarks": "\n\n".join(measured),
        "results": toctree(docs, ["research/*-results.md"]),
        "layers": layers_page(root / "pyproject.toml"),
        "maths": toctree(docs, ["maths/*.md"]),
        "changes": changes_page(changelog, fragments),
    }
    pages = {docs / "_generated" / f"{n}.md": text for n, text in generated.items()}
    for name, text in coverage.pages(coverage.rows()).items():
        pages[docs / "research" / name] = text
    for figure in (docs / "figures").glob("*/*[!k].svg"):
        dark = for_dark(figure.read_text(encoding="utf-8"))
        pages[figure.with_stem(f"{figure.stem}-dark")] = dark.rstrip("\n")
    for path in sorted((root / "reproductions" / "results").glob("*.json")):
        figures = root / "docs" / "figures" / path.stem
        pages[docs / "reproductions" / path.with_suffix(".md").name] = (
            reproduction_page(path, figures)
        )
    for target, text in pages.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text + "\n":
            target.write_text(text + "\n", encoding="utf-8")


def without_missing_figures(text: str, folder: Path) -> str:
    """A page in which a figure that no command has drawn yet is named, not shown."""

    def shown(match: re.Match[str]) -> str:
        if (folder / match["file"]).exists():
            return match[0]
        command = f"`earmark reproduce {match['name']}`"
        return f"*{match['alt'] or 'Figure'}: not drawn yet, {command} does.*"

    return _FIGURE.sub(shown, text)


def _read_source(app: Sphinx, name: str, source: list[str]) -> None:
    page = Path(app.srcdir, name)
    source[0] = without_missing_figures(source[0], page.parent)


def _add_dark_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Beside each figure its dark variant; the theme shows the one that fits."""
    from docutils import nodes

    folder = Path(doctree["source"]).parent
    for image in list(doctree.findall(nodes.image)):
        dark = image["uri"].replace(".svg", "-dark.svg")
        if dark != image["uri"] and (folder / dark).exists():
            image["classes"].append("only-light")
            other = image.deepcopy()
            other["uri"], other["classes"] = dark, ["only-dark"]
            image.parent.insert(image.parent.index(image) + 1, other)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for its sources."""
    app.connect("config-inited", lambda app, config: write_pages(Path(app.srcdir)))
    app.connect("source-read", _read_source)
    app.connect("doctree-read", _add_dark_figures, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
