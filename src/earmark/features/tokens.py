"""Analyzers as plain callables: a document in, its list of terms out.

And what they are made of: accents, token patterns, stop words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from earmark.kernels.text import char_ngrams, char_ngrams_in_words, word_ngrams

WORD_PATTERN = r"(?u)\b\w\w+\b"
# Runs of word characters of any length, and every other character but spaces.
WORD_OR_MARK = r"\w+|[^\w\s]"

# Runs of word characters, however they are written: the least length of a run.
_PLAIN_PATTERN = re.compile(r"(?:\(\?u\))?(?:\\b)?((?:\\w)*)\\w\+(?:\\b)?")


@functools.cache
def words_of_least_length(token_pattern: str) -> int | None:
    """Least word length if the pattern means "runs of word characters", else None."""
    match = _PLAIN_PATTERN.fullmatch(token_pattern)
    return None if match is None else len(match[1]) // 2 + 1


def make_preprocessor(
    lowercase: bool, strip_accents: str | Callable[[str], str] | None
) -> Callable[[str], str]:
    """Lower-case, then strip accents: "ascii", "unicode", a callable, or None."""
    strip: Callable[[str], str] | None = None
    if callable(strip_accents):
        strip = strip_accents
    elif strip_accents in ("ascii", "unicode"):
        from sklearn.feature_extraction import text as as_scikit_learn

        strip = getattr(as_scikit_learn, f"strip_accents_{strip_accents}")
    elif strip_accents is not None:
        raise ValueError(
            "strip_accents must be 'ascii', 'unicode', a callable or None, "
            f"got {strip_accents!r}."
        )

    def preprocess(text: str) -> str:
        if lowercase:
            text = text.lower()
        return text if strip is None else strip(text)

    return preprocess


def make_tokenizer(token_pattern: str) -> Callable[[str], list[str]]:
    """All matches of the pattern; at most one group, which is then the token."""
    pattern = re.compile(token_pattern)
    if pattern.groups > 1:
        raise ValueError(
            f"token_pattern must have at most 1 capturing group, got {pattern.groups} "
            f"in {token_pattern!r}; write the others as (?:...)."
        )
    return pattern.findall


def make_analyzer(
    unit: str,
    ngram_range: tuple[int, int],
    preprocess: Callable[[str], str],
    tokenize: Callable[[str], Sequence[str]] | None = None,
    stop_words: frozenset[str] | None = None,
) -> Callable[[str], list[str]]:
    """Preprocess, split into words or characters, drop stop words, make n-grams."""
    min_n, max_n = ngram_range
    if unit == "char":
        return lambda text: char_ngrams(preprocess(text), min_n, max_n)
    if unit == "char_wb":
        return lambda text: char_ngrams_in_words(preprocess(text), min_n, max_n)
    assert tokenize is not None

    def analyze(text: str) -> list[str]:
        words: Iterable[Any] = tokenize(preprocess(text))
        if stop_words:
            words = [word for word in words if word not in stop_words]
        if max_n == 1:
            return list(words)
        return word_ngrams(list(words), min_n, max_n)

    return analyze


def stop_word_set(stop_words: str | Iterable[str] | None) -> frozenset[str] | None:
    """The words to leave out, or None; "english" is scikit-learn's list of 318."""
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        if stop_words == "english":
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return frozenset(ENGLISH_STOP_WORDS)
        raise ValueError(
            f"stop_words must be 'english', a list of words or None, "
            f"got {stop_words!r}; give the words themselves for other languages."
        )
    return frozenset(stop_words)


# Thai and Lao, Burmese, Khmer, Japanese kana, Chinese characters and their
# extensions. Korean is written with spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_LETTERS = 100
_WORD = re.compile(r"\w+")
_BEYOND_LATIN = re.compile("[\u0370-\U0003ffff]")
# Words that nearly every document of one language has one of.
_MOST_FREQUENT = 30
_COVERED = 0.9
_LEAST_WORDS, _LEAST_TEXTS = 5, 50
_LEAST_SHARE = 0.05
_LEAST_VOCABULARY = 1000
_FIRST_TEXTS, _SPREAD_TEXTS, _FIRST_CHARACTERS = 200, 2000, 500


def unspaced_share(texts: Iterable[str]) -> float:
    """Share of letters of scripts without spaces in the first texts; 0 for too few."""
    sample = [text[:_FIRST_CHARACTERS] for text in islice(texts, _FIRST_TEXTS)]
    if all(map(str.isascii, sample)):
        return 0.0
    joined = "".join(sample)
    n_unspaced = len(_UNSPACED.findall(joined))
    if not n_unspaced:
        return 0.0
    n_letters = len(_LETTER.findall(joined))
    return min(1.0, n_unspaced / n_letters) if n_letters >= _LEAST_LETTERS else 0.0
