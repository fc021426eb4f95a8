"""What the counters share: from constructor parameters to texts, tokens or a scan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
from scipy import sparse
from sklearn import get_config

from earmark.exceptions import DataError, EarmarkWarning
from earmark.kernels.backend import native
from earmark.kernels.text import LONGEST_NGRAM, Documents, Scan
from earmark.parameters import require_one_of
from earmark.text.containers import as_list, as_texts
from earmark.text.preparation import TextPreparation
from earmark.text.tokens import (
    WORD_PATTERN,
    make_analyzer,
    make_preprocessor,
    make_tokenizer,
    stop_word_set,
    unspaced_share,
    words_of_least_length,
)
from earmark.typing import DocumentsLike

__all__ = ["Analysis", "AnalysisMixin", "csr_container"]

# No document is longer, in characters.
_LONGEST_TEXT = 2**28


def csr_container() -> type:
    """csr_matrix, or csr_array when scikit-learn is configured to return arrays."""
    interface = get_config().get("sparse_interface", "spmatrix")
    kind: type = sparse.csr_array if interface == "sparray" else sparse.csr_matrix
    return kind


class AnalysisMixin:
    """The text side of a counter. Host classes store the parameters used here."""

    input: str
    encoding: str
    decode_error: str
    strip_accents: str | Callable[[str], str] | None
    lowercase: bool
    preprocessor: Callable[[str], str] | None
    tokenizer: Callable[[str], list[str]] | None
    stop_words: str | list[str] | None
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: str | Callable[[str], list[str]]
    n_jobs: int | None

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


class Analysis:
    """What a counter's parameters mean: how documents become texts, tokens or a scan.

    Parameters
    ----------
    counter : AnalysisMixin
        The parameters, read at the moment of use.

    """

    def __init__(self, counter: AnalysisMixin) -> None:
        self.counter = counter

    @property
    def n_threads(self) -> int:
        """Threads for the kernels."""
        return int(joblib.effective_n_jobs(self.counter.n_jobs))

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

    def scan(self) -> Scan | None:
        """The parameters for the compiled kernels; None where they cannot serve.

        They cannot where there is no extension, or where a callable or an unusual
        pattern takes documents apart: ``tokens`` serves then.
        """
        if native() is None or not self.is_named():
            return None
        counter, analyzer = self.counter, self.counter.analyzer
        assert isinstance(analyzer, str)
        min_length, stops = 1, None
        min_n, max_n = (min(n, _LONGEST_TEXT) for n in counter.ngram_range)
        if analyzer == "word":
            assert counter.token_pattern is not None
            least = words_of_least_length(counter.token_pattern)
            if least is None or max_n > LONGEST_NGRAM:
                return None
            min_length, stops = least, counter.get_stop_words()
        return Scan(
            analyzer=analyzer,
            ngram_range=(min_n, max_n),
            min_length=min_length,
            lowercase=bool(counter.lowercase) and not self._prepares(),
            stop_words=stops or frozenset(),
        )

    def texts(self, documents: DocumentsLike) -> Documents:
        """Documents for the kernels; named preparations are made on the way in."""
        if self.counter.input != "content":
            texts: Documents = self.read(documents)
        elif type(documents) is list and not self._prepares():
            return documents  # the kernels look at every item themselves
        else:
            texts = as_texts(documents)
        if not self._prepares():
            return texts
        return list(map(self.counter.build_preprocessor(), texts))

    def tokens(self, documents: DocumentsLike) -> Iterator[list[str]]:
        """The terms of each document, without the kernels."""
        return map(self.analyzer(), self.read(documents))

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
        require_one_of(counter, "input", ("content", "filename", "file"))
        require_one_of(counter, "decode_error", ("strict", "ignore", "replace"))
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

    def warn_of_unspaced(self, texts: Documents) -> None:
        """Say so when words are looked for in text without spaces."""
        share = unspaced_share(texts)
        if share >= 0.5:
            warnings.warn(
                f"{type(self.counter).__name__}: {share:.0%} of the letters belong to "
                "scripts written without spaces (Chinese, Japanese, Thai, ...), so "
                "whole phrases become one word; use analyzer='char' with "
                "ngram_range=(1, 2), or give a tokenizer.",
                EarmarkWarning,
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
