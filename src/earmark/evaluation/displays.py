"""Figures for notebooks; matplotlib is imported when something is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from earmark._optional import require
from earmark.evaluation.bias_variance import BiasVariance, bias_variance
from earmark.evaluation.confusion import ConfusionMatrix
from earmark.evaluation.coverage import (
    AccuracyCoverage,
    Reliability,
    accuracy_coverage,
    reliability,
)
from earmark.evaluation.learning_curve import LearningCurve, learning_curve
from earmark.figure_style import COLORS, MUTED, series, settings
from earmark.typing import ArrayLike, Axes, DocumentsLike, Estimator, Label


class Display(ABC):
    """What the displays share: an axis to draw on, kept as ax_ and figure_."""

    ax_: Any
    figure_: Any
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: DocumentsLike,
        y: ArrayLike,
        *,
        ax: Axes = None,
        **options: Any,
    ) -> Self:
        """Measure an estimator and draw the result."""
        return cls._measured(estimator, X, y, **options).plot(ax)

    @classmethod
    @abstractmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        """The display of what an estimator does, not drawn."""

    @abstractmethod
    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure."""

    def _axes(self, ax: Axes) -> Any:
        pyplot = require("matplotlib.pyplot", "draw figures")
        if ax is None:
            with pyplot.rc_context(settings()):
                _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _named(self, *also: object) -> Self:
        """With a legend, if there is something to name."""
        if any(thing is not None for thing in (self.name, *also)):
            self.ax_.legend()
        return self


@dataclass
class AccuracyCoverageDisplay(Display):
    """Accuracy of the most confident answers against their share (HY5).

    Examples
    --------
    >>> display = AccuracyCoverageDisplay.from_predictions(
    ...     "aabb", "aaba", [0.9, 0.8, 0.7, 0.6], name="model"
    ... )
    >>> display.curve.coverage_at(1.0)
    0.75

    """

    curve: AccuracyCoverage
    _: KW_ONLY
    name: str | None = None
    threshold: float | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        name: str | None = None,
        threshold: float | None = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the curve of predictions."""
        curve = accuracy_coverage(y_true, y_pred, confidence)
        return cls(curve, name=name, threshold=threshold).plot(ax)

    @classmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        X, y = data
        proba = np.asarray(estimator.predict_proba(X))
        answers = np.asarray(estimator.classes_)[proba.argmax(axis=1)]
        options.setdefault("name", type(estimator).__name__)
        return cls(accuracy_coverage(y, answers, proba.max(axis=1)), **options)

    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure."""
        axes = self._axes(ax)
        style = {"color": COLORS[0], "marker": "", **style}
        axes.plot(self.curve.coverage, self.curve.accuracy, label=self.name, **style)
        if self.threshold is not None:
            share, right = self.curve.at_threshold(self.threshold)
            if right is not None:
                axes.plot([share], [right], "s", color=COLORS[1], label="chosen")
        axes.set(xlabel="Share answered", ylabel="Accuracy of the answers", xlim=(0, 1))
        return self._named(self.threshold)


@dataclass
class ReliabilityDisplay(Display):
    """Share of right answers against stated confidence (AB2).

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions(
    ...     "ab", [[0.8, 0.2], [0.4, 0.6]], ["a", "b"]
    ... )
    >>> round(display.figures.ece, 2)
    0.3

    """

    figures: Reliability
    _: KW_ONLY
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        classes: ArrayLike,
        *,
        name: str | None = None,
        ax: Axes = None,
        **options: Any,
    ) -> Self:
        """Draw the diagram of predicted probabilities."""
        figures = reliability(y_true, proba, classes, **options)
        return cls(figures, name=name).plot(ax)

    @classmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        X, y = data
        name = options.pop("name", type(estimator).__name__)
        proba = estimator.predict_proba(X)
        return cls(reliability(y, proba, estimator.classes_, **options), name=name)

    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure; dots are larger where more answers lie."""
        axes = self._axes(ax)
        full = self.figures.count > 0
        sure, right = self.figures.confidence[full], self.figures.accuracy[full]
        size = 20 + 180 * self.figures.count[full] / self.figures.count.max()
        axes.plot([0, 1], [0, 1], "--", color=MUTED, marker="", linewidth=1)
        # Bins are not joined: a line would jump between bins of two documents.
        style = {"color": COLORS[0], "label": self.name, **style}
        axes.scatter(sure, right, size, zorder=3, **style)
        axes.set(
            xlabel="Stated confidence", ylabel="Share right", xlim=(0, 1), ylim=(0, 1)
        )
        axes.set_title(f"calibration error {self.figures.ece:.3f}", fontsize="medium")
        return self._named()


@dataclass
class ConfusionDisplay(Display):
    """The confusion matrix with its column of unanswered documents (VS5).

    Examples
    --------
    >>> display = ConfusionDisplay.from_predictions("aab", ["a", "b", None])
    >>> display.matrix.coverage
    0.6666666666666666

    """

    matrix: ConfusionMatrix

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the matrix of predictions; None is an abstention."""
        matrix = ConfusionMatrix.from_predictions(y_true, y_pred, classes=classes)
        return cls(matrix).plot(ax)

    @classmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        X, y = data
        return cls(ConfusionMatrix.from_predictions(y, estimator.predict(X), **options))

    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure; shading is the share of the row."""
        axes = self._axes(ax)
        counts, columns = self.matrix.counts, [str(c) for c in self.matrix.classes]
        if self.matrix.abstained.any():
            counts = np.column_stack([counts, self.matrix.abstained])
            columns = [*columns, "abstained"]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        style = {"cmap": "Blues"} | style
        axes.imshow(share, vmin=0, vmax=1, aspect="auto", **style)
        axes.grid(visible=False)
        if counts.size <= 900:
            for (row, column), count in np.ndenumerate(counts):
                if count:
                    ink = "white" if share[row, column] > 0.5 else "black"
                    axes.text(
                        column, row, str(count), ha="center", va="center", color=ink
                    )
        axes.set_xticks(range(len(columns)), columns, rotation=90)
        axes.set_yticks(range(len(counts)), [str(c) for c in self.matrix.classes])
        axes.set(xlabel="Answer", ylabel="True class")
        return self


@dataclass
class LearningCurveDisplay(Display):
    """Accuracy against number of labels, with the fitted power law.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.arange(80.0).reshape(-1, 1)
    >>> display = LearningCurveDisplay.from_estimator(GaussianNB(), X, X[:, 0] > 40)
    >>> len(display.curve.sizes)
    7

    """

    curve: LearningCurve
    _: KW_ONLY
    name: str | None = None

    @classmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        name = options.pop("name", None)
        return cls(learning_curve(estimator, *data, **options), name=name)

    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure."""
        axes = self._axes(ax)
        curve = self.curve
        line = axes.plot(curve.sizes, curve.mean, label=self.name, **style)[0]
        color = line.get_color()
        axes.fill_between(curve.sizes, curve.low, curve.high, color=color, alpha=0.2)
        axes.set(xscale="log", xlabel="Labelled documents", ylabel="Accuracy")
        if curve.horizon > curve.sizes[-1]:
            ahead = np.geomspace(curve.sizes[0], curve.horizon, 60)
            law = 1 - curve.law.error(ahead)
            axes.plot(ahead, law, ":", color=color, marker="", linewidth=1)
            axes.set_xlabel("Labelled documents (dotted: fitted law)")
        return self._named()


@dataclass
class BiasVarianceDisplay(Display):
    """Bias and variance against the capacity of a learning method (VS6).

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    >>> display = BiasVarianceDisplay.from_estimator(
    ...     KNeighborsClassifier(), X, y, X, y, param_name="n_neighbors",
    ...     param_range=[1, 15], n_sets=5,
    ... )
    >>> one, many = display.results.values()
    >>> one.variance > many.variance
    True

    """

    results: Mapping[Label, BiasVariance]
    _: KW_ONLY
    name: str = "capacity"

    @classmethod
    def from_estimator(  # type: ignore[override]
        cls,
        estimator: Estimator,
        X: DocumentsLike,
        y: ArrayLike | None,
        X_test: DocumentsLike,
        y_test: ArrayLike | None = None,
        *,
        param_name: str,
        param_range: Sequence[Label],
        ax: Axes = None,
        **options: Any,
    ) -> Self:
        """Measure and draw for each value of a parameter; see ``bias_variance``."""
        data = (X, y, X_test, y_test)
        measured = cls._measured(estimator, *data, param_name, param_range, **options)
        return measured.plot(ax)

    @classmethod
    def _measured(
        cls, estimator: Estimator, *data: DocumentsLike, **options: Any
    ) -> Self:
        *sets, param_name, param_range = data
        results = {
            value: bias_variance(
                clone(estimator).set_params(**{param_name: value}), *sets, **options
            )
            for value in param_range
        }
        return cls(results, name=param_name)

    def plot(self, ax: Axes = None, *, loss: str = "squared") -> Self:  # type: ignore[override]
        """Draw on ``ax`` or on a new figure; ``loss``: "squared" or "zero_one"."""
        if loss not in ("squared", "zero_one"):
            raise ValueError(f"loss must be 'squared' or 'zero_one', got {loss!r}.")
        axes = self._axes(ax)
        places = range(len(self.results))
        prefix = "zero_one_" if loss == "zero_one" else ""
        total = "zero_one_error" if loss == "zero_one" else "learning_error"
        lines = {total: "error"}
        lines |= {f"{prefix}{name}": name for name in ("bias", "variance")}
        for place, (field, label) in enumerate(lines.items()):
            values = [getattr(result, field) for result in self.results.values()]
            axes.plot(places, values, label=label, **series(place))
        axes.set_xticks(places, [str(value) for value in self.results])
        axes.set(xlabel=self.name, ylabel=f"{loss.replace('_', '/')} loss")
        axes.set_ylim(bottom=0)
        axes.legend()
        return self
