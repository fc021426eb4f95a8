"""Sorted lists of terms, packed as bytes, merged to one; their counts added up."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import DataError
from earmark.kernels.backend import native
from earmark.typing import IntVector, SparseMatrix

PackedTerms: TypeAlias = tuple[NDArray[np.uint8], IntVector]
"""UTF-8 bytes of all terms, and where each begins and ends (n_terms + 1)."""

PlacedCounts: TypeAlias = tuple[SparseMatrix, SparseMatrix, IntVector, IntVector]
"""Tokens and documents (n_classes, n_terms), of one structure; the place of each term
in the union, and the place of each class."""

_TOO_MANY = "{} to more than 2**63 - 1; count fewer documents together."

# A lone surrogate, which JSON can spell out, is no UTF-8; it is packed all the same.
_ERRORS = "surrogatepass"


def pack_terms(terms: list[str]) -> PackedTerms:
    """Terms as bytes; the order of the bytes is that of the characters."""
    text = "".join(terms)
    data = text.encode("utf-8", _ERRORS)
    lengths: Iterable[int] = map(len, terms)
    if len(data) != len(text):
        lengths = (len(term.encode("utf-8", _ERRORS)) for term in terms)
    offsets = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=len(terms)), out=offsets[1:])
    return np.frombuffer(data, dtype=np.uint8), offsets


def unpack_terms(packed: PackedTerms) -> list[str]:
    """The terms that ``pack_terms`` packed."""
    data, ends = packed[0].tobytes(), packed[1].tolist()
    pairs = pairwise(ends)
    if data.isascii():
        text = data.decode("ascii")
        return [text[start:stop] for start, stop in pairs]
    return [data[start:stop].decode("utf-8", _ERRORS) for start, stop in pairs]


def merge_terms(
    left: PackedTerms, right: PackedTerms
) -> tuple[PackedTerms, IntVector, IntVector]:
    """The union of two sorted lists, and the place of each one's terms in it."""
    lib = native()
    if lib is None:
        return _plain_union(unpack_terms(left), unpack_terms(right))
    data, offsets, *places = lib.merge_terms(*left, *right)
    return (data, offsets), places[0], places[1]


def _plain_union(
    left: list[str], right: list[str]
) -> tuple[PackedTerms, IntVector, IntVector]:
    union = sorted({*left, *right})
    place = {term: k for k, term in enumerate(union)}
    left_place, right_place = (
        np.array([place[term] for term in terms], dtype=np.int64)
        for terms in (left, right)
    )
    return pack_terms(union), left_place, right_place


def merge_counts(
    left: PlacedCounts, right: PlacedCounts, shape: tuple[int, int]
) -> tuple[SparseMatrix, SparseMatrix]:
    """Sums of the counts of two lists, over the union of their terms and classes."""
    from scipy import sparse  # not to be waited for by whoever only packs strings

    lib = native()
    if lib is None:
        return _plain_sum(left, right, 0, shape), _plain_sum(left, right, 1, shape)
    sides = (lib.Counts(*_arrays(side, shape[0])) for side in (left, right))
    try:
        starts, terms, *counts = lib.merge_counts(*sides)
    except OverflowError as error:
        raise DataError(_TOO_MANY.format(error)) from None
    tokens, documents = (
        sparse.csr_array((data, terms, starts), shape=shape) for data in counts
    )
    return tokens, documents


def _arrays(side: PlacedCounts, n_classes: int) -> tuple[NDArray[Any], ...]:
    """What the kernel reads, and for every class of the union its row or -1."""
    tokens, documents, place, classes = side
    row = np.full(n_classes, -1, dtype=np.int64)
    row[classes] = np.arange(len(classes))
    starts = tokens.indptr.astype(np.int64)
    terms = tokens.indices.astype(np.int32, copy=False)
    return starts, terms, tokens.data, documents.data, place, row


def _plain_sum(
    left: PlacedCounts, right: PlacedCounts, which: int, shape: tuple[int, int]
) -> SparseMatrix:
    from scipy import sparse

    total = sparse.csr_array(shape, dtype=np.int64)
    for *counts, place, classes in (left, right):
        entries = counts[which].tocoo()
        at = (classes[entries.row], place[entries.col])
        total = total + sparse.csr_array((entries.data, at), shape=shape)
    wrapped = total.tocoo().col[total.data < 0]
    if len(wrapped):
        raise DataError(_TOO_MANY.format(f"column {wrapped[0]}: the counts add up"))
    return total
