"""The order in which descent visits documents: by content and seed, not by row.

A document's fingerprint depends on its terms and its label only. Documents are
told apart and visited by fingerprint, so the rows of a file may come in any order
and a document that stands there twice is one document of weight two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.typing import FloatVector, IntVector, SparseMatrix

__all__ = ["Visits", "csr_parts", "distinct_documents", "fingerprints", "uniforms"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
Words = NDArray[np.uint64]


def csr_parts(X: SparseMatrix) -> tuple[IntVector, NDArray[np.int32], FloatVector]:
    """indptr, indices and data of a CSR matrix in the types that kernels take."""
    return (
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=np.float64),
    )


def fingerprints(X: SparseMatrix) -> Words:
    """64 bits for each row of a canonical CSR matrix; equal rows have equal ones."""
    indptr, indices, data = csr_parts(X)
    lib = native()
    if lib is not None:
        out = np.empty(X.shape[0], dtype=np.uint64)
        lib.fingerprints(indptr, indices, data, out)
        return out
    entries = _mix(data.view(np.uint64) + (indices.astype(np.uint64) + 1) * _GOLDEN)
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(entries)))
    return _mix(running[indptr[1:]] - running[indptr[:-1]])


@dataclass(frozen=True)
class Visits:
    """The distinct documents of a training set, ready to be visited."""

    rows: IntVector
    """A row of each distinct document, by fingerprint."""
    weight: FloatVector
    """Weight of each of the training set's rows, summed over equal documents."""
    prints: Words
    """Fingerprint of each distinct document, with its label."""

    def __len__(self) -> int:
        return len(self.rows)

    def order(self, seed: int, epoch: int) -> IntVector:
        """The rows in the random order of one pass."""
        return self.rows[self._shuffled(seed, epoch)]

    def split(self, seed: int, share: float) -> tuple[Visits, Visits]:
        """A part to learn from and a random part of that share to hold out."""
        shuffled = self._shuffled(seed, -1)
        n_held = max(1, round(share * len(self)))
        held, kept = np.sort(shuffled[:n_held]), np.sort(shuffled[n_held:])
        return self._part(kept), self._part(held)

    def _part(self, chosen: IntVector) -> Visits:
        return Visits(self.rows[chosen], self.weight, self.prints[chosen])

    def _shuffled(self, seed: int, epoch: int) -> IntVector:
        key = _key(seed, epoch)
        return np.argsort(_mix(self.prints ^ key), kind="stable")


def distinct_documents(
    X: SparseMatrix, y_index: IntVector, weight: FloatVector
) -> Visits:
    """Documents of positive weight, equal ones (terms and label) taken together."""
    labels = (y_index.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    kept = np.flatnonzero(weight > 0)
    prints = _mix(fingerprints(X) + labels)[kept]
    distinct, first, place = np.unique(prints, return_index=True, return_inverse=True)
    rows = kept[first]
    total = np.zeros(len(weight))
    total[rows] = np.bincount(place, weights=weight[kept], minlength=len(distinct))
    return Visits(rows, total, distinct)


def uniforms(seed: int, step: int, n_values: int) -> FloatVector:
    """Numbers in [0, 1) by counter: the same for the same seed, step and place."""
    lib = native()
    if lib is not None:
        out = np.empty(n_values)
        lib.uniforms(seed % 2**64, step % 2**64, out)
        return out
    counter = np.arange(1, n_values + 1, dtype=np.uint64) * _GOLDEN + _key(seed, step)
    return (_mix(counter) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _key(seed: int, step: int) -> np.uint64:
    words = np.array([seed % 2**64, step % 2**64], dtype=np.uint64)
    mixed = _mix(_mix(words[:1] + _GOLDEN) + words[1:])
    return np.uint64(mixed[0])


def _mix(z: Words) -> Words:
    """The finaliser of SplitMix64, wrapping around at 2**64."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
