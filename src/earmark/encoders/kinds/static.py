"""Vectors of words that are added up: the encoder that comes with earmark.

A table is two files: ``NAME.txt`` has its words and pieces of words, each on a line,
and ``NAME.safetensors`` a vector for each (``tools/make_static_table.py`` makes both).
Without a folder in it NAME is one of earmark's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.encoders.encoder import EncoderKind, NamedEncoder, Vectors, explained
from earmark.exceptions import DataError
from earmark.kernels.static_vectors import VectorTable

_OWN = Path(__file__).parents[1] / "data"
_VERSION = "1"


class StaticEncoder(NamedEncoder):
    """The sum of the vectors of a text's words and marks, of length 1."""

    def __init__(self, name: str, table: VectorTable) -> None:
        super().__init__(name, lambda texts: table.encode(texts).vectors, is_quick=True)
        self.table = table

    def encoded(self, texts: Sequence[str], *, store: bool) -> Vectors:
        """A row for each text; reading it from a cache would take longer."""
        return self.table.encode(list(texts)).vectors

    def known_share(self, texts: Sequence[str]) -> float:
        """The share of the words of some texts that are lines of the table."""
        encoded = self.table.encode(list(texts))
        return float(encoded.n_known.sum() / max(encoded.n_words.sum(), 1))

    def by_word(self, text: str) -> tuple[list[str], NDArray[np.float64]]:
        """Words and marks of a text, and their parts in its vector."""
        tokens = list(self.table.tokens(text))
        every = [line for token in tokens for line in token.lines]
        owner = np.repeat(np.arange(len(tokens)), [len(t.lines) for t in tokens])
        parts = np.zeros((len(tokens), self.table.vectors.shape[1]))
        np.add.at(parts, owner, self.table.rows(every))
        length = float(np.linalg.norm(parts.sum(axis=0))) or 1.0
        return [token.text for token in tokens], parts / length


def load(name: str, place: str, fetch: bool) -> NamedEncoder:
    """The table of two files."""
    stem = Path(place).expanduser() if "/" in place else _OWN / f"static-{place}"
    words, numbers = (Path(f"{stem}.{suffix}") for suffix in ("txt", "safetensors"))
    for path in (words, numbers):
        if not path.is_file():
            raise DataError(
                f"encoder {name!r}: there is no file {path}. A table has NAME.txt and "
                "NAME.safetensors; write static:FOLDER/NAME for one of your own."
            )
    with explained(name):
        table = _read(name, words, numbers)
    return StaticEncoder(name, table)


def _read(name: str, words: Path, numbers: Path) -> VectorTable:
    """A table from its files, checked."""
    from safetensors import safe_open

    lines = words.read_text(encoding="utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    with safe_open(numbers, "numpy") as file:
        facts: dict[str, Any] = file.metadata() or {}
        vectors, scale = file.get_tensor("vectors"), file.get_tensor("scale")
    n_words = int(facts.get("words", "-1"))
    fits = (
        facts.get("version") == _VERSION
        and vectors.dtype == np.int8
        and vectors.ndim == 2
        and scale.shape == (len(lines),) == vectors.shape[:1]
        and 0 <= n_words <= len(lines)
        and bool(np.isfinite(scale).all())
        and all(lines)
    )
    if not fits:
        raise DataError(
            f"{numbers} and {words}: expected vectors (int8) and scale for each of the "
            f"{len(lines):,} lines, and version {_VERSION} and the number of words in "
            f"the metadata; got vectors {vectors.dtype} {vectors.shape}, scale "
            f"{scale.shape} and {facts}."
        )
    return VectorTable(lines, n_words, vectors, scale.astype(np.float32))


KIND = EncoderKind(
    "static",
    "adds up vectors of words that come with earmark; NAME may be a table of your own",
    load,
    short_names={"static": "en"},
)
