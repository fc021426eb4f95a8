"""Scores of models in which every term is present or absent on its own (NB3)."""

from __future__ import annotations

import numpy as np

from earmark.models.base import JointClassifier
from earmark.models.protocols import ScoreParts, linear_parts
from earmark.typing import FloatMatrix, FloatVector, MatrixLike, SparseMatrix

__all__ = ["PresenceScores"]


class PresenceScores(JointClassifier):
    """Sum of log P(term present) and log P(term absent), at the cost of the present.

    A child sets ``class_log_prior_`` and calls ``_set_presence``; its ``_validated``
    returns the indicator of the present terms as CSR.
    """

    _log_present: FloatMatrix
    _certain: FloatMatrix | None
    _weights: FloatMatrix
    _absent: FloatVector
    _offset: FloatVector

    @property
    def feature_log_prob_(self) -> FloatMatrix:
        """Log P(term present | class), (n_classes, n_features)."""
        return self._log_present.T

    def _set_presence(self, log_present: FloatMatrix, log_missing: FloatMatrix) -> None:
        """Take log P(present) and log P(absent), both (n_classes, n_features)."""
        self._log_present = np.ascontiguousarray(log_present.T)
        # A term in every document of a class (alpha = 0) makes its absence
        # impossible: log 0 is kept out of the sums and counted apart (NB7).
        certain = np.isneginf(log_missing)
        self._certain = np.ascontiguousarray(certain.T) if certain.any() else None
        log_missing = np.where(certain, 0.0, log_missing)
        self._weights = np.ascontiguousarray((log_present - log_missing).T)
        self._absent = log_missing.sum(axis=1)
        self._offset = self.class_log_prior_ + self._absent  # NB3

    def _joint_log_likelihood(self, X: SparseMatrix) -> FloatMatrix:
        joint = np.asarray(X @ self._weights + self._offset, dtype=np.float64)
        if self._certain is not None:
            met = np.asarray(X @ self._certain.astype(np.int64))
            joint[met < self._certain.sum(axis=0)] = -np.inf
        return joint

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Present terms by log P(present), all absent terms as one item (AB3)."""
        parts = []
        for part in linear_parts(self._validated(X), self._weights, {}):
            present = self._log_present[part.columns]
            absent = self._absent + (part.terms - present).sum(axis=0)
            constants = {"class prior": self.class_log_prior_, "absent terms": absent}
            parts.append(ScoreParts(part.columns, present, constants))
        return parts
