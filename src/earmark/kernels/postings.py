"""Exact cosine top-k over an inverted index with its hottest terms dense (VS3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.kernels.backend import native
from earmark.kernels.rows import canonical_rows, csr_arrays, row_numbers, unit_rows
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

# A term in more than this share of the documents is cheaper as a dense column, unless
# such terms are so light in the mean that bounding them is cheaper still.
_HOT_SHARE = 0.1
_MOST_HOT_TERMS = 64
_LIGHT = 0.25
# Scores kept at a time, in float32 (compiled) or as sparse entries (plain).
_BLOCK_SCORES = 2_000_000


@dataclass(frozen=True)
class Postings:
    """Unit rows, and for the compiled kernel the same by term."""

    rows: SparseMatrix
    """Canonical CSR of unit rows (n_docs, n_terms), float64."""
    is_signed: bool
    hot_position: NDArray[np.int32]
    """Column of a hot term in ``block``; -1 for the other terms."""
    block: NDArray[np.float32]
    """Weights of the hot terms, (n_docs, n_hot)."""
    compiled: Any = field(repr=False, compare=False)
    """The postings of the other terms; None where the plain kernel serves."""

    def __reduce__(self) -> tuple[Any, ...]:
        return build_postings, (self.rows,)


def build_postings(rows: SparseMatrix) -> Postings:
    """Index a canonical CSR of unit rows."""
    n_docs, n_terms = rows.shape
    is_signed = bool(rows.data.min(initial=0.0) < 0)
    hot_position = np.full(n_terms, -1, dtype=np.int32)
    lib, compiled = native(), None
    is_compiled = lib is not None and n_terms <= np.iinfo(np.int32).max
    hot = _hot_terms(rows) if is_compiled else np.empty(0, dtype=np.int64)
    hot_position[hot] = np.arange(len(hot), dtype=np.int32)
    block = np.zeros((n_docs, len(hot)), dtype=np.float32)
    if lib is not None and is_compiled:
        compiled = lib.Postings(*csr_arrays(rows), hot_position, block)
    return Postings(rows, is_signed, hot_position, block, compiled)


def _hot_terms(rows: SparseMatrix) -> IntVector:
    frequency = np.bincount(rows.indices, minlength=rows.shape[1])
    is_hot = frequency > _HOT_SHARE * rows.shape[0]
    squares = rows.data[is_hot[rows.indices]] ** 2
    if squares.sum() <= _LIGHT**2 * rows.shape[0]:
        return np.empty(0, dtype=np.int64)
    hot = np.flatnonzero(is_hot)
    hottest = np.argsort(-frequency[hot], kind="stable")[:_MOST_HOT_TERMS]
    return np.sort(hot[hottest])


def top_similar(
    index: Postings, queries: SparseMatrix, k: int, exclude: IntVector | None = None
) -> tuple[FloatMatrix, IntVector]:
    """Similarities and numbers of the k most similar rows of each query, exactly."""
    # Best first, equal ones by row number; 0 and -1 fill up where fewer are similar.
    # ``exclude`` names a row that each query may not find, or -1.
    n_queries = queries.shape[0]
    similarity = np.zeros((n_queries, k))
    docs = np.full((n_queries, k), -1, dtype=np.int64)
    if exclude is None:
        exclude = np.full(n_queries, -1, dtype=np.int64)
    if index.compiled is None:
        queries = canonical_rows(queries)
    queries = unit_rows(queries)
    step = max(1, _BLOCK_SCORES // max(1, index.rows.shape[0]))
    search = _plain_block if index.compiled is None else _compiled_block
    for start in range(0, n_queries, step):
        block = slice(start, start + step)
        search(index, queries[block], exclude[block], similarity[block], docs[block])
    # Rounding may lift the cosine of equal documents a little above 1.
    return np.minimum(similarity, 1.0, out=similarity), docs


def best_first(ids: IntVector, scores: FloatVector, k: int) -> IntVector:
    """Places of the k largest scores, best first, equal ones by id."""
    places = np.arange(len(ids))
    if len(ids) > k:
        least = np.partition(scores, len(ids) - k)[len(ids) - k]
        places = np.flatnonzero(scores >= least)
    return places[np.lexsort((ids[places], -scores[places]))[:k]]


def _compiled_block(
    index: Postings,
    queries: SparseMatrix,
    exclude: IntVector,
    similarity: FloatMatrix,
    docs: IntVector,
) -> None:
    scores = None
    if index.block.shape[1]:
        hot = index.hot_position[queries.indices]
        is_hot = hot >= 0
        shape = (queries.shape[0], index.block.shape[1])
        cell = row_numbers(queries)[is_hot] * shape[1] + hot[is_hot]
        dense = np.bincount(cell, queries.data[is_hot], minlength=shape[0] * shape[1])
        scores = dense.astype(np.float32).reshape(shape) @ index.block.T
    index.compiled.top_similar(
        *csr_arrays(queries),
        exclude=exclude,
        scores=scores,
        is_signed=index.is_signed or bool(queries.data.min(initial=0.0) < 0),
        out_similarity=similarity,
        out_docs=docs,
    )


def _plain_block(
    index: Postings,
    queries: SparseMatrix,
    exclude: IntVector,
    similarity: FloatMatrix,
    docs: IntVector,
) -> None:
    product = sparse.csr_array(queries @ index.rows.T)
    for q, (start, stop) in enumerate(pairwise(product.indptr)):
        ids, scores = product.indices[start:stop], product.data[start:stop]
        valid = (scores > 0) & (ids != exclude[q])
        ids, scores = ids[valid], scores[valid]
        order = best_first(ids, scores, docs.shape[1])
        similarity[q, : len(order)] = scores[order]
        docs[q, : len(order)] = ids[order]
