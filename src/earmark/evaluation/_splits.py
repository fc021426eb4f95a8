"""Index arrays for repeated and nested splits; rows of any kind of X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from earmark.typing import IntVector

__all__ = ["fresh", "n_rows", "nested_order", "stratified_split", "take"]


def n_rows(X: Any) -> int:
    """Number of documents in a matrix, list, frame or dict of columns."""
    if hasattr(X, "shape"):
        return int(X.shape[0])
    if isinstance(X, Mapping):
        return n_rows(next(iter(X.values())))
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def take(X: Any, rows: IntVector) -> Any:
    """Those rows of X, as the same kind of thing."""
    if sparse.issparse(X):  # first: one of its formats is a dict
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: take(column, rows) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    if hasattr(X, "take"):  # Arrow
        return X.take(rows)
    if hasattr(X, "shape"):  # polars
        return X[rows]
    if hasattr(X, "__array__"):
        return np.asarray(X)[rows]
    return [X[row] for row in rows.tolist()]


def nested_order(y_index: IntVector, rng: np.random.Generator) -> IntVector:
    """An order of all rows whose every beginning keeps the class shares.

    Row i of a class of n documents gets the place (i + u) / n with one u per
    class: any prefix then holds each class within one document of its share.
    """
    place = np.empty(len(y_index))
    for c in np.unique(y_index):
        rows = rng.permutation(np.flatnonzero(y_index == c))
        place[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return np.argsort(place, kind="stable").astype(np.int64)


def stratified_split(
    y_index: IntVector, test_size: float, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Training and test rows; every class keeps at least one training document."""
    test: list[IntVector] = []
    for c in np.unique(y_index):
        rows = rng.permutation(np.flatnonzero(y_index == c))
        # Random rounding, so that the shares are right on average.
        wanted = int(np.floor(test_size * len(rows) + rng.random()))
        test.append(rows[: min(wanted, len(rows) - 1)])
    chosen = np.zeros(len(y_index), dtype=bool)
    chosen[np.concatenate(test)] = True
    rows = rng.permutation(len(y_index))
    return rows[~chosen[rows]], rows[chosen[rows]]


def fresh(estimator: Any, seed: int) -> Any:
    """An unfitted copy whose unset random states are set from ``seed``."""
    copy = clone(estimator, safe=False)
    if not hasattr(copy, "get_params"):
        return copy
    parameters = copy.get_params(deep=True)
    unset = {
        name: seed
        for name, value in parameters.items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    if unset:
        copy.set_params(**unset)
    return copy
