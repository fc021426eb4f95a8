"""The sums behind the hybrid's generative part: learned, forgotten and merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.kernels.rows import canonical_rows, presence
from earmark.statistics import ClassMoments, ClassStatistics
from earmark.statistics.class_statistics import checked_weights
from earmark.typing import (
    ArrayLike,
    BoolVector,
    IntVector,
    Labels,
    Matrix,
    SparseMatrix,
)

__all__ = ["RegionStatistics", "has_content", "region_rows", "summed_rows"]


def region_rows(X: Matrix, columns: IntVector, event_model: str) -> Matrix:
    """One region's part of X, as its event model takes it."""
    in_a_row = len(columns) and columns[-1] - columns[0] + 1 == len(columns)
    # A slice keeps the order of the entries; columns by number have to be sorted.
    part = X[:, columns[0] : columns[-1] + 1] if in_a_row else X[:, columns]
    if event_model == "gaussian":
        return sparse.csr_array(part) if sparse.issparse(part) else part
    rows = canonical_rows(part)
    return canonical_rows(presence(rows)) if event_model == "bernoulli" else rows


def summed_rows(parts: Sequence[Matrix]) -> SparseMatrix:
    """Regions over the same terms, added up."""
    return canonical_rows(sum(parts[1:], parts[0]))


def has_content(rows: Matrix) -> BoolVector:
    """Whether a document has the region: any entry that is not zero."""
    if sparse.issparse(rows):
        return np.asarray(np.diff(canonical_rows(rows).indptr) > 0)
    return np.asarray((rows != 0).any(axis=1))


class RegionStatistics:
    """Class statistics of every region; they add, subtract and merge (CS1).

    A region counts the documents that have it: one that is empty is missing
    there, and says nothing about the region's words or numbers.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels, sorted.
    columns : sequence of ndarray of int
        The columns of X of each region.
    event_models : sequence of str
        One for each region.
    shared : bool, default=False
        Whether all regions are counted together, in one table (HY4).

    Attributes
    ----------
    sizes : ClassStatistics
        Documents of each class, whatever regions they have.
    parts : list of ClassStatistics or ClassMoments
        One for each region, or a single one when shared.

    """

    def __init__(
        self,
        classes: ArrayLike,
        columns: Sequence[IntVector],
        event_models: Sequence[str],
        shared: bool = False,
    ) -> None:
        self.columns = list(columns)
        self.event_models = list(event_models)
        self.shared = shared
        self.sizes = ClassStatistics(classes, 0)
        self.parts: list[Any] = []
        for kind, mine in zip(self.event_models, self.columns, strict=True):
            moments = kind == "gaussian"
            empty = ClassMoments if moments else ClassStatistics
            self.parts.append(empty(classes, len(mine)))
        self.parts = self.parts[:1] if shared else self.parts

    @property
    def classes(self) -> Labels:
        """The labels, sorted."""
        return self.sizes.classes

    @property
    def docs(self) -> Any:
        """Weighted number of documents of each class."""
        return self.sizes.docs

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(len(columns) for columns in self.columns)

    def counted_rows(self, X: Matrix) -> list[Matrix]:
        """The rows that each part sums."""
        rows = [
            region_rows(X, columns, kind)
            for columns, kind in zip(self.columns, self.event_models, strict=True)
        ]
        return [summed_rows(rows)] if self.shared else rows

    def add(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn documents; on an error nothing has changed."""
        return self._changed(lambda part, *given: part.add(*given), X, y, sample_weight)

    def remove(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Forget documents that were learned; on an error nothing has changed."""
        return self._changed(
            lambda part, *given: part.remove(*given), X, y, sample_weight
        )

    def merge(self, other: RegionStatistics) -> Self:
        """Add another shard's statistics over the same regions."""
        if not self._same_regions(other):
            raise DataError(
                "statistics of different regions cannot be merged: got event models "
                f"{self.event_models} and {other.event_models} on "
                f"{self.n_features} and {other.n_features} columns."
            )
        merged = [
            a.copy().merge(b) for a, b in zip(self.parts, other.parts, strict=True)
        ]
        self.sizes.merge(other.sizes)
        self.parts = merged
        return self

    def copy(self) -> RegionStatistics:
        """An independent copy."""
        twin = RegionStatistics(
            self.classes, self.columns, self.event_models, self.shared
        )
        twin.sizes = self.sizes.copy()
        twin.parts = [part.copy() for part in self.parts]
        return twin

    def _changed(
        self,
        change: Callable[..., Any],
        X: Matrix,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> Self:
        labels = np.asarray(y)
        weight = checked_weights(sample_weight, X.shape[0])
        none = sparse.csr_array((X.shape[0], 0), dtype=np.int64)
        sizes = change(self.sizes.copy(), none, labels, weight)
        parts = []
        for part, rows in zip(self.parts, self.counted_rows(X), strict=True):
            held = has_content(rows)
            if weight is not None:
                held &= weight > 0
            given = None if weight is None else weight[held]
            changed = part.copy()
            if held.any():
                changed = change(changed, rows[held], labels[held], given)
            parts.append(changed)
        self.sizes, self.parts = sizes, parts
        return self

    def _same_regions(self, other: RegionStatistics) -> bool:
        return (
            self.event_models == other.event_models
            and self.shared == other.shared
            and all(
                np.array_equal(a, b)
                for a, b in zip(self.columns, other.columns, strict=False)
            )
        )
