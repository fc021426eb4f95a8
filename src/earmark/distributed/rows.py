"""Documents of a part as rows of a matrix, for the passes that come back to them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from earmark.distributed.counting import labelled_batches
from earmark.documents.parts import Part
from earmark.pipeline.inputs import take
from earmark.typing import IntVector, Labels, SparseMatrix

__all__ = ["GatheredRows", "MatrixTask", "PartRows", "PickTask"]


class PartRows:
    """The matrix of a part: labelled rows with their class, and rows without one.

    Parameters
    ----------
    number : int
        The part.
    X : CSR of shape (n_labelled, n_features)
        Documents with a label.
    y : ndarray of int
        Position of their labels among the classes.
    pool : CSR of shape (n_unlabelled, n_features)
        Documents without one, if they were asked for.
    rows : ndarray of int
        Row in the part of each labelled document.

    """

    def __init__(
        self,
        number: int,
        X: SparseMatrix,
        y: IntVector,
        pool: SparseMatrix,
        rows: IntVector,
    ) -> None:
        self.number = number
        self.rows = rows
        self.X = X
        self.y = y
        self.pool = pool

    @property
    def n_documents(self) -> int:
        """Rows of both."""
        return int(self.X.shape[0] + self.pool.shape[0])


class GatheredRows:
    """Some rows of several parts, one below the other, and numbers beside them."""

    def __init__(self, X: SparseMatrix, y: IntVector) -> None:
        self.X = X
        self.y = y

    def merge(self, other: GatheredRows) -> Self:
        """Put the rows of later parts below."""
        self.X = sparse.vstack([self.X, other.X], format="csr")
        self.y = np.concatenate([self.y, other.y])
        return self


class MatrixTask:
    """Part -> ``PartRows`` with features that are already fitted."""

    def __init__(
        self, features: Any, regions: Any, classes: Labels, with_pool: bool = False
    ) -> None:
        self.features = features
        self.regions = regions
        self.classes = classes
        self.with_pool = with_pool

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


def _joined(numbers: list[IntVector]) -> IntVector:
    return np.concatenate([np.zeros(0, dtype=np.int64), *numbers])


class PickTask:
    """``PartRows`` -> ``GatheredRows`` of the rows at some places of the dataset."""

    def __init__(self, chosen: dict[int, IntVector]) -> None:
        self.chosen = chosen

    def __call__(self, rows: PartRows) -> GatheredRows:
        """The rows chosen in this part."""
        mine = self.chosen.get(rows.number, np.zeros(0, dtype=np.int64))
        return GatheredRows(rows.X[mine], rows.y[mine])
