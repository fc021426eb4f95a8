"""When a pool is large enough to help (SS3)."""

from __future__ import annotations

__all__ = ["MIN_POOL", "MIN_POOL_RATIO", "pool_is_useful"]

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
