"""The how-to on documents from elsewhere says what the benchmark has stored."""

import json

import pytest

from benchmarks.novelty import LEVEL, METHODS, N_DRAWS, RESULTS, mean_auroc, table
from tests.pages import ROOT

PAGE = ROOT / "docs" / "how-to" / "documents-from-elsewhere.md"


@pytest.fixture(scope="module")
def stored():
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def test_the_tables_are_those_of_the_stored_run(stored):
    assert table(stored) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("newer", [False, True])
def test_ours_is_first_in_the_mean(stored, newer):
    ours, *others = (mean_auroc(stored, method, newer) for method in METHODS)
    assert ours > max(others)
    assert all(len(s["draws"]) == N_DRAWS for s in stored["settings"].values())


def test_ordinary_documents_are_called_foreign_as_said_unless_they_change(stored):
    for name, setting in stored["settings"].items():
        mean = setting["mean"]
        if "newer" not in name:
            assert mean["ordinary_called"] <= LEVEL + 2 * mean["standard_error"]
        assert mean["foreign_called"] > 2 * mean["ordinary_called"]
