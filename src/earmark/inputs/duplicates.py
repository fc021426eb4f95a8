"""Near-duplicate documents, by shared word shingles.

A document is the set of its runs of ``shingle`` consecutive words, each hashed
to 64 bits. Two documents are near-duplicates when their sets overlap: Jaccard
similarity |A and B| / |A or B| >= threshold. Candidates are documents whose
smallest hashes agree in part (a bottom-k sketch, Broder 1997); every candidate is
then verified on the full sets, so nothing is reported that is not one. The
smallest hashes of a similar pair agree with high probability, so little is missed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from earmark.inputs.containers import opened
from earmark.inputs.texts import plain_values
from earmark.kernels.shingles import (
    MULTIPLIERS,
    Hashes,
    Sketches,
    shingle_sets,
    sketches,
)
from earmark.missing import is_missing
from earmark.typing import BoolVector, DocumentsLike, IntVector

_SKETCH = 12  # smallest hashes per document that make it a candidate
_LOOK_BACK = 8  # documents of a bucket compared with each next one
_MOST_HASHES = 2**17  # of pairs that are compared at a time


@dataclass(frozen=True, eq=False)
class DuplicateGroups:
    """The group number of every document, by first document; most are alone."""

    group: IntVector

    @property
    def n_groups(self) -> int:
        """Number of distinct documents, near-duplicates counted once."""
        return int(self.group.max()) + 1 if len(self.group) else 0

    @property
    def first(self) -> IntVector:
        """The first document of every group."""
        return np.unique(self.group, return_index=True)[1].astype(np.int64)

    @property
    def sets(self) -> list[IntVector]:
        """The groups of two and more documents, the largest first."""
        order = np.argsort(self.group, kind="stable")
        ends = np.flatnonzero(np.diff(self.group[order])) + 1
        groups = [part for part in np.split(order, ends) if len(part) > 1]
        return sorted(groups, key=lambda part: (-len(part), part[0]))

    @property
    def share(self) -> float:
        """Share of documents that repeat an earlier one."""
        return 1 - self.n_groups / len(self.group) if len(self.group) else 0.0


def group_near_duplicates(
    texts: Iterable[str], *, threshold: float = 0.7, shingle: int = 3
) -> DuplicateGroups:
    """Group texts that are the same but for a few words.

    Parameters
    ----------
    texts : iterable of str
        The documents. Case and punctuation do not count; texts without a word
        are duplicates of each other.
    threshold : float in (0, 1], default=0.7
        Smallest Jaccard similarity of two near-duplicates. Groups are chains:
        if A resembles B and B resembles C, the three are one group.
    shingle : int, default=3
        Words in a shingle. Texts shorter than that are compared as a whole.

    Returns
    -------
    DuplicateGroups

    Examples
    --------
    >>> found = group_near_duplicates([
    ...     "the cat sat on the mat and looked at the dog for a long time",
    ...     "prices rose in march",
    ...     "The cat sat on the mat, and looked at the dog for a long while.",
    ... ])
    >>> found.group.tolist()
    [0, 1, 0]

    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be in (0, 1], got {threshold!r}.")
    if shingle < 1:
        raise ValueError(f"shingle must be >= 1, got {shingle!r}.")
    texts = list(texts)
    known = sketches(texts, shingle, _SKETCH + 1)
    first = _first_equal(known)
    candidates = _candidates(known, first)
    sets = _Sets.of(texts, np.unique(np.concatenate(candidates)), shingle)
    parent = first.copy()
    for pairs in candidates:
        root = _roots(parent)
        apart = pairs[root[pairs[:, 0]] != root[pairs[:, 1]]]
        for document, other in apart[_similar(sets, apart, threshold)].tolist():
            one, two = _root(parent, document), _root(parent, other)
            parent[max(one, two)] = min(one, two)
    return _numbered(_roots(parent))


def group_equal_rows(X: DocumentsLike) -> DuplicateGroups:
    """Group equal rows of a dense or sparse matrix, or of several side by side."""
    if isinstance(blocks := getattr(X, "blocks", None), tuple):
        return _by_key(
            zip(*(group_equal_rows(one).group for one in blocks), strict=True)
        )
    if sparse.issparse(X):
        rows = sparse.csr_array(X, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        keys = (
            rows.indices[a:b].tobytes() + b"|" + rows.data[a:b].tobytes()
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        )
    else:
        dense = np.ascontiguousarray(X)
        keys = (
            row.tobytes() if row.dtype != object else repr(row.tolist()).encode()
            for row in dense
        )
    return _by_key(keys)


def duplicates_across(
    train: Sequence[str], test: Sequence[str], *, threshold: float = 0.7
) -> list[tuple[int, int]]:
    """Test documents that nearly repeat a training document: a leak.

    Returns
    -------
    list of (test position, training position)
        One training document for each such test document.

    Examples
    --------
    >>> duplicates_across(["buy it half price"], ["hello", "Buy it: half price!"])
    [(1, 0)]

    """
    group = group_near_duplicates([*train, *test], threshold=threshold).group
    n_train = len(train)
    first: dict[int, int] = {}
    for position, number in enumerate(group[:n_train].tolist()):
        first.setdefault(number, position)
    return [
        (position, first[number])
        for position, number in enumerate(group[n_train:].tolist())
        if number in first
    ]


def _first_equal(known: Sketches) -> IntVector:
    """For each document the first one with the same runs of words."""
    if not len(known.n):
        return known.n
    _, first, group = np.unique(known.total, return_index=True, return_inverse=True)
    equal = np.arange(len(group))
    later = np.flatnonzero(first[group] != equal)
    earlier = first[group[later]]
    same = (known.smallest[later] == known.smallest[earlier]).all(axis=1)
    equal[later[same]] = earlier[same]
    return equal


def _candidates(known: Sketches, first: IntVector) -> list[IntVector]:
    """Pairs of documents that share two neighbors among their smallest hashes.

    At most ``_LOOK_BACK`` arrays of shape (n_pairs, 2).
    """
    # Two, because one boilerplate phrase would make pairs of thousands; the sketch of
    # a short text is its whole set, and one shared hash will do. Documents are paired
    # with the ones just before; of those with equal sets the first stands for all.
    alone = np.flatnonzero(first == np.arange(len(first)))
    n, sketch = known.n[alone, None], known.smallest[alone, :_SKETCH]
    in_use = np.arange(_SKETCH) < n
    pairs = sketch[:, :-1] * MULTIPLIERS[2] ^ sketch[:, 1:]
    short = in_use & (n <= _SKETCH)
    rows = np.concatenate([np.nonzero(in_use[:, 1:])[0], np.nonzero(short)[0]])
    keys = np.concatenate([pairs[in_use[:, 1:]], sketch[short]])
    # Sorted as one number each: the upper bits of the key, then the document.
    bits = np.uint64(max(len(first) - 1, 1).bit_length())
    entries = (keys >> bits << bits) | alone[rows].astype(np.uint64)
    entries.sort()
    keys = entries >> bits
    documents = (entries ^ (keys << bits)).astype(np.int64)
    every = []
    for lag in range(1, _LOOK_BACK + 1):
        same = np.flatnonzero(keys[lag:] == keys[:-lag])
        one, two = documents[same + lag], documents[same]
        numbers = np.unique((one * len(first) + two)[one != two])
        every.append(np.column_stack(np.divmod(numbers, len(first))))
    return every


@dataclass(frozen=True, eq=False)
class _Sets:
    """The distinct hashes of some documents, one document after the other."""

    hashes: Hashes
    sizes: IntVector
    """The number of hashes of each document; 0 for those that are not looked at."""

    @functools.cached_property
    def starts(self) -> IntVector:
        return np.cumsum(self.sizes) - self.sizes

    @classmethod
    def of(cls, texts: list[str], documents: IntVector, shingle: int) -> _Sets:
        """The sets of these documents."""
        hashes, own = shingle_sets([texts[d] for d in documents.tolist()], shingle)
        sizes = np.zeros(len(texts), np.int64)
        sizes[documents] = own
        return cls(hashes, sizes)


def _similar(sets: _Sets, pairs: IntVector, threshold: float) -> BoolVector:
    """Whether the Jaccard similarity of each pair of sets reaches the threshold."""
    similar = np.zeros(len(pairs), dtype=np.bool_)
    sizes = np.sort(sets.sizes[pairs], axis=1)
    near = np.flatnonzero(sizes[:, 0] >= threshold * sizes[:, 1])
    similar[near] = _overlaps(sets, pairs[near], threshold)
    return similar


def _overlaps(sets: _Sets, pairs: IntVector, threshold: float) -> BoolVector:
    """The same, of sets of about the same size."""
    sizes = sets.sizes[pairs]
    total = sizes.sum(axis=1)
    # A set has at least one hash: no portion has more than 2**16 pairs.
    portion = (np.cumsum(total) - total) // _MOST_HASHES
    borders = np.flatnonzero(np.diff(portion)) + 1
    common = np.zeros(len(pairs), np.int64)
    for rows in np.split(np.arange(len(pairs)), borders):
        common[rows] = _n_common(sets, pairs[rows], sizes[rows].ravel())
    similar: BoolVector = common >= threshold * (total - common)
    return similar


def _n_common(sets: _Sets, pairs: IntVector, sizes: IntVector) -> IntVector:
    """How many hashes the two sets of each pair have in common."""
    # The number of the pair takes the upper 16 bits of a key and the hash the others:
    # in sorted order what both sets have stands twice.
    begins = sets.starts[pairs.ravel()] - (np.cumsum(sizes) - sizes)
    place = np.arange(sizes.sum()) + np.repeat(begins, sizes)
    number = np.repeat(np.arange(len(pairs), dtype=np.uint64), 2) << np.uint64(48)
    keys = (sets.hashes[place] >> np.uint64(16)) | np.repeat(number, sizes)
    keys.sort()
    twice = keys[1:][keys[1:] == keys[:-1]] >> np.uint64(48)
    return np.bincount(twice.astype(np.int64), minlength=len(pairs))


def _root(parent: IntVector, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = int(parent[node])
    return node


def _roots(parent: IntVector) -> IntVector:
    """The first document of each document's group."""
    while True:
        above = parent[parent]
        if np.array_equal(above, parent):
            return above
        parent = above


def _numbered(first: IntVector) -> DuplicateGroups:
    """Group numbers 0, 1, ... from the first document of each document's group."""
    return DuplicateGroups(np.unique(first, return_inverse=True)[1].astype(np.int64))


def _by_key(keys: Iterable[object]) -> DuplicateGroups:
    """Groups of documents with the same key."""
    seen: dict[object, int] = {}
    numbers = [seen.setdefault(key, len(seen)) for key in keys]
    return DuplicateGroups(np.array(numbers, np.int64))


def texts_of(X: DocumentsLike) -> list[str] | None:
    """One string per document, or None when X holds no strings."""
    if sparse.issparse(X):
        return None
    X = opened(X)
    if isinstance(X, Mapping):
        columns = [texts_of(column) for column in X.values()]
    elif hasattr(X, "columns"):
        columns = [texts_of(X[name]) for name in X.columns]
    elif getattr(X, "ndim", 1) != 1:
        return None
    else:
        known = plain_values(X)
        if known is None and not isinstance(X, Iterable):
            return texts_of(np.asarray(X))
        values = list(X) if known is None else known
        if not all(isinstance(value, str) or is_missing(value) for value in values):
            return None
        return [str(value) if isinstance(value, str) else "" for value in values]
    with_text = [column for column in columns if column is not None]
    if not with_text:
        return None
    return ["\n".join(parts) for parts in zip(*with_text, strict=True)]


def group_copies(X: DocumentsLike) -> DuplicateGroups:
    """Near-duplicates among texts, however many; equal rows of a matrix.

    What holds documents out, to judge or to learn, asks here which stay together.
    """
    texts = texts_of(X)
    return group_equal_rows(X) if texts is None else group_near_duplicates(texts)


def copied_texts(X: DocumentsLike) -> IntVector | None:
    """Groups of near-duplicates; None for a matrix: equal rows may be other texts."""
    return None if texts_of(X) is None else group_copies(X).group
