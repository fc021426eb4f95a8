"""The paths worth showing: from a document's terms into the documents of a class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earmark.kernels.rows import row_numbers
from earmark.typing import (
    FloatMatrix,
    FloatVector,
    IntVector,
    SparseMatrix,
)

__all__ = ["Path", "strongest_paths"]


class Path(NamedTuple):
    """A chain term - document - term - document - term."""

    terms: tuple[int, int, int]
    """Columns; the first is a term of the explained document."""
    documents: tuple[int, int]
    """Rows of the training data."""
    strength: float
    """Sum of the three terms' log-ratios between the class and its runner-up."""


def strongest_paths(
    rows: SparseMatrix,
    scores: FloatMatrix,
    wanted: IntVector | None,
    documents: SparseMatrix,
    document_class: IntVector | None,
    log_present: FloatMatrix,
    top: int,
) -> list[list[Path]]:
    """For each row, the strongest path from each of its terms, ``top`` of them."""
    answers = []
    views: dict[tuple[int, int], _ClassView] = {}
    for d in range(rows.shape[0]):
        label = int(scores[d].argmax() if wanted is None else wanted[d])
        others = scores[d].copy()
        others[label] = -np.inf
        pair = (label, int(others.argmax()))
        if pair not in views:
            ratio = log_present[:, label].copy()
            if scores.shape[1] > 1:
                ratio -= log_present[:, pair[1]]
            mine = np.flatnonzero(document_class == label)
            views[pair] = _ClassView(documents[mine], mine, ratio)
        terms = rows.indices[rows.indptr[d] : rows.indptr[d + 1]]
        found = [views[pair].best_from(int(term)) for term in terms]
        known = [path for path in found if path is not None]
        known.sort(key=lambda path: (-path.strength, path.terms, path.documents))
        answers.append(known[:top])
    return answers


class _ClassView:
    """The documents of one class, and how much each term speaks for it."""

    def __init__(
        self, documents: SparseMatrix, numbers: IntVector, ratio: FloatVector
    ) -> None:
        self.numbers, self.ratio = numbers, ratio
        # The entries by document, terms in order, and by term.
        self.by_document = documents.tocsr()
        by_term = self.by_document.tocsc()
        by_term.sort_indices()
        self.term_start, self.term_docs = by_term.indptr, by_term.indices
        self.entry_term = row_numbers(by_term.T.tocsr())
        self.best_terms = self._best_terms()

    def _best_terms(self) -> IntVector:
        """The three terms of each document with the largest ratios; -1 for none."""
        rows = self.by_document
        document = row_numbers(rows)
        order = np.lexsort((rows.indices, -self.ratio[rows.indices], document))
        rank = np.arange(len(order)) - rows.indptr[document[order]]
        best = np.full((rows.shape[0], 3), -1, dtype=np.int64)
        few = rank < 3
        best[document[order][few], rank[few]] = rows.indices[order][few]
        return best

    def best_from(self, first: int) -> Path | None:
        """The strongest path that starts at this term, or None."""
        starts = self.term_docs[self.term_start[first] : self.term_start[first + 1]]
        near = self.by_document[starts]
        left, middle = starts[row_numbers(near)], near.indices
        keep = middle != first
        left, middle = left[keep], middle[keep]
        if not len(middle):
            return None
        right, last, value = self._continuations(first, np.unique(middle))
        choice = np.where(right[middle, 0] == left, 1, 0)
        strength = value[middle, choice] + self.ratio[first]
        at = int(np.lexsort((left, middle, -strength))[0])
        if not np.isfinite(strength[at]):
            return None
        k, c = int(middle[at]), int(choice[at])
        ends = (int(left[at]), int(right[k, c]))
        return Path(
            (first, k, int(last[k, c])),
            (int(self.numbers[ends[0]]), int(self.numbers[ends[1]])),
            float(strength[at]),
        )

    def _continuations(
        self, first: int, middle: IntVector
    ) -> tuple[IntVector, IntVector, FloatMatrix]:
        """The two best documents behind each middle term, their ends and values."""
        n_terms = len(self.ratio)
        wanted = np.zeros(n_terms, dtype=bool)
        wanted[middle] = True
        entry = np.flatnonzero(wanted[self.entry_term])
        term, document = self.entry_term[entry], self.term_docs[entry]
        ends = self.best_terms[document]
        free = (ends >= 0) & (ends != first) & (ends != term[:, None])
        place = free.argmax(axis=1)
        end = ends[np.arange(len(entry)), place]
        value = np.where(free.any(axis=1), self.ratio[term] + self.ratio[end], -np.inf)
        order = np.lexsort((document, -value, term))
        term, document, end, value = (x[order] for x in (term, document, end, value))
        is_new = np.concatenate(([True], term[1:] != term[:-1]))
        group_start = np.maximum.accumulate(np.where(is_new, np.arange(len(term)), 0))
        rank = np.arange(len(term)) - group_start
        two = rank < 2
        right = np.full((n_terms, 2), -1, dtype=np.int64)
        last, best = right.copy(), np.full((n_terms, 2), -np.inf)
        right[term[two], rank[two]] = document[two]
        last[term[two], rank[two]] = end[two]
        best[term[two], rank[two]] = value[two]
        return right, last, best
