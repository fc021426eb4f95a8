"""The display draws what the result object holds."""

import matplotlib as mpl
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import GaussianNB

from earmark.evaluation import AccuracyCoverageDisplay
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
    assert display.name == "GaussianNB"


def test_existing_axes_are_used(fitted):
    _, ax = mpl.pyplot.subplots()
    assert AccuracyCoverageDisplay.from_estimator(*fitted, ax=ax).ax_ is ax


def test_nothing_is_clipped_and_there_is_a_legend_where_there_is_a_name(fitted):
    display = AccuracyCoverageDisplay.from_estimator(*fitted, name="model")
    figure = display.figure_
    figure.canvas.draw()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) >= -0.02
    assert drawn.x1 <= width + 0.02
    assert drawn.y1 <= height + 0.02
    assert display.ax_.get_legend() is not None
    bare = AccuracyCoverageDisplay.from_predictions("aab", "aaa", [0.9, 0.8, 0.7])
    assert bare.ax_.get_legend() is None


def test_missing_matplotlib_is_named_with_its_extra(monkeypatch, fitted):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"\.\[plot\]"):
        AccuracyCoverageDisplay.from_estimator(*fitted)
