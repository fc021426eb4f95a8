"""What linear machines share: one margin for each class against the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from earmark.kernels.offset_svm import LinearFit, fit_offset_svm
from earmark.kernels.rows import canonical_rows
from earmark.kernels.shuffle import distinct_documents
from earmark.models._descent import document_weights, seed_of, two_classes
from earmark.models.base import RankingClassifier
from earmark.models.protocols import class_columns
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    SparseMatrix,
)

__all__ = ["MarginClassifier", "margin_scores"]

# So many columns for each entry make it worth while to find those that are used.
_MANY_TIMES = 4


class MarginClassifier(RankingClassifier):
    """A linear machine for each class against the rest; two classes share one.

    Equal documents are one of their summed weight, wherever they stood: the order of
    the rows has no influence.
    """

    weights_: FloatMatrix
    intercept_: FloatVector
    class_weight: Any
    random_state: Any

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y; a term is present where X > 0."""
        self._check_parameters()
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, y_index = two_classes(self, labels)
        rows = self._rows(X)
        weight = document_weights(labels, sample_weight, self.class_weight)
        visits = distinct_documents(rows, y_index, weight)
        self._fit_problems(
            rows[visits.rows], y_index[visits.rows], visits.weight[visits.rows]
        )
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for a parameter that is out of range."""

    @abstractmethod
    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        """Fit the machines to distinct documents."""

    def _rows(self, X: Matrix) -> SparseMatrix:
        """What the machines see of X."""
        return canonical_rows(X)

    def _problems(self) -> Iterable[int]:
        """Numbers of the classes that have a machine."""
        n_classes = len(self.classes_)
        return [1] if n_classes == 2 else range(n_classes)

    def _fit_svm(
        self,
        rows: SparseMatrix,
        is_class: BoolVector,
        cost: FloatVector,
        tol: float,
        max_passes: int,
    ) -> LinearFit:
        """A support vector machine with squared hinge loss, class against rest."""
        return fit_offset_svm(
            rows,
            np.zeros(rows.shape[1]),
            np.where(is_class, 1.0, -1.0),
            cost,
            tol=tol,
            max_iter=max_passes,
            seed=seed_of(self.random_state),
        )

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return margin_scores(self._rows(X), self.weights_, self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the checks' data are not counts
        return tags


def margin_scores(
    X: SparseMatrix, weights: FloatMatrix, intercept: FloatVector
) -> FloatMatrix:
    """Class scores of X @ weights.T + intercept, weights (n_problems, n_features).

    For a few documents only the weights of their terms are touched.
    """
    if X.nnz < X.shape[1] // _MANY_TIMES:
        used, place = np.unique(X.indices, return_inverse=True)
        X = sparse.csr_array((X.data, place, X.indptr), shape=(X.shape[0], len(used)))
        weights = weights[:, used]
    return class_columns(X @ weights.T + intercept)
