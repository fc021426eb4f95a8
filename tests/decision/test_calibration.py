"""The calibrator: known answers, believable probabilities, odd cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special
from sklearn.exceptions import NotFittedError

from earmark.decision.calibration import TemperatureCalibrator
from earmark.decision.decision import class_log_odds
from earmark.evaluation import accuracy_coverage, reliability
from earmark.exceptions import DataError
from earmark.kernels.rows import log_normalize


@pytest.fixture
def overconfident(rng):
    """True probabilities, scores three times as extreme, and labels drawn."""
    honest = np.log(rng.dirichlet([0.7] * 4, size=4000))
    cumulative = np.exp(honest).cumsum(axis=1)
    y = (rng.random((4000, 1)) > cumulative).sum(axis=1).clip(max=3)
    return honest, 3.0 * honest, y


def test_temperature_recovers_the_factor(overconfident):
    _, scores, y = overconfident
    found = TemperatureCalibrator().fit(scores, y)
    assert_allclose(found.temperature_, 3.0, rtol=0.08)
    assert_allclose(found.transform(scores), log_normalize(scores / found.temperature_))


def test_overconfidence_is_taken_away(overconfident):
    _, scores, y = overconfident
    half = len(y) // 2
    before = reliability(y[half:], np.exp(log_normalize(scores[half:])), range(4))
    log_p = (
        TemperatureCalibrator().fit(scores[:half], y[:half]).transform(scores[half:])
    )
    after = reliability(y[half:], np.exp(log_p), range(4))
    assert after.ece < 0.35 * before.ece
    assert after.log_loss < before.log_loss


def test_results_are_probabilities(overconfident):
    _, scores, y = overconfident
    log_p = TemperatureCalibrator().fit(scores, y).transform(scores[:50])
    assert_allclose(np.exp(log_p).sum(axis=1), 1.0)


def test_temperature_changes_no_answer_and_no_curve_of_two_classes(rng):
    log_p = np.log(rng.dirichlet([1, 1], size=300))
    y = (rng.random(300) < np.exp(log_p[:, 1])).astype(int)
    after = TemperatureCalibrator().fit(5 * log_p, y).transform(5 * log_p)
    assert np.array_equal(after.argmax(axis=1), log_p.argmax(axis=1))
    curves = [
        accuracy_coverage(y, s.argmax(axis=1), np.exp(s).max(axis=1)).accuracy
        for s in (log_p, after)
    ]
    assert_allclose(*curves)


def test_class_log_odds_do_not_lose_what_is_beyond_one():
    odds = class_log_odds(np.array([[0.0, -60.0, -61.0]]))
    others = special.logsumexp([-60.0, -61.0])
    assert_allclose(odds[0, 0], -others)
    assert_allclose(odds[0, 1], -60.0, rtol=1e-12)


def test_impossible_scores_and_one_document_are_defined():
    scores = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    assert np.isfinite(
        TemperatureCalibrator().fit(scores, [0, 1]).transform(scores)
    ).all()
    lone = TemperatureCalibrator().fit([[0.0, -1.0]], [0]).transform([[0.0, -1.0]])
    assert np.isfinite(lone).all()


def test_unusable_scores_are_refused():
    with pytest.raises(DataError, match="at least 2 classes"):
        TemperatureCalibrator().fit([[0.0]], [0])
    with pytest.raises(DataError, match=r"y_index must lie in 0\.\.1"):
        TemperatureCalibrator().fit([[0.0, 1.0]], [2])
    with pytest.raises(DataError, match="NaN in row 0"):
        TemperatureCalibrator().fit([[0.0, np.nan]], [0])
    with pytest.raises(NotFittedError):
        TemperatureCalibrator().transform([[0.0, 1.0]])
    fitted = TemperatureCalibrator().fit([[0.0, -1.0], [-1.0, 0.0]], [0, 1])
    with pytest.raises(DataError, match="must have 2 columns"):
        fitted.transform([[0.0, 0.0, 0.0]])
