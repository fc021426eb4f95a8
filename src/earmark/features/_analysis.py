"""What the counters share: from constructor parameters to an analyzer or a scan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib

from earmark._checks import require_one_of
from earmark.exceptions import DataError, EarmarkWarning
from earmark.kernels.backend import native
from earmark.kernels.text import Documents, Scan
from earmark.text.containers import as_list, as_texts
from earmark.text.preparation import TextPreparation
from earmark.text.scripts import unspaced_share
from earmark.text.stopwords import stop_word_set
from earmark.text.tokens import (
    WORD_PATTERN,
    make_analyzer,
    make_preprocessor,
    make_tokenizer,
    words_of_least_length,
)

__all__ = ["AnalysisMixin"]


class AnalysisMixin:
    """The text side of a counter. Host classes store the parameters used here."""

    input: str
    encoding: str
    decode_error: str
    strip_accents: str | Callable[[str], str] | None
    lowercase: bool
    preprocessor: Callable[[Any], str] | None
    tokenizer: Callable[[str], list[str]] | None
    stop_words: str | list[str] | None
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: str | Callable[[Any], list[str]]
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
        analyzer = self.analyzer
        if callable(analyzer):
            return lambda document: analyzer(self._decode(document))
        analyze = self._text_analyzer()
        return lambda document: analyze(self._decode(document))

    def _text_analyzer(self) -> Callable[[str], list[str]]:
        """From a decoded text to its terms, for the analyzers known by name."""
        analyzer = self.analyzer
        assert isinstance(analyzer, str)
        preprocess = self.build_preprocessor()
        if analyzer != "word":
            return make_analyzer(analyzer, self.ngram_range, preprocess)
        tokenize, stops = self.build_tokenizer(), self.get_stop_words()
        return make_analyzer(analyzer, self.ngram_range, preprocess, tokenize, stops)

    def _decode(self, document: Any) -> Any:
        """Read and decode one document as ``input`` and ``encoding`` say."""
        if self.input == "filename":
            document = Path(document).read_bytes()
        elif self.input == "file":
            document = document.read()
        if isinstance(document, bytes):
            document = document.decode(self.encoding, self.decode_error)
        return document

    def _scan(self) -> Scan | None:
        """These parameters for the kernel, or None when it does not know them."""
        if callable(self.analyzer) or callable(self.strip_accents):
            return None
        if self.preprocessor and not isinstance(self.preprocessor, TextPreparation):
            return None
        min_length: int | None = 1
        if self.analyzer == "word":
            if self.tokenizer is not None or self.token_pattern is None:
                return None
            min_length = words_of_least_length(self.token_pattern)
        if min_length is None:
            return None
        stops = self.get_stop_words() if self.analyzer == "word" else None
        return Scan(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            min_length=min_length,
            lowercase=bool(self.lowercase) and not self._prepares(),
            stop_words=stops or frozenset(),
        )

    def _read(self, documents: Any) -> list[Any]:
        """Documents for the plain path: decoded unless the analyzer is a callable."""
        if self.input == "content" and not callable(self.analyzer):
            return list(as_texts(documents))
        items = as_list(documents)
        decoded = []
        for row, item in enumerate(items):
            try:
                decoded.append(self._decode(item))
            except (OSError, UnicodeDecodeError, AttributeError, TypeError) as error:
                raise DataError(
                    f"document {row}: could not be read as input={self.input!r} in "
                    f"{self.encoding}: {error}; check the file, or set encoding or "
                    "decode_error."
                ) from error
        return decoded

    def _read_for_kernel(self, documents: Any) -> Documents:
        """Documents for the kernel; named preparations are made on the way in."""
        if self.input != "content":
            texts: Documents = self._read(documents)
        elif type(documents) is list and not self._prepares() and native():
            return documents  # the compiled kernels look at every item themselves
        else:
            texts = as_texts(documents)
        if not self._prepares():
            return texts
        return list(map(self.build_preprocessor(), texts))

    def _prepares(self) -> bool:
        """Whether texts change before the kernel sees them, lower-casing included."""
        return self.strip_accents is not None or self.preprocessor is not None

    def _token_lists(self, documents: Any) -> Iterator[list[str]]:
        """The terms of each document, by the plain path."""
        analyzer = self.analyzer
        analyze = analyzer if callable(analyzer) else self._text_analyzer()
        return map(analyze, self._read(documents))

    def _warn_of_unspaced(self, texts: Documents) -> None:
        """Say so when words are looked for in text without spaces."""
        share = unspaced_share(texts)
        if share >= 0.5:
            warnings.warn(
                f"{type(self).__name__}: {share:.0%} of the letters belong to scripts "
                "written without spaces (Chinese, Japanese, Thai, ...), so whole "
                "phrases become one word; use analyzer='char' with "
                "ngram_range=(1, 2), or give a tokenizer.",
                EarmarkWarning,
                stacklevel=4,
            )

    def _n_threads(self) -> int:
        return int(joblib.effective_n_jobs(self.n_jobs))

    def _check_analysis(self) -> None:
        """Check the parameters of this side; warn of those without effect."""
        require_one_of(self, "input", ("content", "filename", "file"))
        require_one_of(self, "decode_error", ("strict", "ignore", "replace"))
        if not callable(self.analyzer):
            require_one_of(self, "analyzer", ("word", "char", "char_wb"))
        make_preprocessor(self.lowercase, self.strip_accents)
        min_n, max_n = self.ngram_range
        if not 1 <= min_n <= max_n:
            raise ValueError(
                f"{type(self).__name__}.ngram_range must be (least, most) with 1 <= "
                f"least <= most, got {self.ngram_range}."
            )
        for name, reason in self._unused_parameters():
            warnings.warn(
                f"{type(self).__name__}.{name} has no effect since {reason}.",
                EarmarkWarning,
                stacklevel=3,
            )
        if self.analyzer == "word":
            self._check_stop_words()

    def _unused_parameters(self) -> list[tuple[str, str]]:
        """Parameters that were set and do nothing, and why."""
        unused = []
        if self.tokenizer is not None and self.token_pattern is not None:
            unused.append(("token_pattern", "a tokenizer is given"))
        if callable(self.analyzer):
            if self.preprocessor is not None:
                unused.append(("preprocessor", "the analyzer is a callable"))
            if self.ngram_range != (1, 1):
                unused.append(("ngram_range", "the analyzer is a callable"))
        if self.analyzer != "word":
            if self.stop_words is not None:
                unused.append(("stop_words", "the analyzer is not 'word'"))
            if self.token_pattern not in (None, WORD_PATTERN):
                unused.append(("token_pattern", "the analyzer is not 'word'"))
            if self.tokenizer is not None:
                unused.append(("tokenizer", "the analyzer is not 'word'"))
        return unused

    def _check_stop_words(self) -> None:
        """Warn when the analysis takes stop words apart into words that stay."""
        stops = self.get_stop_words()
        tokenize = self.build_tokenizer()
        if not stops or (self.tokenizer or self.preprocessor):
            return
        preprocess = self.build_preprocessor()
        left = {t for word in stops for t in tokenize(preprocess(word))} - stops
        if left:
            warnings.warn(
                f"{type(self).__name__}.stop_words: tokenizing the stop words gives "
                f"{sorted(left)}, which are not stop words; add them to the list.",
                EarmarkWarning,
                stacklevel=4,
            )
