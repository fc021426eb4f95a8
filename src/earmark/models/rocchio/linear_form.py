"""Rocchio's plain rule as a linear classifier (VS2)."""

from __future__ import annotations

import numpy as np

from earmark.models.rocchio.prototypes import Measures
from earmark.models.rocchio.rules import closeness
from earmark.statistics import UnitVectorSums
from earmark.typing import FloatMatrix, FloatVector, Labels

__all__ = ["LinearForm"]


class LinearForm:
    """``coef_`` and ``intercept_`` of score_c = w_c.v + b_c, v of unit length."""

    metric: str
    rule: str
    classes_: Labels
    statistics_: UnitVectorSums
    _weights: FloatMatrix  # (n_features, n_classes); of unit length for cosine
    _squares: FloatVector

    @property
    def prototypes_(self) -> FloatMatrix:
        """The prototypes mu_c, (n_classes, n_features)."""
        weights = self._weights
        if self.metric == "cosine":
            weights = weights * np.sqrt(self._squares)
        return np.asarray(weights.T)

    @property
    def coef_(self) -> FloatMatrix:
        """Weights of the plain rule on unit vectors; for two classes one row."""
        self._require_plain("coef_")
        weights = self._weights.T
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> FloatVector:
        """Offsets of the plain rule; for two classes -b of the hyperplane w.v = b."""
        self._require_plain("intercept_")
        offset = self._offset()
        return offset[1:] - offset[:1] if len(self.classes_) == 2 else offset

    def _require_plain(self, name: str) -> None:
        if self.rule != "nearest":
            raise AttributeError(
                f"{name} belongs to the linear rule 'nearest'; "
                f"rule={self.rule!r} is not linear."
            )

    def _docs(self) -> FloatVector:
        return np.asarray(self.statistics_.docs, dtype=np.float64)

    def _offset(self) -> FloatVector:
        """The score of a unit vector that is orthogonal to every prototype."""
        none = Measures(np.zeros_like(self._squares), self._squares, self._docs())
        return closeness(none, self.metric)
