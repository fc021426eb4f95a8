"""Linear classifiers: with weights that are given, NBSVM, and its blend with an SVM."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Annotated, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags

from earmark.features.scoring import class_columns
from earmark.kernels.keys import distinct_documents
from earmark.kernels.offset_svm import LinearFit, fit_offset_svm
from earmark.kernels.rows import (
    canonical_rows,
)
from earmark.models.base.classifier import (
    RankingClassifier,
    document_weights,
    require_weighted,
    two_classes,
)
from earmark.parameters import estimator, seed_of
from earmark.stored import floats
from earmark.typing import (
    ArrayLike,
    BoolVector,
    ClassWeightLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)

# So many columns for each entry make it worthwhile to find those that are used.
_MANY_TIMES = 4


@estimator
class MarginClassifier(RankingClassifier):
    """A linear machine for each class against the rest; two classes share one."""

    # Equal documents are one of their summed weight: the order of rows has no
    # influence.

    weights_: Annotated[FloatMatrix, floats("n_machines", "n_features")] = field(
        init=False
    )
    intercept_: Annotated[FloatVector, floats("n_machines")] = field(init=False)
    class_weight: ClassWeightLike = None
    random_state: RandomStateLike = None

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y; a term is present where X > 0."""
        self._check_parameters()
        X, labels = self._training_data(X, y)
        self.classes_, y_index = two_classes(self, labels)
        rows = self._rows(X)
        weight = document_weights(sample_weight, labels, self.class_weight)
        require_weighted(labels, weight)
        visits = distinct_documents(rows, y_index, weight)
        some = visits.rows
        self._fit_problems(rows[some], y_index[some], visits.weight[some])
        return self

    @abstractmethod
    def _fit_problems(
        self, rows: SparseMatrix, y_index: IntVector, weight: FloatVector
    ) -> None:
        """Fit the machines to distinct documents."""

    def _rows(self, X: Matrix) -> SparseMatrix:
        """Turn X into the rows that the machines are fitted on."""
        return canonical_rows(X)

    def _problems(self) -> Iterable[int]:
        """Numbers of the classes that have a machine."""
        return [1] if len(self.classes_) == 2 else range(len(self.classes_))

    def _fit_svm(
        self,
        rows: SparseMatrix,
        is_class: BoolVector,
        cost: FloatVector,
        tol: float = 1e-3,
        max_iter: int = 5000,
    ) -> LinearFit:
        """A support vector machine with squared hinge loss, class against rest."""
        sign, none = np.where(is_class, 1.0, -1.0), np.zeros(rows.shape[1])
        seed = seed_of(self.random_state)
        return fit_offset_svm(
            rows, none, sign, cost, tol=tol, max_iter=max_iter, seed=seed
        )

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return margin_scores(self._rows(X), self.weights_, self.intercept_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the checks' data are not counts
        return tags

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a wrong number of machines: one for two classes, else one for each."""
        n_classes = sizes["n_classes"]
        needed = 1 if n_classes == 2 else n_classes
        if n_classes < 2 or sizes["n_machines"] != needed:
            yield " must have weights for each class"


def margin_scores(
    X: SparseMatrix, weights: FloatMatrix, intercept: FloatVector
) -> FloatMatrix:
    """Class scores of X @ weights.T + intercept, weights (n_problems, n_features)."""
    # For a few documents only the weights of their terms are touched.
    if X.nnz < X.shape[1] // _MANY_TIMES:
        used, place = np.unique(X.indices, return_inverse=True)
        X = sparse.csr_array((X.data, place, X.indptr), shape=(X.shape[0], len(used)))
        weights = weights[:, used]
    return class_columns(X @ weights.T + intercept)
