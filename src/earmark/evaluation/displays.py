"""A figure for notebooks; matplotlib is imported when something is drawn."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from earmark._optional import require
from earmark.evaluation.coverage import AccuracyCoverage, accuracy_coverage
from earmark.typing import ArrayLike, Axes, DocumentsLike, Estimator

_BLUE, _VERMILION = "#0072b2", "#d55e00"  # as in the report; anybody tells them apart


@dataclass
class AccuracyCoverageDisplay:
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
    def from_estimator(
        cls,
        estimator: Estimator,
        X: DocumentsLike,
        y: ArrayLike,
        *,
        name: str | None = None,
        threshold: float | None = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the curve of what an estimator predicts."""
        proba = np.asarray(estimator.predict_proba(X))
        answers = np.asarray(estimator.classes_)[proba.argmax(axis=1)]
        curve = accuracy_coverage(y, answers, proba.max(axis=1))
        name = type(estimator).__name__ if name is None else name
        return cls(curve, name=name, threshold=threshold).plot(ax)

    def plot(self, ax: Axes = None, **style: Any) -> Self:
        """Draw on ``ax`` or on a new figure; both are kept, as ax_ and figure_."""
        pyplot = require("matplotlib.pyplot", "draw figures")
        axes: Any = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.ax_, self.figure_ = axes, axes.figure
        style = {"color": _BLUE, "marker": "", **style}
        axes.plot(self.curve.coverage, self.curve.accuracy, label=self.name, **style)
        if self.threshold is not None:
            share, right = self.curve.at_threshold(self.threshold)
            if right is not None:
                axes.plot([share], [right], "s", color=_VERMILION, label="chosen")
        axes.set(xlabel="Share answered", ylabel="Accuracy of the answers", xlim=(0, 1))
        if self.name is not None or self.threshold is not None:
            axes.legend()
        return self
