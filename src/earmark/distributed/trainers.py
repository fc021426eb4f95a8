"""Which passes each model makes over the parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.distributed.counting import PartCounts
from earmark.distributed.executor import merge_tree, merged
from earmark.distributed.hierarchical import fit_hierarchical
from earmark.distributed.job import Job
from earmark.distributed.models import (
    fit_additive,
    fit_higher_order,
    fit_hybrid,
    fit_rocchio,
    fit_semi_supervised,
    fit_softmax,
)
from earmark.distributed.rows import MatrixTask, PartedRows
from earmark.exceptions import DataError, NotSupportedError
from earmark.features import HashedCounter, WordCounter
from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    HigherOrderNaiveBayes,
    HybridBayes,
    RocchioClassifier,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.base import check_parameters
from earmark.models.naive_bayes.count_model import CountNaiveBayes
from earmark.models.registry import MODELS
from earmark.pipeline.count_engine import CountEngine, class_factors
from earmark.pipeline.inputs import RegionTexts
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.text_features import RegionFeatures
from earmark.statistics import TermCounts
from earmark.typing import Estimator, IntVector, Labels


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
    if fitted.vocabulary is not None:
        return fitted.fit(()), _frequency_in(fitted, table)
    return fitted, frequency[
        fitted.fit_frequencies(table.terms(), frequency, total, n_documents)
    ]


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
    return clone(features.weighting).fit_frequencies(frequency, n_documents)


_TRAINERS: tuple[tuple[type, Callable[[Any, PartedRows], None]], ...] = (
    (RocchioClassifier, fit_rocchio),
    (HybridBayes, fit_hybrid),
    (CountNaiveBayes, fit_additive),
    (GaussianNaiveBayes, fit_additive),
    (HigherOrderNaiveBayes, fit_higher_order),
    (SoftmaxRegression, fit_softmax),
    (SemiSupervisedNaiveBayes, fit_semi_supervised),
    (HierarchicalBayes, fit_hierarchical),
)


def train(engine: Any, job: Job) -> None:
    """Fit the engine to the parts; one pass for the count models."""
    if isinstance(engine, CountEngine):
        _train_counts(engine, job)
        return
    trainer = _trainer_of(engine)
    if isinstance(engine.features.counter, HashedCounter) and trainer is fit_additive:
        _train_hashed(engine, job)
        return
    with_pool = isinstance(engine.estimator, SemiSupervisedNaiveBayes)
    if with_pool:
        engine.features.weighting = None  # counts, whatever unknown models are fed
    counts = job.count(engine.features.counter, with_pool)
    classes = counts.classes
    docs = next(iter(counts.labelled.values())).docs
    features = fit_features(engine.features, counts)
    width = sum(features.widths_)
    if not width:
        raise DataError("no term is left to learn from: the documents are empty.")
    task = MatrixTask(features, job.regions, classes, with_pool)
    sizes = {part.number: counts.parts[part.number][0] for part in job.parts}
    data = PartedRows(
        job.executor,
        job.executor.keep("rows", task, job.parts),
        classes,
        docs,
        sizes,
        width,
        class_factors(engine.class_weight, classes, docs.astype(np.float64)),
        features.blocks_,
    )
    model = clone(engine.estimator)
    trainer(model, data)
    engine.model_, engine.classes_ = model, np.asarray(model.classes_)
    engine.calibrator_ = None
    if counts.n_unlabelled and getattr(model, "documents_", None) is not None:
        engine.keep_rows(data.places(counts.parts))


def names_in_parts() -> str:
    """The names of the models that are fitted in parts."""
    return ", ".join(name for name, spec in MODELS.items() if spec.in_parts)


def check_trainable(engine: Any) -> None:
    """Raise before any part is read, if the model cannot be fitted in parts."""
    if not isinstance(engine, CountEngine):
        _trainer_of(engine)


def _trainer_of(engine: Any) -> Callable[[Any, PartedRows], None]:
    if type(engine) is MatrixEngine:
        for kind, trainer in _TRAINERS:
            if isinstance(engine.estimator, kind):
                return trainer
    raise NotSupportedError(
        f"{type(engine.estimator).__name__} cannot be fitted in parts; take one of "
        f"{names_in_parts()}, or fit in memory."
    )


def _train_counts(engine: CountEngine, job: Job) -> None:
    """Accumulate, merge, finalise: the statistics are the model."""
    check_parameters(engine.estimator)
    counts = job.count(engine.counter)
    engine.regions_ = list(counts.labelled)
    engine.statistics_ = [
        counts.labelled.pop(region).statistics() for region in engine.regions_
    ]
    engine.finalise()


def _hashed_sums(
    features: RegionFeatures, model: Estimator, texts: RegionTexts, labels: Labels
) -> Any:
    """The model's statistics of one batch, over hashed columns."""
    columns = hashed_features(clone(features), list(texts))
    return model.accumulate(columns.transform(texts), labels)


def _train_hashed(engine: Any, job: Job) -> None:
    """One pass: columns are hashes, so nothing need be known before."""
    model = clone(engine.estimator)
    check_parameters(model)
    if engine.class_weight is not None:
        raise NotSupportedError(
            "class_weight is not known in a single pass; leave it out, or count "
            "without hashing."
        )
    add = partial(_hashed_sums, engine.features, model)
    counts = job.count(engine.features.counter, add=add)
    hashed_features(engine.features, list(counts.labelled))
    engine.model_ = model.finalise(counts.sums)
    engine.classes_ = np.asarray(model.classes_)
    engine.calibrator_ = None
