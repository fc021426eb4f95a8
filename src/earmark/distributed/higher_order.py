"""Higher-order counts: the documents of a class meet in one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.distributed.data import PartedRows, _below
from earmark.distributed.executor import merged
from earmark.distributed.rows import GatheredRows, PartRows
from earmark.exceptions import NotSupportedError
from earmark.kernels.rows import canonical_rows, presence
from earmark.models import HigherOrderNaiveBayes
from earmark.models.higher_order._estimates import block_paths, joined_paths
from earmark.statistics import ClassStatistics

__all__ = ["fit_higher_order"]


class BlockTask:
    """``PartRows`` -> the rows of one class as presences; None takes all classes."""

    def __init__(self, number: int | None) -> None:
        self.number = number

    def __call__(self, rows: PartRows) -> GatheredRows:
        """One byte for each term of each document."""
        mine = rows.y == self.number if self.number is not None else rows.y >= 0
        held = presence(canonical_rows(rows.X[mine])).astype(np.int8)
        return GatheredRows(held, rows.y[mine])


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
    model._check_parameters()
    if model.pure:
        raise NotSupportedError(
            "HigherOrderNaiveBayes(pure=True) needs all documents of all classes in "
            "one place; fit in memory."
        )
    n_classes = len(data.classes)
    held: ClassStatistics = data.executor.reduce(
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
    paths = joined_paths(model.order, held.presence, documents, pairs)
    if not model.keep_documents:
        model._become(paths, None, None)
        return
    rows: GatheredRows = data.executor.reduce(
        "documents", BlockTask(None), data.items, _below
    )
    model._become(paths, canonical_rows(rows.X), rows.y)
