"""Models that are sums over documents: naive Bayes, Rocchio, the hybrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.distributed.data import PartedRows
from earmark.distributed.executor import merged
from earmark.distributed.rows import PartRows
from earmark.exceptions import NotSupportedError
from earmark.models import HybridBayes, RocchioClassifier
from earmark.models._additive import AdditiveClassifier
from earmark.models.hybrid.evidence import left_out
from earmark.typing import FloatMatrix, FloatVector, Labels

__all__ = ["fit_additive", "fit_hybrid", "fit_rocchio"]

# As many as Rocchio tunes its temperature on.
_ENOUGH_DOCUMENTS = 500


class SumTask:
    """``PartRows`` -> the statistics that the model declares."""

    def __init__(
        self, model: AdditiveClassifier, classes: Labels, factor: FloatVector | None
    ) -> None:
        self.model = model
        self.classes = classes
        self.factor = factor

    def __call__(self, rows: PartRows) -> Any:
        """Statistics of this part, over all classes."""
        model, n_features = self.model, rows.X.shape[1]
        if not len(rows.y):
            return model._empty_statistics(self.classes, n_features)
        weight = None if self.factor is None else self.factor[rows.y]
        return model.accumulate(
            rows.X, self.classes[rows.y], sample_weight=weight, classes=self.classes
        )


def fit_additive(model: AdditiveClassifier, data: PartedRows) -> None:
    """Accumulate on every part, merge, finalise (CS1, CS2)."""
    model._check_parameters()
    task = SumTask(model, data.classes, data.class_weight)
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
        model._tune(some.X, labels, model._weights_of(some.X, weight))


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
        return self.model._features(rows.X, rows.y, lost)


def fit_hybrid(model: HybridBayes, data: PartedRows) -> None:
    """Two passes and a small convex problem (HY3).

    The first pass sums the generative part. The second, one for each ``alpha``,
    brings n_regions x n_classes numbers a document here, where the few region
    weights are fitted to them.
    """
    fit_additive(model, data)
    own = data.labels()
    given = data.weights(own)
    weight = np.ones(len(own)) if given is None else given

    def features() -> list[FloatMatrix]:
        task = EvidenceTask(model, data.class_weight)
        parts = data.executor.gather("evidence", task, data.items)
        return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]

    model._choose_weights(own, weight, left_out(given, len(own)), features)
