"""From documents to counts: the door to the compiled text kernels.

Documents are a list of ``str`` or an ``ArrowText``. The compiled kernels read
both where they lie, release the GIL and give the same answer on any number of
threads. The plain twins are in ``text_plain``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import DataError
from earmark.kernels import text_plain, unicode_tables
from earmark.kernels.backend import native
from earmark.typing import BoolVector, IntVector

__all__ = [
    "ArrowText",
    "Documents",
    "Scan",
    "TermTable",
    "count_columns",
    "count_terms",
    "count_tokens",
    "empty_csr",
    "native_scan",
    "native_texts",
    "not_text",
    "plain_analyzer",
]

_ANALYZERS = {"word": 0, "char": 1, "char_wb": 2}


@dataclass(frozen=True)
class ArrowText:
    """UTF-8 text in Arrow's layout: (offsets, bytes) of each chunk, no nulls."""

    chunks: tuple[tuple[NDArray[Any], NDArray[np.uint8]], ...]

    def __len__(self) -> int:
        return sum(len(offsets) - 1 for offsets, _ in self.chunks)

    def __iter__(self) -> Iterator[str]:
        for offsets, data in self.chunks:
            for k in range(len(offsets) - 1):
                yield data[offsets[k] : offsets[k + 1]].tobytes().decode()


Documents: TypeAlias = list[str] | ArrowText


@dataclass(frozen=True)
class Scan:
    """How a document becomes terms; scikit-learn's word, char and char_wb analyzers.

    ``min_length`` is the least number of characters of a word; stop words go
    before n-grams of words are made.
    """

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_length: int = 2
    lowercase: bool = True
    stop_words: frozenset[str] = frozenset()


def plain_analyzer(scan: Scan) -> Callable[[str], list[str]]:
    """The scan as a function from a document to its list of terms."""
    min_n, max_n = scan.ngram_range
    find = re.compile(rf"\w{{{scan.min_length},}}").findall

    def analyze(text: str) -> list[str]:
        if scan.lowercase:
            text = text.lower()
        if scan.analyzer == "char":
            return text_plain.char_ngrams(text, min_n, max_n)
        if scan.analyzer == "char_wb":
            return text_plain.char_ngrams_in_words(text, min_n, max_n)
        words = find(text)
        if scan.stop_words:
            words = [word for word in words if word not in scan.stop_words]
        return text_plain.word_ngrams(words, min_n, max_n)

    return analyze


class NativeCounts:
    """Counts of a corpus, terms numbered by first occurrence (see PlainCounts)."""

    def __init__(self, counted: Any) -> None:
        self._counted = counted
        self.n_rows: int = counted.n_rows
        self.n_terms: int = counted.n_terms

    def frequencies(self) -> tuple[IntVector, IntVector]:
        """Documents with each term and occurrences of each term."""
        documents = np.zeros(self.n_terms, dtype=np.int64)
        occurrences = np.zeros(self.n_terms, dtype=np.int64)
        self._counted.frequencies(documents, occurrences)
        return documents, occurrences

    def order(self) -> IntVector:
        """Term numbers in the order of the sorted terms."""
        order = np.empty(self.n_terms, dtype=np.uint32)
        self._counted.order(order)
        return order.astype(np.int64)

    def terms(self, keep: BoolVector) -> list[str]:
        """The terms that `keep` marks, by first occurrence."""
        terms: list[str] = self._counted.terms(keep)
        return terms

    def matrix(
        self, columns: NDArray[np.int32], last: bool = True
    ) -> tuple[Any, Any, IntVector]:
        """CSR parts (indptr, indices, data); a negative column drops the term.

        Rows ascend by term number, not by column. ``last`` frees the counts on the way.
        """
        n_entries = self._counted.n_entries
        if (columns < 0).any():
            n_entries = int(self.frequencies()[0][columns >= 0].sum())
        parts = empty_csr(self.n_rows, n_entries)
        self._counted.fill(columns, *parts, last)
        return parts


Counts: TypeAlias = NativeCounts | text_plain.PlainCounts


def count_terms(documents: Documents, scan: Scan, n_threads: int = 1) -> Counts:
    """Count every term of the documents."""
    lib = native()
    if lib is None:
        return text_plain.PlainCounts(map(plain_analyzer(scan), documents))
    texts = native_texts(lib, documents, scan)
    stops = sorted(scan.stop_words)
    return NativeCounts(
        lib.CountedTerms(texts, native_scan(lib, scan), stops, n_threads)
    )


def count_tokens(documents: Iterable[Iterable[str]]) -> Counts:
    """Count documents that somebody else has taken apart."""
    return text_plain.PlainCounts(documents)


class TermTable:
    """A fixed vocabulary, ready for look-up: term k is column k."""

    def __init__(self, terms: list[str], scan: Scan) -> None:
        self.scan = scan
        self.terms = terms
        self._native: Any = None
        self._plain: dict[str, int] | None = None

    def native(self, lib: Any) -> Any:
        """The compiled table, made at first use."""
        if self._native is None:
            stops = sorted(self.scan.stop_words)
            self._native = lib.Vocabulary(
                self.terms, native_scan(lib, self.scan), stops
            )
        return self._native

    def plain(self) -> dict[str, int]:
        """The same as a dictionary, made at first use."""
        if self._plain is None:
            self._plain = {term: column for column, term in enumerate(self.terms)}
        return self._plain


def count_columns(
    documents: Documents, table: TermTable, n_threads: int = 1
) -> tuple[Any, Any, IntVector]:
    """Count known terms -> CSR parts, columns ascending in a row."""
    lib = native()
    if lib is None:
        analyze = plain_analyzer(table.scan)
        return text_plain.count_columns(map(analyze, documents), table.plain())
    texts = native_texts(lib, documents, table.scan)
    counts = lib.ColumnCounts(texts, table.native(lib), n_threads)
    parts = empty_csr(len(documents), counts.n_entries)
    counts.fill(*parts)
    return parts


def not_text(row: int, item: Any) -> str:
    """The message for a document that is no string."""
    missing = _is_missing(item)
    if missing:
        hint = "fill missing texts with '' or drop the rows"
    elif isinstance(item, bytes):
        hint = "decode the bytes first, for instance with .decode('utf-8')"
    else:
        hint = "convert the column to text first"
    kind = "a missing value" if missing else type(item).__name__
    return f"document {row}: expected a str, got {kind} ({item!r:.60}); {hint}."


def _is_missing(item: Any) -> bool:
    """None, NaN, and what pandas writes for missing values."""
    is_nan = isinstance(item, float) and item != item
    return item is None or is_nan or type(item).__name__ in ("NAType", "NaTType")


def native_scan(lib: Any, scan: Scan) -> Any:
    """The scan as the compiled kernels take it."""
    analyzer = _ANALYZERS[scan.analyzer]
    return lib.Scan(analyzer, *scan.ngram_range, scan.min_length)


def native_texts(lib: Any, documents: Documents, scan: Scan) -> Any:
    """Views of the documents for the compiled kernels, with Unicode tables in place."""
    texts = lib.Texts(scan.lowercase)
    if isinstance(documents, ArrowText):
        for offsets, data in documents.chunks:
            done = len(texts)
            row = texts.add_arrow(offsets, data, (offsets, data))
            if row >= 0:
                raise DataError(
                    f"document {done + row}: expected UTF-8, got other bytes in the "
                    "Arrow column; decode the file with its true encoding."
                )
    else:
        row = texts.add_list(documents)
        if row >= 0:
            raise DataError(not_text(row, documents[row]))
    if not texts.ascii:
        unicode_tables.install(lib)
        texts.lower_special()
    return texts


def empty_csr(n_rows: int, n_entries: int) -> tuple[Any, Any, IntVector]:
    """Uninitialised indptr, indices, data for so many rows and entries."""
    index = text_plain.index_type(n_entries)
    return (
        np.empty(n_rows + 1, dtype=index),
        np.empty(n_entries, dtype=index),
        np.empty(n_entries, dtype=np.int64),
    )
