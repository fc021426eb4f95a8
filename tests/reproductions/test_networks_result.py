"""What the stored result of the networks' reproduction must say."""

import json
from pathlib import Path

import numpy as np
import pytest

from earmark.reproductions.networks import show
from earmark.reproductions.networks.page import PAGES, tables, with_tables

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "reproductions" / "networks.json"


@pytest.fixture(scope="module")
def result():
    return json.loads(RESULT.read_text())["result"]


def accuracy(rows, method, ngrams):
    (found,) = (
        row["accuracy"]
        for row in rows
        if row["method"] == method and row["ngrams"] == ngrams
    )
    return found


def test_pages_hold_the_stored_result(result):
    for name in PAGES:
        page = (ROOT / name).read_text()
        assert with_tables(page, result) == page, name
    assert all(tables(result).values())
    assert "Descent of" in show(result)


def test_nbsvm_with_word_pairs_is_above_the_published_figure(result):
    assert accuracy(result["sentiment"], "NBSVM", 2) >= 0.914
    rows = [row for row in result["sentiment"] if row["ngrams"] == 2]
    published = {row["method"]: row["published"] for row in rows}
    assert published["NBSVM, published settings"] == 0.9122


def test_topics_are_for_softmax_regression(result):
    rows = result["newsgroups"]
    softmax = accuracy(rows, "softmax regression on tf-idf", 1)
    assert softmax >= 0.852
    assert softmax > accuracy(rows, "NBSVM", 1)


def test_with_many_documents_fitted_weights_beat_counted_ones(result):
    last = {row["corpus"]: row for row in result["learning_curves"]}
    assert set(last) == {"20newsgroups", "imdb"}
    for row in last.values():
        mean = {name: found["mean"] for name, found in row["methods"].items()}
        counted = max(v for name, v in mean.items() if "Bayes" in name)
        assert mean["softmax regression on tf-idf"] > counted
        assert np.isfinite(list(mean.values())).all()
