"""Class sums of raw text, keyed by term and not pruned (CS1).

Columns appear only when a model is made of the sums. So learning, forgetting and
merging agree, whatever the vocabulary was when each document came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from earmark.exceptions import DataError
from earmark.features.analysis import count_by_class
from earmark.features.columns import Columns, known_columns
from earmark.features.word_counter import (
    WordCounter,
    no_term_left,
    prunes,
    term_mask,
)
from earmark.inputs.regions import RegionTexts, column_of
from earmark.kernels.text import Documents
from earmark.statistics.class_statistics import ClassStatistics, label_positions
from earmark.stored import instance, sequence, stored, words
from earmark.typing import FloatVector, Labels, WeightsLike


def text_statistics(
    counter: WordCounter,
    texts: Documents,
    y: Labels,
    classes: Labels,
    weight: WeightsLike,
) -> ClassStatistics:
    """Class statistics of raw texts, keyed by term and unpruned (CS1)."""
    # Unweighted documents go straight from tokens to sums, without a matrix. Terms of
    # a given vocabulary count even where no document has them.
    if weight is None and not counter.binary and counter.vocabulary is None:
        y_index = label_positions(y, classes, len(texts))
        terms, tokens, presence = count_by_class(counter, texts, y_index, len(classes))
        docs = np.bincount(y_index, minlength=len(classes)).astype(np.int64)
        return ClassStatistics.from_sums(classes, docs, tokens, presence, terms)
    every = clone(counter).set_params(min_df=1, max_df=1.0, max_features=None)
    X = every.fit_transform(texts)
    terms = every.get_feature_names_out()
    if counter.vocabulary is not None:  # in an order of its own
        order = np.argsort(terms)
        X, terms = X[:, order], terms[order]
    return ClassStatistics(classes, terms=terms).add(X, y, weight)


def _pruned(counter: WordCounter, statistics: ClassStatistics) -> ClassStatistics:
    """The columns that the counter's limits on frequency leave."""
    totals = statistics.presence if counter.binary else statistics.tokens
    mask = term_mask(
        counter,
        int(statistics.docs.sum()),
        statistics.document_frequency(),
        np.asarray(totals.sum(axis=0)).ravel(),
    )
    return statistics.select(np.flatnonzero(mask))


@stored
@dataclass(eq=False)
class TermSums:
    """The class statistics of each region; a value: nothing changes it."""

    regions: Annotated[list[str], words("n_regions", unique=True)]
    parts: Annotated[
        list[ClassStatistics],
        sequence(
            instance(ClassStatistics, n_classes="n_classes"), "n_regions", at_least=1
        ),
    ]
    """One for each region, all of the same classes and documents."""

    @classmethod
    def of_texts(
        cls,
        counter: WordCounter,
        texts: RegionTexts,
        labels: Labels,
        classes: Labels,
        weight: WeightsLike = None,
        regions: list[str] | None = None,
    ) -> Self:
        """The sums of some documents; an unknown label is an error."""
        names = list(texts) if regions is None else regions
        known = np.asarray(labels)
        parts = [
            text_statistics(counter, column_of(texts, name), known, classes, weight)
            for name in names
        ]
        return cls(names, parts)

    @property
    def classes(self) -> Labels:
        """The labels, sorted."""
        return self.parts[0].classes

    @property
    def docs(self) -> FloatVector:
        """Weighted number of documents of each class."""
        return np.asarray(self.parts[0].docs, dtype=np.float64)

    @property
    def largest(self) -> float:
        """The largest count of a term in a class."""
        return max(float(part.tokens.data.max(initial=0)) for part in self.parts)

    def plus(self, more: list[TermSums]) -> TermSums:
        """These documents, and those of all the others."""
        merged = [part.copy() for part in self.parts]
        for sums in more:
            for own, new in zip(merged, sums.parts, strict=True):
                own.merge(new)
        return TermSums(self.regions, merged)

    def minus(self, less: TermSums) -> TermSums:
        """Without documents that are among these; more than that is a DataError."""
        pairs = zip(self.parts, less.parts, strict=True)
        rest = [own.copy().subtract(other) for own, other in pairs]
        if not sum(part.docs.sum() for part in rest):
            raise DataError(
                "these are all the documents that the model has learned; nothing was "
                "changed. Delete the model instead."
            )
        return TermSums(self.regions, rest)

    def columns(
        self, counter: WordCounter, before: Columns | None = None
    ) -> tuple[Columns, ClassStatistics]:
        """The columns that the counter's limits leave, and their sums side by side.

        ``before`` is taken again where its terms are the same: its look-up tables
        still serve.
        """
        pruned = self.parts
        if prunes(counter):
            pruned = [_pruned(counter, part) for part in self.parts]
        if not sum(part.n_features for part in pruned):
            raise no_term_left(counter)
        joined = ClassStatistics.from_sums(
            pruned[0].classes,
            pruned[0].docs,
            sparse.hstack([part.tokens for part in pruned], format="csr"),
            sparse.hstack([part.presence for part in pruned], format="csr"),
        )
        terms = {r: p.terms for r, p in zip(self.regions, pruned, strict=True)}
        return known_columns(counter, terms, before), joined

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report parts without terms, or of different classes."""
        if any(part.terms is None for part in self.parts):
            yield ".parts must name their terms"
        first = self.parts[0].classes
        if not all(np.array_equal(part.classes, first) for part in self.parts):
            yield ".parts have different classes"
