"""A table of word vectors: a text is the sum of the vectors of its tokens.

Tokens are runs of word characters and single marks, lower-cased. A token that is no
line of the table is spelled by pieces: the longest that fit from the left, ``##``
before those inside a word; letters that fit nothing are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.text import Documents, Scan, ScannedTexts
from earmark.typing import FloatTable, IntVector

_TOKEN = re.compile(r"(\w+)|[^\w\s]")
_INSIDE = "##"


class Encoded(NamedTuple):
    """Vectors of texts, and how many of their words the table has."""

    vectors: FloatTable
    n_words: IntVector
    n_known: IntVector


class VectorTable:
    """Lines of words, then of pieces, and a vector of small whole numbers for each.

    Parameters
    ----------
    lines : list of str
        Words and marks, and from ``n_words`` on pieces of other words.
    n_words : int
        How many lines are words or marks.
    vectors : ndarray of int8 of shape (n_lines, n_dimensions)
        The vector of a line is its scale times its row.
    scale : ndarray of float32 of shape (n_lines,)
        The scale of each line.

    """

    def __init__(
        self,
        lines: list[str],
        n_words: int,
        vectors: NDArray[np.int8],
        scale: FloatTable,
    ) -> None:
        self.lines, self.n_words = lines, n_words
        self.vectors, self.scale = vectors, scale

    def encode(self, texts: Documents, *, unit: bool = True) -> Encoded:
        """A row for each text, of length 1 if ``unit``; a text without tokens has 0."""
        n_texts, width = len(texts), self.vectors.shape[1]
        out = Encoded(
            np.empty((n_texts, width), dtype=np.float32),
            np.empty(n_texts, dtype=np.int64),
            np.empty(n_texts, dtype=np.int64),
        )
        if native() is not None:
            scanned = ScannedTexts(texts, Scan())
            scanned.encode(self._compiled, unit, *out)
            return out
        for row, text in enumerate(texts):
            tokens = list(self.tokens(text))
            out.n_words[row] = sum(token.is_word for token in tokens)
            out.n_known[row] = sum(token.is_word and token.is_known for token in tokens)
            places = [line for token in tokens for line in token.lines]
            total = self.sum(places)
            length = float(np.sqrt(total @ total)) if unit else 1.0
            out.vectors[row] = total / (length or 1.0)
        return out

    def sum(self, places: Iterable[int]) -> NDArray[np.float64]:
        """The sum of the vectors of some lines."""
        some = np.asarray(list(places), dtype=np.int64)
        return self.scale[some].astype(np.float64) @ self.vectors[some]

    def rows(self, places: Iterable[int]) -> NDArray[np.float64]:
        """The vectors of some lines."""
        some = np.asarray(list(places), dtype=np.int64)
        return self.scale[some].astype(np.float64)[:, None] * self.vectors[some]

    def tokens(self, text: str) -> Iterable[Token]:
        """The tokens of a text and the lines that spell each."""
        for match in _TOKEN.finditer(text.lower()):
            token, is_word = match[0], match[1] is not None
            whole = self._words.get(token)
            lines = self._spelled(token) if whole is None else [whole]
            yield Token(token, is_word, whole is not None, lines)

    def _spelled(self, token: str) -> list[int]:
        """Split a word into known pieces: the number of each one's vector."""
        lines, at = [], 0
        while at < len(token):
            start = _INSIDE if at else ""
            for end in range(min(len(token), at + self._longest), at, -1):
                line = self._pieces.get(start + token[at:end])
                if line is not None:
                    lines.append(line)
                    at = end
                    break
            else:
                at += 1
        return lines

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: k for k, word in enumerate(self.lines[: self.n_words])}

    @cached_property
    def _pieces(self) -> dict[str, int]:
        pieces = self.lines[self.n_words :]
        return {piece: self.n_words + k for k, piece in enumerate(pieces)}

    @cached_property
    def _longest(self) -> int:
        return max((len(p.removeprefix(_INSIDE)) for p in self._pieces), default=0)

    @cached_property
    def _compiled(self) -> Any:
        lib = native()
        assert lib is not None
        lines = "\n".join(self.lines).encode()
        return lib.VectorTable(lines, self.n_words, self.vectors, self.scale)


class Token(NamedTuple):
    """A token of a text, and the lines that spell it."""

    text: str
    is_word: bool
    is_known: bool
    """Whether it is a line by itself."""
    lines: list[int]
