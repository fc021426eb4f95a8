"""How many documents an answer would speak for, beyond those known already.

An answer speaks for a document as far as the squared cosine of their vectors, and only
for what no earlier answer speaks for better. To ask first about the document that adds
most covers a collection with few questions: typical documents come first, and none
like one of before (the greedy choice for the facility location problem).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from earmark.folds import rows_by_lot
from earmark.typing import FloatTable, FloatVector, IntVector

__all__ = ["Representation"]

# Of more documents so many, drawn by lot, stand for all.
_MOST_SPOKEN_FOR = 1000


class Representation:
    """What is spoken for by the answers so far.

    ``vectors`` have rows of length 1.
    """

    def __init__(self, vectors: FloatTable) -> None:
        self._vectors = vectors
        self.documents = rows_by_lot(len(vectors), _MOST_SPOKEN_FOR)
        """Those that stand for all."""
        self._known: frozenset[int] = frozenset()
        self._spoken_for = np.zeros(len(self.documents), dtype=np.float32)

    def gains(
        self,
        candidates: IntVector,
        known: Iterable[int],
        weights: FloatVector | None = None,
    ) -> FloatVector:
        """What an answer to each candidate adds to the ``known`` ones.

        ``weights`` say how much each of ``documents`` counts.
        """
        self._take(frozenset(known))
        added = np.maximum(self._likeness(candidates) - self._spoken_for, 0.0)
        if weights is None:
            return np.asarray(added.sum(axis=1), dtype=np.float64)
        return np.asarray(added @ weights.astype(np.float32), dtype=np.float64)

    def _take(self, known: frozenset[int]) -> None:
        """Update what is spoken for; usually a few answers are new."""
        if not self._known <= known:
            self._spoken_for = np.zeros_like(self._spoken_for)
            self._known = frozenset()
        new = np.fromiter(sorted(known - self._known), dtype=np.int64)
        if len(new):
            closest = self._likeness(new).max(axis=0)
            self._spoken_for = np.maximum(self._spoken_for, closest)
        self._known = known

    def _likeness(self, rows: IntVector) -> FloatTable:
        """Squared cosines with those that stand for all; 0 for opposite ones."""
        cosines = self._vectors[rows] @ self._vectors[self.documents].T
        likeness: FloatTable = np.maximum(cosines, 0.0) ** 2
        return likeness
