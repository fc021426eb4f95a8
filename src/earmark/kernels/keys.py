"""64-bit keys of documents by their content, and random orders that rest on them.

A document's key does not change with its place in the data or in a shard, so what is
drawn by key is the same whatever the order and the division of the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.rows import csr_arrays
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

Words: TypeAlias = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_NODE = np.uint64(0xD1B54A32D192ED03)


def mixed_bits(z: Words) -> Words:
    """Scatter the bits of 64-bit numbers: the finisher of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def rekeyed(keys: Words, seed: np.uint64) -> Words:
    """Other keys for the same documents, unrelated for another seed."""
    return np.asarray(mixed_bits(keys + np.asarray(seed) * GOLDEN))


def uniform_of(seed: Words, key: Words, node: Words | np.uint64) -> FloatMatrix:
    """Numbers in (0, 1] that depend on (seed, key, node) alone; arrays broadcast."""
    z = mixed_bits(np.asarray(seed + (key + node * _NODE) * GOLDEN, dtype=np.uint64))
    numbers: FloatMatrix = ((z >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53
    return numbers


def counter_key(seed: int, step: int) -> np.uint64:
    """The key of a sequence of numbers by counter; any whole numbers will do."""
    words = np.array([seed % 2**64, step % 2**64], dtype=np.uint64)
    mixed = mixed_bits(mixed_bits(words[:1] + GOLDEN) + words[1:])
    return np.uint64(mixed[0])


def uniforms(seed: int, step: int, n_values: int) -> FloatVector:
    """Numbers in [0, 1) by counter: the same for the same seed, step and place."""
    lib = native()
    if lib is not None:
        out = np.empty(n_values)
        lib.uniforms(seed % 2**64, step % 2**64, out)
        return out
    places = np.arange(1, n_values + 1, dtype=np.uint64)
    mixed = mixed_bits(places * GOLDEN + counter_key(seed, step))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fingerprints(X: SparseMatrix) -> Words:
    """64 bits for each row of a canonical CSR matrix; equal rows have equal ones."""
    indptr, indices, data = csr_arrays(X)
    lib = native()
    if lib is not None:
        out = np.empty(X.shape[0], dtype=np.uint64)
        lib.fingerprints(indptr, indices, data, out)
        return out
    entries = mixed_bits(
        data.view(np.uint64) + (indices.astype(np.uint64) + 1) * GOLDEN
    )
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(entries)))
    return np.asarray(mixed_bits(running[indptr[1:]] - running[indptr[:-1]]))


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
        n_out = max(1, round(share * len(self)))
        left_out, rest = np.sort(shuffled[:n_out]), np.sort(shuffled[n_out:])
        return self._part(rest), self._part(left_out)

    def _part(self, chosen: IntVector) -> Visits:
        return Visits(self.rows[chosen], self.weight, self.prints[chosen])

    def _shuffled(self, seed: int, epoch: int) -> IntVector:
        key = counter_key(seed, epoch)
        return np.argsort(mixed_bits(self.prints ^ key), kind="stable")


def distinct_documents(
    X: SparseMatrix, y_index: IntVector, weight: FloatVector
) -> Visits:
    """Documents of positive weight, equal ones (terms and label) taken together."""
    labels = (y_index.astype(np.uint64) + np.uint64(1)) * GOLDEN
    positive = np.flatnonzero(weight > 0)
    prints = mixed_bits(fingerprints(X) + labels)[positive]
    distinct, first, place = np.unique(prints, return_index=True, return_inverse=True)
    rows = positive[first]
    total = np.zeros(len(weight))
    total[rows] = np.bincount(place, weights=weight[positive], minlength=len(distinct))
    return Visits(rows, total, distinct)
