"""Row-wise sums, scalings and selections of sparse matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from earmark.kernels.backend import native
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix

__all__ = [
    "canonical_rows",
    "class_sums",
    "dense_blocks",
    "presence",
    "row_lengths",
    "row_norms",
    "row_numbers",
    "scale_rows",
    "squared_lengths",
    "unit_rows",
]


def canonical_rows(X: Matrix) -> SparseMatrix:
    """X as CSR without duplicates, stored zeros or disorder; X itself is kept."""
    rows = sparse.csr_array(X)
    is_clean = rows.has_canonical_format and (rows.nnz == 0 or rows.data.all())
    if is_clean:
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def class_sums(X: SparseMatrix, y_index: IntVector, n_classes: int) -> SparseMatrix:
    """Sum the rows of X within each class -> canonical CSR (n_classes, n_features)."""
    n_samples = X.shape[0]
    order = np.argsort(y_index, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(y_index, minlength=n_classes))))
    ones = np.ones(n_samples, dtype=X.dtype)
    one_hot = sparse.csr_array((ones, order, indptr), shape=(n_classes, n_samples))
    return canonical_rows(one_hot @ X)


def dense_blocks(
    X: Matrix, max_values: int = 2_000_000
) -> Iterator[tuple[slice, FloatMatrix]]:
    """Rows of X as dense float64 blocks of bounded size; one block if X is dense."""
    if not sparse.issparse(X):
        yield slice(None), np.asarray(X, dtype=np.float64)
        return
    rows = sparse.csr_array(X)
    step = max(1, max_values // max(1, rows.shape[1]))
    for start in range(0, rows.shape[0], step):
        block = slice(start, start + step)
        yield block, rows[block].toarray().astype(np.float64)


def presence(X: SparseMatrix, dtype: type = np.int64) -> SparseMatrix:
    """The indicator b of X's positive entries, as CSR; X must be canonical."""
    ones = (X.data > 0).astype(dtype)
    indicator = sparse.csr_array((ones, X.indices, X.indptr), shape=X.shape)
    if not ones.all():
        indicator = indicator.copy()
        indicator.eliminate_zeros()
    return indicator


def row_numbers(X: SparseMatrix) -> IntVector:
    """The row of every stored entry of a CSR matrix."""
    return np.repeat(np.arange(X.shape[0], dtype=np.int64), np.diff(X.indptr))


def row_lengths(X: SparseMatrix) -> FloatVector:
    """Sum of each row as float64: n_d, the tokens of a document."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def scale_rows(X: SparseMatrix, factor: FloatVector) -> SparseMatrix:
    """Multiply row d of a CSR matrix by factor[d]."""
    data = X.data * np.repeat(factor, np.diff(X.indptr))
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def squared_lengths(X: SparseMatrix) -> FloatVector:
    """Sum of squares of each row of a CSR matrix."""
    squares = sparse.csr_array(
        (X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape
    )
    return row_lengths(squares)


def row_norms(rows: SparseMatrix) -> FloatVector:
    """Euclidean length of each row of a CSR; duplicate entries count as their sum.

    Squares are summed exactly and rounded once: their order does not show.
    """
    lib = native()
    if lib is not None and rows.indices.dtype == np.int32:
        data = rows.data.astype(np.float64, copy=False)
        norms = lib.row_norms(
            rows.indptr.astype(np.int64), rows.indices, data, rows.shape[1]
        )
        if norms is not None:
            return np.asarray(norms)
    rows = canonical_rows(rows)
    data, bounds = rows.data.astype(np.float64), rows.indptr.tolist()
    squares = (data * data).tolist()
    sums = [math.fsum(squares[i:j]) for i, j in pairwise(bounds)]
    return np.sqrt(np.asarray(sums, dtype=np.float64))


def unit_rows(X: SparseMatrix) -> SparseMatrix:
    """Scale rows of a CSR to unit Euclidean length; zero rows stay zero."""
    norm = row_norms(X)
    return scale_rows(X, np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0))
