"""Class counts of raw text in compact arrays: made in parts, merged, shipped (CS1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.exceptions import DataError
from earmark.kernels.keys import mixed_bits
from earmark.kernels.term_merge import (
    PackedTerms,
    merge_counts,
    merge_terms,
    unpack_terms,
)
from earmark.statistics.class_statistics import ClassStatistics, union
from earmark.typing import ArrayLike, BoolVector, IntVector, Labels, SparseMatrix


@dataclass(eq=False)
class TermCounts:
    """Tokens and documents of every term in every class.

    The same exact counts as ``ClassStatistics`` keyed by term, packed for merging:
    two of them merge in one walk over their sorted terms, without a dictionary,
    whatever their vocabularies and classes. The result of merging does not depend
    on order or grouping. On disk and on the way to another process every array has
    the narrowest type that holds it.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from earmark.kernels.term_merge import pack_terms
    >>> be, be_to = pack_terms(["be"]), pack_terms(["be", "to"])
    >>> left = TermCounts.of_packed(["a"], [1], be, csr_array([[2]]))
    >>> right = TermCounts.of_packed(["b"], [3], be_to, csr_array([[1, 4]]))
    >>> both = left.merge(right)
    >>> both.terms(), both.tokens.toarray().tolist(), both.docs.tolist()
    (['be', 'to'], [[2, 0], [1, 4]], [1, 3])

    """

    classes: Labels  # The labels, sorted, (n_classes,)
    docs: IntVector  # Documents of each class, (n_classes,)
    data: NDArray[np.uint8]  # The UTF-8 bytes of all terms, sorted, one after the other
    offsets: IntVector  # Where each term begins and ends in ``data``, (n_terms + 1,)
    tokens: SparseMatrix
    """Occurrences of the term, CSR of shape (n_classes, n_terms), int64."""
    presence: SparseMatrix  # Documents with the term, of the same structure

    @classmethod
    def of_packed(
        cls,
        classes: ArrayLike,
        docs: ArrayLike,
        packed: PackedTerms,
        tokens: SparseMatrix,
        presence: SparseMatrix | None = None,
    ) -> TermCounts:
        """From sums (n_classes, n_terms) over sorted terms, as counting gives them."""
        term_presence = tokens if presence is None else presence
        labels, sizes = np.asarray(classes), np.asarray(docs, dtype=np.int64)
        return cls(labels, sizes, *packed, tokens, term_presence)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        sums = (self.tokens.data, self.presence.data, self.tokens.indices)
        return sum(a.nbytes for a in (self.data, self.offsets, *sums))

    def terms(self) -> list[str]:
        """The terms, sorted."""
        return unpack_terms((self.data, self.offsets))

    def document_frequency(self) -> IntVector:
        """Documents that hold each term, over all classes."""
        return np.asarray(self.presence.sum(axis=0), dtype=np.int64).ravel()

    def copy(self) -> TermCounts:
        """Another one of the same arrays, which merging leaves alone."""
        return replace(self)

    def merge(self, other: TermCounts) -> Self:
        """Add the counts of other documents; terms and classes may differ."""
        classes = _same_kind_union(self.classes, other.classes)
        packed, mine, theirs = merge_terms(
            (self.data, self.offsets), (other.data, other.offsets)
        )
        places = [np.searchsorted(classes, c) for c in (self.classes, other.classes)]
        docs = np.zeros(len(classes), dtype=np.int64)
        docs[places[0]] += self.docs
        docs[places[1]] += other.docs
        shape = (len(classes), len(packed[1]) - 1)
        self.tokens, self.presence = merge_counts(
            (self.tokens, self.presence, mine, places[0]),
            (other.tokens, other.presence, theirs, places[1]),
            shape,
        )
        self.classes, self.docs = classes, docs
        self.data, self.offsets = packed
        return self

    def select(self, keep: BoolVector) -> TermCounts:
        """The counts of some terms only."""
        lengths = np.diff(self.offsets)
        return replace(
            self,
            data=self.data[np.repeat(keep, lengths)],
            offsets=_ends(lengths[keep]),
            tokens=self.tokens[:, keep],
            presence=self.presence[:, keep],
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
        sums = (self.docs, self.tokens, self.presence)
        return ClassStatistics.from_sums(self.classes, *sums, self.terms())

    def __getstate__(self) -> dict[str, Any]:
        """Narrow arrays: small numbers where it can be, the structure once."""
        starts = self.tokens.indptr.astype(np.int64)
        return {
            "classes": self.classes,
            "docs": self.docs,
            "data": self.data,
            "lengths": _narrow(np.diff(self.offsets)),
            "starts": starts,
            "steps": _narrow(_steps(self.tokens.indices, starts)),
            "tokens": _narrow(self.tokens.data),
            "presence": _narrow(self.presence.data),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.classes, self.docs = state["classes"], state["docs"]
        self.data = state["data"]
        self.offsets = _ends(state["lengths"])
        starts = state["starts"]
        indices = _places(state["steps"], starts)
        shape = (len(starts) - 1, self.n_terms)
        self.tokens, self.presence = (
            sparse.csr_array(
                (state[name].astype(np.int64), indices, starts), shape=shape
            )
            for name in ("tokens", "presence")
        )


def _narrow(values: IntVector) -> NDArray[Any]:
    """Store whole numbers >= 0 in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _ends(lengths: NDArray[Any]) -> IntVector:
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def _steps(indices: IntVector, starts: IntVector) -> IntVector:
    """Distances between neighboring columns of a row, the first one from 0."""
    steps = np.diff(indices, prepend=indices[:1])
    first = starts[:-1][np.diff(starts) > 0]
    steps[first] = indices[first]
    return steps


def _places(steps: NDArray[Any], starts: IntVector) -> NDArray[np.int32]:
    """Turn distances between neighboring columns into the columns again."""
    walked = _ends(steps)
    return (walked[1:] - np.repeat(walked[starts[:-1]], np.diff(starts))).astype(
        np.int32
    )


def _same_kind_union(left: Labels, right: Labels) -> Labels:
    """All labels, sorted; texts and numbers do not mix."""
    if not len(left) or not len(right):
        return left if len(left) else right
    if (left.dtype.kind in "UO") != (right.dtype.kind in "UO"):
        raise DataError(
            f"labels must be of one type, got {left[0]!r} in one part and "
            f"{right[0]!r} in another."
        )
    return union(left, right)
