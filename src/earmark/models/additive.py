"""Classifiers whose training is a sum over documents: accumulate, then finalise.

One code path gives ``fit``, ``partial_fit``, ``forget`` and the merging of
shards: statistics are summed exactly, parameters are derived from them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.models.base import ScoringClassifier
from earmark.statistics.inputs import label_positions
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
)

__all__ = ["AdditiveClassifier"]


class AdditiveClassifier(ScoringClassifier):
    """Base of the models whose statistics add and subtract (CS).

    A child says what its statistics are (``_empty_statistics``), which rows they
    sum (``_training_rows``) and how parameters follow from them (``_derive``).
    """

    statistics_: Any
    classes_: Labels
    n_features_in_: int

    @abstractmethod
    def _empty_statistics(self, classes: Labels, n_features: int) -> Any:
        """Statistics of no document."""

    @abstractmethod
    def _derive(self) -> None:
        """Set the parameters from ``statistics_``."""

    @abstractmethod
    def leave_one_out(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatMatrix:
        """Log posteriors of learned documents, each as if it had not been learned."""

    def _training_rows(self, X: Matrix) -> Matrix:
        """The rows that the statistics sum; validated X by default."""
        return X

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y afresh."""
        self._check_parameters()
        X, labels = self._training_data(X, y, reset=True)
        return self.finalise(self._summed(X, labels, sample_weight, np.unique(labels)))

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more documents; the result is that of one ``fit`` on all.

        Give all labels in ``classes`` at the first call if ``y`` does not hold
        them all; a label that is not among them is an error and changes nothing.
        """
        self._check_parameters()
        if "statistics_" not in vars(self):
            X, labels = self._training_data(X, y, reset=True)
            known = np.unique(labels if classes is None else np.asarray(classes))
            return self.finalise(self._summed(X, labels, sample_weight, known))
        if classes is not None and not np.array_equal(
            np.unique(np.asarray(classes)), self.classes_
        ):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()!r}, "
                f"got {np.unique(np.asarray(classes)).tolist()!r}."
            )
        X, labels = self._training_data(X, y, reset=False)
        self.statistics_.add(self._training_rows(X), labels, sample_weight)
        self._derive()
        return self

    def forget(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Unlearn documents that were learned, as if they had never been seen."""
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        self.statistics_.remove(self._training_rows(X), labels, sample_weight)
        self._derive()
        return self

    def accumulate(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Any:
        """The statistics of one shard; shards merge with ``statistics.merge``.

        With ``classes`` a shard may be empty.
        """
        n_rows, n_columns = np.shape(X)[0], np.shape(X)[-1]
        if classes is not None and not n_rows:
            return self._empty_statistics(np.unique(np.asarray(classes)), n_columns)
        X, labels = self._training_data(X, y, reset=True)
        known = np.unique(labels if classes is None else np.asarray(classes))
        return self._summed(X, labels, sample_weight, known)

    def finalise(self, statistics: Any) -> Self:
        """Become the model that these statistics describe."""
        self.statistics_ = statistics
        self.classes_ = statistics.classes
        self.n_features_in_ = statistics.n_features
        self._derive()
        return self

    def _summed(
        self,
        X: Matrix,
        labels: Labels,
        sample_weight: ArrayLike | None,
        classes: Labels,
    ) -> Any:
        statistics = self._empty_statistics(classes, X.shape[1])
        return statistics.add(self._training_rows(X), labels, sample_weight)

    def _training_data(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool
    ) -> tuple[Matrix, Labels]:
        # Counts may come as integers beyond 2**53: they are not made float here.
        X, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype="numeric", reset=reset
        )
        check_classification_targets(labels)
        return X, labels

    def _own_class(self, y: ArrayLike, n_samples: int) -> IntVector:
        """Row number in ``classes_`` of each label."""
        return label_positions(np.asarray(y), self.classes_, n_samples)
