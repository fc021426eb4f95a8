"""What the naive Bayes models on term counts share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark._checks import require_in_range
from earmark.exceptions import DataError
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import canonical_rows
from earmark.models.base import JointClassifier
from earmark.models.naive_bayes._prior import ClassPrior
from earmark.models.protocols import LinearRule, ScoreParts, linear_parts
from earmark.statistics import ClassStatistics
from earmark.statistics.inputs import checked_weights
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
)

__all__ = ["CountNaiveBayes"]


class CountNaiveBayes(JointClassifier, ClassPrior):
    """Base of multinomial, Bernoulli and complement naive Bayes.

    A child derives ``_weights`` (n_features, n_classes) and ``_offset``
    (n_classes,), and says what its likelihood is without one document.
    """

    alpha: float
    statistics_: ClassStatistics
    _weights: FloatMatrix
    _offset: FloatVector

    def _check_parameters(self) -> None:
        require_in_range(self, "alpha", low=0.0, hint="it is added to every count")

    def _empty_statistics(self, classes: Labels, n_features: int) -> ClassStatistics:
        return ClassStatistics(classes, n_features)

    def leave_one_out(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on (NB8).

        Columns are held fixed. X and y must have been learned,
        with these weights. Returns an array of shape (n_samples, n_classes).
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        rows = canonical_rows(self._training_rows(X)).astype(np.float64)
        own = self._own_class(labels, rows.shape[0])
        given = checked_weights(sample_weight, rows.shape[0])
        weight = np.ones(rows.shape[0]) if given is None else given.astype(np.float64)
        if np.any(
            np.bincount(own, weights=weight)
            > self.statistics_.docs[: own.max() + 1] + 1e-9
        ):
            raise DataError(
                "leave_one_out wants documents that were learned: y holds more "
                "documents of a class than the model has seen."
            )
        prior = self._log_prior_without(own, weight)
        joint = self._log_likelihood_without(rows, own, weight) + prior
        impossible = np.all(np.isneginf(joint), axis=1, keepdims=True)
        return log_normalize(np.where(impossible, prior, joint))

    # -- scores --------------------------------------------------------------

    def _validated(self, X: MatrixLike) -> Matrix:
        return canonical_rows(self._training_rows(super()._validated(X)))

    def _joint_log_likelihood(self, X: SparseMatrix) -> FloatMatrix:
        return np.asarray(X @ self._weights + self._offset, dtype=np.float64)

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over the document; None where some term has log 0."""
        if not np.isfinite(self._weights).all():
            return None
        return LinearRule(self._weights, self._offset, log_posteriors=log_normalize)

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        return linear_parts(
            self._validated(X), self._weights, {"class prior": self._offset}
        )

    @abstractmethod
    def _log_likelihood_without(
        self, rows: SparseMatrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        """Log P(x|c) of each row with the row itself taken out of its class (NB8)."""

    # -- linear form -------------------------------------------------------------

    @property
    def coef_(self) -> FloatMatrix:
        """Weights of the linear form (NB6); for two classes one row of log-odds."""
        weights = self._weights.T
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> FloatVector:
        """Offsets of the linear form (NB6), one for each row of ``coef_``."""
        offset = self._offset
        return offset[1:] - offset[:1] if len(self.classes_) == 2 else offset
