"""Numbers of higher-order paths through the documents of one class, in closed form.

A second-order path is a chain term - document - term - document - term of a
bipartite graph: three different terms, two different documents, neighbors joined
by presence. A third-order path has one more document and term. A chain and its
reverse are one path. Nothing is enumerated: the counts follow from sums over the
co-occurrence matrix C = B'B (HO2, HO3, HO5), which is never made.

Symbols, after B is cut to the terms that occur: L_d terms of document d, f_k
documents with term k, C0 = C without its diagonal, a = C0 1 ("reach"),
r_k = sum_w C0_kw^2, g_kd = sum of C0_kw over the terms w of d.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError, EarmarkWarning
from earmark.kernels.paths import (
    PresenceRows,
    cooccurrence_moments,
    presence_times,
    shared_ends,
    squared_cooccurrence,
    transposed_times,
    walk_sums,
)
from earmark.kernels.rows import canonical_rows, presence
from earmark.typing import IntVector, MatrixLike, SparseMatrix

_INT64_ROOM = float(2**62)

PathCounts = tuple[Any, Any]


def second_order_paths(
    B: MatrixLike, *, pure: bool = False, corpus: MatrixLike | None = None
) -> PathCounts:
    """Count the second-order paths that contain each term, and all paths.

    Parameters
    ----------
    B : array-like or sparse matrix of shape (n_documents, n_terms)
        Documents of one class; a term is present where B > 0.
    pure : bool, default=False
        Count only paths whose two end terms share no document (HO4), neither of B
        nor of ``corpus``.
    corpus : array-like or sparse matrix of shape (n_others, n_terms), optional
        The whole training set, of which B is a part; used with ``pure`` only.

    Returns
    -------
    per_term : ndarray of shape (n_terms,)
        Paths that contain the term, at an end or in the middle.
    total : int or float
        All paths. Both are exact int64 while the total is sure to be below 2**62,
        and float64, with a warning, beyond.

    Examples
    --------
    >>> per_term, total = second_order_paths([[1, 1, 0], [0, 1, 1]])
    >>> per_term.tolist(), total  # the one path 0 - first - 1 - second - 2
    ([1, 1, 1], 1)

    """
    matrix = _presence(B, "B")
    terms = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    rows = PresenceRows.of(matrix, terms)
    lengths, presences = rows.lengths, rows.frequency
    reach = transposed_times(rows, lengths - 1)  # a
    exact = _is_safe(float((reach * (reach + presences.astype(np.float64))).sum()))
    a, f = _typed(exact, reach, presences)
    chains = transposed_times(rows, presence_times(rows, a)) - f * a  # C0 a
    squares, r = _typed(exact, lengths - 1, squared_cooccurrence(rows))
    if pure:
        others = rows if corpus is None else _same_columns(corpus, matrix, terms)
        by_end, by_middle = shared_ends(rows, others, a.dtype)
        middle = a * a - r - by_middle  # HO4
        end = chains - r - by_end
    else:
        q = transposed_times(rows, squares * squares)
        middle = a * a - q - r + a  # HO2, twice
        end = chains - q - r + a  # HO3
    return _counts(end, middle, middle, terms, matrix.shape[1])


def third_order_paths(B: MatrixLike) -> PathCounts:
    """Count the third-order paths that contain each term, and all paths (HO5).

    Four different terms and three different documents.

    Parameters
    ----------
    B : array-like or sparse matrix of shape (n_documents, n_terms)
        Documents of one class; a term is present where B > 0.

    Returns
    -------
    per_term : ndarray of shape (n_terms,)
        Paths that contain the term.
    total : int or float
        All paths. Both are exact int64 while every intermediate sum is sure to be
        below 2**62, and float64, with a warning, beyond.

    Examples
    --------
    >>> third_order_paths([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    (array([1, 1, 1, 1]), 1)

    """
    matrix = _presence(B, "B")
    terms = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    rows = PresenceRows.of(matrix, terms)
    exact = _is_safe(_third_order_bound(rows))
    L, f = _typed(exact, rows.lengths, rows.frequency)
    a = transposed_times(rows, L - 1)
    end, inner = _third_order_chains(rows, L, f, a)
    # Each path, read from either side, has one first and one second term.
    return _counts(end + inner, np.zeros_like(end), end, terms, matrix.shape[1])


def _third_order_chains(rows: PresenceRows, L: Any, f: Any, a: Any) -> PathCounts:
    """Oriented third-order chains by their first and by their second term.

    docs/methods/higher-order.md derives both sums.
    """
    C = cooccurrence_moments(rows, a, f)
    Z = walk_sums(rows, a.dtype)
    r, cubes, s = C.squares, C.cubes, Z.inner
    Lg, LLg = Z.by_length, Z.by_square  # sums of L_d g_kd and L_d^2 g_kd over d with k
    triangles = Z.norms - C.by_held  # diag(C0^3)

    def over_documents(values: Any) -> Any:  # B'v
        return transposed_times(rows, values)

    def over_neighbors(values: Any) -> Any:  # C0 v
        return over_documents(presence_times(rows, values)) - f * values

    h = over_neighbors(a)
    u = over_documents((L - 1) * (L - 2))
    Ba = presence_times(rows, a)
    apart = (L - 1) * (L - 2) * (L - 3)
    end = over_neighbors(h - u - r) - (a + 14) * r + a * (a - f) + cubes - triangles
    end += 5 * Lg + over_documents((4 - L) * s - (L - 2) * Ba + 2 * apart)

    P = over_documents(L * (L - 1))
    inner = (a + 2) * (h + 2 * a - r) + a * (a + f - P) - C.by_reach - 12 * r
    inner += cubes - triangles + 8 * Lg - LLg
    inner += over_documents(s - L * Ba + 2 * (L - 1) ** 2 * (L - 4))
    return end, inner


def _third_order_bound(rows: PresenceRows) -> float:
    """More than any intermediate sum of the third-order closed form."""
    L, f = rows.lengths.astype(np.float64), rows.frequency.astype(np.float64)
    b = transposed_times(rows, L) + 2  # a + f + 2
    walks = b * transposed_times(rows, presence_times(rows, b))
    return float(16 * (walks + f * transposed_times(rows, L**3)).sum())


def _presence(B: MatrixLike, name: str) -> SparseMatrix:
    """The indicator of B > 0 as canonical CSR."""
    if not sparse.issparse(B):
        B = np.asarray(B)
    if B.ndim != 2:
        raise DataError(
            f"{name} must have two dimensions, documents x terms, got {B.ndim}."
        )
    return presence(canonical_rows(B), dtype=np.int8)


def _same_columns(
    corpus: MatrixLike, matrix: SparseMatrix, terms: IntVector
) -> PresenceRows:
    """Presences of the whole corpus, in the columns that the class has."""
    others = _presence(corpus, "corpus")
    if others.shape[1] != matrix.shape[1]:
        raise DataError(
            f"corpus must have the {matrix.shape[1]} columns of B, "
            f"got {others.shape[1]}."
        )
    return PresenceRows.of(others, terms)


def _is_safe(bound: float) -> bool:
    """Whether int64 holds every sum; warn where it does not."""
    if bound < _INT64_ROOM:
        return True
    warnings.warn(
        "the number of paths may exceed 2**62; it is counted in float64, which "
        "keeps about 15 digits.",
        EarmarkWarning,
        stacklevel=3,
    )
    return False


def _typed(exact: bool, *values: IntVector) -> list[Any]:
    dtype = np.int64 if exact else np.float64
    return [np.ascontiguousarray(v, dtype=dtype) for v in values]


def _counts(
    end: Any, middle: Any, oriented: Any, terms: IntVector, n_terms: int
) -> PathCounts:
    """Paths by term and in total from oriented chains, each path counted twice."""
    per_term = np.zeros(n_terms, dtype=end.dtype)
    if end.dtype == np.int64:
        per_term[terms] = end + middle // 2
        return per_term, int(oriented.sum()) // 2
    # Rounding may leave a small negative number where there is no path.
    per_term[terms] = np.maximum(end + middle / 2, 0.0)
    total = float(max(oriented.sum() / 2, 0.0))
    return np.minimum(per_term, total), total
