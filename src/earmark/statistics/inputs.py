"""What class sums share: what they can do, and what a batch must look like."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from earmark.exceptions import DataError
from earmark.typing import ArrayLike, IntVector, Labels, MatrixLike, SparseMatrix

__all__ = [
    "AdditiveStatistics",
    "checked_weights",
    "label_positions",
    "whole",
    "whole_if_exact",
]

_LARGEST_EXACT = float(2**53)


class AdditiveStatistics(ABC):
    """Sums over documents per class: they learn, forget and merge (CS)."""

    classes: Labels

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @abstractmethod
    def add(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the documents X (n_samples, n_features) with labels y."""

    @abstractmethod
    def remove(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Forget documents learned before; more than was learned is a DataError."""

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Add the sums of another shard."""

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)


def whole(values: Any) -> Any:
    """Values that are whole numbers, as int64."""
    return np.rint(values).astype(np.int64)


def whole_if_exact(rows: SparseMatrix) -> SparseMatrix:
    """Counts as int64 where every value is a whole number, else as float64."""
    data = rows.data
    if data.dtype.kind in "bui":
        return rows.astype(np.int64)
    if data.size and not np.isfinite(data).all():
        raise DataError("X must hold finite counts, got NaN or infinity.")
    if not data.size or (
        np.abs(data).max() < _LARGEST_EXACT and (np.rint(data) == data).all()
    ):
        return rows.astype(np.int64)
    return rows.astype(np.float64)


def label_positions(y: Labels, classes: Labels, n_samples: int) -> IntVector:
    """Position of each label among ``classes``; an unknown one is an error."""
    if y.shape != (n_samples,):
        raise DataError(
            f"y must hold one label for each of the {n_samples} rows of X, "
            f"got shape {y.shape}."
        )
    order = np.argsort(classes, kind="stable")
    place = np.searchsorted(classes, y, sorter=order)
    place = order[np.minimum(place, len(classes) - 1)]
    unknown = classes[place] != y
    if np.any(unknown):
        row = int(np.flatnonzero(unknown)[0])
        known = ", ".join(repr(c) for c in classes[:10].tolist())
        raise DataError(
            f"label {y[row : row + 1].tolist()[0]!r} in row "
            f"{row} is not one of the known classes ({known}); nothing was changed. "
            "Give all labels in `classes` at the first call."
        )
    return np.asarray(place, dtype=np.int64)


def checked_weights(sample_weight: ArrayLike | None, n_samples: int) -> Any | None:
    """Weights as int64 where all are whole numbers, else float64; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.shape != (n_samples,):
        raise DataError(
            f"sample_weight must hold one weight for each of the {n_samples} rows, "
            f"got shape {weight.shape}."
        )
    if weight.size and (not np.isfinite(weight).all() or weight.min() < 0):
        raise DataError("sample_weight must be finite and >= 0.")
    if weight.size and not weight.any():
        raise DataError("sample_weight must not be zero for every document.")
    if weight.dtype.kind in "bui" or (np.rint(weight) == weight).all():
        return weight.astype(np.int64)
    return weight.astype(np.float64)
