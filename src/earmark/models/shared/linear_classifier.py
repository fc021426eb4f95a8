"""A linear classifier whose weights are given."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.features.scoring import LinearRule
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    Labels,
    LabelsLike,
    MatrixLike,
)


@dataclass(frozen=True)
class LinearClassifier:
    """Answer the second class where w.x > b, else the first.

    There is nothing to fit: weights and threshold are given, such as those of a
    paper, of a rule written by hand, or of the hyperplane between two centroids.

    Parameters
    ----------
    w : array-like of shape (n_features,)
        Weight of each column.
    b : float, default=0.0
        Threshold of the weighted sum.
    classes : two labels, default=(False, True)
        The answer for w.x <= b, and for w.x > b.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, figure 14.9 (ApplyLinearClassifier). Cambridge
       University Press.

    Examples
    --------
    >>> rule = LinearClassifier([0.7, -0.5], b=0.1, classes=("other", "interest"))
    >>> rule.predict([[1, 0], [1, 2]])
    array(['interest', 'other'], dtype='<U8')
    >>> rule.decision_function([[1, 0], [1, 2]]).round(2)
    array([ 0.6, -0.4])

    """

    w: ArrayLike
    b: float = 0.0
    classes: LabelsLike = field(default=(False, True))

    def __post_init__(self) -> None:
        weights = np.asarray(self.w, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all():
            raise DataError(
                f"w must be one finite number per column, got shape {weights.shape}."
            )
        if len(np.unique(np.asarray(self.classes))) != 2:
            raise DataError(f"classes must be two labels, got {self.classes!r}.")

    @property
    def classes_(self) -> Labels:
        """The two labels: for w.x <= b, and for w.x > b."""
        return np.asarray(self.classes)

    def decision_function(self, X: MatrixLike) -> FloatVector:
        """w.x - b of each row, (n_samples,)."""
        rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        weights = np.asarray(self.w, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(weights):
            raise DataError(
                f"X must have {len(weights)} columns, one per weight, got shape "
                f"{rows.shape}."
            )
        return np.asarray(rows @ weights, dtype=np.float64) - self.b

    def predict(self, X: MatrixLike) -> Labels:
        """The label of each row."""
        return self.classes_[(self.decision_function(X) > 0).astype(np.int64)]

    def score(self, X: MatrixLike, y: LabelsLike) -> float:
        """Accuracy on X and y."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def linear_rule(self) -> LinearRule:
        """The scores of both classes as a sum over the row's entries."""
        weights: FloatMatrix = np.asarray(self.w, dtype=np.float64)[None]
        return LinearRule.from_coef(weights, np.array([-self.b]))
