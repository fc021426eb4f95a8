"""64-bit keys of documents by their content: what randomness may depend on.

A document's key does not change with its place in the data or in a shard, so what is
drawn by key is the same whatever the order and the division of the documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.typing import FloatMatrix, SparseMatrix

__all__ = ["mixed_bits", "rekeyed", "row_keys", "uniform_of"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_NODE = np.uint64(0xD1B54A32D192ED03)


def mixed_bits(z: Any) -> Any:
    """Scatter the bits of 64-bit numbers: the finisher of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def row_keys(X: SparseMatrix) -> NDArray[np.uint64]:
    """Key of each row of a canonical CSR: equal rows have equal keys."""
    column = X.indices.astype(np.uint64) * _GOLDEN
    value = np.ascontiguousarray(X.data, dtype=np.float64).view(np.uint64)
    ends = np.zeros(X.nnz + 1, dtype=np.uint64)
    np.cumsum(mixed_bits(column ^ mixed_bits(value)), out=ends[1:])
    return np.asarray(mixed_bits(ends[X.indptr[1:]] - ends[X.indptr[:-1]]))


def rekeyed(keys: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    """Other keys for the same documents, unrelated for another seed."""
    return np.asarray(mixed_bits(keys + np.asarray(seed) * _GOLDEN))


def uniform_of(seed: Any, key: Any, node: Any) -> FloatMatrix:
    """Numbers in (0, 1] that depend on (seed, key, node) alone; arrays broadcast."""
    z = mixed_bits(seed + (key + node * _NODE) * _GOLDEN)
    numbers: FloatMatrix = ((z >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53
    return numbers
