"""When a pool is large enough to help (SS3)."""

from __future__ import annotations

import numpy as np

from earmark.typing import SparseMatrix

__all__ = ["MIN_POOL", "MIN_POOL_RATIO", "n_different", "pool_is_useful"]

MIN_POOL = 500
MIN_POOL_RATIO = 2.0


def pool_is_useful(
    n_labelled: int,
    n_pool: int,
    min_pool: int = MIN_POOL,
    min_pool_ratio: float = MIN_POOL_RATIO,
) -> bool:
    """Whether a pool has enough documents, alone and for each labelled one."""
    return n_pool >= min_pool and n_pool >= min_pool_ratio * n_labelled


def n_different(rows: SparseMatrix) -> int:
    """Number of different rows that are not empty; a copy tells nothing new."""
    seen = set()
    for i in np.flatnonzero(np.diff(rows.indptr)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        seen.add((rows.indices[part].tobytes(), rows.data[part].tobytes()))
    return len(seen)
