"""The hybrid's reproduction: parts that run anywhere, and claims on the corpora."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from earmark.documents import load_corpus
from earmark.evaluation import accuracy_coverage, reliability
from earmark.features import WordCounter
from earmark.models import HybridBayes
from reproductions.hybrid import tables
from reproductions.hybrid.curves import learning_curves, verdict
from reproductions.hybrid.pairs import PAIRS
from reproductions.hybrid.theorem import gaps
from reproductions.study import log_odds

RESULT = Path(__file__).parents[2] / "reproductions" / "results" / "hybrid.json"


def quiet(message):
    """A progress function that says nothing."""


def test_left_out_likelihood_nears_the_true_one_with_more_documents():
    few, many = gaps((20, 400), (200,), 3, quiet)
    assert many["leave_one_out"]["mean"] < few["leave_one_out"]["mean"]
    assert few["leave_one_out"]["mean"] < few["plug_in"]["mean"]


def test_stored_result_keeps_the_claims_and_can_be_shown():
    result = json.loads(RESULT.read_text())["result"]
    given = result["given_dictionary_verdict"]["50"]
    assert given["below_naive_bayes"] == 6
    for found in (given, *result["figure_1_verdict"].values()):
        assert found["below_naive_bayes"] >= 5
        assert found["below_logistic_regression"] >= 5
        assert found["lowest_or_within_0.01"] >= 5
    shown = {table.name: table for table in tables(result)}
    assert "hybrid R=2, plug-in" in shown["twenty"].text()


def test_the_paper_s_zero_for_naive_bayes_is_one_of_rounding():
    rows = json.loads(RESULT.read_text())["result"]["figure_2"]
    first = next(r for r in rows if r["pair"][1] == "talk.religion.misc")["methods"]
    naive, plain = first["naive Bayes"], first["hybrid R=1, unnormalised"]
    assert naive["coverage_at_95_by_probability"]["mean"] == 0.0
    assert naive["probability_is_1"]["mean"] > 0.3
    assert 0.05 < naive["coverage_at_95"]["mean"] < 0.15
    assert abs(naive["area"]["mean"] - plain["area"]["mean"]) < 0.002
    assert first["hybrid R=1"]["coverage_at_95"]["mean"] > 0.4


def test_the_left_out_gap_falls_with_every_size():
    rows = json.loads(RESULT.read_text())["result"]["theorem_1"]
    for width in (100, 1000, 10_000):
        mine = sorted((r for r in rows if r["V"] == width), key=lambda r: r["m"])
        gap = [r["leave_one_out"]["mean"] for r in mine]
        assert gap == sorted(gap, reverse=True)
        assert mine[-1]["m"] == 5000
        assert all(r["leave_one_out"]["n"] == 40 for r in mine)


def test_log_odds_go_on_where_a_probability_is_one():
    log_proba = np.array([[0.0, -40.0], [0.0, -50.0], [-0.1, np.log(1 - np.exp(-0.1))]])
    assert (np.exp(log_proba[:2, 0]) == 1.0).all()
    odds = log_odds(log_proba)
    assert odds[1] > odds[0] > odds[2]
    proba = np.exp(log_proba[2, 0])
    assert odds[2] == pytest.approx(np.log(proba / (1 - proba)))


def test_sizes_stand_in_the_order_of_numbers():
    result = json.loads(RESULT.read_text())["result"]
    shown = {table.name: table for table in tables(result)}
    for name in ("means", "verdict", "log-loss"):
        sizes = [int(size) for size in shown[name].head[1:]]
        assert sizes == sorted(sizes) == [50, 150, 500, 1500]


@pytest.mark.slow
@pytest.mark.corpus
def test_two_regions_beat_naive_bayes_and_logistic_regression_at_50_documents():
    rows = learning_curves(PAIRS, (50,), 10, quiet, given_dictionary=True)
    found = verdict(rows)["50"]
    assert found["below_naive_bayes"] == 6
    assert found["below_logistic_regression"] >= 5


@pytest.mark.corpus
def test_twenty_newsgroups_by_date_with_two_regions():
    parts, labels, counters = {}, {}, {}
    for split in ("train", "test"):
        news = load_corpus("20newsgroups", split, regions=["subject", "body"])
        labels[split] = np.asarray(news.labels)
        for region, texts in news.texts.items():
            counter = counters.setdefault(region, WordCounter())
            count = counter.fit_transform if split == "train" else counter.transform
            parts.setdefault(split, []).append(count(texts))
    blocks = np.repeat([0, 1], [part.shape[1] for part in parts["train"]])
    X, new = (sparse.hstack(parts[s], format="csr") for s in ("train", "test"))
    model = HybridBayes().fit(X, labels["train"], columns=blocks)
    proba = model.predict_proba(new)
    answers = model.classes_[proba.argmax(axis=1)]
    curve = accuracy_coverage(labels["test"], answers, proba.max(axis=1))
    assert curve.accuracy[-1] >= 0.845
    assert curve.coverage_at(0.95) >= 0.68
    assert reliability(labels["test"], proba, model.classes_).log_loss <= 0.60
