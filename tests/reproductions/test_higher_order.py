"""The higher-order reproduction: the stored result keeps the paper's claims."""

import doctest
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reproductions.higher_order import tables
from reproductions.higher_order.comparison import TESTS
from reproductions.higher_order.data import (
    DataSet,
    draw_trial,
    load_data_sets,
    load_term_matrix,
)
from reproductions.higher_order.methods import CURVES, METHODS
from reproductions.higher_order.published import TABLE_2

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "reproductions" / "results" / "higher-order.json"
TIMES = ROOT / "benchmarks" / "results" / "higher_order.json"
PAGE = ROOT / "docs" / "methods" / "higher-order.md"
RESULTS_PAGE = ROOT / "docs" / "research" / "higher-order-results.md"


@pytest.fixture(scope="module")
def result():
    stored = json.loads(RESULT.read_text())
    assert stored["command"] == "earmark reproduce higher-order"
    assert stored["quick"] is False
    return stored["result"]


def test_stored_result_keeps_the_claims(result):
    claims = result["agreement"]
    six = set(TABLE_2)
    cells = result["few_documents"].values()
    assert {row["n"] for cell in cells for row in cell.values()} == {8}
    assert set(claims["HONB within 0.03 of the paper on"]) == six
    assert set(claims["HONB above NB with p < .05 on"]) == six
    assert set(claims["HOSVM at least the paper's mean - 0.02 on"]) == six
    assert len(claims["HOSVM above SVM on"]) >= 5


def test_stored_result_can_be_shown(result):
    text = "\n".join(table.text() for table in tables(result))
    assert "Terms ranked on the training documents only" in text
    assert "tf-idf + linear SVM" in text


def test_no_test_is_left_out(result):
    shown = {table.name: table.text() for table in tables(result)}["tests"]
    for ours, theirs in TESTS:
        assert f"{ours} − {theirs}" in shown


def test_the_page_shows_the_stored_result(result):
    page = RESULTS_PAGE.read_text()
    assert page.count("<!-- table: higher-order/") >= 7
    for number in (2, 3, 4):
        file = f"figures/higher-order/figure-{number}.svg"
        assert f"(../{file})" in page
        assert (ROOT / "docs" / file).exists()


def test_the_page_counts_the_significant_cases_on_the_newsgroups(result):
    counted = []
    for test in ("HONB - NB", "HOSVM - SVM"):
        cells = [
            by_share[test][name]
            for by_share in result["curves"]["tests"].values()
            for name in ("RELIGION", "SCIENCE", "POLITICS", "COMP")
        ]
        ahead = [c for c in cells if c["difference"] > 0 and c["p"] < 0.05]
        counted.append(f"{len(ahead)} of {len(cells)}")
    assert counted == ["28 of 28", "20 of 28"]
    page = " ".join(RESULTS_PAGE.read_text().split())
    assert f"significantly in {counted[0]} cases" in page
    assert f"than the SVM in {counted[1]} cases" in page


def test_the_example_on_the_page_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_stored_times_and_memory_keep_their_targets():
    rows = json.loads(TIMES.read_text())["rows"]
    assert len(rows) == 4
    for row in rows:
        assert row["met"], row["job"]
        assert row["extra_mb"] < 500


def toy(rng, n_classes=3, n_samples=120, n_terms=60):
    rate = rng.beta(0.5, 3, (n_classes, n_terms))
    y = np.arange(n_samples) % n_classes
    counts = rng.poisson(3 * rate[y])
    return DataSet("toy", sparse.csr_array(counts), y, np.arange(0, n_terms, 2))


def test_trials_divide_each_class_and_drop_unseen_terms(rng):
    data = toy(rng)
    trial = draw_trial(data, 0.1, 0)
    assert np.bincount(trial.y_train).tolist() == [4, 4, 4]
    assert len(trial.y_train) + len(trial.y_test) == 120
    assert trial.train.shape[1] == trial.test.shape[1] <= 30
    assert (np.asarray((trial.train > 0).sum(axis=0)) > 0).all()
    again, other = draw_trial(data, 0.1, 0), draw_trial(data, 0.1, 1)
    assert (again.train != trial.train).nnz == 0
    assert other.train.shape != trial.train.shape or (other.train != trial.train).nnz
    free = draw_trial(data, 0.1, 0, leak_free=True)
    assert free.train.shape[1] > trial.train.shape[1]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_a_toy_problem(method, rng):
    trial = draw_trial(toy(rng), 0.3, 0)
    assert METHODS[method](trial).mean() > 0.5


@pytest.mark.slow
@pytest.mark.corpus
def test_higher_order_beats_first_order_with_few_documents():
    for data in load_data_sets()[:6]:
        trials = [draw_trial(data, 0.05, number) for number in range(4)]
        accuracy = {
            name: np.mean([CURVES[name](trial).mean() for trial in trials])
            for name in ("NB", "HONB", "HOSVM")
        }
        assert accuracy["HONB"] > accuracy["NB"]
        assert accuracy["HONB"] > TABLE_2[data.name]["HONB"][0] - 0.05
        assert accuracy["HOSVM"] > TABLE_2[data.name]["HOSVM"][0] - 0.03


@pytest.mark.corpus
def test_term_matrix_equals_the_original_content_file():
    for name, n_terms in (("cora", 1433), ("citeseer", 3703)):
        X, labels = load_term_matrix(name, n_terms)
        path = Path(os.environ["EARMARK_DATA"], f"{name}.content.gz")
        with gzip.open(path, "rt") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        dense = np.array([row[1:-1] for row in rows], dtype=np.int64)
        np.testing.assert_array_equal(X.toarray(), dense)
        assert labels == [row[-1] for row in rows]
