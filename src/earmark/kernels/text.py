"""From documents to counts, class sums and scores.

``ScannedTexts`` is compiled: it reads a list of ``str`` or an ``ArrowText`` where it
lies, releases the GIL and gives the same answer on any number of threads.
``TokenLists`` gives the same answers from ``re`` and dictionaries, for whatever takes
documents apart: a callable of the user, or any analyzer without the extension.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import DataError
from earmark.kernels.backend import extension, native
from earmark.kernels.rows import index_type
from earmark.kernels.term_merge import PackedTerms, pack_terms
from earmark.missing import is_missing
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
)

LONGEST_NGRAM = 255
# A text has fewer characters: places in it are kept in 32 bits.
LONGEST_TEXT = 1 << 28
"""Words of the longest n-gram that the compiled tables hold."""

_ANALYZERS = {"word": 0, "char": 1, "char_wb": 2, "word_or_mark": 3}
_TF = {"raw": 0, "binary": 1, "sublinear": 2, "logarithm": 3}
_NORM = {None: 0, "l2": 1, "l1": 2}
_SPACES = re.compile(r"\s\s+")

CsrArrays: TypeAlias = tuple[IntVector, IntVector, IntVector]
"""indptr, indices and data of a CSR matrix; the first two may be int32."""


class ClassCounts(NamedTuple):
    """Two CSR matrices (n_classes, n_terms) of one structure."""

    indptr: IntVector
    indices: IntVector
    tokens: IntVector
    documents: IntVector


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
    """How a document becomes terms; stop words go before n-grams of words are made."""

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_length: int = 2
    lowercase: bool = True
    stop_words: frozenset[str] = frozenset()

    def compiled(self) -> tuple[Any, list[str]]:
        """The scan and its stop words as the kernels take them."""
        analyzer = _ANALYZERS[self.analyzer]
        scan = extension().Scan(analyzer, *self.ngram_range, self.min_length)
        return scan, sorted(self.stop_words)


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

    def totals(self) -> IntVector:
        """Number of terms of each document; before ``matrix`` frees the rows."""
        totals = np.zeros(self.n_rows, dtype=np.int64)
        self._counted.totals(totals)
        return totals

    def order(self) -> IntVector:
        """Term numbers in the order of the sorted terms."""
        return np.asarray(self._counted.order(), dtype=np.int64)

    def terms(self, keep: BoolVector) -> list[str]:
        """The terms that `keep` marks, by first occurrence."""
        terms: list[str] = self._counted.terms(keep)
        return terms

    def vocabulary(self, columns: NDArray[np.int32]) -> dict[str, int]:
        """The terms whose column is not negative, and their columns."""
        vocabulary: dict[str, int] = self._counted.vocabulary(columns)
        return vocabulary

    def matrix(self, columns: NDArray[np.int32], last: bool = True) -> CsrArrays:
        """CSR arrays by term number; a negative column drops a term; ``last`` frees."""
        n_entries = self._counted.n_entries
        if (columns < 0).any():
            n_entries = int(self.frequencies()[0][columns >= 0].sum())
        arrays = _empty_csr(self.n_rows, n_entries)
        self._counted.fill(columns, *arrays, last)
        return arrays


@dataclass
class TermTable:
    """A fixed vocabulary, ready for look-up: term k is column k."""

    terms: list[str]
    _compiled: tuple[Scan, Any] | None = field(default=None, repr=False, compare=False)

    @functools.cached_property
    def columns(self) -> dict[str, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms)}

    def compiled(self, scan: Scan) -> Any:
        """The compiled table for a scan, made at first use."""
        if self._compiled is None or self._compiled[0] != scan:
            table = extension().Vocabulary(self.terms, *scan.compiled())
            self._compiled = (scan, table)
        return self._compiled[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms, "_compiled": None}


class ScannedTexts:
    """Documents for the compiled kernels; a list may change afterwards."""

    def __init__(self, documents: Documents, scan: Scan, n_threads: int = 1) -> None:
        self._lib = lib = extension()
        self.documents, self._scan, self._n_threads = documents, scan, n_threads
        self._texts = texts = lib.Texts(scan.lowercase)
        if isinstance(documents, ArrowText):
            for offsets, data in documents.chunks:
                done = len(texts)
                row = texts.add_arrow(offsets, data, (offsets, data))
                if row >= 0:
                    raise DataError(
                        f"document {done + row}: expected UTF-8, got other bytes in "
                        "the Arrow column; decode the file with its true encoding."
                    )
        else:
            row = texts.add_list(documents)
            if row >= 0:
                raise DataError(not_text(row, documents[row]))
        if not texts.ascii:
            if not lib.unicode_tables_ready():
                lib.set_unicode_tables(*code_point_tables())
            texts.lower_special()

    @property
    def compiled(self) -> Any:
        """The documents as the kernels take them."""
        return self._texts

    def count_terms(self) -> NativeCounts:
        """Count every term of the documents."""
        arguments = (*self._scan.compiled(), self._n_threads)
        return NativeCounts(self._lib.CountedTerms(self._texts, *arguments))

    def count_columns(self, table: TermTable) -> tuple[CsrArrays, IntVector]:
        """CSR arrays of known terms, by column; all terms of each document."""
        known = table.compiled(self._scan)
        counts = self._lib.ColumnCounts(self._texts, known, self._n_threads)
        return self._filled(counts), np.asarray(counts.take_totals())

    def count_hashed(self, n_columns: int, signs: bool) -> CsrArrays:
        """Signed counts by hashed column, columns ascending in a row."""
        arguments = (*self._scan.compiled(), n_columns, bool(signs), self._n_threads)
        return self._filled(self._lib.HashedCounts(self._texts, *arguments))

    def class_sums(
        self, y_index: IntVector, n_classes: int
    ) -> tuple[list[str], ClassCounts]:
        """Sorted terms, and the token and document counts of each class (CS1)."""
        arguments = (n_classes, *self._scan.compiled(), self._n_threads)
        sums = self._lib.ClassSums(self._texts, y_index, *arguments)
        return sums.terms(), ClassCounts(*sums.take())

    def packed_class_sums(
        self, y_index: IntVector, n_classes: int
    ) -> tuple[PackedTerms, ClassCounts]:
        """As ``class_sums``, the terms as bytes: no Python string is made."""
        arguments = (n_classes, *self._scan.compiled(), self._n_threads)
        sums = self._lib.ClassSums(self._texts, y_index, *arguments)
        return sums.packed_terms(), ClassCounts(*sums.take())

    def scores(
        self,
        table: TermTable,
        weights: FloatMatrix | FloatTable,
        bias: FloatVector,
        tf: str,
        idf: FloatVector | None,
        norm: str | None,
        unknown: float = 0.0,
    ) -> tuple[FloatMatrix, IntVector]:
        """Linear scores, and how many tokens of each document were known.

        An unknown term adds ``unknown`` to the square of an l2 norm.
        """
        scores = np.empty((len(self._texts), len(bias)), dtype=np.float64)
        n_tokens = np.empty(len(self._texts), dtype=np.int64)
        self._lib.score_texts(
            self._texts,
            table.compiled(self._scan),
            tf=_TF[tf],
            norm=_NORM[norm],
            unknown=unknown,
            idf=idf,
            weights=weights,
            bias=bias,
            scores=scores,
            n_tokens=n_tokens,
            n_threads=self._n_threads,
        )
        return scores, n_tokens

    def encode(
        self,
        table: Any,
        unit: bool,
        vectors: FloatTable,
        n_words: IntVector,
        n_known: IntVector,
    ) -> None:
        """Write the vector of each text by a compiled table, and counts of words."""
        table.encode(self._texts, unit, vectors, n_words, n_known, self._n_threads)

    def _filled(self, counts: Any) -> CsrArrays:
        arrays = _empty_csr(len(self._texts), counts.n_entries)
        counts.fill(*arrays)
        return arrays


# -- without the extension -----------------------------------------------------------


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

    def totals(self) -> IntVector:
        """Number of terms of each document."""
        return np.array([sum(row.values()) for row in self._rows], dtype=np.int64)

    def order(self) -> IntVector:
        """Term numbers in the order of the sorted terms."""
        ranked = sorted(range(self.n_terms), key=self._terms.__getitem__)
        return np.array(ranked, dtype=np.int64)

    def terms(self, keep: BoolVector) -> list[str]:
        """The terms that `keep` marks, by first occurrence."""
        return [
            term for term, is_wanted in zip(self._terms, keep, strict=True) if is_wanted
        ]

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


class TokenLists:
    """Documents and what takes them apart, with the answers of ``ScannedTexts``."""

    def __init__(
        self, documents: Iterable[Any], analyze: Callable[[Any], Iterable[str]]
    ) -> None:
        self.documents, self._analyze = documents, analyze

    def __iter__(self) -> Iterator[Iterable[str]]:
        return map(self._analyze, self.documents)

    def count_terms(self) -> PlainCounts:
        """Count every term of the documents."""
        return PlainCounts(self)

    def count_columns(self, table: TermTable) -> tuple[CsrArrays, IntVector]:
        """CSR arrays of known terms, by column; all terms of each document."""
        known, totals = table.columns, []

        def row(tokens: Iterable[str]) -> list[tuple[int, int]]:
            counts: dict[int, int] = {}
            total = 0
            for token in tokens:
                column = known.get(token)
                total += 1
                if column is not None:
                    counts[column] = counts.get(column, 0) + 1
            totals.append(total)
            return sorted(counts.items())

        return _csr_arrays(map(row, self)), np.array(totals, dtype=np.int64)

    def count_hashed(self, n_columns: int, signs: bool) -> CsrArrays:
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

        return _csr_arrays(map(row, self))

    def class_sums(
        self, y_index: IntVector, n_classes: int
    ) -> tuple[list[str], ClassCounts]:
        """Sorted terms, and the token and document counts of each class (CS1)."""
        tokens: list[Counter[str]] = [Counter() for _ in range(n_classes)]
        presence: list[Counter[str]] = [Counter() for _ in range(n_classes)]
        for c, words in zip(y_index.tolist(), self, strict=True):
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
            [
                row[t]
                for row, names in zip(presence, present, strict=True)
                for t in names
            ],
        )
        indices, n_tokens, n_documents = (np.array(p, dtype=np.int64) for p in columns)
        return terms, ClassCounts(indptr, indices, n_tokens, n_documents)

    def packed_class_sums(
        self, y_index: IntVector, n_classes: int
    ) -> tuple[PackedTerms, ClassCounts]:
        """As ``class_sums``, the terms as bytes."""
        terms, sums = self.class_sums(y_index, n_classes)
        return pack_terms(terms), sums

    def scores(
        self,
        table: TermTable,
        weights: FloatMatrix | FloatTable,
        bias: FloatVector,
        tf: str,
        idf: FloatVector | None,
        norm: str | None,
        unknown: float = 0.0,
    ) -> tuple[FloatMatrix, IntVector]:
        """Linear scores, and how many tokens of each document were known.

        An unknown term adds ``unknown`` to the square of an l2 norm.
        """
        vocabulary, scores, n_tokens = table.columns, [], []
        for words in self:
            every = [vocabulary.get(word, -1) for word in words]
            counts = Counter(column for column in every if column >= 0)
            columns = list(counts)
            n_tokens.append(sum(counts.values()))
            x = np.array([_tf(tf, n) for n in counts.values()], dtype=np.float64)
            if idf is not None:
                x *= idf[columns]
            more = unknown * (len(every) - n_tokens[-1])
            scores.append(x @ weights[columns] / _length(x, norm, more) + bias)
        return (
            np.array(scores, dtype=np.float64).reshape(-1, len(bias)),
            np.array(n_tokens, dtype=np.int64),
        )


Counts: TypeAlias = NativeCounts | PlainCounts


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


def _tf(tf: str, count: int) -> float:
    if tf == "binary":
        return 1.0
    if tf == "sublinear":
        return 1.0 + math.log(count)
    return 1.0 + math.log10(count) if tf == "logarithm" else float(count)


def _length(x: FloatVector, norm: str | None, more: float) -> float:
    """The length of a row; ``more`` is added to the square of an l2 norm."""
    if norm is None:
        return 1.0
    length = math.sqrt(float(x @ x) + more) if norm == "l2" else float(np.abs(x).sum())
    return length or 1.0


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


def _empty_csr(n_rows: int, n_entries: int) -> CsrArrays:
    """Uninitialised indptr, indices, data for so many rows and entries."""
    index = index_type(n_entries)
    return (
        np.empty(n_rows + 1, dtype=index),
        np.empty(n_entries, dtype=index),
        np.empty(n_entries, dtype=np.int64),
    )


def longest_text(documents: Documents) -> tuple[int, int]:
    """The length of the longest text, of Arrow in bytes, and its row."""
    if isinstance(documents, ArrowText):
        parts = [np.diff(offsets) for offsets, _ in documents.chunks]
        lengths = np.concatenate(parts) if parts else np.empty(0, np.int64)
        row = int(lengths.argmax()) if len(lengths) else 0
        return (int(lengths[row]) if len(lengths) else 0), row
    length = max(map(len, documents), default=0)
    if length < LONGEST_TEXT:
        return length, 0
    return length, next(k for k, text in enumerate(documents) if len(text) == length)


def too_long(length: int) -> str:
    """The message for a text that the kernels do not take."""
    return f"expected fewer than {LONGEST_TEXT:,} characters, got {length:,}; split it."


def not_text(row: int, item: Any) -> str:
    """The message for a document that is no string."""
    missing = is_missing(item)
    if missing:
        hint = "fill missing texts with '' or drop the rows"
    elif isinstance(item, bytes):
        hint = "decode the bytes first, for instance with .decode('utf-8')"
    elif parsed_text(item):
        hint = "give its text: [document.text for document in documents]"
    else:
        hint = "convert the column to text first"
    kind = "a missing value" if missing else type(item).__name__
    return f"document {row}: expected a str, got {kind} ({item!r:.60}); {hint}."


def parsed_text(item: Any) -> bool:
    """Whether an object holds a text as a parser left it, as a document of spaCy."""
    return isinstance(getattr(item, "text", None), str)


# -- Unicode -----------------------------------------------------------------------
# The scanner must agree with this interpreter's ``re`` and ``str.lower``, whose Unicode
# version changes from one Python to the next; so the tables are made at run time, and
# only once a document is not plain ASCII.

WORD, SPACE, SPECIAL = 1, 2, 4
_N_CODE_POINTS = sys.maxunicode + 1
# Capital sigma becomes one of two letters by its place in the word; dotted
# capital I becomes two code points.
_IN_CONTEXT = (0x0130, 0x03A3)


def code_point_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Flags (WORD, SPACE, SPECIAL) and lower case, special ones as they are."""
    numbers = np.arange(_N_CODE_POINTS, dtype="<u4")
    every = _decoded(numbers)
    flags = np.zeros(_N_CODE_POINTS, dtype=np.uint8)
    for pattern, bit in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, every):
            flags[run.start() : run.end()] |= bit
    special = list(_IN_CONTEXT)
    numbers[special] = ord(" ")
    lowered = _decoded(numbers).lower()
    if len(lowered) != _N_CODE_POINTS:  # a Unicode version with more of them
        special += [n for n, c in enumerate(every) if len(c.lower()) != 1]
        numbers[special] = ord(" ")
        lowered = _decoded(numbers).lower()
    lower = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lower = lower.astype(np.uint32)
    lower[special] = special
    flags[special] |= SPECIAL
    return flags, lower


def _decoded(numbers: NDArray[np.uint32]) -> str:
    return numbers.tobytes().decode("utf-32-le", "surrogatepass")
