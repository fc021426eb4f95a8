"""Pages of coverage.csv: every row of the five sources, one page per source.

A row says where an equation, table, figure, example, exercise or claim of a source is
in the code, which test holds it, what came out, and the verdict: exact, close,
differs (with the reason, and the page that says so) or background (what the source
only cites or announces).
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "research" / "coverage.csv"
SOURCES = {
    "000": "Carlos & Rakshit (2016): hierarchical Bayes",
    "001": "Exercise sheet on Bishop (2006): naive Bayes, softmax, backpropagation",
    "002": "Ganiz, Lytkin & Pottenger (2009): higher-order paths",
    "003": "Raina, Shen, Ng & McCallum (2003): the hybrid",
    "004": "Manning, Raghavan & Schütze (2008), chapter 14: vector spaces",
}
VERDICTS = ("exact", "close", "differs", "background", "missing")
_INTRO = """# Every row of the five sources

Equations, algorithms, tables, figures, examples, exercises and claims, one row each.
*exact*: the formula equals an oracle, the printed digits come out, or the claim holds;
*close*: same sign and within a few points, or a detail of the protocol differs;
*differs*: with the reason, which the linked page explains; *background*: what the
source itself only cites, quotes or announces. Errata and differences in one list:
[What did not come out as printed](printed.md). These pages are made from
`docs/research/coverage.csv`.
"""


def rows(data: Path = DATA) -> list[dict[str, str]]:
    """The data file, one dict per row."""
    with data.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pages(every: list[dict[str, str]]) -> dict[str, str]:
    """The pages by file name: an overview, and one per source."""
    names = {source: f"coverage-{source}" for source in SOURCES}
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *names.values(), "```"])
    links = "\n".join(f"- [](coverage-{source}.md)" for source in SOURCES)
    overview = (_INTRO, _counts(every), links, toctree)
    written = {"coverage.md": "\n\n".join(overview)}
    for source, title in SOURCES.items():
        mine = [row for row in every if row["source"] == source]
        head = ("#", "item", "code and test", "what came out", "verdict")
        text = f"# {title}\n\n{_table(head, map(_cells, mine))}"
        written[f"{names[source]}.md"] = text
    return written


def _counts(every: list[dict[str, str]]) -> str:
    lines = []
    for source, title in {**SOURCES, "": "all"}.items():
        mine = [row for row in every if source in ("", row["source"])]
        count = Counter(row["verdict"] for row in mine)
        lines.append([title, str(len(mine)), *(str(count[v]) for v in VERDICTS)])
    return _table(("source", "rows", *VERDICTS), lines)


def _cells(row: dict[str, str]) -> list[str]:
    verdict = row["verdict"]
    if row["why"]:
        verdict += f": {row['why']}"
    if row["verdict"] == "differs":
        verdict += f" ([page](../{row['page']}))"
    where = f"`{row['code']}` `{row['test'].removeprefix('tests/')}`"
    return [row["row"], row["item"], where, row["figure"], verdict]


def _table(head: tuple[str, ...], lines: object) -> str:
    every = [list(head), ["---"] * len(head), *lines]  # type: ignore[misc]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in every)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
