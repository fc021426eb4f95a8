"""From documents to counts, class sums and scores: the compiled text kernels.

Documents are a list of ``str`` or an ``ArrowText``. The kernels read both where they
lie, release the GIL and give the same answer on any number of threads. Without the
extension there is no scan, and ``text_plain`` serves: see ``AnalysisMixin.scan``.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import DataError
from earmark.kernels.backend import extension
from earmark.kernels.rows import index_type
from earmark.kernels.term_merge import PackedTerms
from earmark.kernels.text_plain import ClassCounts, CsrArrays, PlainCounts
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector

LONGEST_NGRAM = 255
"""Words of the longest n-gram that the compiled tables hold."""

_ANALYZERS = {"word": 0, "char": 1, "char_wb": 2}
_TF = {"raw": 0, "binary": 1, "sublinear": 2, "logarithm": 3}
_NORM = {None: 0, "l2": 1, "l1": 2}


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
        """CSR arrays (indptr, indices, data); a negative column drops the term.

        Rows ascend by term number, not by column. ``last`` frees the counts on the way.
        """
        n_entries = self._counted.n_entries
        if (columns < 0).any():
            n_entries = int(self.frequencies()[0][columns >= 0].sum())
        arrays = _empty_csr(self.n_rows, n_entries)
        self._counted.fill(columns, *arrays, last)
        return arrays


Counts: TypeAlias = NativeCounts | PlainCounts


def count_terms(documents: Documents, scan: Scan, n_threads: int = 1) -> NativeCounts:
    """Count every term of the documents."""
    lib = extension()
    texts = _texts(lib, documents, scan)
    return NativeCounts(lib.CountedTerms(texts, *_scan(lib, scan), n_threads))


@dataclass
class TermTable:
    """A fixed vocabulary, ready for look-up: term k is column k."""

    terms: list[str]
    scan: Scan
    _table: Any = field(default=None, repr=False, compare=False)

    def compiled(self, lib: ModuleType) -> Any:
        """The compiled table, made at first use."""
        if self._table is None:
            self._table = lib.Vocabulary(self.terms, *_scan(lib, self.scan))
        return self._table

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_table": None}


def count_columns(
    documents: Documents, table: TermTable, n_threads: int = 1
) -> CsrArrays:
    """Count known terms -> CSR arrays, columns ascending in a row."""
    lib = extension()
    texts = _texts(lib, documents, table.scan)
    counts = lib.ColumnCounts(texts, table.compiled(lib), n_threads)
    return _filled(counts, len(texts))


def count_hashed(
    documents: Documents, scan: Scan, n_columns: int, signs: bool, n_threads: int = 1
) -> CsrArrays:
    """CSR arrays of signed counts by hashed column, columns ascending in a row."""
    lib = extension()
    texts = _texts(lib, documents, scan)
    arguments = (*_scan(lib, scan), n_columns, signs, n_threads)
    return _filled(lib.HashedCounts(texts, *arguments), len(texts))


def count_by_class(
    documents: Documents,
    y_index: IntVector,
    n_classes: int,
    scan: Scan,
    n_threads: int = 1,
) -> tuple[list[str], ClassCounts]:
    """Class sums of raw text (CS1), unpruned, with the sorted terms."""
    sums = _class_sums(documents, y_index, n_classes, scan, n_threads)
    return sums.terms(), ClassCounts(*sums.take())


def pack_by_class(
    documents: Documents,
    y_index: IntVector,
    n_classes: int,
    scan: Scan,
    n_threads: int = 1,
) -> tuple[PackedTerms, ClassCounts]:
    """As ``count_by_class``, the terms as bytes: no Python string is made."""
    sums = _class_sums(documents, y_index, n_classes, scan, n_threads)
    return sums.packed_terms(), ClassCounts(*sums.take())


def score_texts(
    documents: Documents,
    table: TermTable,
    weights: FloatMatrix,
    bias: FloatVector,
    *,
    tf: str = "raw",
    idf: FloatVector | None = None,
    norm: str | None = None,
    n_threads: int = 1,
) -> tuple[FloatMatrix, IntVector]:
    """Linear scores of raw text, and how many tokens of each document were known.

    score_dk = sum_w x_dw weights_wk / |x_d| + bias_k with x_dw = tf(count) idf_w;
    ``tf`` is "raw", "binary", "sublinear" (1 + ln count) or "logarithm" (1 + log10
    count), ``norm`` None, "l1" or "l2".
    """
    lib = extension()
    texts = _texts(lib, documents, table.scan)
    scores = np.empty((len(texts), len(bias)), dtype=np.float64)
    n_tokens = np.empty(len(texts), dtype=np.int64)
    lib.score_texts(
        texts,
        table.compiled(lib),
        tf=_TF[tf],
        norm=_NORM[norm],
        idf=idf,
        weights=weights,
        bias=bias,
        scores=scores,
        n_tokens=n_tokens,
        n_threads=n_threads,
    )
    return scores, n_tokens


def not_text(row: int, item: Any) -> str:
    """The message for a document that is no string."""
    missing = is_missing(item)
    if missing:
        hint = "fill missing texts with '' or drop the rows"
    elif isinstance(item, bytes):
        hint = "decode the bytes first, for instance with .decode('utf-8')"
    else:
        hint = "convert the column to text first"
    kind = "a missing value" if missing else type(item).__name__
    return f"document {row}: expected a str, got {kind} ({item!r:.60}); {hint}."


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or pandas' NA and NaT."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    kind = type(value)
    return kind.__name__ in ("NAType", "NaTType") and kind.__module__[:6] == "pandas"


# -- for the extension -----------------------------------------------------------


def _scan(lib: ModuleType, scan: Scan) -> tuple[Any, list[str]]:
    """The scan and its stop words as the kernels take them."""
    analyzer = _ANALYZERS[scan.analyzer]
    compiled = lib.Scan(analyzer, *scan.ngram_range, scan.min_length)
    return compiled, sorted(scan.stop_words)


def _texts(lib: ModuleType, documents: Documents, scan: Scan) -> Any:
    """The documents of one call, with Unicode tables in place.

    A list is taken as it is now; it may change afterwards.
    """
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
        if not lib.unicode_tables_ready():
            lib.set_unicode_tables(*code_point_tables())
        texts.lower_special()
    return texts


def _class_sums(
    documents: Documents, y_index: IntVector, n_classes: int, scan: Scan, n_threads: int
) -> Any:
    lib = extension()
    texts = _texts(lib, documents, scan)
    return lib.ClassSums(texts, y_index, n_classes, *_scan(lib, scan), n_threads)


def _filled(counts: Any, n_rows: int) -> CsrArrays:
    arrays = _empty_csr(n_rows, counts.n_entries)
    counts.fill(*arrays)
    return arrays


def _empty_csr(n_rows: int, n_entries: int) -> CsrArrays:
    """Uninitialised indptr, indices, data for so many rows and entries."""
    index = index_type(n_entries)
    return (
        np.empty(n_rows + 1, dtype=index),
        np.empty(n_entries, dtype=index),
        np.empty(n_entries, dtype=np.int64),
    )


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
    """Flags (WORD, SPACE, SPECIAL) and lower case of every code point.

    A special code point, whose lower case is not one code point or depends on
    its neighbours, stands for itself in the second table.
    """
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
