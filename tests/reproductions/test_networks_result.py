"""What the stored result of the networks' reproduction must say."""

import json
from pathlib import Path

import numpy as np
import pytest

from reproductions.networks import tables

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "reproductions" / "results" / "networks.json"


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


def test_every_table_is_shown(result):
    text = "\n".join(table.text() for table in tables(result))
    assert "Descent of" in text
    assert "earmark's default" in text


def test_the_default_is_ahead_of_every_other_row(result):
    for name in ("sentiment", "newsgroups"):
        rows = result[name]
        best = max(rows, key=lambda row: row["accuracy"])
        assert best["method"] == "earmark's default, three views"


def test_topics_are_for_softmax_regression_if_words_must_do(result):
    rows = result["newsgroups"]
    assert accuracy(rows, "softmax regression on tf-idf", 1) >= 0.852


def test_with_many_documents_fitted_weights_beat_counted_ones(result):
    last = {row["corpus"]: row for row in result["learning_curves"]}
    assert set(last) == {"20newsgroups", "imdb"}
    for row in last.values():
        mean = {name: found["mean"] for name, found in row["methods"].items()}
        counted = max(v for name, v in mean.items() if "Bayes" in name)
        assert mean["softmax regression on tf-idf"] > counted
        assert np.isfinite(list(mean.values())).all()
