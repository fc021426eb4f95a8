"""Every row of the five sources, from coverage.csv: pages, and what differs.

A row says where an equation, table, figure, example, exercise or claim of a source is
in the code, which test holds it, what came out, and the verdict: exact, close,
differs (with the reason, and the page that says so) or background (what the source
only cites or announces). ``printed`` is what the source prints where ours differs from
it. A figure in braces, such as ``{hybrid>figure_2>0>coverage:.2f}``, is read from that
stored result.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from reproductions.tables import Table

__all__ = ["SOURCES", "VERDICTS", "differences", "pages", "rows"]

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "research" / "coverage.csv"
SOURCES = {
    "000": "Carlos & Rakshit (2016): hierarchical Bayes",
    "001": "Exercise sheet on Bishop (2006): naive Bayes, softmax, backpropagation",
    "002": "Ganiz, Lytkin & Pottenger (2009): higher-order paths",
    "003": "Raina, Shen, Ng & McCallum (2003): the hybrid",
    "004": "Manning, Raghavan & Schütze (2008), chapter 14: vector spaces",
}
# Source -> the reproduction that regenerates it.
REPRODUCED = {
    "000": "hierarchical",
    "001": "networks",
    "002": "higher-order",
    "003": "hybrid",
    "004": "vector-space",
}
VERDICTS = ("exact", "close", "differs", "background", "missing")
_INTRO = """# Every row of the five sources

This list has one row per equation, algorithm, table, figure, example, exercise and
claim of the sources. Each row has a verdict:

- *exact*: the formula equals an oracle, the printed digits come out, or the claim
  holds;
- *close*: the sign is the same and the value within a few points, or a detail of the
  protocol differs;
- *differs*: the linked page gives the reason;
- *background*: the source itself only cites, quotes or announces it.

[](printed.md) lists all errata and differences. These pages are made from
`docs/research/coverage.csv`.
"""


# A figure of a stored result: name, keys, format.
FIGURE = re.compile(r"\{([\w-]+)>([^}:]+)(?::([^}]+))?\}")


def rows(data: Path = DATA) -> list[dict[str, str]]:
    """The data file, one dict per row, figures filled in from the stored results."""
    with data.open(encoding="utf-8", newline="") as file:
        every = list(csv.DictReader(file))
    return [{key: FIGURE.sub(_stored, cell) for key, cell in r.items()} for r in every]


def _stored(match: re.Match[str]) -> str:
    """One figure of a stored result; three digits unless told."""
    name, path, form = match.groups()
    value = _result(name)
    for key in path.split(">"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    if value is None:
        return "–"
    return format(value, form or ("d" if isinstance(value, int) else ".3f"))


@cache
def _result(name: str) -> Any:
    file = ROOT / "reproductions" / "results" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))["result"]


def differences(reproduction: str) -> list[Table]:
    """What did not come out as printed in its source, by the stored results.

    None for a reproduction of no source.
    """
    lines = [
        [row["row"], row["printed"], row["figure"], row["why"]]
        for row in rows()
        if row["printed"] and REPRODUCED[row["source"]] == reproduction
    ]
    title = "What did not come out as printed (ours: the stored full run)"
    head = ["row", "printed", "ours", "why"]
    return [Table("differences", title, head, lines)] if lines else []


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


def _table(head: Iterable[str], lines: Iterable[list[str]]) -> str:
    return Table("", "", list(head), list(lines)).markdown()
