"""Which passes each model makes over the parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.distributed.additive import fit_additive, fit_hybrid, fit_rocchio
from earmark.distributed.data import PartedRows
from earmark.distributed.features import fit_features, hashed_features
from earmark.distributed.hierarchical import fit_hierarchical
from earmark.distributed.higher_order import fit_higher_order
from earmark.distributed.job import Job
from earmark.distributed.rows import MatrixTask
from earmark.distributed.semi_supervised import fit_semi_supervised
from earmark.distributed.softmax import fit_softmax
from earmark.exceptions import DataError, NotSupportedError
from earmark.features import HashedCounter
from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    HigherOrderNaiveBayes,
    HybridBayes,
    RocchioClassifier,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.naive_bayes._count_model import CountNaiveBayes
from earmark.pipeline.count_engine import CountEngine, class_factors
from earmark.pipeline.inputs import RegionTexts
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.region_features import RegionFeatures
from earmark.typing import Labels

__all__ = ["check_trainable", "train"]

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
    )
    model = clone(engine.estimator)
    if "blocks" in model.get_params(deep=False):
        model.set_params(blocks=features.blocks_)
    trainer(model, data)
    engine.model_, engine.classes_ = model, np.asarray(model.classes_)
    engine.calibrator_ = None
    if counts.n_unlabelled and getattr(model, "documents_", None) is not None:
        engine.keep_rows(data.places(counts.parts))


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
        f"{type(engine.estimator).__name__} cannot be fitted in parts; take "
        "multinomial, bernoulli, complement, rocchio, hybrid, hierarchical, "
        "higher-order, softmax or semi-supervised, or fit in memory."
    )


def _train_counts(engine: CountEngine, job: Job) -> None:
    """Accumulate, merge, finalise: the statistics are the model."""
    engine.estimator._check_parameters()
    counts = job.count(engine.counter)
    engine.regions_ = list(counts.labelled)
    engine.statistics_ = [
        counts.labelled.pop(region).statistics() for region in engine.regions_
    ]
    engine._finalise()


class HashedSums:
    """Texts and labels -> the model's statistics, over hashed columns."""

    def __init__(self, features: RegionFeatures, model: Any) -> None:
        self.features = features
        self.model = model

    def __call__(self, texts: RegionTexts, labels: Labels) -> Any:
        """Statistics of one batch."""
        features = hashed_features(clone(self.features), list(texts))
        return self.model.accumulate(features.transform(texts), labels)


def _train_hashed(engine: Any, job: Job) -> None:
    """One pass: columns are hashes, so nothing need be known before."""
    model = clone(engine.estimator)
    model._check_parameters()
    if engine.class_weight is not None:
        raise NotSupportedError(
            "class_weight is not known in a single pass; leave it out, or count "
            "without hashing."
        )
    counts = job.count(engine.features.counter, add=HashedSums(engine.features, model))
    hashed_features(engine.features, list(counts.labelled))
    engine.model_ = model.finalise(counts.sums)
    engine.classes_ = np.asarray(model.classes_)
    engine.calibrator_ = None
