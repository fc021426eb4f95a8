"""Words cut down to their stems by the Snowball stemmers."""

from __future__ import annotations

import threading
from typing import Any

from earmark._optional import require
from earmark.text.tokens import WORD_PATTERN, make_tokenizer

__all__ = ["StemmedWords"]


class StemmedWords:
    r"""A tokenizer for ``WordCounter``: the words of a text, stemmed.

    Parameters
    ----------
    language : str, default="english"
        Name of a Snowball stemmer; "porter" is the classic one.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a word is.

    Notes
    -----
    Needs PyStemmer (``pip install 'earmark[stem]'``). A stemmer must not be shared
    by threads, so each thread makes its own.

    Examples
    --------
    >>> StemmedWords("english")("running dogs barked")
    ['run', 'dog', 'bark']

    """

    def __init__(
        self, language: str = "english", token_pattern: str = WORD_PATTERN
    ) -> None:
        self.language = language
        self.token_pattern = token_pattern
        self._local = threading.local()
        self._find = make_tokenizer(token_pattern)
        self._stemmer()

    def __call__(self, text: str) -> list[str]:
        """The stems of the text's words, in order."""
        stems: list[str] = self._stemmer().stemWords(self._find(text))
        return stems

    def _stemmer(self) -> Any:
        """The stemmer of the thread that asks."""
        stemmer = getattr(self._local, "stemmer", None)
        if stemmer is None:
            module = require("Stemmer", "stem words")
            known = module.algorithms()
            if self.language not in known:
                raise ValueError(
                    f"language must be one of {', '.join(known)}, got "
                    f"{self.language!r}."
                )
            stemmer = self._local.stemmer = module.Stemmer(self.language)
        return stemmer

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.language, self.token_pattern)

    def __repr__(self) -> str:
        return f"StemmedWords({self.language!r}, {self.token_pattern!r})"
