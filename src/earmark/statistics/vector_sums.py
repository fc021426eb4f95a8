"""Class sums of real-valued rows: unit vectors, exactly, and moments (CS2)."""

from __future__ import annotations

from functools import reduce
from typing import Annotated, Self, TypeAlias

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.inputs.weights import real_weights
from earmark.kernels.rows import (
    UNIT,
    canonical_rows,
    class_sums,
    class_unit_sums,
    dense_blocks,
    row_numbers,
    scale_rows,
    unit_rows,
)
from earmark.statistics.class_statistics import (
    AdditiveStatistics,
    Sums,
    among,
    checked_batch,
    label_positions,
    union,
    weighed,
)
from earmark.stored import EXACT, counts, csr, floats, integers, labels, stored
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)

# Below this weight of documents in a class no sum can leave int64.
_ALWAYS_SAFE = 2.0**62 * UNIT
Moments: TypeAlias = tuple[FloatMatrix, FloatMatrix, FloatMatrix]


@stored
class UnitVectorSums(AdditiveStatistics):
    """Weight of documents and sum of their unit vectors within each class.

    A document is scaled to unit length and each entry rounded to a multiple of
    2**-40, so that the sums are whole numbers (``int64``): they add, subtract and
    merge exactly, in any order and any partition, to the same bytes. Rounding
    moves an entry by at most 2**-41, hence a class mean by at most
    2**-41 = 4.5e-13 in each coordinate, however many documents there are. The
    sums of a class may reach 2**22 (about four million) in one coordinate before
    they are refused: far beyond that number of documents for real text.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels, distinct; their order is the row order of every matrix.
    n_features : int
        Number of columns.
    unit : bool, default=True
        Scale documents to unit length; False sums them as they are.

    Attributes
    ----------
    docs : ndarray of shape (n_classes,)
        Weighted number of documents per class; int64 for whole weights.
    sums : sparse array of shape (n_classes, n_features)
        Sums of unit vectors in multiples of 2**-40, int64.
    signed : ndarray of shape (n_classes,)
        Weighted number of documents with a negative entry. While it is 0 no sum
        can be negative, which lets ``remove`` notice what was never learned.

    Examples
    --------
    >>> sums = UnitVectorSums(["a", "b"], 2).add([[3, 4], [0, 2]], ["a", "b"])
    >>> (sums.sums.toarray() * 2.0**-40).round(12).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    >>> sums.remove([[3, 4]], ["a"]).docs.tolist()
    [0, 1]

    """

    classes: Annotated[Labels, labels("n_classes")]
    docs: Annotated[Sums, counts("n_classes")]
    signed: Annotated[IntVector, integers("n_classes", low=-EXACT, high=EXACT)]
    sums: Annotated[SparseMatrix, csr("if", "n_classes", "n_terms")]

    # What a model file of before this parameter means.
    unit: bool = True

    def __init__(
        self, classes: ArrayLike, n_features: int, *, unit: bool = True
    ) -> None:
        self.classes: Labels = np.asarray(classes)
        self.unit = unit
        shape = (len(self.classes), n_features)
        self.docs: Sums = np.zeros(shape[0], dtype=np.int64)
        self.signed: Sums = np.zeros(shape[0], dtype=np.int64)
        self.sums: SparseMatrix = canonical_rows(np.zeros((0, n_features), np.int64))
        self.sums.resize(shape)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.sums.shape[1])

    def merge(self, other: UnitVectorSums) -> Self:
        """Add another shard's sums over the same columns; its classes may differ."""
        if self.n_features != other.n_features:
            raise DataError(
                f"sums over {self.n_features} and {other.n_features} columns cannot be "
                "merged; both shards must use the same vocabulary."
            )
        classes, names = union(self.classes, other.classes), ("docs", "signed", "sums")
        left = among(self, classes, *names)._combine(among(other, classes, *names), +1)
        self.classes, self.docs = left.classes, left.docs
        self.signed, self.sums = left.signed, left.sums
        return self

    def _counted(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike
    ) -> UnitVectorSums:
        rows = sparse.csr_array(X)
        y_index, weight = checked_batch(self, rows, y, sample_weight)
        n_classes = len(self.classes)
        docs = weighed(y_index, weight, n_classes)
        self._refuse_overflow(rows, y_index, weight, docs)
        has_negative = np.zeros(rows.shape[0], dtype=bool)
        if rows.data.min(initial=0) < 0:
            rows = canonical_rows(rows)
            has_negative[row_numbers(rows)[rows.data < 0]] = True
        its_weight = None if weight is None else weight[has_negative]
        signed = weighed(y_index[has_negative], its_weight, n_classes)
        sums = class_unit_sums(rows, y_index, n_classes, weight, self.unit)
        return self._with(docs=docs, signed=signed, sums=sums)

    def _refuse_overflow(
        self, rows: SparseMatrix, y_index: IntVector, weight: Sums | None, docs: Sums
    ) -> None:
        if self.unit and (self.docs + docs).max(initial=0) < _ALWAYS_SAFE:
            return
        entries = canonical_rows(rows)
        entries = abs(unit_rows(entries) if self.unit else entries)
        if weight is not None:
            entries = scale_rows(entries, weight)
        batch = class_sums(entries, y_index, len(self.classes)).max()
        if batch + np.abs(self.sums.data).max(initial=0) * UNIT >= _ALWAYS_SAFE:
            raise DataError(
                "the sums of vectors of a class would exceed 2**22 in one column, "
                "the most they can hold exactly; nothing was changed. Learn a sample, "
                "or give smaller weights or smaller vectors."
            )

    def _combine(self, other: UnitVectorSums, sign: int) -> Self:
        docs = self.docs + sign * other.docs
        signed = self.signed + sign * other.signed
        if self.sums.nnz or sign < 0:
            sums = canonical_rows(self.sums + sign * other.sums)
        else:
            sums = other.sums
        if sign < 0:
            docs, signed = _without_dust(docs), _without_dust(signed)
            self._refuse_unknown(docs, signed, sums)
        self.docs, self.signed, self.sums = docs, signed, sums
        return self

    @staticmethod
    def _refuse_unknown(docs: Sums, signed: Sums, sums: SparseMatrix) -> None:
        """Refuse a rest that cannot be the sums of documents."""
        row = np.repeat(np.arange(len(docs)), np.diff(sums.indptr))
        impossible = (
            docs.min(initial=0) < 0
            or signed.min(initial=0) < 0
            or np.any(docs[row] == 0)
            or np.any((sums.data < 0) & (signed[row] == 0))
        )
        if impossible:
            raise DataError(
                "cannot forget more than was learned: what would be left is not a sum "
                "of documents; nothing was changed. Forget only documents that were "
                "learned, with the same label and weight."
            )


def _without_dust(total: Sums) -> Sums:
    """Drop what rounding leaves of fractional weights where nothing should be left."""
    return (
        total if total.dtype.kind == "i" else np.where(np.abs(total) < 1e-9, 0, total)
    )


def merge_moments(one: Moments, other: Moments) -> Moments:
    """Chan's formula for weight, mean and squares of two sets together (CS2)."""
    # A negative weight with negated squares takes the other set away.
    weight, mean, squares = one
    other_weight, other_mean, other_squares = other
    total = weight + other_weight
    share = np.divide(other_weight, total, out=np.zeros_like(total), where=total != 0)
    delta = other_mean - mean
    spread = squares + other_squares + delta**2 * weight * share
    return total, mean + delta * share, spread


@stored
class ClassMoments(AdditiveStatistics):
    """Weight, mean and centred sum of squares of each feature within each class.

    They merge by Chan's formula, never by raw sums of squares, and a document
    can be taken away again (up to rounding).

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels, distinct; their order is the row order of every matrix.
    n_features : int
        Number of columns.

    Examples
    --------
    >>> moments = ClassMoments([0, 1], 1).add([[1.0], [3.0], [5.0]], [0, 0, 1])
    >>> moments.mean.ravel().tolist(), moments.squares.ravel().tolist()
    ([2.0, 5.0], [2.0, 0.0])

    """

    classes: Annotated[Labels, labels("n_classes")]
    docs: Annotated[Sums, counts("n_classes")]
    mean: Annotated[FloatMatrix, floats("n_classes", "n_terms")]
    squares: Annotated[FloatMatrix, floats("n_classes", "n_terms", low=0)]

    def __init__(self, classes: ArrayLike, n_features: int) -> None:
        self.classes: Labels = np.asarray(classes)
        shape = (len(self.classes), n_features)
        self.docs: FloatVector = np.zeros(len(self.classes))
        self.mean: FloatMatrix = np.zeros(shape)
        self.squares: FloatMatrix = np.zeros(shape)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[1])

    def _counted(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike
    ) -> ClassMoments:
        X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        labels, weights = np.asarray(y), real_weights(sample_weight, X.shape[0])
        batch = ClassMoments(self.classes, self.n_features)
        for rows, block in dense_blocks(X):
            batch.merge(self._measured(block, labels[rows], weights[rows]))
        return batch

    def _combine(self, other: ClassMoments, sign: int) -> Self:
        if sign > 0:
            return self.merge(other)
        if np.any(self.docs - other.docs < -1e-9):
            raise DataError(
                "cannot forget more documents than were learned; nothing was changed."
            )
        other.docs, other.squares = -other.docs, -other.squares
        self.merge(other)
        np.maximum(self.squares, 0.0, out=self.squares)
        gone = self.docs <= 0
        self.docs[gone] = 0.0
        self.mean[gone] = 0.0
        self.squares[gone] = 0.0
        return self

    def merge(self, other: ClassMoments) -> Self:
        """Add another shard's moments over the same classes and features."""
        if not np.array_equal(self.classes, other.classes):
            raise DataError("moments of different classes cannot be merged.")
        total, self.mean, self.squares = merge_moments(self._parts(), other._parts())
        self.docs = total[:, 0]
        return self

    def overall(self) -> tuple[float, FloatVector, FloatVector]:
        """Weight, mean and centred sum of squares over all classes."""
        none = np.zeros(self.n_features)
        weight, mean, squares = reduce(
            merge_moments, zip(*self._parts(), strict=True), (np.zeros(1), none, none)
        )
        return float(weight[0]), mean, squares

    def _parts(self) -> Moments:
        return self.docs[:, None], self.mean, self.squares

    def _measured(
        self, rows: FloatMatrix, y: Labels, weight: FloatVector
    ) -> ClassMoments:
        y_index = label_positions(y, self.classes, rows.shape[0])
        batch = ClassMoments(self.classes, self.n_features)
        for c in np.unique(y_index):
            mine = (y_index == c) & (weight > 0)
            if not mine.any():
                continue
            w, values = weight[mine], rows[mine]
            batch.docs[c] = w.sum()
            batch.mean[c] = np.average(values, axis=0, weights=w)
            batch.squares[c] = w @ (values - batch.mean[c]) ** 2
        return batch
