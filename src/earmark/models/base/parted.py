"""Documents in parts, as a model sees them: rows that nobody holds whole.

A model that can be fitted in parts has ``fit_in_parts(rows)``. It asks for sums over
all documents; a task is a function of the rows of one part, and its results are
merged in pairs, in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from scipy import sparse

from earmark.statistics.class_statistics import ClassStatistics
from earmark.typing import FloatVector, IntVector, Labels, SparseMatrix

# What a task gives: only the task and who asked for it know.
Result: TypeAlias = Any


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


class PartedRows(Protocol):
    """Rows kept where they were made, and what is known of all of them."""

    classes: Labels
    docs: IntVector
    """Labelled documents of each class."""
    sizes: dict[int, int]
    """Part number -> labelled rows, in the order of the parts."""
    n_features: int
    class_weight: FloatVector | None
    """Factor on the documents of each class."""
    columns: IntVector
    """The region number of each column."""

    def sum(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The merged results of ``task(*args, rows)`` over all parts."""

    def gather(self, stage: str, task: Callable[..., Result], *args: object) -> Result:
        """The results of ``task(*args, rows)`` for each part."""

    def mapped(self, stage: str, task: Callable[..., Result], *args: object) -> Self:
        """What ``task(*args, rows)`` makes of each part, in place of its rows."""

    def together(self, stage: str, task: Callable[..., Result], *args: object) -> Self:
        """What ``task(*args, rows)`` makes of all parts, merged into one."""

    def picked(self, rows: IntVector) -> GatheredRows:
        """Rows by their number among all labelled rows, ascending; here."""

    def labels(self) -> IntVector:
        """Class of every labelled row; here."""


def class_counts(n_classes: int, rows: PartRows) -> ClassStatistics:
    """Tokens and documents of each term in each class of a part; exact."""
    statistics = ClassStatistics(np.arange(n_classes), rows.X.shape[1])
    return statistics.add(rows.X, rows.y) if len(rows.y) else statistics


def weights_of(factor: FloatVector | None, y: IntVector) -> FloatVector | None:
    """Weights of some rows by the factor on each class, or None."""
    return None if factor is None else factor[y]
