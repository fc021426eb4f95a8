"""Recognise scripts without spaces between words, and languages that mix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

__all__ = ["mixes_languages", "unspaced_share"]

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


def unspaced_share(
    texts: Iterable[str], n_texts: int = 200, n_characters: int = 500
) -> float:
    """Share of letters of scripts without spaces, in the first texts that have any.

    Looks at the beginnings of at most ``n_texts`` texts; 0 when they hold too few
    letters to tell.

    Examples
    --------
    >>> unspaced_share(["word by word"] * 50)
    0.0
    >>> unspaced_share(["統計的自然言語処理の基礎"] * 50)
    1.0

    """
    sample = [text[:n_characters] for text in islice(texts, n_texts)]
    if all(map(str.isascii, sample)):
        return 0.0
    joined = "".join(sample)
    n_unspaced = len(_UNSPACED.findall(joined))
    if not n_unspaced:
        return 0.0
    n_letters = len(_LETTER.findall(joined))
    return min(1.0, n_unspaced / n_letters) if n_letters >= _LEAST_LETTERS else 0.0


def mixes_languages(
    texts: Sequence[str], n_texts: int = 2000, n_characters: int = 500
) -> bool:
    """Whether the texts are in several languages, or in Latin and other letters.

    In one language nearly every text has one of the most frequent words; measured on
    the beginnings of texts from all over the sequence. False when they are too few or
    too short to tell.

    Examples
    --------
    >>> mixes_languages(["the cat sat on the mat, which was red"] * 60)
    False
    >>> mixes_languages([" ".join(f"{n}w{k}" for k in range(9)) for n in range(99)])
    True

    """
    step = max(1, len(texts) // n_texts)
    sample = [texts[row][:n_characters] for row in range(0, len(texts), step)]
    sets = [set(_WORD.findall(text.lower())) for text in sample]
    sets = [words for words in sets if len(words) >= _LEAST_WORDS]
    if len(sets) < _LEAST_TEXTS:
        return False
    foreign = sum(
        2 * len(_BEYOND_LATIN.findall(text)) > len(_LETTER.findall(text))
        for text in sample
        if not text.isascii()
    )
    if _LEAST_SHARE < foreign / len(sample) < 1 - _LEAST_SHARE:
        return True
    counts = Counter(word for words in sets for word in words)
    frequent = {word for word, _ in counts.most_common(_MOST_FREQUENT)}
    return sum(not words.isdisjoint(frequent) for words in sets) < _COVERED * len(sets)
