"""The fitted temperature: against a plain minimiser, its invariances, its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from earmark.kernels.softmax import fitted_temperature


def noisy_scores(rng, n_documents=80, n_classes=4):
    own = rng.integers(0, n_classes, n_documents)
    scores = rng.normal(size=(n_documents, n_classes))
    scores[np.arange(n_documents), own] += 1.0
    return scores, own, rng.uniform(0.5, 2.0, n_documents)


def log_loss(temperature, scores, own, weight):
    """As if two more documents, spread over everybody, had had any possible label."""
    loss, slack = 0.0, 2 / (weight.sum() + 2)
    for row, label, w in zip(scores, own, weight, strict=True):
        possible = np.flatnonzero(np.isfinite(row))
        log_proba = dict(
            zip(possible, log_softmax(row[possible] / temperature), strict=True)
        )
        loss -= w * (1 - slack) * log_proba[label]
        loss -= w * slack * np.mean(list(log_proba.values()))
    return loss


def minimiser(*data):
    def loss_of_log(t):
        return log_loss(np.exp(t), *data)

    found = minimize_scalar(loss_of_log, bounds=(-8, 8), method="bounded")
    return np.exp(found.x)


def test_temperature_minimises_the_log_loss(rng):
    data = noisy_scores(rng)
    assert_allclose(fitted_temperature(*data), minimiser(*data), rtol=1e-4)


def test_impossible_classes_take_no_part(rng):
    scores, own, weight = noisy_scores(rng)
    banned = (own + 1) % scores.shape[1]
    half = np.arange(0, len(own), 2)
    scores[half, banned[half]] = -np.inf
    data = scores, own, weight
    assert_allclose(fitted_temperature(*data), minimiser(*data), rtol=1e-4)


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e3, 1e9])
def test_temperature_has_the_unit_of_the_scores(rng, factor):
    scores, own, weight = noisy_scores(rng)
    expected = factor * fitted_temperature(scores, own, weight)
    assert_allclose(fitted_temperature(factor * scores, own, weight), expected)


def test_adding_a_number_to_a_document_s_scores_changes_nothing(rng):
    scores, own, weight = noisy_scores(rng)
    moved = scores + rng.normal(size=(len(own), 1)) * 100
    expected = fitted_temperature(scores, own, weight)
    assert_allclose(fitted_temperature(moved, own, weight), expected)


def test_scores_without_information_get_the_hottest_temperature():
    # Every label is as often against its scores as with them.
    scores = np.array([[1.0, -1.0], [1.0, -1.0]] * 20)
    own, weight = np.array([0, 1] * 20), np.ones(40)
    assert_allclose(fitted_temperature(scores, own, weight), 100.0)
    assert_allclose(fitted_temperature(7 * scores, own, weight), 700.0)


def test_scores_that_are_always_right_are_trusted_by_their_number():
    # (1 + e^(-2 / T))^-1 is 1 less half of the slack 2 / (n + 2).
    for n in (4, 400):
        scores, own = np.tile([1.0, -1.0], (n, 1)), np.zeros(n, dtype=int)
        chance = 1 - 1 / (n + 2)
        expected = 2 / np.log(chance / (1 - chance))
        assert_allclose(fitted_temperature(scores, own, np.ones(n)), expected)


def test_documents_of_weight_zero_or_with_an_impossible_label_are_left_out(rng):
    scores, own, weight = noisy_scores(rng)
    expected = fitted_temperature(scores[2:], own[2:], weight[2:])
    scores[0, own[0]] = -np.inf
    weight[1] = 0.0
    assert fitted_temperature(scores, own, weight) == expected


def test_documents_with_one_possible_class_say_nothing(rng):
    scores, own, weight = noisy_scores(rng)
    expected = fitted_temperature(scores[1:], own[1:], weight[1:])
    scores[0] = -np.inf
    scores[0, own[0]] = 3.0
    assert fitted_temperature(scores, own, weight) == expected


@pytest.mark.parametrize(
    ("scores", "weight"),
    [
        pytest.param([[2.0, 2.0]], [1.0], id="equal scores"),
        pytest.param([[2.0, 1.0]], [0.0], id="no weight"),
        pytest.param([[-np.inf, 1.0]], [1.0], id="impossible label"),
        pytest.param([[2.0, -np.inf]], [1.0], id="one possible class"),
    ],
)
def test_nothing_to_learn_from_gives_no_temperature(scores, weight):
    own = np.zeros(1, dtype=int)
    assert fitted_temperature(np.array(scores), own, np.array(weight)) is None
