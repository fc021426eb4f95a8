"""What each model asks of the parts: sums over documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.distributed.executor import merged
from earmark.distributed.rows import GatheredRows, PartedRows, PartRows, _below
from earmark.exceptions import NotSupportedError
from earmark.kernels.rows import canonical_rows, presence
from earmark.models import (
    HigherOrderNaiveBayes,
    HybridBayes,
    RocchioClassifier,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.base import AdditiveClassifier, check_parameters
from earmark.models.higher_order.estimates import block_paths, joined_paths
from earmark.models.hybrid.regions import left_out
from earmark.models.semi_supervised.em import Parameters, PoolSums, expected_sums
from earmark.models.softmax import Point, Slope
from earmark.statistics import ClassStatistics
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels

__all__ = [
    "fit_additive",
    "fit_higher_order",
    "fit_hybrid",
    "fit_rocchio",
    "fit_semi_supervised",
    "fit_softmax",
]

# As many as Rocchio tunes its temperature on.
_ENOUGH_DOCUMENTS = 500


class SumTask:
    """``PartRows`` -> the statistics that the model declares."""

    def __init__(
        self,
        model: AdditiveClassifier,
        classes: Labels,
        factor: FloatVector | None,
        **columns: IntVector,
    ) -> None:
        self.model = model
        self.classes = classes
        self.factor = factor
        self.columns = columns

    def __call__(self, rows: PartRows) -> Any:
        """Statistics of this part, over all classes."""
        weight = None if self.factor is None else self.factor[rows.y]
        return self.model.accumulate(
            rows.X,
            self.classes[rows.y],
            sample_weight=weight,
            classes=self.classes,
            **self.columns,
        )


def fit_additive(
    model: AdditiveClassifier, data: PartedRows, **columns: IntVector
) -> None:
    """Accumulate on every part, merge, finalise (CS1, CS2)."""
    check_parameters(model)
    task = SumTask(model, data.classes, data.class_weight, **columns)
    model.finalise(data.executor.reduce("sums", task, data.items, merged))


def fit_rocchio(model: RocchioClassifier, data: PartedRows) -> None:
    """The sums, then the temperature on the same few documents as in memory."""
    if model.rule != "nearest" and model.threshold == "auto":
        raise NotSupportedError(
            f"RocchioClassifier(rule={model.rule!r}) tunes its threshold on all "
            "documents, which are not in one place; give a threshold."
        )
    fit_additive(model, data)
    if model.temperature == "auto":
        n_rows = sum(data.sizes.values())
        step = max(1, -(-n_rows // _ENOUGH_DOCUMENTS))
        some = data.picked(np.arange(0, n_rows, step))
        weight = data.weights(some.y)
        labels = data.classes[some.y]
        model.tune(some.X, labels, weight)


class EvidenceTask:
    """``PartRows`` -> the hybrid's few features of each document (HY3)."""

    def __init__(self, model: HybridBayes, factor: FloatVector | None) -> None:
        self.model = model
        self.factor = factor

    def __call__(self, rows: PartRows) -> list[FloatMatrix]:
        """One matrix (n_rows, n_classes) for each region."""
        if not len(rows.y):
            shape = (0, len(self.model.classes_))
            return [np.zeros(shape) for _ in self.model.regions_]
        weight = None if self.factor is None else self.factor[rows.y]
        lost = left_out(weight, len(rows.y))
        return self.model.weight_features(rows.X, rows.y, lost)


def fit_hybrid(model: HybridBayes, data: PartedRows) -> None:
    """Two passes and a small convex problem (HY3).

    The first pass sums the generative part. The second, one for each ``alpha``,
    brings n_regions x n_classes numbers a document here, where the few region
    weights are fitted to them.
    """
    model.blocks_ = data.blocks
    fit_additive(model, data, blocks=data.blocks)
    own = data.labels()
    own_weight = data.weights(own)
    weight = np.ones(len(own)) if own_weight is None else own_weight

    def features() -> list[FloatMatrix]:
        task = EvidenceTask(model, data.class_weight)
        parts = data.executor.gather("evidence", task, data.items)
        return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]

    model.choose_weights(own, weight, left_out(own_weight, len(own)), features)


class BlockTask:
    """``PartRows`` -> the rows of one class as presences; None takes all classes."""

    def __init__(self, number: int | None) -> None:
        self.number = number

    def __call__(self, rows: PartRows) -> GatheredRows:
        """One byte for each term of each document."""
        mine = rows.y == self.number if self.number is not None else rows.y >= 0
        rows_of_terms = presence(canonical_rows(rows.X[mine])).astype(np.int8)
        return GatheredRows(rows_of_terms, rows.y[mine])


class PathTask:
    """The documents of a class -> its paths per term and in total (HO1)."""

    def __init__(self, order: int) -> None:
        self.order = order

    def __call__(self, block: GatheredRows) -> tuple[Any, Any]:
        """Exact: whole numbers."""
        return block_paths(canonical_rows(block.X.astype(np.int64)), self.order)


class PresenceTask:
    """``PartRows`` -> documents with each term in each class."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def __call__(self, rows: PartRows) -> ClassStatistics:
        """Exact: whole numbers."""
        statistics = ClassStatistics(np.arange(self.n_classes), rows.X.shape[1])
        return statistics.add(rows.X, rows.y) if len(rows.y) else statistics


def fit_higher_order(model: HigherOrderNaiveBayes, data: PartedRows) -> None:
    """Path counts, exact for any division of the documents.

    A path joins two documents of a class, so path counts of parts do not add: all
    documents of a class are brought together, one byte for each of their terms, and
    counted where they meet, one class after the other.
    """
    check_parameters(model)
    if model.pure:
        raise NotSupportedError(
            "HigherOrderNaiveBayes(pure=True) needs all documents of all classes in "
            "one place; fit in memory."
        )
    n_classes = len(data.classes)
    statistics: ClassStatistics = data.executor.reduce(
        "presence", PresenceTask(n_classes), data.items, merged
    )
    pairs = []
    if model.order > 1:
        for number in range(n_classes):
            block = data.executor.keep_merged(
                "block", BlockTask(number), data.items, _below
            )
            pairs += data.executor.gather("paths", PathTask(model.order), [block])
    model.classes_, model.n_features_in_ = data.classes, data.n_features
    documents = data.docs.astype(np.int64)
    paths = joined_paths(model.order, statistics.presence, documents, pairs)
    if not model.keep_documents:
        model.finalise(paths)
        return
    rows: GatheredRows = data.executor.reduce(
        "documents", BlockTask(None), data.items, _below
    )
    model.finalise(paths, canonical_rows(rows.X), rows.y)


@dataclass(eq=False)
class ExpectTask:
    """``PartRows`` -> sums of its unlabelled documents by their posterior (SS1)."""

    now: Parameters
    before: Parameters | None
    evidence: float | None

    def __call__(self, rows: PartRows) -> PoolSums:
        """The E-step of this part."""
        return expected_sums(rows.pool, self.now, self.before, self.evidence)


def fit_semi_supervised(model: SemiSupervisedNaiveBayes, data: PartedRows) -> None:
    """The same loop as in memory; sums of the pool come from the parts."""
    labelled: ClassStatistics = data.executor.reduce(
        "labelled", PresenceTask(len(data.classes)), data.items, merged
    )
    docs = labelled.docs.astype(np.float64)
    own = PoolSums(labelled.dense_tokens().T, docs, 0.0, int(docs.sum()))

    def expect(now: Parameters, before: Parameters | None) -> PoolSums:
        task = ExpectTask(now, before, model.evidence)
        sums: PoolSums = data.executor.reduce("expected", task, data.items, merged)
        return sums

    model.fit_sums(data.classes, own, expect)


@dataclass(eq=False)
class SlopeTask:
    """``PartRows`` -> cross-entropy and its gradient, or how that changes."""

    at: Point
    along: Point | None
    factor: FloatVector | None

    def __call__(self, rows: PartRows) -> Slope:
        """Sums over the part."""
        n_rows = len(rows.y)
        weight = np.ones(n_rows) if self.factor is None else self.factor[rows.y]
        if self.along is None:
            return self.at.slope(rows.X, rows.y, weight)
        return self.at.curve(rows.X, weight, self.along)


class PartSums:
    """What the optimum is found by: one pass over the parts for each sum."""

    def __init__(self, data: PartedRows) -> None:
        self.data = data

    def slope(self, at: Point) -> Slope:
        """Loss and gradient of all documents."""
        return self._summed(at, None)

    def curve(self, at: Point, along: Point) -> Slope:
        """Change of the gradient along a direction."""
        return self._summed(at, along)

    def _summed(self, at: Point, along: Point | None) -> Slope:
        data = self.data
        task = SlopeTask(at, along, data.class_weight)
        slope: Slope = data.executor.reduce("slope", task, data.items, merged)
        return slope


def fit_softmax(model: SoftmaxRegression, data: PartedRows) -> None:
    """The exact optimum that ``solver="dual"`` approaches in memory."""
    docs = data.docs.astype(np.float64)
    factor = data.class_weight
    total = float(docs.sum() if factor is None else docs @ factor)
    model.fit_sums(data.classes, data.n_features, total, PartSums(data))
