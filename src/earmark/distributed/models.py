"""What each model asks of the parts: sums over documents."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from earmark.distributed.executor import merged
from earmark.distributed.rows import GatheredRows, PartedRows, PartRows
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

# As many as Rocchio tunes its temperature on.
_ENOUGH_DOCUMENTS = 500


def _sums(
    model: AdditiveClassifier,
    classes: Labels,
    factor: FloatVector | None,
    columns: dict[str, IntVector],
    rows: PartRows,
) -> Any:
    """The statistics that the model declares, of one part, over all classes."""
    weight = None if factor is None else factor[rows.y]
    return model.accumulate(
        rows.X, classes[rows.y], sample_weight=weight, classes=classes, **columns
    )


def fit_additive(
    model: AdditiveClassifier, data: PartedRows, **columns: IntVector
) -> None:
    """Accumulate on every part, merge, finalise (CS1, CS2)."""
    check_parameters(model)
    task = partial(_sums, model, data.classes, data.class_weight, columns)
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


def _evidence(
    model: HybridBayes, factor: FloatVector | None, rows: PartRows
) -> list[FloatMatrix]:
    """The hybrid's features (HY3): (n_rows, n_classes) for each region."""
    if not len(rows.y):
        return [np.zeros((0, len(model.classes_))) for _ in model.regions_]
    weight = None if factor is None else factor[rows.y]
    return model.weight_features(rows.X, rows.y, left_out(weight, len(rows.y)))


def fit_hybrid(model: HybridBayes, data: PartedRows) -> None:
    """Two passes and a small convex problem (HY3).

    The first pass sums the generative part. The second, one for each ``alpha``,
    brings n_regions x n_classes numbers per document here, where the few region
    weights are fitted to them.
    """
    model.blocks_ = data.blocks
    fit_additive(model, data, blocks=data.blocks)
    own = data.labels()
    own_weight = data.weights(own)
    weight = np.ones(len(own)) if own_weight is None else own_weight

    def features() -> list[FloatMatrix]:
        task = partial(_evidence, model, data.class_weight)
        parts = data.executor.gather("evidence", task, data.items)
        return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]

    model.choose_weights(own, weight, left_out(own_weight, len(own)), features)


def _block(number: int | None, rows: PartRows) -> GatheredRows:
    """The rows of one class (None: of all) as presences, a byte for each term."""
    mine = rows.y == number if number is not None else rows.y >= 0
    rows_of_terms = presence(canonical_rows(rows.X[mine])).astype(np.int8)
    return GatheredRows(rows_of_terms, rows.y[mine])


def _paths(order: int, block: GatheredRows) -> tuple[Any, Any]:
    """Paths per term and in total (HO1) of the documents of a class; exact."""
    return block_paths(canonical_rows(block.X.astype(np.int64)), order)


def class_counts(n_classes: int, rows: PartRows) -> ClassStatistics:
    """Tokens and documents of each term in each class of a part; exact."""
    statistics = ClassStatistics(np.arange(n_classes), rows.X.shape[1])
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
        "presence", partial(class_counts, n_classes), data.items, merged
    )
    pairs = []
    if model.order > 1:
        for number in range(n_classes):
            block = data.executor.keep_merged(
                "block", partial(_block, number), data.items, merged
            )
            pairs += data.executor.gather(
                "paths", partial(_paths, model.order), [block]
            )
    model.classes_, model.n_features_in_ = data.classes, data.n_features
    documents = data.docs.astype(np.int64)
    paths = joined_paths(model.order, statistics.presence, documents, pairs)
    if not model.keep_documents:
        model.finalise(paths)
        return
    rows: GatheredRows = data.executor.reduce(
        "documents", partial(_block, None), data.items, merged
    )
    model.finalise(paths, canonical_rows(rows.X), rows.y)


def _expected(
    now: Parameters, before: Parameters | None, evidence: float | None, rows: PartRows
) -> PoolSums:
    """The E-step of a part: sums of its unlabelled documents (SS1)."""
    return expected_sums(rows.pool, now, before, evidence)


def fit_semi_supervised(model: SemiSupervisedNaiveBayes, data: PartedRows) -> None:
    """The same loop as in memory; sums of the pool come from the parts."""
    labelled: ClassStatistics = data.executor.reduce(
        "labelled", partial(class_counts, len(data.classes)), data.items, merged
    )
    docs = labelled.docs.astype(np.float64)
    own = PoolSums(labelled.dense_tokens().T, docs, 0.0, int(docs.sum()))

    def expect(now: Parameters, before: Parameters | None) -> PoolSums:
        task = partial(_expected, now, before, model.evidence)
        sums: PoolSums = data.executor.reduce("expected", task, data.items, merged)
        return sums

    model.fit_sums(data.classes, own, expect)


def _slope(
    at: Point, along: Point | None, factor: FloatVector | None, rows: PartRows
) -> Slope:
    """Cross-entropy of a part and its gradient, or how that changes."""
    weight = np.ones(len(rows.y)) if factor is None else factor[rows.y]
    if along is None:
        return at.slope(rows.X, rows.y, weight)
    return at.curve(rows.X, weight, along)


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
        task = partial(_slope, at, along, data.class_weight)
        slope: Slope = data.executor.reduce("slope", task, data.items, merged)
        return slope


def fit_softmax(model: SoftmaxRegression, data: PartedRows) -> None:
    """The exact optimum that ``solver="dual"`` approaches in memory."""
    docs = data.docs.astype(np.float64)
    factor = data.class_weight
    total = float(docs.sum() if factor is None else docs @ factor)
    model.fit_sums(data.classes, data.n_features, total, PartSums(data))
