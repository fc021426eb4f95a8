"""Text without the extension: token lists to counts, class sums and scores.

The same answers as the kernels of ``text``, from ``re`` and dictionaries, for whatever
takes documents apart: a callable of the user, or any analyzer without a compiler.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.rows import index_type
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector

CsrArrays: TypeAlias = tuple[IntVector, IntVector, IntVector]
"""indptr, indices and data of a CSR matrix; the first two may be int32."""


class ClassCounts(NamedTuple):
    """Two CSR matrices (n_classes, n_terms) of one structure."""

    indptr: IntVector
    indices: IntVector
    tokens: IntVector
    documents: IntVector


_SPACES = re.compile(r"\s\s+")


def word_ngrams(words: Sequence[str], min_n: int, max_n: int) -> list[str]:
    """All stretches of min_n .. max_n words, shorter ones first, joined by a blank."""
    grams = list(words) if min_n <= 1 else []
    for n in range(max(min_n, 2), min(max_n, len(words)) + 1):
        grams.extend(" ".join(words[k : k + n]) for k in range(len(words) - n + 1))
    return grams


def char_ngrams(text: str, min_n: int, max_n: int) -> list[str]:
    """All stretches of min_n .. max_n characters; a run of spaces counts as a blank."""
    text = _SPACES.sub(" ", text)
    return [
        text[k : k + n]
        for n in range(min_n, min(max_n, len(text)) + 1)
        for k in range(len(text) - n + 1)
    ]


def char_ngrams_in_words(text: str, min_n: int, max_n: int) -> list[str]:
    """Character n-grams inside each word, which gets a blank at both ends."""
    grams: list[str] = []
    for word in text.split():
        padded = f" {word} "
        for n in range(min_n, max_n + 1):
            last = max(len(padded) - n, 0)
            grams.extend(padded[k : k + n] for k in range(last + 1))
            if last == 0:  # a short word counts once
                break
    return grams


class PlainCounts:
    """Counts of a corpus of token lists; the interface of the compiled counts."""

    def __init__(self, documents: Iterable[Iterable[str]]) -> None:
        numbers: dict[str, int] = {}
        self._rows: list[dict[int, int]] = []
        for tokens in documents:
            row: dict[int, int] = {}
            for token in tokens:
                term = numbers.setdefault(token, len(numbers))
                row[term] = row.get(term, 0) + 1
            self._rows.append(row)
        self._terms = list(numbers)
        self.n_rows = len(self._rows)
        self.n_terms = len(self._terms)

    def frequencies(self) -> tuple[IntVector, IntVector]:
        """Documents with each term and occurrences of each term."""
        documents = np.zeros(self.n_terms, dtype=np.int64)
        occurrences = np.zeros(self.n_terms, dtype=np.int64)
        for row in self._rows:
            for term, count in row.items():
                documents[term] += 1
                occurrences[term] += count
        return documents, occurrences

    def order(self) -> IntVector:
        """Term numbers in the order of the sorted terms."""
        ranked = sorted(range(self.n_terms), key=self._terms.__getitem__)
        return np.array(ranked, dtype=np.int64)

    def terms(self, keep: BoolVector) -> list[str]:
        """The terms that `keep` marks, by first occurrence."""
        return [term for term, kept in zip(self._terms, keep, strict=True) if kept]

    def vocabulary(self, columns: NDArray[np.int32]) -> dict[str, int]:
        """The terms whose column is not negative, and their columns."""
        both = zip(self._terms, columns.tolist(), strict=True)
        return {term: column for term, column in both if column >= 0}

    def matrix(self, columns: NDArray[np.int32], last: bool = True) -> CsrArrays:
        """CSR arrays (indptr, indices, data); a negative column drops the term."""
        column = columns.tolist()
        return _csr_arrays(
            [(column[t], row[t]) for t in sorted(row) if column[t] >= 0]
            for row in self._rows
        )


def count_columns(
    documents: Iterable[Iterable[str]], vocabulary: Mapping[str, int]
) -> CsrArrays:
    """CSR arrays of the counts of known terms; columns ascend in a row."""

    def rows() -> Iterator[list[tuple[int, int]]]:
        for tokens in documents:
            row: dict[int, int] = {}
            for token in tokens:
                column = vocabulary.get(token)
                if column is not None:
                    row[column] = row.get(column, 0) + 1
            yield sorted(row.items())

    return _csr_arrays(rows())


def _csr_arrays(rows: Iterable[list[tuple[int, int]]]) -> CsrArrays:
    """Stack rows of (column, count) pairs -> indptr, indices, data."""
    ends: list[int] = [0]
    indices: list[int] = []
    data: list[int] = []
    for row in rows:
        indices.extend(column for column, _ in row)
        data.extend(count for _, count in row)
        ends.append(len(indices))
    index = index_type(len(indices))
    return (
        np.array(ends, dtype=index),
        np.array(indices, dtype=index),
        np.array(data, dtype=np.int64),
    )


def class_sums(
    documents: Iterable[Iterable[str]], y_index: IntVector, n_classes: int
) -> tuple[list[str], ClassCounts]:
    """Sorted terms, and the token and document counts of each class (CS1)."""
    tokens: list[Counter[str]] = [Counter() for _ in range(n_classes)]
    presence: list[Counter[str]] = [Counter() for _ in range(n_classes)]
    for c, words in zip(y_index.tolist(), documents, strict=True):
        row = Counter(words)
        tokens[c].update(row)
        presence[c].update(row.keys())
    terms = sorted(set().union(*tokens))
    column = {term: k for k, term in enumerate(terms)}
    present = [sorted(row, key=column.__getitem__) for row in tokens]
    indptr = np.cumsum([0, *(len(names) for names in present)], dtype=np.int64)
    columns = (
        [column[t] for names in present for t in names],
        [row[t] for row, names in zip(tokens, present, strict=True) for t in names],
        [row[t] for row, names in zip(presence, present, strict=True) for t in names],
    )
    indices, n_tokens, n_documents = (np.array(p, dtype=np.int64) for p in columns)
    return terms, ClassCounts(indptr, indices, n_tokens, n_documents)


def linear_scores(
    documents: Iterable[Iterable[str]],
    vocabulary: Mapping[str, int],
    weights: FloatMatrix,
    bias: FloatVector,
    tf: str,
    idf: FloatVector | None,
    norm: str | None,
) -> tuple[FloatMatrix, IntVector]:
    """Scores (n_documents, n_outputs) and the number of known tokens of each."""
    scores, n_tokens = [], []
    for words in documents:
        known = (vocabulary.get(word, -1) for word in words)
        counts = Counter(column for column in known if column >= 0)
        columns = list(counts)
        n_tokens.append(sum(counts.values()))
        x = np.array([_tf(tf, n) for n in counts.values()], dtype=np.float64)
        if idf is not None:
            x *= idf[columns]
        scores.append(x @ weights[columns] / _length(x, norm) + bias)
    return (
        np.array(scores, dtype=np.float64).reshape(-1, len(bias)),
        np.array(n_tokens, dtype=np.int64),
    )


def _tf(tf: str, count: int) -> float:
    if tf == "binary":
        return 1.0
    if tf == "sublinear":
        return 1.0 + math.log(count)
    return 1.0 + math.log10(count) if tf == "logarithm" else float(count)


def _length(x: FloatVector, norm: str | None) -> float:
    if norm is None:
        return 1.0
    length = math.sqrt(float(x @ x)) if norm == "l2" else float(np.abs(x).sum())
    return length or 1.0


def count_hashed_tokens(
    documents: Iterable[Iterable[str]], n_columns: int, signs: bool
) -> CsrArrays:
    """Signed counts by hashed column: MurmurHash3 of each term, signs optional."""
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

    return _csr_arrays(map(row, documents))


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
