"""What pieces of words and vectors add to scores, told of the words of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from earmark.features.columns import Columns
from earmark.features.scoring import ScoreParts, VectorWeights
from earmark.features.word_counter import WordCounter
from earmark.typing import (
    FloatMatrix,
    IntVector,
    SparseMatrix,
)

_RUN = re.compile(r"\S+")


def told_by_word(
    columns: Columns,
    parts: ScoreParts,
    text: str,
    words: SparseMatrix,
    vectors: VectorWeights | None,
    describe: Callable[[int], str],
) -> ScoreParts:
    """The scores of a text, taken apart by what people read: its words and phrases.

    ``words`` are the counts of the first block, and ``vectors`` what the vector of the
    text is multiplied by. The sum stays as it is.
    """
    kinds = columns.kinds_of(parts.columns)
    is_piece = kinds == "piece"
    sums = _Sums(parts)
    for place in np.flatnonzero(~is_piece):
        name = describe(int(parts.columns[place]))
        sums.add([name], np.array([[1.0]]), np.array([place]))
    if is_piece.any():
        places = np.flatnonzero(is_piece)
        pieces = [describe(int(column)) for column in parts.columns[places]]
        sums.add(*_shares(columns, text, pieces), places)
    constants = dict(parts.constants)
    encoder = columns.encoder
    if encoder is not None and vectors is not None:
        terms = columns.terms_of(0)
        known = None if terms is None else encoder.by_word(text, words, terms)
        if known is not None:
            assert encoder.mean is not None
            sums.add_vectors(*known, vectors)
            less = -encoder.mean if known[1].any() else np.zeros(len(encoder.mean))
            del constants["encoder"]
            constants["mean vector"] = less @ vectors.weights
    return sums.parts(constants)


class _Sums:
    """Contributions by word, as they are added up."""

    def __init__(self, parts: ScoreParts) -> None:
        self._parts = parts
        self._names: dict[str, int] = {}
        self._terms: list[FloatMatrix] = []
        self._labelled: list[FloatMatrix] = []
        self._places: list[int] = []

    def add(self, names: list[str], shares: FloatMatrix, places: IntVector) -> None:
        """Divide contributions among names by ``shares``, (n_names, n_places)."""
        labelled = self._parts.labelled
        own = None if labelled is None else shares @ labelled[places]
        self._add(names, shares @ self._parts.terms[places], own)

    def add_vectors(
        self, names: list[str], vectors: FloatMatrix, by: VectorWeights
    ) -> None:
        """Add what the vector of each word contributes to the scores."""
        labelled = None if by.labelled is None else vectors @ by.labelled
        self._add(names, vectors @ by.weights, labelled)

    def _add(
        self, names: list[str], terms: FloatMatrix, labelled: FloatMatrix | None
    ) -> None:
        if not names:
            return
        known = self._names
        self._places += [known.setdefault(name, len(known)) for name in names]
        self._terms.append(terms)
        self._labelled.append(np.zeros_like(terms) if labelled is None else labelled)

    def parts(self, constants: dict[str, np.ndarray]) -> ScoreParts:
        """What each word contributes to the scores, each word once."""
        has_labelled = self._parts.labelled is not None
        return replace(
            self._parts,
            columns=np.zeros(0, dtype=np.int64),
            names=tuple(self._names),
            terms=self._total(self._terms),
            labelled=self._total(self._labelled) if has_labelled else None,
            constants=constants,
        )

    def _total(self, values: list[FloatMatrix]) -> FloatMatrix:
        total = np.zeros((len(self._names), self._parts.terms.shape[1]))
        if values:
            np.add.at(total, self._places, np.concatenate(values))
        return total


def _shares(
    columns: Columns, text: str, pieces: list[str]
) -> tuple[list[str], FloatMatrix]:
    """Words of a text, and the share of each in each piece, (n_words, n_pieces).

    Each time that a piece is met counts the same, and so does each of its letters.
    """
    counter = columns.blocks[0].counter
    assert isinstance(counter, WordCounter)
    text = counter.build_preprocessor()(text)
    block = next(block for block in columns.blocks if block.kind == "piece")
    known = {piece: k for k, piece in enumerate(pieces)}
    names, owner = _owners(text, counter.token_pattern or r"\S+")
    rows: list[int] = []
    places: list[int] = []
    weights: list[float] = []
    for run in _RUN.finditer(text):
        for piece, start in _pieces(run[0], *block.counter.ngram_range):
            place = known.get(piece)
            if place is None:
                continue
            first = max(run.start() + start, run.start())
            last = min(run.start() + start + len(piece), run.end())
            for letter in range(first, last):
                rows.append(owner[letter])
                places.append(place)
                weights.append(1.0 / (last - first))
    shape = len(names), len(pieces)
    shares = sparse.coo_array((weights, (rows, places)), shape=shape).toarray()
    total = shares.sum(axis=0)
    return names, shares / np.where(total > 0, total, 1.0)


def _owners(text: str, token_pattern: str) -> tuple[list[str], list[int]]:
    """Words of a text, and the number of the word that each character belongs to."""
    names: list[str] = []
    owner = [-1] * len(text)
    for token in re.finditer(token_pattern, text):
        owner[token.start() : token.end()] = [len(names)] * (
            token.end() - token.start()
        )
        names.append(token[0])
    # Characters that are in no word belong to all that stands between blanks.
    for run in _RUN.finditer(text):
        if -1 in owner[run.start() : run.end()]:
            for letter in range(run.start(), run.end()):
                if owner[letter] == -1:
                    owner[letter] = len(names)
            names.append(run[0])
    return names, owner


def _pieces(word: str, min_n: int, max_n: int) -> Iterator[tuple[str, int]]:
    """Pieces as they are counted, and where each begins in the word; -1: before it."""
    padded = f" {word} "
    for n in range(min_n, max_n + 1):
        last = max(len(padded) - n, 0)
        for k in range(last + 1):
            yield padded[k : k + n], k - 1
        if last == 0:  # a short word counts once
            return
