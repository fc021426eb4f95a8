"""The layout page names files that exist, and no task needs more than it says."""

import re

from tests.pages import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TASKS = PAGE.split("## Where do I change it?")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TASKS.splitlines()
    if line.startswith("| ") and not line.startswith("| you want")
]


def places(cell):
    """The files and folders that a row of the table names, below the package."""
    named = re.findall(r"`([\w/.]+\.py|[\w/]+/)`", cell)
    folder = next((name for name in named if name.endswith("/")), "")
    return [
        name if "/" in name or not folder else folder + name
        for name in named
        if name != "..."
    ]


def test_every_place_exists():
    named = [place for _, cell in ROWS for place in places(cell)]
    assert len(named) > 40
    for place in named:
        source = ROOT / "src" / "earmark" / place
        assert source.exists() or (ROOT / place).exists(), place


def test_what_is_declared_beside_itself_is_one_file():
    one = {about: cell for about, cell in ROWS}
    for thing in ("a model", "a kind of encoder", "a rule for folds and splits"):
        assert len(places(one[thing])) == 1
    assert len(places(one["a column of the class table in a report"])) == 2
