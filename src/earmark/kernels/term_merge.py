"""Sorted lists of terms, packed as bytes, merged to one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.typing import IntVector

__all__ = ["PackedTerms", "merge_terms", "pack_terms", "unpack_terms"]

PackedTerms: TypeAlias = tuple[NDArray[np.uint8], IntVector]
"""UTF-8 bytes of all terms, and where each begins and ends (n_terms + 1)."""

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
        return _plain(unpack_terms(left), unpack_terms(right))
    data, offsets, *places = lib.merge_terms(*left, *right)
    return (data, offsets), places[0], places[1]


def _plain(
    left: list[str], right: list[str]
) -> tuple[PackedTerms, IntVector, IntVector]:
    union = sorted({*left, *right})
    place = {term: k for k, term in enumerate(union)}
    left_place, right_place = (
        np.array([place[term] for term in terms], dtype=np.int64)
        for terms in (left, right)
    )
    return pack_terms(union), left_place, right_place
