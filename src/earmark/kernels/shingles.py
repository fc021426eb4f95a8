"""Runs of words as 64-bit hashes, by which near-duplicates are found.

A text is the set of its runs of so many consecutive words. One shorter than that is one
run, and one without a word has the hash 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.text import Scan, ScannedTexts
from earmark.typing import IntVector

Hashes: TypeAlias = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
)
# Which bytes belong to words: ASCII letters, digits, _, and all beyond ASCII.
_WORD_BYTES = np.array(
    [b > 127 or chr(b).isalnum() or chr(b) == "_" for b in range(256)]
)
_MOST_CHARACTERS = 250_000  # of a portion: its arrays stay in the caches
_MOST_TEXTS = 2**15  # of a portion, so that their numbers are short


class Sketches(NamedTuple):
    """What is kept of the runs of each text."""

    smallest: Hashes
    """Its smallest different hashes, ascending, and 2^64 - 1 behind them."""
    n: IntVector
    """How many of these it has."""
    total: Hashes
    """A sum over all its runs, the same for equal texts."""


def sketches(texts: list[str], shingle: int, most: int) -> Sketches:
    """At most so many of the smallest hashes of each text."""
    smallest = np.full((len(texts), most), 2**64 - 1, dtype=np.uint64)
    n = np.zeros(len(texts), dtype=np.int64)
    total = np.zeros(len(texts), dtype=np.uint64)
    lib = native()
    if lib is not None:
        scanned = ScannedTexts(texts, Scan()).compiled
        lib.sketches(scanned, shingle, smallest, n, total)
        return Sketches(smallest, n, total)
    start = 0
    for chunk in _chunks(texts):
        hashes, owner = _runs(chunk, shingle)
        rows = slice(start, start + len(chunk))
        mixed = (hashes ^ (hashes >> np.uint64(31))) * MULTIPLIERS[2]
        total[rows] = np.add.reduceat(
            mixed, np.searchsorted(owner, np.arange(len(chunk)))
        )
        hashes, sizes = _distinct(hashes, owner, len(chunk))
        place = np.arange(len(hashes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        row = np.repeat(np.arange(len(chunk)), sizes)
        small = place < most
        smallest[rows][row[small], place[small]] = hashes[small]
        n[rows] = np.minimum(sizes, most)
        start += len(chunk)
    return Sketches(smallest, n, total)


def shingle_sets(texts: list[str], shingle: int) -> tuple[Hashes, IntVector]:
    """Different hashes of each text, in any order, and how many it has."""
    lib = native()
    if lib is not None:
        hashes, sizes = lib.shingle_sets(ScannedTexts(texts, Scan()).compiled, shingle)
        return hashes, sizes
    parts = [_distinct(*_runs(some, shingle), len(some)) for some in _chunks(texts)]
    if not parts:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    hashes, sizes = (np.concatenate(column) for column in zip(*parts, strict=True))
    return hashes, sizes


# -- without the extension -----------------------------------------------------------


def _chunks(texts: list[str]) -> Iterator[list[str]]:
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


def _runs(texts: list[str], shingle: int) -> tuple[Hashes, IntVector]:
    """The hash of every run of words, sorted text by text, and the text of each."""
    words, counts = word_hashes(texts)
    begins = np.cumsum(counts) - counts
    place = np.arange(len(words)) - np.repeat(begins, counts)
    left = np.repeat(counts, counts) - place
    owner = np.repeat(np.arange(len(texts)), counts)
    empty = np.flatnonzero(counts == 0)
    hash_lists, owners = [np.zeros(len(empty), np.uint64)], [empty]
    for width in range(1, min(shingle, int(counts.max(initial=1))) + 1):
        whole = left >= width
        if width < shingle:
            whole &= (place == 0) & (left == width)
        starts = np.flatnonzero(whole)
        hashed = np.full(len(starts), width, np.uint64)
        for offset in range(width):
            hashed = (hashed ^ words[starts + offset]) * MULTIPLIERS[0]
            hashed ^= hashed >> np.uint64(29)
        hashed *= MULTIPLIERS[1]
        hash_lists.append(hashed ^ (hashed >> np.uint64(32)))
        owners.append(owner[starts])
    hashes, owner = np.concatenate(hash_lists), np.concatenate(owners)
    order = np.argsort(hashes)
    order = order[np.argsort(owner[order].astype(np.uint16), kind="stable")]
    return hashes[order], owner[order]


def _distinct(
    hashes: Hashes, owner: IntVector, n_texts: int
) -> tuple[Hashes, IntVector]:
    """Sorted hashes of each text without repeats, and how many each has."""
    new = (np.diff(owner, prepend=-1) != 0) | (np.diff(hashes, prepend=hashes[:1]) != 0)
    return hashes[new], np.bincount(owner[new], minlength=n_texts)


def word_hashes(texts: list[str]) -> tuple[Hashes, IntVector]:
    """Case-blind hashes of all words (letters, digits, _), and each text's number."""
    encoded = [text.lower().encode("utf-8", errors="surrogatepass") for text in texts]
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
