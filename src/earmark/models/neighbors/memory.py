"""The documents that a neighbours model remembers, and finding them again."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import DataError
from earmark.kernels.postings import Postings, build_postings, top_similar
from earmark.kernels.rows import canonical_rows, unit_rows
from earmark.models.base import ScoringClassifier
from earmark.statistics._inputs import label_positions
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

__all__ = ["DocumentMemory", "learned_positions"]


class DocumentMemory(ScoringClassifier):
    """Learn by remembering, and find the documents most similar to others."""

    # The index follows from vectors_ and is built again when it is missing.
    _transient: ClassVar[tuple[str, ...]] = ("_index",)

    random_state: Any
    n_jobs: int | None
    classes_: Labels
    vectors_: SparseMatrix
    targets_: IntVector
    lots_seed_: int
    chosen_: int | None
    n_features_in_: int
    _index: Postings

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for constructor parameters that make no sense."""

    @abstractmethod
    def _used_k(self) -> int:
        """How many neighbours vote."""

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Remember X (n_samples, n_features) and y, and choose k if "auto"."""
        return self._begin(X, y, None)

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Remember more documents; the result is that of one ``fit`` on all.

        Give all labels in ``classes`` at the first call if ``y`` does not hold
        them all; a label that is not among them is an error and changes nothing.
        """
        if not hasattr(self, "vectors_"):
            return self._begin(X, y, classes)
        self._check_parameters()
        if classes is not None and not np.array_equal(
            np.unique(np.asarray(classes)), self.classes_
        ):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()!r}, "
                f"got {np.unique(np.asarray(classes)).tolist()!r}."
            )
        rows, own = self._labelled_rows(X, y)
        self._remember(
            sparse.vstack([self.vectors_, rows], format="csr"),
            np.concatenate([self.targets_, own]),
        )
        return self

    def forget(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Drop documents that were learned, as if they had never been seen."""
        check_is_fitted(self)
        rows, own = self._labelled_rows(X, y)
        gone = learned_positions(rows, own, self.vectors_, self.targets_)
        kept = np.setdiff1d(np.arange(len(self.targets_)), gone)
        self._remember(self.vectors_[kept], self.targets_[kept])
        return self

    def kneighbors(
        self, X: MatrixLike | None = None, n_neighbors: int | None = None
    ) -> tuple[FloatMatrix, IntVector]:
        """Similarities and positions of the nearest training documents, best first.

        0 and -1 fill up where fewer than ``n_neighbors`` documents are similar.
        Without X, the neighbours of each training document other than itself.
        """
        check_is_fitted(self)
        k = self._used_k() if n_neighbors is None else n_neighbors
        if X is None:
            every = np.arange(len(self.targets_))
            return self._search(self.vectors_, self._at_most(k), every)
        return self._search(self._validated(X), self._at_most(k))

    # -- private -------------------------------------------------------------

    def _begin(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None) -> Self:
        self._check_parameters()
        X, labels = self._checked(X, y, reset=True)
        known = np.unique(labels if classes is None else np.asarray(classes))
        own = label_positions(labels, known, X.shape[0])
        self.classes_ = known
        self.lots_seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._remember(_unit_vectors(X), own)
        self._index = build_postings(self.vectors_)
        self._used_k()
        return self

    def _checked(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool
    ) -> tuple[Matrix, Labels]:
        X, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset
        )
        check_classification_targets(labels)
        return X, labels

    def _labelled_rows(
        self, X: MatrixLike, y: ArrayLike
    ) -> tuple[SparseMatrix, IntVector]:
        X, labels = self._checked(X, y, reset=False)
        own = label_positions(labels, self.classes_, X.shape[0])
        return _unit_vectors(X), own

    def _remember(self, vectors: SparseMatrix, targets: IntVector) -> None:
        self.vectors_, self.targets_, self.chosen_ = vectors, targets, None
        self.__dict__.pop("_index", None)

    def _at_most(self, k: int) -> int:
        return max(1, min(k, len(self.targets_)))

    def _search(
        self, rows: Matrix, k: int, exclude: IntVector | None = None
    ) -> tuple[FloatMatrix, IntVector]:
        """The k nearest documents of each row, on ``n_jobs`` threads."""
        if not hasattr(self, "_index"):
            self._index = build_postings(self.vectors_)
        rows = sparse.csr_array(rows)
        if exclude is None:
            exclude = np.full(rows.shape[0], -1, dtype=np.int64)
        n_jobs = min(effective_n_jobs(self.n_jobs), max(1, rows.shape[0] // 64))
        bounds = np.linspace(0, rows.shape[0], n_jobs + 1).astype(int)
        parts = [slice(i, j) for i, j in pairwise(bounds)]
        found = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(top_similar)(self._index, rows[part], k, exclude[part])
            for part in parts
        )
        similarity, index = zip(*found, strict=True)
        return np.concatenate(similarity), np.concatenate(index)

    def _sizes(self) -> FloatVector:
        sizes = np.bincount(self.targets_, minlength=len(self.classes_))
        return np.asarray(sizes, dtype=np.float64)


def _unit_vectors(X: Matrix) -> SparseMatrix:
    """Unit rows whose index arrays have one type, so that rows compare as bytes."""
    rows = unit_rows(canonical_rows(X))
    if max(rows.shape[1], rows.nnz) <= np.iinfo(np.int32).max:
        rows.indices = rows.indices.astype(np.int32, copy=False)
        rows.indptr = rows.indptr.astype(np.int32, copy=False)
    return rows


def learned_positions(
    rows: SparseMatrix,
    own: IntVector,
    learned: SparseMatrix,
    targets: IntVector,
) -> IntVector:
    """Where each of ``rows`` with class ``own`` stands among the learned documents.

    Documents that occur several times are told apart by their turn. A document
    that was not learned, or not that often, is a DataError.
    """
    places = defaultdict(list)
    for position, key in reversed(list(enumerate(_keys(learned, targets)))):
        places[key].append(position)
    found = np.empty(rows.shape[0], dtype=np.int64)
    for row, key in enumerate(_keys(rows, own)):
        if not places[key]:
            raise DataError(
                f"the document in row {row} was not learned with this label, or not as "
                "often as it is given; give only documents that were learned."
            )
        found[row] = places[key].pop()
    return found


def _keys(rows: SparseMatrix, targets: IntVector) -> list[tuple[int, bytes, bytes]]:
    """What makes a document: its class, terms and weights."""
    return [
        (int(c), rows.indices[i:j].tobytes(), rows.data[i:j].tobytes())
        for c, (i, j) in zip(targets, pairwise(rows.indptr), strict=True)
    ]
