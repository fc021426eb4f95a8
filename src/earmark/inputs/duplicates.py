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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.inputs.containers import opened
from earmark.inputs.texts import plain_values
from earmark.missing import is_missing
from earmark.typing import BoolVector, DocumentsLike, IntVector

_SKETCH = 12  # smallest hashes per document that make it a candidate
_LOOK_BACK = 8  # documents of a bucket compared with each next one
_MOST_CHARACTERS = 250_000  # of a portion: its arrays stay in the caches
_MOST_HASHES = 2**17  # of pairs that are compared at a time
_MOST_TEXTS = 2**15  # of a portion, so that their numbers are short
_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
)

Hashes = NDArray[np.uint64]


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
    sets = _shingle_sets(texts, shingle)
    first = sets.first_equal()
    parent = first.copy()
    for pairs in _candidates(sets, first, threshold):
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


@dataclass(frozen=True, eq=False)
class _Sets:
    """The sorted distinct shingle hashes of every text, one after the other."""

    hashes: Hashes
    ends: IntVector

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, document: int) -> Hashes:
        return self.hashes[self.starts[document] : self.ends[document]]

    @functools.cached_property
    def starts(self) -> IntVector:
        return np.concatenate([[0], self.ends[:-1]]) if len(self.ends) else self.ends

    @functools.cached_property
    def sizes(self) -> IntVector:
        return self.ends - self.starts

    def first_equal(self) -> IntVector:
        """For each document the first one with the same shingles."""
        if not len(self):
            return self.ends
        mixed = (self.hashes ^ (self.hashes >> np.uint64(31))) * _MULTIPLIERS[2]
        total = np.add.reduceat(mixed, self.starts)
        _, first, group = np.unique(total, return_index=True, return_inverse=True)
        same = self.sizes[first][group] == self.sizes
        return np.where(same, first[group], np.arange(len(self)))


def _shingle_sets(texts: Iterable[str], shingle: int) -> _Sets:
    parts = [_shingled(chunk, shingle) for chunk in _chunks(texts)]
    if not parts:
        return _Sets(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    hashes, sizes = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Sets(hashes, np.cumsum(sizes))


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in portions of a few hundred thousand characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size > _MOST_CHARACTERS or len(chunk) == _MOST_TEXTS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _shingled(texts: list[str], shingle: int) -> tuple[Hashes, IntVector]:
    """Sorted distinct hashes of all runs of words, text by text, and how many."""
    # A text shorter than one run is one run; one without a word has the hash 0.
    words, counts = word_hashes(texts)
    begins = np.cumsum(counts) - counts
    place = np.arange(len(words)) - np.repeat(begins, counts)
    left = np.repeat(counts, counts) - place
    owner = np.repeat(np.arange(len(texts)), counts)
    empty = np.flatnonzero(counts == 0)
    hash_lists, owners = [np.zeros(len(empty), np.uint64)], [empty]
    for width in range(1, shingle + 1):
        whole = left >= width
        if width < shingle:
            whole &= (place == 0) & (left == width)
        starts = np.flatnonzero(whole)
        hashed = np.full(len(starts), width, np.uint64)
        for offset in range(width):
            hashed = (hashed ^ words[starts + offset]) * _MULTIPLIERS[0]
            hashed ^= hashed >> np.uint64(29)
        hashed *= _MULTIPLIERS[1]
        hash_lists.append(hashed ^ (hashed >> np.uint64(32)))
        owners.append(owner[starts])
    hashes, owner = np.concatenate(hash_lists), np.concatenate(owners)
    order = np.argsort(hashes)
    order = order[np.argsort(owner[order].astype(np.uint16), kind="stable")]
    hashes, owner = hashes[order], owner[order]
    new = (np.diff(owner, prepend=-1) != 0) | (np.diff(hashes, prepend=hashes[:1]) != 0)
    return hashes[new], np.bincount(owner[new], minlength=len(texts))


def _candidates(sets: _Sets, first: IntVector, threshold: float) -> Iterator[IntVector]:
    """Pairs of documents that share two neighbors among their smallest hashes.

    Arrays of shape (n_pairs, 2), at most ``_LOOK_BACK`` of them.
    """
    # Two, because one boilerplate phrase would make pairs of thousands; the sketch of
    # a short text is its whole set, and one shared hash will do. Documents are paired
    # with the ones just before; of those with equal sets the first stands for all.
    alone = np.flatnonzero(first == np.arange(len(first)))
    places = np.arange(_SKETCH)
    at = sets.starts[alone, None] + places
    known = places < sets.sizes[alone, None]
    sketch = sets.hashes[np.minimum(at, len(sets.hashes) - 1)]
    pairs = sketch[:, :-1] * _MULTIPLIERS[2] ^ sketch[:, 1:]
    short = known & (sets.sizes[alone, None] <= _SKETCH)
    rows = np.concatenate([np.nonzero(known[:, 1:])[0], np.nonzero(short)[0]])
    keys = np.concatenate([pairs[known[:, 1:]], sketch[short]])
    order = np.lexsort((rows, keys))
    keys, documents = keys[order], alone[rows[order]]
    for lag in range(1, _LOOK_BACK + 1):
        same = np.flatnonzero(keys[lag:] == keys[:-lag])
        one, two = documents[same + lag], documents[same]
        small = np.minimum(sets.sizes[one], sets.sizes[two])
        large = np.maximum(sets.sizes[one], sets.sizes[two])
        near = (small >= threshold * large) & (one != two)
        pairs = np.unique(one[near] * len(first) + two[near])
        yield np.column_stack(np.divmod(pairs, len(first)))


def _similar(sets: _Sets, pairs: IntVector, threshold: float) -> BoolVector:
    """Whether the Jaccard similarity of each pair of sets reaches the threshold."""
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


_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
# Which bytes belong to words: ASCII letters, digits, _, and all beyond ASCII.
_WORD_BYTES = np.array(
    [b > 127 or chr(b).isalnum() or chr(b) == "_" for b in range(256)]
)


def word_hashes(texts: list[str]) -> tuple[Hashes, IntVector]:
    """Case-blind hashes of all words (letters, digits, _), and each text's number."""
    encoded = [text.lower().encode("utf-8", errors="replace") for text in texts]
    joined = np.frombuffer(b" " + b" ".join(encoded) + b" ", np.uint8)
    inside = _WORD_BYTES[joined]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    # B^i and B^-i mod 2^64 for each place i.
    up, down = (_powers(factor, len(joined)) for factor in (_BASE, _INVERSE))
    terms = joined.astype(np.uint64)
    terms += np.uint64(1)
    terms *= up
    prefix = np.zeros(len(terms) + 1, np.uint64)
    np.cumsum(terms, out=prefix[1:])
    hashes = (prefix[ends] - prefix[starts]) * down[starts]
    hashes ^= hashes >> np.uint64(31)
    borders = np.cumsum([len(text) + 1 for text in encoded])
    before = np.searchsorted(starts, borders)
    return hashes, np.diff(before, prepend=0)


def _powers(factor: int, length: int) -> Hashes:
    """1, factor, factor^2, ... mod 2^64."""
    factors = np.full(length, factor, np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)


def group_copies(X: DocumentsLike) -> DuplicateGroups:
    """Near-duplicates among texts, however many; equal rows of a matrix."""
    texts = texts_of(X)
    return group_equal_rows(X) if texts is None else group_near_duplicates(texts)


def copied_texts(X: DocumentsLike) -> IntVector | None:
    """Groups of near-duplicates; None for a matrix: equal rows may be other texts."""
    return None if texts_of(X) is None else group_copies(X).group
