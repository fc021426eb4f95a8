"""What the counters share: from parameters to texts, tokens, counts and scores.

For linear models on counts documents go straight to class sums or scores: their
matrix is never made, so memory grows with the vocabulary only.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator

from earmark.exceptions import DataError, EarmarkWarning, Try, only_in_python
from earmark.features.preparation import TextPreparation
from earmark.features.tokens import (
    WORD_OR_MARK,
    WORD_PATTERN,
    make_analyzer,
    make_preprocessor,
    make_tokenizer,
    stop_word_set,
    unspaced_share,
    words_of_least_length,
)
from earmark.inputs.texts import as_list, as_texts
from earmark.kernels.backend import native
from earmark.kernels.term_merge import PackedTerms
from earmark.kernels.text import (
    LONGEST_NGRAM,
    ClassCounts,
    CsrArrays,
    Documents,
    Scan,
    ScannedTexts,
    TermTable,
    TokenLists,
)
from earmark.parameters import Jobs, check_declared, estimator, require_one_of
from earmark.stored import (
    either,
    function,
    in_file,
    instance,
    none,
    optional,
    pair,
    such,
    text,
    whole,
    words,
)
from earmark.typing import (
    DocumentsLike,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    SparseMatrix,
)

if TYPE_CHECKING:
    from earmark.features.word_counter import WordCounter

# No document is longer, in characters.
_LONGEST_TEXT = 2**28


# A text of n words has about n times as many n-grams as the range is wide.
_MAX_NGRAM = 64
NUMBER_TYPES = tuple(
    np.dtype(code).type for code in ("i4", "i8", "u4", "u8", "f4", "f8")
)
_PATTERN = such(
    "a regular expression with at most one group",
    lambda value: isinstance(value, str) and re.compile(value).groups <= 1,
    (re.error, RecursionError, OverflowError),
)
_ENCODING = such(
    "the name of an encoding",
    lambda name: isinstance(name, str) and "".encode(name) == b"".decode(name).encode(),
    (LookupError, ValueError),
)
_STRINGS = such("a set of strings", lambda v: isinstance(v, (set, frozenset)))


@estimator
class AnalysisMixin(BaseEstimator):
    """The text side of a counter: how documents become terms."""

    input: Annotated[
        Literal["content", "filename", "file"], in_file(text("content"))
    ] = "content"
    encoding: Annotated[str, in_file(_ENCODING)] = "utf-8"
    decode_error: Literal["strict", "ignore", "replace"] = "strict"
    strip_accents: Annotated[
        str | Callable[[str], str] | None, in_file(either(none, text(), function))
    ] = None
    lowercase: bool = True
    preprocessor: Annotated[
        Callable[[Any], str] | None,
        in_file(either(none, function, instance(TextPreparation))),
    ] = None
    tokenizer: Annotated[
        Callable[[str], list[str]] | None, in_file(optional(function))
    ] = None
    stop_words: Annotated[
        str | list[str] | None,
        in_file(either(none, text("english"), words(), _STRINGS)),
    ] = None
    token_pattern: Annotated[str | None, in_file(optional(_PATTERN))] = WORD_PATTERN
    ngram_range: Annotated[
        tuple[int, int], in_file(pair(whole(1, _MAX_NGRAM), whole(1, _MAX_NGRAM)))
    ] = (1, 1)
    analyzer: Annotated[
        str | Callable[[Any], list[str]],
        in_file(either(text("word", "char", "char_wb"), function)),
    ] = "word"
    n_jobs: Jobs = None

    def _check_parameters(self) -> None:
        Analysis(self).check()

    def build_preprocessor(self) -> Callable[[str], str]:
        """The function applied to a text before it is taken apart."""
        if self.preprocessor is not None:
            return self.preprocessor
        return make_preprocessor(self.lowercase, self.strip_accents)

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """The function from a text to its words."""
        if self.tokenizer is not None:
            return self.tokenizer
        if self.token_pattern is None:
            raise ValueError(
                f"{type(self).__name__}.token_pattern must be a pattern when no "
                "tokenizer is given, got None."
            )
        return make_tokenizer(self.token_pattern)

    def get_stop_words(self) -> frozenset[str] | None:
        """The words left out, or None."""
        return stop_word_set(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """The function from a document to its list of terms."""
        analysis = Analysis(self)
        analyze = analysis.analyzer()
        return lambda document: analyze(analysis.decode(document))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


@dataclass(eq=False)
class Analysis:
    """A counter's parameters, read once: from texts to tokens, or to a scan."""

    counter: AnalysisMixin

    def analyzer(self) -> Callable[[Any], list[str]]:
        """From a decoded text to its terms."""
        counter, analyzer = self.counter, self.counter.analyzer
        if callable(analyzer):
            return analyzer
        preprocess = counter.build_preprocessor()
        if analyzer != "word":
            return make_analyzer(analyzer, counter.ngram_range, preprocess)
        words = (counter.build_tokenizer(), counter.get_stop_words())
        return make_analyzer(analyzer, counter.ngram_range, preprocess, *words)

    @cached_property
    def scan(self) -> Scan | None:
        """The parameters for the compiled kernels; None where they cannot serve."""
        if native() is None or not self.is_named():
            return None
        counter, analyzer = self.counter, self.counter.analyzer
        assert isinstance(analyzer, str)
        min_length = 1
        stops = None
        min_n, max_n = (min(n, _LONGEST_TEXT) for n in counter.ngram_range)
        if analyzer == "word":
            assert counter.token_pattern is not None
            if counter.token_pattern == WORD_OR_MARK:
                analyzer = "word_or_mark"
            else:
                least = words_of_least_length(counter.token_pattern)
                if least is None:
                    return None
                min_length = least
            if max_n > LONGEST_NGRAM:
                return None
            stops = stop_word_set(counter.stop_words)
        return Scan(
            analyzer=analyzer,
            ngram_range=(min_n, max_n),
            min_length=min_length,
            lowercase=bool(counter.lowercase) and not self._prepares,
            stop_words=stops or frozenset(),
        )

    def texts(self, documents: DocumentsLike) -> Documents:
        """Documents for the kernels; named preparations are made on the way in."""
        if self.counter.input != "content":
            texts: Documents = self.read(documents)
        elif type(documents) is list and not self._prepares:
            return documents  # the kernels look at every item themselves
        else:
            texts = as_texts(documents)
        if not self._prepares:
            return texts
        return list(map(self.counter.build_preprocessor(), texts))

    def source(self, documents: DocumentsLike) -> ScannedTexts | TokenLists:
        """The documents for counting and scoring: compiled where that can serve."""
        scan = self.scan
        if scan is None:
            return TokenLists(self.read(documents), self.analyzer())
        n_threads = int(joblib.effective_n_jobs(self.counter.n_jobs))
        return ScannedTexts(self.texts(documents), scan, n_threads)

    def decode(self, document: Any) -> Any:
        """Read and decode one document as ``input`` and ``encoding`` say."""
        if self.counter.input == "filename":
            document = Path(document).read_bytes()
        elif self.counter.input == "file":
            document = document.read()
        if isinstance(document, bytes):
            document = document.decode(self.counter.encoding, self.counter.decode_error)
        return document

    def check(self) -> None:
        """Check the parameters of this side; warn of those without effect."""
        counter = self.counter
        check_declared(counter)
        if not callable(counter.analyzer):
            require_one_of(counter, "analyzer", ("word", "char", "char_wb"))
        make_preprocessor(counter.lowercase, counter.strip_accents)
        min_n, max_n = counter.ngram_range
        if not 1 <= min_n <= max_n:
            raise ValueError(
                f"{type(counter).__name__}.ngram_range must be (least, most) with 1 <= "
                f"least <= most, got {counter.ngram_range}."
            )
        for name, reason in self._unused_parameters():
            self._warn(f"{name} has no effect since {reason}.")
        if counter.analyzer == "word":
            self._check_stop_words()

    def warn_of_unspaced(self, texts: Iterable[str]) -> None:
        """Say so when words are looked for in text without spaces."""
        share = unspaced_share(texts)
        if share >= 0.5:
            name = type(self.counter).__name__
            warnings.warn(
                EarmarkWarning(
                    f"{name}: {share:.0%} of the letters belong to scripts written "
                    "without spaces (Chinese, Japanese, Thai, ...), so whole phrases "
                    "become one word",
                    Try("use", analyzer="char", ngram_range=(1, 2)),
                    only_in_python("or give a tokenizer"),
                ),
                stacklevel=5,
            )

    # -- private -------------------------------------------------------------

    def is_named(self) -> bool:
        """Whether the analysis is known by name, without a callable of the user."""
        counter, preprocessor = self.counter, self.counter.preprocessor
        if callable(counter.analyzer) or callable(counter.strip_accents):
            return False
        if preprocessor and not isinstance(preprocessor, TextPreparation):
            return False
        is_plain = counter.tokenizer is None and counter.token_pattern is not None
        return counter.analyzer != "word" or is_plain

    @cached_property
    def _prepares(self) -> bool:
        """Whether texts change before the kernel sees them, lower-casing included."""
        counter = self.counter
        return counter.strip_accents is not None or counter.preprocessor is not None

    def read(self, documents: DocumentsLike) -> list[Any]:
        """Documents as a list: decoded unless the analyzer is a callable."""
        counter = self.counter
        if counter.input == "content" and not callable(counter.analyzer):
            return list(as_texts(documents))
        decoded = []
        for row, item in enumerate(as_list(documents)):
            try:
                decoded.append(self.decode(item))
            except (OSError, UnicodeDecodeError, AttributeError, TypeError) as error:
                raise DataError(
                    f"document {row}: could not be read as input={counter.input!r} in "
                    f"{counter.encoding}: {error}; check the file, or set encoding or "
                    "decode_error."
                ) from error
        return decoded

    def _unused_parameters(self) -> list[tuple[str, str]]:
        """Parameters that were set and do nothing, and why."""
        counter, unused = self.counter, []
        if counter.tokenizer is not None and counter.token_pattern is not None:
            unused.append(("token_pattern", "a tokenizer is given"))
        if callable(counter.analyzer):
            if counter.preprocessor is not None:
                unused.append(("preprocessor", "the analyzer is a callable"))
            if counter.ngram_range != (1, 1):
                unused.append(("ngram_range", "the analyzer is a callable"))
        if counter.analyzer != "word":
            if counter.stop_words is not None:
                unused.append(("stop_words", "the analyzer is not 'word'"))
            if counter.token_pattern not in (None, WORD_PATTERN):
                unused.append(("token_pattern", "the analyzer is not 'word'"))
            if counter.tokenizer is not None:
                unused.append(("tokenizer", "the analyzer is not 'word'"))
        return unused

    def _check_stop_words(self) -> None:
        """Warn when the analysis takes stop words apart into words that stay."""
        stops = self.counter.get_stop_words()
        tokenize = self.counter.build_tokenizer()
        if not stops or (self.counter.tokenizer or self.counter.preprocessor):
            return
        preprocess = self.counter.build_preprocessor()
        left = {t for word in stops for t in tokenize(preprocess(word))} - stops
        if left:
            self._warn(
                f"stop_words: tokenizing the stop words gives {sorted(left)}, which "
                "are not stop words; add them to the list."
            )

    def _warn(self, message: str) -> None:
        name = type(self.counter).__name__
        warnings.warn(f"{name}.{message}", EarmarkWarning, stacklevel=5)


def count_by_class(
    counter: WordCounter, documents: DocumentsLike, y_index: IntVector, n_classes: int
) -> tuple[list[str], SparseMatrix, SparseMatrix]:
    """Sorted terms; tokens and documents of each by class (CS1), exact and unpruned."""
    y_index = np.asarray(y_index, dtype=np.int64)
    terms, sums = Analysis(counter).source(documents).class_sums(y_index, n_classes)
    return terms, *_class_matrices(sums, n_classes, len(terms))


def packed_by_class(
    counter: WordCounter, documents: DocumentsLike, y_index: IntVector, n_classes: int
) -> tuple[PackedTerms, SparseMatrix, SparseMatrix]:
    """``count_by_class`` with the terms as bytes, for counts that are merged."""
    source = Analysis(counter).source(documents)
    packed, sums = source.packed_class_sums(y_index, n_classes)
    return packed, *_class_matrices(sums, n_classes, len(packed[1]) - 1)


def _class_matrices(
    sums: ClassCounts, n_classes: int, n_terms: int
) -> tuple[SparseMatrix, SparseMatrix]:
    """Tokens and documents (n_classes, n_terms), of one structure."""
    indptr, indices, tokens, presence = sums
    shape = (n_classes, n_terms)
    return (
        sparse.csr_array((tokens, indices, indptr), shape=shape),
        sparse.csr_array((presence, indices, indptr), shape=shape),
    )


def count_matrix(
    arrays: CsrArrays, n_terms: int, binary: bool, dtype: type
) -> SparseMatrix:
    """CSR arrays -> csr_matrix, or csr_array where scikit-learn is set to that."""
    indptr, indices, counts = arrays
    if binary:
        counts.fill(1)
    data: NDArray[np.generic] = counts.astype(dtype, copy=False)
    interface = get_config().get("sparse_interface", "spmatrix")
    kind = sparse.csr_array if interface == "sparray" else sparse.csr_matrix
    return kind((data, indices, indptr), shape=(len(indptr) - 1, n_terms))


def sums_of_rows(arrays: CsrArrays) -> IntVector:
    """Sum of the counts of each row of CSR arrays."""
    indptr, _, counts = arrays
    running = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return np.asarray(running[indptr[1:]] - running[indptr[:-1]])


def known_terms(counter: WordCounter | KnownTerms) -> KnownTerms:
    """The analysis of a fitted counter over its terms, for call after call."""
    if isinstance(counter, KnownTerms):
        return counter
    return KnownTerms(counter, counter.get_feature_names_out().tolist())


class KnownTerms:
    """A counter's analysis over terms known beforehand, in the order of the columns."""

    def __init__(
        self, counter: WordCounter, terms: list[str], table: TermTable | None = None
    ) -> None:
        self.counter = counter
        self._table = TermTable(terms) if table is None else table
        self._analysis = Analysis(counter)

    def read_again(self) -> KnownTerms:
        """The same terms under the counter's parameters of now."""
        return KnownTerms(self.counter, self._table.terms, self._table)

    @property
    def scan(self) -> Scan | None:
        """How a text is taken apart by rules with names; None: some code does it."""
        counter = self.counter
        is_plain = counter.strip_accents is None and counter.preprocessor is None
        return self._analysis.scan if is_plain and counter.input == "content" else None

    def get_feature_names_out(self) -> list[str]:
        """The terms."""
        return self._table.terms

    def transform(self, documents: DocumentsLike) -> SparseMatrix:
        """Counts of the terms (n_documents, n_terms)."""
        return self._matrix(self._counted(documents)[0])

    def count(self, documents: DocumentsLike) -> tuple[SparseMatrix, IntVector]:
        """Counts of the terms, and how many terms of each document are not known."""
        arrays, totals = self._counted(documents)
        n_unknown = totals - sums_of_rows(arrays)
        return self._matrix(arrays), n_unknown

    def _counted(self, documents: DocumentsLike) -> tuple[CsrArrays, IntVector]:
        """CSR arrays of known terms, and all terms of each document."""
        return self._analysis.source(documents).count_columns(self._table)

    def _matrix(self, arrays: CsrArrays) -> SparseMatrix:
        counter, n_terms = self.counter, len(self._table.terms)
        return count_matrix(arrays, n_terms, counter.binary, counter.dtype)

    def score(
        self,
        documents: DocumentsLike,
        weights: FloatMatrix | FloatTable,
        bias: FloatVector,
        *,
        tf: str = "raw",
        idf: FloatVector | None = None,
        norm: str | None = None,
        unknown: float = 0.0,
    ) -> tuple[FloatMatrix, IntVector]:
        """Linear scores of raw documents, and how many of their tokens are known."""
        # A count becomes the tf "raw", "binary", "sublinear" (1 + ln) or "logarithm"
        # (1 + log10), times idf, divided by the document's norm "l1" or "l2"; the
        # square of the latter has ``unknown`` for each unknown term.
        if self.counter.binary:
            tf = "binary"
        source = self._analysis.source(documents)
        return source.scores(self._table, weights, bias, tf, idf, norm, unknown)
