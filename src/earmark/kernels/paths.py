"""Sums over the co-occurrence matrix C = B'B of one class, without making it.

B is the presence matrix of m documents and n terms, L_d its row sums (distinct
terms), f_k its column sums (document frequencies). C0 is C without its diagonal.
No function here makes an n x n or an m x m array: what is more than O(nnz B)
long is made in blocks of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from earmark.kernels.backend import native
from earmark.typing import IntVector, SparseMatrix

_BLOCK = 4_000_000  # values held at once by a plain twin


class PresenceRows(NamedTuple):
    """A presence matrix: the sorted, distinct terms of each document."""

    indptr: IntVector
    indices: Any
    """Terms as int32."""
    n_terms: int

    @classmethod
    def of(cls, B: SparseMatrix, terms: IntVector) -> PresenceRows:
        """The pattern of a canonical CSR matrix, cut to these columns (ascending)."""
        position = np.full(B.shape[1], -1, dtype=np.int32)
        position[terms] = np.arange(len(terms), dtype=np.int32)
        indices, indptr = position[B.indices], B.indptr.astype(np.int64)
        is_column = indices >= 0
        if not is_column.all():
            before = np.concatenate(([0], np.cumsum(is_column)))
            indices, indptr = indices[is_column], before[indptr]
        return cls(indptr, indices, len(terms))

    @property
    def lengths(self) -> IntVector:
        """L_d, the number of terms of each document."""
        return np.diff(self.indptr)

    @property
    def frequency(self) -> IntVector:
        """f_k, the number of documents with each term."""
        counts = np.bincount(self.indices, minlength=self.n_terms)
        return counts.astype(np.int64)

    def matrix(self, dtype: Any = np.int64) -> SparseMatrix:
        """B as a CSR matrix of ones."""
        ones = np.ones(len(self.indices), dtype=dtype)
        shape = (len(self.indptr) - 1, self.n_terms)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=shape)


class Moments(NamedTuple):
    """Row sums of C0, of its squares (twice weighted) and of its cubes."""

    squares: Any
    cubes: Any
    by_reach: Any
    by_held: Any


class WalkSums(NamedTuple):
    """Sums over Z = B C0."""

    norms: Any
    """sum_d Z_dk^2, for each term."""
    by_length: Any
    """Sum of L_d Z_dk over the documents with the term."""
    by_square: Any
    """Sum of L_d^2 Z_dk over the documents with the term."""
    inner: Any
    """Sum of Z_dk over the terms of each document."""


def presence_times(rows: PresenceRows, vector: Any) -> Any:
    """B v, in v's own type."""
    lib = native()
    if lib is None:
        return rows.matrix(vector.dtype) @ vector
    out = np.zeros(len(rows.indptr) - 1, dtype=vector.dtype)
    lib.presence_times(rows.indptr, rows.indices, vector, out)
    return out


def transposed_times(rows: PresenceRows, vector: Any) -> Any:
    """B' v, in v's own type."""
    lib = native()
    if lib is None:
        return rows.matrix(vector.dtype).T @ vector
    out = np.zeros(rows.n_terms, dtype=vector.dtype)
    lib.transposed_times(rows.indptr, rows.indices, vector, out)
    return out


def squared_cooccurrence(
    rows: PresenceRows, by_document: bool | None = None
) -> IntVector:
    """Sum of C0_kw^2 over w, for every term k, as int64.

    The compiled kernel goes by rows of C (sum of L_d^2 additions) or of BB' (sum of
    f_k^2), whichever is cheaper unless ``by_document`` says.
    """
    lib = native()
    out = np.zeros(rows.n_terms, dtype=np.int64)
    if lib is None:
        for terms, block in _cooccurrence_blocks(rows):
            out[terms] = np.asarray((block * block).sum(axis=1)).ravel()
        return out
    if by_document is None:
        lengths, frequency = rows.lengths, rows.frequency
        by_document = bool(frequency @ frequency < lengths @ lengths)
    lib.squared_cooccurrence(rows.indptr, rows.indices, by_document, out)
    return out


def cooccurrence_moments(rows: PresenceRows, reach: Any, frequency: Any) -> Moments:
    """Moments of the rows of C0; squares also weighted by reach and frequency."""
    lib = native()
    sums = Moments(*(np.zeros(rows.n_terms, dtype=reach.dtype) for _ in range(4)))
    if lib is not None:
        lib.cooccurrence_moments(
            *rows[:2], reach=reach, held=frequency, **sums._asdict()
        )
        return sums
    for terms, block in _cooccurrence_blocks(rows):
        block = block.astype(reach.dtype)
        square = block * block
        sums.squares[terms] = np.asarray(square.sum(axis=1)).ravel()
        sums.cubes[terms] = np.asarray((square * block).sum(axis=1)).ravel()
        sums.by_reach[terms] = square @ reach
        sums.by_held[terms] = square @ frequency
    return sums


def walk_sums(rows: PresenceRows, dtype: Any) -> WalkSums:
    """Sums over Z = B C0 in the given type, int64 or float64."""
    lib = native()
    lengths, frequency = rows.lengths, rows.frequency
    length = lengths.astype(dtype)
    sizes = (rows.n_terms, rows.n_terms, rows.n_terms, len(lengths))
    sums = WalkSums(*(np.zeros(size, dtype=dtype) for size in sizes))
    if lib is not None:
        largest = int(lengths.max(initial=0)) * int(frequency.max(initial=0))
        is_narrow = largest < 2**31
        weights = {"held": frequency, "length": length, "is_narrow": is_narrow}
        lib.walk_sums(*rows[:2], **weights, **sums._asdict())
        return sums
    B = rows.matrix()
    step = max(1, _BLOCK // max(1, *B.shape))
    for first in range(0, B.shape[0], step):
        documents = slice(first, first + step)
        block = B[documents]
        Z = (block @ B.T @ B).toarray() - block.toarray() * frequency  # SB - B diag(f)
        Z = Z.astype(dtype)
        inside = block.toarray() * Z
        sums.norms[:] += (Z * Z).sum(axis=0)
        sums.by_length[:] += length[documents] @ inside
        sums.by_square[:] += length[documents] ** 2 @ inside
        sums.inner[documents] = inside.sum(axis=1)
    return sums


def shared_ends(rows: PresenceRows, others: PresenceRows, dtype: Any) -> Any:
    """Chains i - k - j of C0 whose ends share a document of either -> (by i, by k)."""
    lib = native()
    ends, middles = (np.zeros(rows.n_terms, dtype=dtype) for _ in range(2))
    if lib is not None:
        is_narrow = len(rows.indices) < 2**31
        lib.shared_ends(*rows[:2], *others[:2], is_narrow, ends, middles)
        return ends, middles
    B, everything = rows.matrix(), sparse.vstack([rows.matrix(), others.matrix()])
    everything = everything.tocsr()
    frequency = sparse.diags_array(rows.frequency, dtype=np.int64)
    for terms, block in _cooccurrence_blocks(rows):
        meets = (everything.T[terms] @ everything).astype(bool).astype(np.int64)
        meets = _without_diagonal(meets, terms)
        chains = block * ((meets @ B.T) @ B - meets @ frequency)
        ends[terms] = np.asarray(chains.sum(axis=1)).ravel()
        middles += np.asarray(chains.sum(axis=0)).ravel()
    return ends, middles


def _cooccurrence_blocks(rows: PresenceRows) -> Iterator[tuple[slice, SparseMatrix]]:
    """Count the documents that two terms share, in sparse blocks of rows."""
    B = rows.matrix()
    step = max(1, _BLOCK // max(1, rows.n_terms))
    columns = B.T.tocsr()
    for first in range(0, rows.n_terms, step):
        terms = slice(first, first + step)
        yield terms, _without_diagonal((columns[terms] @ B).tocsr(), terms)


def _without_diagonal(block: SparseMatrix, terms: slice) -> SparseMatrix:
    """Rows ``terms`` of a square matrix with zeros where row = column."""
    own = sparse.eye_array(block.shape[0], block.shape[1], k=terms.start, dtype=bool)
    block = block - block * own
    return block.tocsr()
