"""Row-wise sums and scalings, unit vectors, log space, and a few strong directions.

Unit vectors are summed in whole multiples of 2**-40 (CS2): lengths are summed exactly
and rounded once, so that neither the order of a row's entries nor the choice of kernel
shows in the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from earmark.exceptions import DataError
from earmark.kernels.backend import native
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix

Weights: TypeAlias = FloatVector | IntVector

UNIT = 2.0**-40
"""The grid that the entries of a unit vector are rounded to."""
_PAIR_BLOCK = 512
_BLOCK_VALUES = 2_000_000


def csr_arrays(X: SparseMatrix) -> tuple[IntVector, NDArray[np.int32], FloatVector]:
    """indptr, indices and data of a CSR matrix in the types that kernels take."""
    return (
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=np.float64),
    )


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


def require_counts(rows: SparseMatrix, who: str, hint: str = "") -> None:
    """Raise where a CSR matrix holds a value below 0; ``who`` takes counts."""
    if rows.nnz and rows.data.min() < 0:
        row = int(np.searchsorted(rows.indptr, rows.data.argmin(), side="right")) - 1
        raise DataError(
            f"Negative values in data: {who} counts, all >= 0, got "
            f"{rows.data.min():g} in row {row}{hint}."
        )


def class_sums(X: SparseMatrix, y_index: IntVector, n_classes: int) -> SparseMatrix:
    """Sum the rows of X within each class -> canonical CSR (n_classes, n_features)."""
    n_samples = X.shape[0]
    order = np.argsort(y_index, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(y_index, minlength=n_classes))))
    ones = np.ones(n_samples, dtype=X.dtype)
    one_hot = sparse.csr_array((ones, order, indptr), shape=(n_classes, n_samples))
    sums = one_hot @ X
    if 4 * sums.nnz > X.shape[1]:  # sorts the rows in two passes over them
        sums = sums.tocsc().tocsr()
    return canonical_rows(sums)


def dense_blocks(X: Matrix) -> Iterator[tuple[slice, FloatMatrix]]:
    """Rows of X as dense float64 blocks of bounded size; one block if X is dense."""
    if not sparse.issparse(X):
        yield slice(None), np.asarray(X, dtype=np.float64)
        return
    rows = sparse.csr_array(X)
    step = max(1, _BLOCK_VALUES // max(1, rows.shape[1]))
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


def row_entries(X: SparseMatrix) -> Iterator[tuple[IntVector, FloatVector]]:
    """Columns and values of each row of a CSR matrix, as views."""
    for start, stop in pairwise(X.indptr):
        yield X.indices[start:stop], X.data[start:stop]


def row_lengths(X: SparseMatrix) -> FloatVector:
    """Sum of each row as float64: n_d, the tokens of a document."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def scale_rows(X: SparseMatrix, factor: Weights) -> SparseMatrix:
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
    """Length of each row, summed exactly and rounded once; duplicates add up."""
    lib = native()
    if lib is not None and _fits(rows):
        norms = lib.row_norms(*csr_arrays(rows), rows.shape[1])
        if norms is not None:
            return np.asarray(norms)
    rows = canonical_rows(rows)
    data, bounds = rows.data.astype(np.float64), rows.indptr.tolist()
    squares = (data * data).tolist()
    sums = [math.fsum(squares[i:j]) for i, j in pairwise(bounds)]
    return np.sqrt(np.asarray(sums, dtype=np.float64))


def times_dense(rows: Matrix, weights: FloatMatrix) -> FloatMatrix:
    """``rows @ weights``, (n_samples, n_outputs); sums in the order of the entries."""
    lib = native()
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if lib is None or not sparse.issparse(rows) or not _fits(rows):
        return np.asarray(rows @ weights, dtype=np.float64)
    product = np.empty((rows.shape[0], weights.shape[1]))
    lib.times_dense(*csr_arrays(sparse.csr_array(rows)), weights, product)
    return product


def unit_rows(X: SparseMatrix) -> SparseMatrix:
    """Scale rows of a CSR to unit Euclidean length; zero rows stay zero."""
    return scale_rows(X, inverse_or_zero(row_norms(X)))


def inverse_or_zero(values: FloatVector) -> FloatVector:
    """1 / value, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _fits(rows: SparseMatrix) -> bool:
    """Whether the kernels' 32 bits can number the columns."""
    return bool(rows.shape[1] <= np.iinfo(np.int32).max)


def fixed_point_rows(rows: SparseMatrix, unit: bool = True) -> SparseMatrix:
    """Canonical rows, scaled to length 1 if ``unit``, in whole numbers of ``UNIT``."""
    steps = unit_rows(rows) if unit else rows.astype(np.float64)
    steps.data = np.rint(steps.data * (1.0 / UNIT)).astype(np.int64)
    return steps


def class_unit_sums(
    rows: SparseMatrix,
    y_index: IntVector,
    n_classes: int,
    weight: Weights | None,
    unit: bool = True,
) -> SparseMatrix:
    """Sum the fixed-point rows of each class -> CSR int64 (n_classes, n_features)."""
    # Whole weights keep the sum a multiple of each entry; real ones round each product.
    lib = native()
    if lib is None or not _fits(rows) or not unit:
        steps = fixed_point_rows(canonical_rows(rows), unit)
        if weight is not None:
            steps = scale_rows(steps, weight)
            if weight.dtype.kind == "f":
                steps.data = np.rint(steps.data).astype(np.int64)
        return canonical_rows(class_sums(steps, y_index, n_classes))
    is_whole = weight is not None and weight.dtype.kind == "i"
    arrays = lib.class_unit_sums(
        *csr_arrays(rows),
        y=y_index,
        whole_weight=weight if is_whole else None,
        real_weight=None if is_whole else weight,
        n_classes=n_classes,
        n_columns=rows.shape[1],
    )
    if arrays is None:  # a column stands twice in a row
        return class_unit_sums(canonical_rows(rows), y_index, n_classes, weight)
    indptr, indices, data = arrays
    sums = sparse.csr_array((data, indices, indptr), shape=(n_classes, rows.shape[1]))
    sums.has_canonical_format = True
    return sums


def pair_counts(rows: SparseMatrix) -> NDArray[np.float32]:
    """Documents with both terms, dense, zero diagonal; exact up to 2**24 documents."""
    n_terms = rows.shape[1]
    counts = np.zeros((n_terms, n_terms), dtype=np.float32)
    lib = native()
    if lib is not None:
        lib.count_pairs(rows.indptr, rows.indices, counts)
        return counts
    ones = rows.astype(np.float32)
    ones.data[:] = 1.0
    by_term = ones.T.tocsr()
    for start in range(0, n_terms, _PAIR_BLOCK):
        block = slice(start, start + _PAIR_BLOCK)
        counts[block] = (by_term[block] @ ones).toarray()
    np.fill_diagonal(counts, 0.0)
    return counts


def logsumexp_rows(scores: FloatMatrix) -> FloatVector:
    """Log of the sum of exponentials of each row; -inf for a row of -inf."""
    top = scores.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(scores - shift[:, None]).sum(axis=1))
    return np.asarray(total + shift, dtype=np.float64)


def log_normalize(scores: FloatMatrix) -> FloatMatrix:
    """Subtract each row's log-sum-exp (NB5); a row of -inf stays as it is."""
    total = logsumexp_rows(scores)
    return scores - np.where(np.isneginf(total), 0.0, total)[:, None]


def index_type(n_entries: int) -> type[np.int32] | type[np.int64]:
    """int32 while it can count the entries, as scikit-learn chooses."""
    return np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64


_OVERSAMPLING = 10


def right_singular_vectors(
    times: Callable[[Any], Any],
    transposed_times: Callable[[Any], Any],
    n_columns: int,
    rank: int,
    *,
    n_power: int,
    seed: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """V (n_columns, rank) and the singular values of a matrix known by its products.

    A random block goes through M, then ``n_power`` times through M M.T, made
    orthonormal in between; the small problem that is left is solved exactly (Halko,
    Martinsson and Tropp, 2011, algorithm 4.4). Each vector's largest entry is positive.
    """
    rng = np.random.default_rng(seed)
    width = min(rank + _OVERSAMPLING, n_columns)
    block = rng.standard_normal((n_columns, width), dtype=np.float32)
    basis = _orthonormal(times(block))
    for _ in range(n_power):
        basis = _orthonormal(times(transposed_times(basis)))
    # M is nearly Q (M.T Q).T: its right singular vectors are the left ones of M.T Q.
    image = transposed_times(basis)
    gram = (image.T @ image).astype(np.float64)
    squares, vectors = linalg.eigh(gram)
    best = np.argsort(-squares, kind="stable")[:rank]
    values = np.sqrt(np.maximum(squares[best], 0.0)).astype(np.float32)
    right = image @ vectors[:, best].astype(np.float32)
    right /= np.where(values > 0, values, 1.0)
    largest = np.abs(right).argmax(axis=0)
    right *= np.sign(right[largest, np.arange(right.shape[1])])
    return right, values


def _orthonormal(block: NDArray[np.float32]) -> Any:
    """An orthonormal basis of the columns, by QR in single precision."""
    return linalg.qr(block, mode="economic", overwrite_a=True, check_finite=False)[0]


def ridge_dual(
    rows: SparseMatrix, target: Any, penalty: float, n_steps: int, close: float = 0.0
) -> Any:
    """A with (R R' + penalty I) A = target: conjugate gradients, all columns at once.

    ``close`` is the squared length of a residual column from which on it is solved.
    """
    transposed = rows.T.tocsr()
    solution, residual, direction = np.zeros_like(target), target.copy(), target.copy()
    size = np.einsum("ij,ij->j", residual, residual)
    for _ in range(n_steps):
        if size.max(initial=0.0) <= close:
            break
        image = rows @ (transposed @ direction) + penalty * direction
        curve = np.einsum("ij,ij->j", direction, image)
        step = np.divide(size, curve, out=np.zeros_like(size), where=curve > 0)
        solution += step * direction
        residual -= step * image
        before, size = size, np.einsum("ij,ij->j", residual, residual)
        turn = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
        direction = residual + turn * direction
    return solution
