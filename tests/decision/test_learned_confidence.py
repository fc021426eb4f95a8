"""A learned confidence: what it looks at, when it is used, and that it helps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, special
from sklearn.naive_bayes import GaussianNB

from earmark.decision import AbstainingClassifier
from earmark.decision.calibration import (
    confidence_features,
    learn_confidence,
    mean_risk,
)
from earmark.decision.decision import Scores
from earmark.models import MultinomialNaiveBayes


def slow_mean_risk(certainty, correct, rng):
    """The mean over random orders of ties, each taken apart."""
    risks = []
    for _ in range(4000):
        order = np.lexsort((rng.random(len(certainty)), -certainty))
        wrong = np.cumsum(~correct[order])
        risks.append(np.mean(wrong / np.arange(1, len(wrong) + 1)))
    return np.mean(risks)


def test_mean_risk_is_that_of_ties_in_random_order(rng):
    certainty = rng.integers(0, 4, 25).astype(float)
    correct = rng.random(25) < 0.7
    expected = slow_mean_risk(certainty, correct, rng)
    assert_allclose(mean_risk(certainty, correct), expected, rtol=0.02)
    assert mean_risk(np.zeros(5), np.ones(5, bool)) == 0


def test_features_are_finite_where_probabilities_are_0_or_1():
    log_proba = np.array([[0.0, -np.inf, -np.inf], np.log([0.5, 0.3, 0.2])])
    scores = Scores.from_log_proba(log_proba)
    features = confidence_features(scores, np.array([5, 7, 9]), np.array([0.0, 8.0]))
    assert features.shape == (2, 7)
    assert np.isfinite(features).all()
    assert_allclose(features[1, 0], special.logit(0.5), atol=1e-12)
    assert_allclose(features[1, 3], np.log(0.3 / 0.2))
    assert_allclose(features[1, 6], np.log1p(5))


def test_it_is_learned_only_where_it_helps(rng):
    # The certainty is of the wrong scale for half of the documents, told by a feature.
    strength = rng.normal(size=2000)
    scale = np.where(rng.random(2000) < 0.5, 1.0, 8.0)
    correct = rng.random(2000) < special.expit(1.5 + 2 * strength)
    certainty = strength * scale
    telling = np.column_stack([certainty, np.log(scale), certainty / scale])
    model = learn_confidence(telling, certainty, correct)
    assert model is not None
    assert model.risk < 0.95 * model.plain_risk
    assert_allclose(model.plain_risk, mean_risk(certainty, correct))
    fresh = model.log_odds(telling)
    assert mean_risk(fresh, correct) < mean_risk(certainty, correct)
    noise = np.column_stack([strength, rng.normal(size=2000)])
    assert learn_confidence(noise, strength, correct) is None


@pytest.mark.parametrize("n_wrong", [0, 9])
def test_too_few_errors_teach_nothing(rng, n_wrong):
    correct = np.arange(500) >= n_wrong
    features = rng.normal(size=(500, 2))
    assert learn_confidence(features, features[:, 0], correct) is None


def bursty(rng, n):
    """Each word comes eight times at once in half of the documents."""
    rates = np.ones((3, 24))
    for c in range(3):
        rates[c, 8 * c : 8 * c + 8] += 1.1
    y = rng.integers(0, 3, n)
    times = np.where(rng.random(n) < 0.5, 8, 1)
    words = rng.poisson(25 * rates[y] / rates.sum(axis=1)[y, None])
    return sparse.csr_array((times[:, None] * words).astype(float)), y


def test_more_is_answered_where_log_odds_mislead():
    rng = np.random.default_rng(0)
    X, y = bursty(rng, 1500)
    calibration = bursty(rng, 1500)
    new, truth = bursty(rng, 20_000)
    covered = []
    for learn in (False, True):
        model = AbstainingClassifier(MultinomialNaiveBayes(), learn_confidence=learn)
        model.fit(X, y, calibration=calibration)
        assert (model.learned_confidence_ is not None) == learn
        decision = model.decide(new)
        answered = ~decision.abstained
        wrong = (decision.labels != truth)[answered].mean()
        assert wrong <= 0.06
        covered.append(answered.mean())
        assert ((decision.confidence >= 0) & (decision.confidence <= 1)).all()
    assert covered[1] > covered[0] + 0.02


def test_folds_serve_models_without_leave_one_out(rng):
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 3)) + 1.5 * y[:, None]
    model = AbstainingClassifier(GaussianNB(), max_error=0.1, learn_confidence=True)
    model.fit(X[:400], y[:400], calibration=(X[400:], y[400:]))
    plain = AbstainingClassifier(GaussianNB(), max_error=0.1)
    plain.fit(X[:400], y[:400], calibration=(X[400:], y[400:]))
    # Log-odds of a model that is right need no correction, and stay as they are.
    assert model.learned_confidence_ is None
    assert model.min_confidence_ == plain.min_confidence_
