"""In how many documents two terms occur together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.typing import SparseMatrix

__all__ = ["pair_counts"]

_BLOCK = 512


def pair_counts(rows: SparseMatrix) -> NDArray[np.float32]:
    """Documents that hold both terms, (n_terms, n_terms), with a zero diagonal.

    ``rows`` is a canonical CSR matrix; only where its entries are counts. The
    result is dense, so choose the terms first. Exact up to 2**24 documents.
    """
    n_terms = rows.shape[1]
    counts = np.zeros((n_terms, n_terms), dtype=np.float32)
    lib = native()
    if lib is not None:
        indptr = np.ascontiguousarray(rows.indptr, dtype=np.int64)
        indices = np.ascontiguousarray(rows.indices, dtype=np.int32)
        lib.count_pairs(indptr, indices, counts)
        return counts
    ones = rows.astype(np.float32)
    ones.data[:] = 1.0
    by_term = ones.T.tocsr()
    for start in range(0, n_terms, _BLOCK):
        block = slice(start, start + _BLOCK)
        counts[block] = (by_term[block] @ ones).toarray()
    np.fill_diagonal(counts, 0.0)
    return counts
