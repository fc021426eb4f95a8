"""The documents to label, counted once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from earmark.exceptions import DataError
from earmark.features import TfidfWeighting, WordCounter
from earmark.text.tokens import WORD_PATTERN
from earmark.typing import FloatVector, IntVector, SparseMatrix

__all__ = ["Collection"]

# A word of one document tells nothing about the others; in a small collection every
# word is kept, since little else is known.
_SMALL = 200


class Collection:
    """Word counts and tf-idf rows of all documents.

    Parameters
    ----------
    texts : sequence of str
        One a document.

    Examples
    --------
    >>> made = Collection(["to be", "or not to be"])
    >>> made.counts.toarray().tolist()
    [[1, 0, 0, 1], [1, 1, 1, 1]]

    """

    def __init__(self, texts: Sequence[str]) -> None:
        if not len(texts):
            raise DataError("there is no document to label.")
        self.texts = list(texts)
        self._counter = WordCounter(min_df=1 if len(self.texts) < _SMALL else 2)
        try:
            counts = self._counter.fit_transform(self.texts)
        except ValueError as error:
            raise DataError(f"no words to learn from: {error}") from None
        self.counts: SparseMatrix = counts.tocsr()
        self.n_documents, self.n_terms = self.counts.shape

    @cached_property
    def weights(self) -> SparseMatrix:
        """Rows of unit length: 1 + log of the counts, times log of rarity."""
        return TfidfWeighting(tf="sublinear").fit_transform(self.counts).tocsr()

    @cached_property
    def _columns(self) -> dict[str, int]:
        return dict(self._counter.vocabulary_)

    def similarity(self, rows: IntVector, to: IntVector) -> FloatVector:
        """The largest cosine of each row with any document of ``to``."""
        if not len(to):
            return np.zeros(len(rows))
        found = (self.weights[rows] @ self.weights[to].T).max(axis=1)
        return np.asarray(found.toarray(), dtype=np.float64).ravel()

    def spans(
        self, text: str, term_weights: FloatVector, most: int = 2000
    ) -> list[tuple[int, int, float]]:
        """Where in a text the words stand that have a weight: (start, end, weight)."""
        found = []
        for word in re.finditer(WORD_PATTERN, text):
            column = self._columns.get(word.group().lower())
            if column is not None and term_weights[column]:
                found.append((*word.span(), float(term_weights[column])))
                if len(found) >= most:
                    break
        return found
