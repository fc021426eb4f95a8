"""The documents of all parts as a matrix that nobody holds whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.distributed.executor import Executor
from earmark.distributed.rows import GatheredRows, PartRows, PickTask
from earmark.typing import FloatVector, IntVector, Labels

__all__ = ["PartedRows"]


@dataclass(frozen=True)
class PartedRows:
    """Rows kept where they were made, and what is known of all of them."""

    executor: Executor
    items: Sequence[Any]
    """What the executor kept: a ``PartRows`` for every part."""
    classes: Labels
    docs: IntVector
    """Labelled documents of each class."""
    sizes: dict[int, int]
    """Part number -> labelled rows, in the order of the items."""
    n_features: int
    class_weight: FloatVector | None
    """Factor on the documents of each class."""

    def weights(self, y: IntVector) -> FloatVector | None:
        """Weights of some rows, or None."""
        return None if self.class_weight is None else self.class_weight[y]

    def picked(self, rows: IntVector) -> GatheredRows:
        """Rows by their number among all labelled rows, ascending; here."""
        starts = np.concatenate(([0], np.cumsum(list(self.sizes.values()))))
        chosen: dict[int, IntVector] = {}
        for k, number in enumerate(self.sizes):
            inside = (rows >= starts[k]) & (rows < starts[k + 1])
            chosen[number] = rows[inside] - starts[k]
        found: GatheredRows = self.executor.reduce(
            "picked", PickTask(chosen), self.items, _below
        )
        return found

    def places(self, parts: dict[int, list[int]]) -> IntVector:
        """Row of each labelled document among all, the unlabelled ones counted too."""
        found = self.executor.gather("places", _rows_of, self.items)
        starts = np.cumsum([0, *(sum(parts[number]) for number in self.sizes)])
        return np.concatenate(
            [rows + start for rows, start in zip(found, starts[:-1], strict=True)]
        )

    def labels(self) -> IntVector:
        """Class of every labelled row; here."""
        return np.concatenate(self.executor.gather("labels", _labels_of, self.items))


def _rows_of(rows: PartRows) -> IntVector:
    return rows.rows


def _below(left: GatheredRows, right: GatheredRows) -> GatheredRows:
    return GatheredRows(left.X, left.y).merge(right)


def _labels_of(rows: PartRows) -> IntVector:
    return rows.y
