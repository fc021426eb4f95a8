"""Reliability: hand-computed bins, scikit-learn as the oracle, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, log_loss

from earmark.evaluation import reliability
from earmark.exceptions import DataError


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    proba = rng.dirichlet([0.5, 0.5, 0.5], size=400)
    y = np.array([rng.choice(["a", "b", "c"], p=row) for row in proba])
    return y, proba


def test_bins_match_hand_calculation():
    y = ["a", "a", "b", "b"]
    proba = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    found = reliability(y, proba, ["a", "b"], n_bins=2)
    assert found.count.tolist() == [0, 4]
    assert_allclose(found.confidence[1], 0.825)
    assert_allclose(found.accuracy[1], 0.75)
    assert_allclose(found.ece, 0.075)
    assert_allclose(found.bias, 0.075)
    # sums over classes of squares: .02, .08, .98, .02
    assert_allclose(found.brier, (0.02 + 0.08 + 0.98 + 0.02) / 4)
    assert found.to_dict()["accuracy"] == [None, 0.75]


def test_log_loss_and_brier_agree_with_scikit_learn(sample):
    y, proba = sample
    found = reliability(y, proba, ["a", "b", "c"])
    assert_allclose(found.log_loss, log_loss(y, proba))
    one_hot = np.array([y == c for c in "abc"]).T
    assert_allclose(found.brier, np.mean(np.sum((proba - one_hot) ** 2, axis=1)))
    two = proba[:, :2] / proba[:, :2].sum(axis=1, keepdims=True)
    binary = np.where(y == "c", "a", y)
    expected = 2 * brier_score_loss(binary, two[:, 1], pos_label="b")
    assert_allclose(reliability(binary, two, ["a", "b"]).brier, expected)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_true_probabilities_are_well_calibrated(strategy):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], size=40_000)
    y = (rng.random((40_000, 1)) > proba.cumsum(axis=1)).sum(axis=1)
    assert reliability(y, proba, [0, 1, 2], strategy=strategy).ece < 0.01


def test_quantile_bins_hold_equally_many(sample):
    y, proba = sample
    found = reliability(y, proba, ["a", "b", "c"], n_bins=4, strategy="quantile")
    assert found.count.tolist() == [100, 100, 100, 100]


def test_label_without_a_column_counts_as_probability_zero():
    found = reliability(["z"], [[0.75, 0.25]], ["a", "b"])
    assert_allclose(found.brier, 0.75**2 + 0.25**2 + 1)
    assert found.accuracy[found.count > 0].tolist() == [0.0]
    assert found.log_loss > 30


def test_label_lists_are_judged_decision_by_decision():
    proba = [[0.9, 0.2], [0.4, 0.6]]
    found = reliability([["a"], ["a", "b"]], proba, ["a", "b"])
    assert found.n_answers == 4
    assert_allclose(found.brier, np.mean([0.01, 0.04, 0.36, 0.16]))
    assert_allclose(found.log_loss, -np.mean(np.log([0.9, 0.8, 0.4, 0.6])))


def test_log_probabilities_are_refused_with_the_remedy():
    with pytest.raises(DataError, match="exponentiate"):
        reliability("ab", np.log([[0.5, 0.5], [0.5, 0.5]]), "ab")


def test_rows_that_do_not_add_up_are_named():
    with pytest.raises(DataError, match="in row 1"):
        reliability("ab", [[0.5, 0.5], [0.9, 0.9]], ["a", "b"])


def test_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match="'uniform' or 'quantile', got 'wide'"):
        reliability("ab", np.eye(2), "ab", strategy="wide")
    with pytest.raises(ValueError, match="n_bins must be >= 1, got 0"):
        reliability("ab", np.eye(2), "ab", n_bins=0)
