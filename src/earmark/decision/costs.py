"""Decisions by expected cost instead of probability."""

from __future__ import annotations

import numpy as np

from earmark.exceptions import DataError
from earmark.typing import ArrayLike, FloatMatrix, IntVector

__all__ = ["cheapest", "checked_costs"]


def checked_costs(cost: ArrayLike, n_classes: int) -> FloatMatrix:
    """A cost matrix (n_classes, n_classes), or with one more column for abstaining."""
    costs = np.asarray(cost, dtype=np.float64)
    if costs.shape not in ((n_classes, n_classes), (n_classes, n_classes + 1)):
        raise DataError(
            f"cost must be of shape ({n_classes}, {n_classes}), row: true class, "
            f"column: answer, or ({n_classes}, {n_classes + 1}) with the cost of "
            f"abstaining in the last column; got shape {costs.shape}."
        )
    if not np.isfinite(costs).all():
        raise DataError("cost must hold finite numbers only.")
    return costs


def cheapest(proba: FloatMatrix, costs: FloatMatrix) -> IntVector:
    """The answer with the smallest expected cost per document; -1: abstain.

    Examples
    --------
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> cheapest(proba, np.array([[0.0, 1.0, 0.3], [5.0, 0.0, 0.3]])).tolist()
    [-1, -1]
    >>> cheapest(proba, np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [0, 0]

    """
    answer = (proba @ costs).argmin(axis=1).astype(np.int64)
    return np.where(answer == costs.shape[0], -1, answer)
