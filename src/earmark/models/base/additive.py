"""What a classifier is: base classes, and what it says about its scores.

Base classes make answers of a matrix of class scores; ``AdditiveClassifier`` is one
whose training is a sum over documents: accumulate, then finalise. A ``LinearModel``
gives its scores as one weight for each term, so that they can be summed up while
the text is read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.inputs.weights import real_weights
from earmark.models.base.classifier import ScoringClassifier
from earmark.models.base.parted import PartedRows, PartRows, weights_of
from earmark.statistics.class_statistics import label_positions, require_same_classes
from earmark.stored import instance
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    WeightsLike,
)


class AdditiveClassifier(ScoringClassifier):
    """Base of the models whose statistics add and subtract (CS).

    A child says what its statistics are (``_empty_statistics``), which rows they
    sum (``_training_rows``) and how parameters follow from them (``_derive``).
    """

    # Whether the sums may be keyed by term, so that text is learned without a matrix.
    by_term: ClassVar[bool] = False
    # Whether documents are looked at again once their sums are known.
    tunes: ClassVar[bool] = False
    statistics_: Annotated[Any, instance()]
    _numbers = "numeric"

    @abstractmethod
    def _empty_statistics(self, classes: Labels, n_features: int) -> Any:
        """Statistics of no document."""

    @abstractmethod
    def _derive(self) -> None:
        """Set the parameters from ``statistics_``."""

    def _training_rows(self, X: Matrix) -> Matrix:
        """The rows that the statistics sum; validated X by default."""
        return X

    @abstractmethod
    def _log_posteriors_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        """Log posteriors of training rows, each taken out of its own class (NB8)."""

    def _tune(self, X: Matrix, labels: Labels, sample_weight: WeightsLike) -> Self:
        """Tune settings on the documents just learned; by default there are none."""
        return self

    def _lost(self, sample_weight: WeightsLike, n_samples: int) -> FloatVector:
        """How much of each document is left out: all of its weight."""
        return real_weights(sample_weight, n_samples)

    def _changed(self) -> Self:
        """Derive the parameters anew: other documents were learned."""
        self._derive()
        return self

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y afresh."""
        return self._fit(X, y, sample_weight)

    def _fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike,
        classes: ArrayLike | None = None,
    ) -> Self:
        self._check_parameters()
        X, labels = self._training_data(X, y)
        known = np.unique(labels if classes is None else np.asarray(classes))
        self.finalise(self._summed(X, labels, sample_weight, known))
        return self._tune(X, labels, sample_weight)

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
        if not hasattr(self, "statistics_"):
            X, labels = self._training_data(X, y)
            known = np.unique(labels if classes is None else np.asarray(classes))
            return self.finalise(self._summed(X, labels, sample_weight, known))
        require_same_classes(classes, self.classes_)
        X, labels = self._training_data(X, y, reset=False)
        self.statistics_.add(self._training_rows(X), labels, sample_weight)
        return self._changed()

    def forget(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Unlearn documents that were learned, as if they had never been seen."""
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        self.statistics_.remove(self._training_rows(X), labels, sample_weight)
        return self._changed()

    def leave_one_out(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatMatrix:
        """Log posteriors of learned documents, each as if it had not been learned.

        Equal to a refit without the document (NB8); columns and what was tuned are held
        fixed. X and y must have been learned, with these weights. Returns an array of
        shape (n_samples, n_classes); -inf for a class that has no other document.
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        own = self._own_class(labels, X.shape[0])
        weight = self._lost(sample_weight, X.shape[0])
        self._require_learned(own, weight)
        return self._log_posteriors_without(self._training_rows(X), own, weight)

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
        X, labels = self._training_data(X, y)
        known = np.unique(labels if classes is None else np.asarray(classes))
        return self._summed(X, labels, sample_weight, known)

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """Learn documents in parts: accumulate on each, merge, finalise (CS1, CS2)."""
        self._check_parameters()
        return self.finalise(self._sums_of_parts(rows))

    def _sums_of_parts(self, rows: PartedRows, **known: Any) -> Any:
        """The statistics of all parts, over all classes."""
        return rows.sum(
            "sums", _part_sums, self, rows.classes, rows.class_weight, known
        )

    def finalise(self, statistics: Any) -> Self:
        """Become the model that these statistics describe."""
        self.statistics_ = statistics
        self.classes_ = statistics.classes
        self.n_features_in_ = statistics.n_features
        return self._changed()

    def _summed(
        self, X: Matrix, labels: Labels, sample_weight: WeightsLike, classes: Labels
    ) -> Any:
        statistics = self._empty_statistics(classes, X.shape[1])
        return statistics.add(self._training_rows(X), labels, sample_weight)

    def _own_class(self, y: ArrayLike, n_samples: int) -> IntVector:
        """Row number in ``classes_`` of each label."""
        return label_positions(np.asarray(y), self.classes_, n_samples)

    def _require_learned(self, own: IntVector, weight: FloatVector) -> None:
        seen = np.bincount(own, weights=weight, minlength=len(self.classes_))
        if np.any(seen > self.statistics_.docs + 1e-9):
            raise DataError(
                "leave-one-out wants documents that were learned: y holds more "
                "documents of a class than the model has seen."
            )

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report statistics of other classes than the model's."""
        if not np.array_equal(self.statistics_.classes, self.classes_):
            yield ".statistics_ has other classes than the model"


def _part_sums(
    model: AdditiveClassifier,
    classes: Labels,
    factor: FloatVector | None,
    known: dict[str, Any],
    rows: PartRows,
) -> Any:
    """The statistics of one part, over all classes."""
    labels, weight = classes[rows.y], weights_of(factor, rows.y)
    return model.accumulate(rows.X, labels, weight, classes, **known)
