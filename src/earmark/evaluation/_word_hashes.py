"""A 64-bit hash of every word of many texts at once, without a loop over words.

With P(i) = sum_{j<i} b_j B^j over the bytes of all texts (mod 2^64, B odd), the word
of bytes s..e-1 has the position-free hash (P(e) - P(s)) B^-s.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

__all__ = ["word_hashes"]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


def word_hashes(texts: list[str]) -> list[NDArray[np.uint64]]:
    """Per text the hashes of its words: runs of letters, digits and _; case-blind."""
    encoded = [text.lower().encode("utf-8", errors="replace") for text in texts]
    joined = np.frombuffer(b" " + b" ".join(encoded) + b" ", np.uint8)
    inside = _word_bytes()[joined]
    edges = np.flatnonzero(np.diff(inside.view(np.int8))) + 1
    starts, ends = edges[::2], edges[1::2]
    up, down = _powers(len(joined))
    terms = (joined.astype(np.uint64) + np.uint64(1)) * up[: len(joined)]
    prefix = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    hashes = (prefix[ends] - prefix[starts]) * down[starts]
    hashes ^= hashes >> np.uint64(31)
    borders = np.cumsum([len(text) + 1 for text in encoded])
    return np.split(hashes, np.searchsorted(starts, borders[:-1]))


@functools.cache
def _word_bytes() -> NDArray[np.bool_]:
    """Which bytes belong to words: ASCII letters, digits, _, and all beyond ASCII."""
    table = np.zeros(256, dtype=bool)
    table[128:] = True
    for byte in range(128):
        table[byte] = chr(byte).isalnum() or chr(byte) == "_"
    return table


def _powers(length: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """B^i and B^-i mod 2^64 for i < length."""
    return _geometric(_BASE, length), _geometric(_INVERSE, length)


def _geometric(factor: int, length: int) -> NDArray[np.uint64]:
    """1, factor, factor^2, ... by doubling."""
    powers = np.ones(1, np.uint64)
    while len(powers) < length:
        step = np.uint64(pow(factor, len(powers), 2**64))
        powers = np.concatenate([powers, powers * step])
    return powers[:length]
