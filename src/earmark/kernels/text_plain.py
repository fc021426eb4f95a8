"""Plain twins of the text kernels: the same answers from ``re`` and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.typing import BoolVector, IntVector

__all__ = [
    "PlainCounts",
    "char_ngrams",
    "char_ngrams_in_words",
    "count_columns",
    "csr_parts",
    "index_type",
    "word_ngrams",
]

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

    def matrix(
        self, columns: NDArray[np.int32], last: bool = True
    ) -> tuple[Any, Any, IntVector]:
        """CSR parts (indptr, indices, data); a negative column drops the term."""
        column = columns.tolist()
        return csr_parts(
            [(column[t], row[t]) for t in sorted(row) if column[t] >= 0]
            for row in self._rows
        )


def count_columns(
    documents: Iterable[Iterable[str]], vocabulary: dict[str, int]
) -> tuple[Any, Any, IntVector]:
    """CSR parts of the counts of known terms; columns ascend in a row."""

    def rows() -> Iterator[list[tuple[int, int]]]:
        for tokens in documents:
            row: dict[int, int] = {}
            for token in tokens:
                column = vocabulary.get(token)
                if column is not None:
                    row[column] = row.get(column, 0) + 1
            yield sorted(row.items())

    return csr_parts(rows())


def csr_parts(rows: Iterable[list[tuple[int, int]]]) -> tuple[Any, Any, IntVector]:
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


def index_type(n_entries: int) -> type[np.int32] | type[np.int64]:
    """int32 while it can count the entries, as scikit-learn chooses."""
    return np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64
