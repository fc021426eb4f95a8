"""Displays draw what the result objects hold."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from earmark.evaluation import (
    AccuracyCoverageDisplay,
    BiasVarianceDisplay,
    ConfusionDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
)
from earmark.exceptions import MissingDependencyError


@pytest.fixture(autouse=True)
def no_windows():
    mpl.use("Agg")
    yield
    mpl.pyplot.close("all")


@pytest.fixture
def fitted(rng):
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    return GaussianNB().fit(X, y), X, y


def test_coverage_curve_is_drawn_with_the_chosen_point(fitted):
    display = AccuracyCoverageDisplay.from_estimator(*fitted, threshold=0.9)
    lines = display.ax_.get_lines()
    assert_allclose(lines[0].get_ydata(), display.curve.accuracy)
    share, right = display.curve.at_threshold(0.9)
    assert_allclose([*lines[1].get_xdata(), *lines[1].get_ydata()], [share, right])
    assert display.figure_ is display.ax_.figure


def test_reliability_diagram_is_drawn(fitted):
    display = ReliabilityDisplay.from_estimator(*fitted, n_bins=5)
    filled = display.figures.count > 0
    drawn = display.ax_.collections[0].get_offsets()[:, 1]
    assert_allclose(drawn, display.figures.accuracy[filled])


def test_confusion_matrix_shows_abstentions_when_there_are_any(fitted):
    plain = ConfusionDisplay.from_estimator(*fitted)
    assert [t.get_text() for t in plain.ax_.get_xticklabels()] == ["0", "1"]
    display = ConfusionDisplay.from_predictions("aab", ["a", "b", None])
    labels = [t.get_text() for t in display.ax_.get_xticklabels()]
    assert labels == ["a", "b", "abstained"]
    assert sorted(t.get_text() for t in display.ax_.texts) == ["1", "1", "1"]


def test_learning_curve_is_drawn_beyond_what_was_measured(fitted):
    display = LearningCurveDisplay.from_estimator(*fitted, n_repeats=2, name="nb")
    measured, ahead = display.ax_.get_lines()
    assert_allclose(measured.get_ydata(), display.curve.mean)
    assert ahead.get_xdata()[-1] == pytest.approx(240)


def test_bias_and_variance_are_drawn_against_capacity(fitted):
    _, X, y = fitted
    display = BiasVarianceDisplay.from_estimator(
        KNeighborsClassifier(), X, y, X, y, param_name="n_neighbors",
        param_range=[1, 11], n_sets=4,
    )  # fmt: skip
    error, bias, variance = (line.get_ydata() for line in display.ax_.get_lines())
    assert_allclose(np.add(bias, variance), error)
    display.plot(loss="zero_one")
    with pytest.raises(ValueError, match="'squared' or 'zero_one', got 'log'"):
        display.plot(loss="log")


def test_existing_axes_are_used(fitted):
    _, ax = mpl.pyplot.subplots()
    assert ConfusionDisplay.from_estimator(*fitted, ax=ax).ax_ is ax


def test_missing_matplotlib_is_named_with_its_extra(monkeypatch, fitted):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"\.\[plot\]"):
        ConfusionDisplay.from_estimator(*fitted)
