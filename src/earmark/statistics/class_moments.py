"""Class moments of real-valued features: mean and centred sum of squares (CS2)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.kernels.rows import dense_blocks
from earmark.statistics.class_statistics import (
    AdditiveStatistics,
    label_positions,
    real_weights,
)
from earmark.typing import ArrayLike, FloatMatrix, FloatVector, Labels, MatrixLike

__all__ = ["ClassMoments", "merge_moments"]


def merge_moments(
    weight: FloatMatrix,
    mean: FloatMatrix,
    squares: FloatMatrix,
    other_weight: FloatMatrix,
    other_mean: FloatMatrix,
    other_squares: FloatMatrix,
) -> tuple[FloatMatrix, FloatMatrix, FloatMatrix]:
    """Chan's formula for the moments of two sets together (CS2).

    A negative ``other_weight`` with negated ``other_squares`` takes the second
    set away again.
    """
    total = weight + other_weight
    share = np.divide(other_weight, total, out=np.zeros_like(total), where=total != 0)
    delta = other_mean - mean
    return (
        total,
        mean + delta * share,
        squares + other_squares + delta**2 * weight * share,
    )


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
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None
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
        total, self.mean, self.squares = merge_moments(
            self.docs[:, None],
            self.mean,
            self.squares,
            other.docs[:, None],
            other.mean,
            other.squares,
        )
        self.docs = total[:, 0]
        return self

    def overall(self) -> tuple[float, FloatVector, FloatVector]:
        """Weight, mean and centred sum of squares over all classes."""
        weight, mean = np.zeros((1, 1)), np.zeros((1, self.n_features))
        squares = mean.copy()
        for c in range(len(self.classes)):
            row = slice(c, c + 1)
            weight, mean, squares = merge_moments(
                weight,
                mean,
                squares,
                self.docs[row, None],
                self.mean[row],
                self.squares[row],
            )
        return float(weight[0, 0]), mean[0], squares[0]

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
