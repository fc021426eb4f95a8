"""Features of several passes: vocabularies and weights from counts that were merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.distributed.counting import PartCounts
from earmark.distributed.executor import merge_tree, merged
from earmark.exceptions import NotSupportedError
from earmark.features import HashedCounter, WordCounter
from earmark.pipeline.region_features import RegionFeatures
from earmark.statistics import TermCounts
from earmark.typing import IntVector

__all__ = ["fit_features", "hashed_features"]


def fit_features(features: RegionFeatures, counts: PartCounts) -> RegionFeatures:
    """What ``features.fit_transform`` learns from the same documents."""
    if not isinstance(features.counter, WordCounter | HashedCounter):
        raise NotSupportedError(
            "data in parts are counted by WordCounter or HashedCounter, got "
            f"{type(features.counter).__name__}; give features as a dict of "
            "WordCounter parameters, or fit in memory."
        )
    features.regions_ = list(counts.labelled)
    if isinstance(features.counter, HashedCounter):
        return hashed_features(features, features.regions_)
    tables = [_all_documents(counts, region) for region in features.regions_]
    n_documents = sum(int(table.docs.sum()) for table in tables[:1])
    several = len(tables) > 1
    shared = None
    if features.shared:
        everything = merge_tree(tables, merged)
        n_texts = n_documents * len(tables)
        shared = _learned(features.counter, everything, n_texts)[0]
    features.counters_, features.weightings_, features.widths_ = [], [], []
    for table in tables:
        if several and not table.n_terms and shared is None:
            counter, frequency = None, table.document_frequency()
        elif shared is not None:
            counter, frequency = shared, _frequency_in(shared, table)
        else:
            counter, frequency = _learned(features.counter, table, n_documents)
        features.counters_.append(counter)
        features.weightings_.append(_weighting(features, frequency, n_documents))
        features.widths_.append(len(frequency))
    return features


def hashed_features(features: RegionFeatures, regions: list[str]) -> RegionFeatures:
    """Features whose columns are known before any document is."""
    features.regions_ = regions
    features.counters_ = [clone(features.counter) for _ in regions]
    features.weightings_ = [None for _ in regions]
    features.widths_ = [features.counter.n_features for _ in regions]
    return features


def _all_documents(counts: PartCounts, region: str) -> TermCounts:
    pool = counts.pool.get(region)
    return (
        counts.labelled[region]
        if pool is None
        else merged(counts.labelled[region], pool)
    )


def _learned(
    counter: WordCounter, table: TermCounts, n_documents: int
) -> tuple[WordCounter, IntVector]:
    """A counter with the vocabulary, and the document frequencies of its columns."""
    frequency = table.document_frequency()
    total = table.tokens.sum(axis=0).ravel()
    fitted = clone(counter)
    fitted._start()
    if fitted.fixed_vocabulary_:
        return fitted, _frequency_in(fitted, table)
    kept = fitted._learn_frequencies(table.terms(), frequency, total, n_documents)
    return fitted, frequency[kept]


def _frequency_in(counter: WordCounter, table: TermCounts) -> IntVector:
    """Document frequencies of the counter's columns, whatever the table holds."""
    known = dict(zip(table.terms(), table.document_frequency().tolist(), strict=True))
    return np.asarray(
        [known.get(term, 0) for term in counter.get_feature_names_out().tolist()],
        dtype=np.int64,
    )


def _weighting(features: RegionFeatures, frequency: IntVector, n_documents: int) -> Any:
    if features.weighting is None:
        return None
    weighting = clone(features.weighting)
    weighting._check_parameters()
    weighting.n_documents_ = n_documents
    weighting.document_frequency_ = frequency
    weighting.n_features_in_ = len(frequency)
    return weighting
