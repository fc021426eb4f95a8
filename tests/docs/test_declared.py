"""What pages say of models and formats is what these declare of themselves."""

import re

import pytest

from earmark.documents.format import COMPRESSED, FORMATS
from earmark.models.base.declaration import MODELS
from tests.pages import ROOT

PARTS = "## What each model does, and what is exact"
TASKS = "| you have, or need | model | page |"


def names_in_column(page, start, column):
    """The names in one column of the first table after a line of a page."""
    text = (ROOT / page).read_text(encoding="utf-8").split(start)[1]
    table = re.split(r"\n\n(?!\|)", text.lstrip("\n"))[0]
    cells = [line.split("|")[column] for line in table.splitlines() if "|" in line]
    return {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}


def test_the_table_of_scale_has_every_model_that_learns_from_parts():
    in_parts = {model.name for model in MODELS if model.in_parts}
    assert names_in_column("docs/scale.md", PARTS, 1) == in_parts | {"auto"}


def test_the_guide_has_models_by_task_and_each_exists():
    by_task = names_in_column("docs/guide.md", TASKS, 2)
    assert by_task <= {"auto", *MODELS.names()}
    assert {"linear", "semi-supervised"} <= by_task  # what "auto" takes


@pytest.mark.parametrize("model", list(MODELS), ids=lambda m: m.name)
def test_a_summary_is_one_line_that_fits_a_table(model):
    assert model.summary
    assert len(model.summary) <= 80
    assert not set(model.summary) & set("|\n")


def test_pages_name_no_suffix_that_is_not_read():
    known = {suffix for one in FORMATS for suffix in one.suffixes} | {*COMPRESSED}
    page = (ROOT / "docs/how-to/odd-files.md").read_text(encoding="utf-8")
    by_hand = page.split("<!-- table:")[0]
    assert set(re.findall(r"`(\.[a-z]\w*)`", by_hand)) <= known
    extras = {one.extra for one in FORMATS}
    assert set(re.findall(r"the extra `(\w+)`", by_hand)) <= extras
