"""Documents to counts in hashed columns: MurmurHash3 of each term, signs optional."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from earmark.kernels.backend import native
from earmark.kernels.text import (
    Documents,
    Scan,
    empty_csr,
    native_scan,
    native_texts,
    plain_analyzer,
)
from earmark.kernels.text_plain import csr_parts
from earmark.typing import IntVector

__all__ = ["count_hashed", "count_hashed_tokens", "murmurhash3"]


def count_hashed(
    documents: Documents, scan: Scan, n_columns: int, signs: bool, n_threads: int = 1
) -> tuple[Any, Any, IntVector]:
    """CSR parts of signed counts by hashed column, columns ascending in a row."""
    lib = native()
    if lib is None:
        tokens = map(plain_analyzer(scan), documents)
        return count_hashed_tokens(tokens, n_columns, signs)
    texts = native_texts(lib, documents, scan)
    stops = sorted(scan.stop_words)
    counts = lib.HashedCounts(
        texts, native_scan(lib, scan), stops, n_columns, signs, n_threads
    )
    parts = empty_csr(len(documents), counts.n_entries)
    counts.fill(*parts)
    return parts


def count_hashed_tokens(
    documents: Iterable[Iterable[str]], n_columns: int, signs: bool
) -> tuple[Any, Any, IntVector]:
    """The same for documents that somebody else has taken apart."""
    lib = native()
    hashed = murmurhash3 if lib is None else lib.murmurhash3

    @functools.lru_cache(maxsize=1 << 16)
    def place(term: str) -> tuple[int, int]:
        h = hashed(term.encode("utf-8", "surrogatepass"))
        return abs(h) % n_columns, -1 if signs and h < 0 else 1

    def row(tokens: Iterable[str]) -> list[tuple[int, int]]:
        counts: dict[int, int] = {}
        for column, sign in map(place, tokens):
            counts[column] = counts.get(column, 0) + sign
        return sorted(counts.items())

    return csr_parts(map(row, documents))


def murmurhash3(data: bytes) -> int:
    """MurmurHash3_x86_32 with seed 0, as a signed number."""
    h = 0
    whole = len(data) // 4 * 4
    for k in range(0, whole, 4):
        h ^= _scramble(int.from_bytes(data[k : k + 4], "little"))
        h = (_rotate(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    if len(data) > whole:
        h ^= _scramble(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & 0xFFFFFFFF


def _scramble(word: int) -> int:
    return _rotate(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
