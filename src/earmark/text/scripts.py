"""Recognise text that is written without spaces between words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

__all__ = ["unspaced_share"]

# Thai and Lao, Burmese, Khmer, Japanese kana, Chinese characters and their
# extensions. Korean is written with spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_LETTERS = 100


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
