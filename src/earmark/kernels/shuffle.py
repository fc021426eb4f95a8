"""The order in which descent visits documents: by content and seed, not by row.

A document's fingerprint depends on its terms and its label only. Documents are
told apart and visited by fingerprint, so the rows of a file may come in any order
and a document that stands there twice is one document of weight two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.kernels.backend import native
from earmark.kernels.keys import GOLDEN, Words, counter_key, mixed_bits
from earmark.kernels.rows import csr_arrays
from earmark.typing import FloatVector, IntVector, SparseMatrix

__all__ = ["Visits", "distinct_documents", "fingerprints"]


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
    kept = np.flatnonzero(weight > 0)
    prints = mixed_bits(fingerprints(X) + labels)[kept]
    distinct, first, place = np.unique(prints, return_index=True, return_inverse=True)
    rows = kept[first]
    total = np.zeros(len(weight))
    total[rows] = np.bincount(place, weights=weight[kept], minlength=len(distinct))
    return Visits(rows, total, distinct)
