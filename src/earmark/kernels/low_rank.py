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
    pushed through M, then ``n_power`` times through M M.T, made orthonormal in
    between; the small problem that is left is solved exactly (Halko, Martinsson
    and Tropp, 2011, algorithm 4.4). Signs are fixed: the largest entry of each
    vector is positive. Same seed, same bytes.
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
