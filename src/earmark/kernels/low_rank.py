"""Leading singular vectors of a large matrix by random projection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["right_singular_vectors"]

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

    ``times(Q)`` is M @ Q and ``transposed_times(Q)`` is M.T @ Q. A random block is
    pushed through M.T M ``n_power`` times and made orthonormal in between; the
    small problem that is left is solved exactly (Halko, Martinsson and Tropp,
    2011, algorithm 4.4). Signs are fixed: the largest entry of each vector is
    positive. Same seed, same bytes.
    """
    rng = np.random.default_rng(seed)
    width = min(rank + _OVERSAMPLING, n_columns)
    block = rng.standard_normal((n_columns, width), dtype=np.float32)
    for _ in range(n_power):
        block = _orthonormal(transposed_times(_orthonormal(times(block))))
    image = times(block)
    # image = M Q; its right singular vectors, turned back by Q, are those of M.
    gram = (image.T @ image).astype(np.float64)
    values, vectors = linalg.eigh(gram)
    best = np.argsort(-values, kind="stable")[:rank]
    right = block @ vectors[:, best].astype(np.float32)
    largest = np.abs(right).argmax(axis=0)
    right *= np.sign(right[largest, np.arange(right.shape[1])])
    return right, np.sqrt(np.maximum(values[best], 0.0)).astype(np.float32)


def _orthonormal(block: NDArray[np.float32]) -> Any:
    """An orthonormal basis of the columns, by QR in single precision."""
    return linalg.qr(block, mode="economic", overwrite_a=True, check_finite=False)[0]
