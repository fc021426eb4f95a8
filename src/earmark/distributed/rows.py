"""Documents as rows of a matrix that nobody holds whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Self

import numpy as np
from scipy import sparse

from earmark.distributed.counting import labelled_batches
from earmark.distributed.executor import Executor, Item, Regions, Result
from earmark.documents.parts import Part
from earmark.folds import take
from earmark.statistics import ClassStatistics
from earmark.typing import FloatVector, IntVector, Labels, SparseMatrix


@dataclass(eq=False)
class PartRows:
    """The matrix of a part: labelled rows with their class, and rows without one."""

    number: int  # The part
    X: SparseMatrix  # Documents with a label, (n_labelled, n_features)
    y: IntVector  # Position of their labels among the classes
    pool: SparseMatrix
    """Documents without one, if they were asked for, (n_unlabelled, n_features)."""
    rows: IntVector  # Row in the part of each labelled document

    @property
    def n_documents(self) -> int:
        """Rows of both."""
        return int(self.X.shape[0] + self.pool.shape[0])


@dataclass(eq=False)
class GatheredRows:
    """Some rows of several parts, one below the other, and numbers beside them."""

    X: SparseMatrix
    y: IntVector

    def merge(self, other: GatheredRows) -> Self:
        """Put the rows of later parts below."""
        self.X = sparse.vstack([self.X, other.X], format="csr")
        self.y = np.concatenate([self.y, other.y])
        return self


@dataclass(eq=False)
class MatrixTask:
    """Part -> ``PartRows`` with features that are already fitted."""

    features: Any
    regions: Regions
    classes: Labels
    with_pool: bool = False

    def __call__(self, part: Part) -> PartRows:
        """The rows of the whole part."""
        blocks, pools, y, rows, n_rows = [], [], [], [], 0
        for texts, labels in labelled_batches(part, self.regions):
            mine = np.flatnonzero(labels.codes >= 0)
            rest = np.flatnonzero(labels.codes < 0)
            rows.append(n_rows + mine)
            n_rows += len(labels)
            if len(mine):
                place = np.searchsorted(self.classes, labels.names)
                blocks.append(self.features.transform(take(texts, mine)))
                y.append(place[labels.codes[mine]])
            if self.with_pool and len(rest):
                pools.append(self.features.transform(take(texts, rest)))
        return PartRows(
            part.number,
            self._stacked(blocks),
            _joined(y),
            self._stacked(pools),
            _joined(rows),
        )

    def _stacked(self, blocks: list[SparseMatrix]) -> SparseMatrix:
        if not blocks:
            return sparse.csr_matrix((0, sum(self.features.widths_)))
        return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")


def class_counts(n_classes: int, rows: PartRows) -> ClassStatistics:
    """Tokens and documents of each term in each class of a part; exact."""
    statistics = ClassStatistics(np.arange(n_classes), rows.X.shape[1])
    return statistics.add(rows.X, rows.y) if len(rows.y) else statistics


def weights_of(factor: FloatVector | None, y: IntVector) -> FloatVector | None:
    """Weights of some rows by the factor on each class, or None."""
    return None if factor is None else factor[y]


def _joined(numbers: list[IntVector]) -> IntVector:
    return np.concatenate([np.zeros(0, dtype=np.int64), *numbers])


def _picked(chosen: dict[int, IntVector], rows: PartRows) -> GatheredRows:
    """The rows of a part at some places."""
    mine = chosen.get(rows.number, np.zeros(0, dtype=np.int64))
    return GatheredRows(rows.X[mine], rows.y[mine])


@dataclass(frozen=True)
class PartedRows:
    """Rows kept where they were made, and what is known of all of them."""

    executor: Executor
    items: Sequence[Item]  # What the executor kept: a ``PartRows`` for every part
    classes: Labels
    docs: IntVector  # Labelled documents of each class
    sizes: dict[int, int]  # Part number -> labelled rows, in the order of the items
    n_features: int
    class_weight: FloatVector | None  # Factor on the documents of each class
    blocks: IntVector  # Region number of each column

    def sum(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The merged results of ``task(*args, rows)`` over all parts."""
        return self.executor.reduce(stage, partial(task, *args), self.items)

    def gather(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The results of ``task(*args, rows)`` for each part."""
        return self.executor.gather(stage, partial(task, *args), self.items)

    def picked(self, rows: IntVector) -> GatheredRows:
        """Rows by their number among all labelled rows, ascending; here."""
        starts = np.concatenate(([0], np.cumsum(list(self.sizes.values()))))
        chosen: dict[int, IntVector] = {}
        for k, number in enumerate(self.sizes):
            inside = (rows >= starts[k]) & (rows < starts[k + 1])
            chosen[number] = rows[inside] - starts[k]
        gathered: GatheredRows = self.sum("picked", _picked, chosen)
        return gathered

    def places(self, parts: dict[int, list[int]]) -> IntVector:
        """Row of each labelled document among all, the unlabelled ones counted too."""
        rows_of_parts = self.gather("places", attrgetter("rows"))
        starts = np.cumsum([0, *(sum(parts[number]) for number in self.sizes)])
        return np.concatenate(
            [r + start for r, start in zip(rows_of_parts, starts[:-1], strict=True)]
        )

    def labels(self) -> IntVector:
        """Class of every labelled row; here."""
        return np.concatenate(self.gather("labels", attrgetter("y")))
