"""Raw text straight to class statistics and to linear scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.features import WordCounter
from earmark.features.fused import KnownTerms, count_by_class
from earmark.features.vocabulary import prunes, term_mask
from earmark.kernels.text import Documents
from earmark.statistics import ClassStatistics
from earmark.statistics.inputs import label_positions
from earmark.typing import Labels

__all__ = ["fixed_counter", "kept_statistics", "text_statistics"]


def text_statistics(
    counter: WordCounter,
    texts: Documents,
    y: Labels,
    classes: Labels,
    weight: Any | None,
) -> ClassStatistics:
    """Class statistics of raw texts, keyed by term and unpruned (CS1).

    Unweighted documents go straight from tokens to sums, without a matrix.
    """
    if weight is None and not counter.binary:
        y_index = label_positions(y, classes, len(texts))
        terms, tokens, presence = count_by_class(counter, texts, y_index, len(classes))
        docs = np.bincount(y_index, minlength=len(classes)).astype(np.int64)
        return ClassStatistics.from_sums(classes, docs, tokens, presence, terms)
    every = clone(counter).set_params(min_df=1, max_df=1.0, max_features=None)
    X = every.fit_transform(texts)
    terms = every.get_feature_names_out()
    return ClassStatistics(classes, terms=terms).add(X, y, weight)


def kept_statistics(
    counter: WordCounter, statistics: ClassStatistics
) -> ClassStatistics:
    """The columns that the counter's limits on frequency leave."""
    if not prunes(counter):
        return statistics
    totals = statistics.presence if counter.binary else statistics.tokens
    mask = term_mask(
        counter,
        int(statistics.docs.sum()),
        statistics.document_frequency(),
        np.asarray(totals.sum(axis=0)).ravel(),
    )
    return statistics.select(np.flatnonzero(mask))


def fixed_counter(counter: WordCounter, terms: Any) -> KnownTerms:
    """The same counter on a vocabulary that is already known."""
    return KnownTerms(counter, list(terms))
