"""The list of the sources' rows: complete, true to the tree, and shown as it is."""

import pkgutil
from pathlib import Path

import pytest

from reproductions import coverage

ROOT = Path(__file__).parents[2]
ROWS = coverage.rows()


def test_every_row_is_on_the_page_of_its_source():
    pages = coverage.pages(ROWS)
    for row in ROWS:
        assert f"| {row['row']} | " in pages[f"coverage-{row['source']}.md"]
    assert "| all | 214 | " in pages["coverage.md"]


def test_all_214_rows_are_there_with_a_known_verdict():
    assert [int(row["row"]) for row in ROWS] == list(range(1, 215))
    assert {row["verdict"] for row in ROWS} <= set(coverage.VERDICTS)
    assert {row["source"] for row in ROWS} == set(coverage.SOURCES)


def test_nothing_is_missing_and_every_difference_has_its_reason_and_page():
    assert [row["row"] for row in ROWS if row["verdict"] == "missing"] == []
    for row in ROWS:
        if row["verdict"] in ("differs", "background"):
            assert row["why"], row["row"]
        assert (ROOT / "docs" / row["page"]).is_file(), row["row"]


@pytest.mark.parametrize("place", sorted({row["code"] for row in ROWS}))
def test_the_code_that_a_row_names_exists(place):
    if place.startswith("reproductions"):
        assert (ROOT / place).is_file()
        return
    assert pkgutil.resolve_name(f"earmark.{place}") is not None


@pytest.mark.parametrize("path", sorted({row["test"] for row in ROWS}))
def test_the_test_that_a_row_names_exists(path):
    file, _, name = path.partition("::")
    assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")
    assert name.startswith("test_")


def test_what_differs_is_on_the_page_of_differences():
    page = (ROOT / "docs/research/printed.md").read_text(encoding="utf-8")
    for row in ROWS:
        if row["verdict"] == "differs":
            assert f"| {row['row']} | {row['printed']} | " in page, row["row"]


def test_figures_in_the_data_come_from_stored_results():
    with coverage.DATA.open(encoding="utf-8") as file:
        assert len(coverage.FIGURE.findall(file.read())) > 80
    assert not [r["row"] for r in ROWS if coverage.FIGURE.search(r["figure"])]
