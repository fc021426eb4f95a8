"""Class counts of raw text in compact arrays: made in parts, merged, shipped (CS1)."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.exceptions import DataError
from earmark.kernels.keys import mixed_bits
from earmark.kernels.term_merge import merge_terms, pack_terms, unpack_terms
from earmark.statistics.class_statistics import ClassStatistics
from earmark.typing import (
    ArrayLike,
    BoolVector,
    IntVector,
    Labels,
    SparseMatrix,
)

__all__ = ["TermCounts"]


class TermCounts:
    """Tokens and documents of every term in every class, term by term.

    The same exact counts as ``ClassStatistics`` keyed by term, packed for merging:
    two of them merge in one walk over their sorted terms, without a dictionary,
    whatever their vocabularies and classes. The result of merging does not depend
    on order or grouping.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels, sorted.
    docs : array-like of shape (n_classes,)
        Documents of each class.
    data : ndarray of uint8
        The UTF-8 bytes of all terms, sorted, one after the other.
    offsets : ndarray of int64 of shape (n_terms + 1,)
        Where each term begins and ends in ``data``.
    tokens, presence : sparse array of shape (n_terms, n_classes)
        Occurrences of the term, and documents with the term; int64.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> left = TermCounts.of_terms(["a"], [1], ["be"], csr_array([[2]]))
    >>> right = TermCounts.of_terms(["b"], [3], ["be", "to"], csr_array([[1, 4]]))
    >>> both = left.merge(right)
    >>> both.terms(), both.tokens.toarray().tolist(), both.docs.tolist()
    (['be', 'to'], [[2, 1], [0, 4]], [1, 3])

    """

    def __init__(
        self,
        classes: ArrayLike,
        docs: ArrayLike,
        data: NDArray[np.uint8],
        offsets: IntVector,
        tokens: SparseMatrix,
        presence: SparseMatrix,
    ) -> None:
        self.classes: Labels = np.asarray(classes)
        self.docs: IntVector = np.asarray(docs, dtype=np.int64)
        self.data = data
        self.offsets = offsets
        self.tokens = tokens
        self.presence = presence

    @classmethod
    def of_terms(
        cls,
        classes: ArrayLike,
        docs: ArrayLike,
        terms: list[str],
        tokens: SparseMatrix,
        presence: SparseMatrix | None = None,
    ) -> TermCounts:
        """From sums (n_classes, n_terms) over sorted terms, as counting gives them."""
        tokens = _by_term(tokens)
        held = tokens if presence is None else _by_term(presence)
        return cls(classes, docs, *pack_terms(terms), tokens, held)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        sums = (self.tokens, self.presence)
        parts = [a for m in sums for a in (m.data, m.indices, m.indptr)]
        return sum(a.nbytes for a in (self.data, self.offsets, *parts))

    def terms(self) -> list[str]:
        """The terms, sorted."""
        return unpack_terms((self.data, self.offsets))

    def document_frequency(self) -> IntVector:
        """Documents that hold each term, over all classes."""
        return np.asarray(self.presence.sum(axis=1), dtype=np.int64).ravel()

    def merge(self, other: TermCounts) -> Self:
        """Add the counts of other documents; terms and classes may differ."""
        classes = _same_kind_union(self.classes, other.classes)
        packed, mine, theirs = merge_terms(
            (self.data, self.offsets), (other.data, other.offsets)
        )
        n_terms = len(packed[1]) - 1
        docs = np.zeros(len(classes), dtype=np.int64)
        sums = []
        columns = [
            np.searchsorted(classes, self.classes),
            np.searchsorted(classes, other.classes),
        ]
        docs[columns[0]] += self.docs
        docs[columns[1]] += other.docs
        for name in ("tokens", "presence"):
            parts = [
                _moved(getattr(counts, name), place, n_terms, column, len(classes))
                for counts, place, column in zip(
                    (self, other), (mine, theirs), columns, strict=True
                )
            ]
            sums.append(sparse.csr_array(parts[0] + parts[1]))
        self.classes, self.docs = classes, docs
        self.data, self.offsets = packed
        self.tokens, self.presence = sums
        return self

    def select(self, keep: BoolVector) -> TermCounts:
        """The counts of some terms only."""
        lengths = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(lengths[keep]))).astype(np.int64)
        return TermCounts(
            self.classes,
            self.docs,
            self.data[np.repeat(keep, lengths)],
            offsets,
            self.tokens[keep],
            self.presence[keep],
        )

    def share_of(self, number: int, n_shares: int) -> TermCounts:
        """The terms that fall to one of ``n_shares``, by a hash of their bytes."""
        words = np.concatenate((np.zeros(1, np.uint64), np.cumsum(self._bits())))
        keys = mixed_bits(words[self.offsets[1:]] - words[self.offsets[:-1]])
        return self.select(np.asarray(keys % np.uint64(n_shares)) == number)

    def _bits(self) -> NDArray[np.uint64]:
        """A number for each byte that depends on its place in its term."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        place = (np.arange(len(self.data)) - starts).astype(np.uint64)
        return np.asarray(
            mixed_bits(self.data.astype(np.uint64) + place * np.uint64(256))
        )

    def statistics(self) -> ClassStatistics:
        """The same sums as class statistics keyed by term."""
        return ClassStatistics.from_sums(
            self.classes,
            self.docs,
            sparse.csr_array(self.tokens.T.tocsr()),
            sparse.csr_array(self.presence.T.tocsr()),
            self.terms(),
        )


def _by_term(sums: SparseMatrix) -> SparseMatrix:
    return sparse.csr_array(sparse.csr_array(sums).T.tocsr())


def _moved(
    sums: SparseMatrix,
    place: IntVector,
    n_terms: int,
    column: IntVector,
    n_classes: int,
) -> SparseMatrix:
    """Rows moved to their places among more terms, columns among more classes."""
    lengths = np.zeros(n_terms + 1, dtype=sums.indptr.dtype)
    lengths[place + 1] = np.diff(sums.indptr)
    indices = sums.indices
    if len(column) != n_classes:
        indices = column.astype(sums.indices.dtype)[sums.indices]
    return sparse.csr_array(
        (sums.data, indices, np.cumsum(lengths, dtype=lengths.dtype)),
        shape=(n_terms, n_classes),
    )


def _same_kind_union(left: Labels, right: Labels) -> Labels:
    """All labels, sorted; texts and numbers do not mix."""
    if np.array_equal(left, right):
        return left
    if (
        len(left)
        and len(right)
        and (left.dtype.kind in "UO") != (right.dtype.kind in "UO")
    ):
        raise DataError(
            f"labels must be of one type, got {left[0]!r} in one part and "
            f"{right[0]!r} in another."
        )
    if not len(left) or not len(right):
        return left if len(left) else right
    return np.union1d(left, right)
