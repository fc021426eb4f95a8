"""Corpora cut into training, validation and test documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.typing import IntVector, Labels, SparseMatrix

__all__ = ["Corpus", "Task", "halved", "held_back", "load", "ordered"]


@dataclass(frozen=True)
class Corpus:
    """Documents, counted once."""

    name: str
    labels: Labels
    counts: SparseMatrix
    n_train: int
    """How many of them, from the first, are the official training documents."""


@dataclass(frozen=True)
class Task:
    """One division of a corpus."""

    corpus: Corpus
    train: IntVector
    validation: IntVector
    test: IntVector

    @cached_property
    def counts(self) -> tuple[SparseMatrix, SparseMatrix, SparseMatrix]:
        """Counts of the three parts, on the terms that the training part holds."""
        X = self.corpus.counts
        train = X[self.train]
        held = np.flatnonzero(np.bincount(train.indices, minlength=X.shape[1]))
        validation, test = X[self.validation], X[self.test]
        return train[:, held], validation[:, held], test[:, held]

    @cached_property
    def labels(self) -> tuple[Labels, Labels, Labels]:
        """Labels of the three parts."""
        y = self.corpus.labels
        return y[self.train], y[self.validation], y[self.test]


@lru_cache(maxsize=1)
def load(name: str, title: str) -> Corpus:
    """A corpus with its official training documents first."""
    regions = ["subject", "body"] if name == "20newsgroups" else None
    parts: list[Any] = [
        load_corpus(name, s, regions=regions) for s in ("train", "test")
    ]
    texts: list[str] = []
    for part in parts:
        found = part.texts
        if regions is not None:
            found = ["\n".join(pair) for pair in zip(*found.values(), strict=True)]
        texts += list(found)
    labels = np.concatenate([np.asarray(part.labels) for part in parts])
    counts = WordCounter().fit_transform(texts)
    return Corpus(title, labels, counts, len(parts[0].labels))


def halved(corpus: Corpus, n_validation: int, n_draws: int) -> Iterator[Task]:
    """All training documents; the official test part for validation and test."""
    train = np.arange(corpus.n_train)
    rest = np.arange(corpus.n_train, len(corpus.labels))
    split = StratifiedShuffleSplit(n_draws, train_size=n_validation, random_state=0)
    for validation, test in split.split(rest, corpus.labels[rest]):
        yield Task(corpus, train, rest[validation], rest[test])


def held_back(corpus: Corpus, fraction: float, n_draws: int) -> Iterator[Task]:
    """A share of every class's training documents for validation; official test.

    A class keeps at least one training document.
    """
    y = corpus.labels[: corpus.n_train]
    test = np.arange(corpus.n_train, len(corpus.labels))
    for draw in range(n_draws):
        order = np.random.default_rng(draw).permutation(corpus.n_train)
        validation: list[int] = []
        for c in np.unique(y):
            mine = order[y[order] == c]
            validation += mine[: round(fraction * len(mine))].tolist()
        train = np.setdiff1d(np.arange(corpus.n_train), validation)
        yield Task(corpus, train, np.sort(validation), test)


def ordered(
    corpus: Corpus, n_train: int, n_validation: int, n_test: int, seed: int
) -> Task:
    """Documents in a random order: the first train, the next validate, some test.

    Classes are drawn alike: every part has about the share of each class.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(corpus.labels))
    # A stable sort by rank within the class deals the classes out evenly.
    y = corpus.labels[order]
    rank = np.empty(len(order))
    for c in np.unique(y):
        mine = np.flatnonzero(y == c)
        rank[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    dealt = order[np.argsort(rank, kind="stable")]
    ends = np.cumsum([n_train, n_validation, n_test])
    train, validation, test = np.split(dealt[: ends[-1]], ends[:-1])
    return Task(corpus, train, validation, test)
