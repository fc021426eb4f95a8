"""Rows of any kind of X, and how they are split: folds, splits, nested orders.

What holds documents out to judge a model goes through here, so that a rule about
folds (every class in every fold, copies on one side) is written once. Two do not:
the labelling loop, where an answer keeps its fold while others come, and models that
hold out documents of their own to see when to stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.parameters import offers, shape_of
from earmark.progress import tracked
from earmark.typing import ArrayLike, DocumentsLike, IntVector, Labels


def n_rows(X: DocumentsLike) -> int:
    """Number of documents in a matrix, list, frame or dict of columns."""
    shape = shape_of(X)
    if shape:
        return int(shape[0])
    if isinstance(X, Mapping):
        return n_rows(next(iter(X.values())))
    return len(X) if isinstance(X, Sized) else len(np.asarray(X))


def check_equal_length(**columns: DocumentsLike | None) -> int:
    """Raise unless all named columns are equally long; return that length."""
    lengths = {
        name: n_rows(column) for name, column in columns.items() if column is not None
    }
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(
            f"one entry per document is expected in each column, got {listed}; "
            "check that they come from the same split."
        )
    return int(next(iter(lengths.values())))


def take(X: DocumentsLike, rows: IntVector) -> DocumentsLike:
    """Those rows of X, as the same kind of thing."""
    if sparse.issparse(X):  # first: one of its formats is a dict
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        if np.array_equal(rows, np.arange(n_rows(X))):
            return X
        return {name: take(column, rows) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    if offers(X, "take"):  # Arrow
        return X.take(rows)
    if shape_of(X):  # polars
        return X[rows]
    if offers(X, "__array__"):
        return np.asarray(X)[rows]
    items = X if offers(X, "__getitem__") else list(X)
    return [items[row] for row in rows.tolist()]


def rows_by_lot(n: int, most: int, seed: int = 0) -> IntVector:
    """All of n rows, or so many of them by lot, in their order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def stratified_folds(
    strata: Labels,
    n_folds: int | Iterable[tuple[ArrayLike, ArrayLike]],
    seed: int | None,
    groups: IntVector | None = None,
) -> Iterator[tuple[IntVector, IntVector]]:
    """Training and held-out rows, or the splits given: each row is held out once."""
    # Unlike in scikit-learn, a stratum may have fewer rows than there are folds. A
    # group is held out together, and belongs to the stratum of its first row.
    if not isinstance(n_folds, int | np.integer):
        for train, test in n_folds:
            yield np.asarray(train), np.asarray(test)
        return
    first, member = _first_rows(len(strata), groups)
    labels = strata[first]
    rng = np.random.default_rng(seed)
    fold = np.empty(len(first), dtype=np.int64)
    next_fold = 0
    # In the order in which they appear: other names for the labels, the same folds.
    _, appears = np.unique(labels, return_index=True)
    for label in labels[np.sort(appears)]:
        places = rng.permutation(np.flatnonzero(labels == label))
        fold[places] = (next_fold + np.arange(len(places))) % n_folds
        next_fold = (next_fold + len(places)) % n_folds
    for number in tracked("fold", range(n_folds), n_folds):
        inside = fold[member] == number
        if inside.any():
            yield np.flatnonzero(~inside), np.flatnonzero(inside)


def class_keeping_folds(
    y: IntVector, n_folds: int, seed: int, groups: IntVector | None = None
) -> Iterator[tuple[IntVector, IntVector]]:
    """Training and held-out rows, groups whole; each class stays in training."""
    rng = np.random.default_rng(seed)
    fold = np.full(len(y), -1)
    first, member = _first_rows(len(y), groups)
    beginnings = []
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        _, place = _first_rows(len(rows), member[rows])
        if place.any():
            fold[rows] = (place + c) % n_folds
        beginnings.append(rows[0])
    fold = fold[first][member]  # a group of several classes goes with its first row
    for row in beginnings:
        if (fold[y == y[row]] == fold[row]).all():
            fold[member == member[row]] = -1
    for number in tracked("fold", range(n_folds), n_folds):
        held_out = np.flatnonzero(fold == number)
        if len(held_out):
            yield np.flatnonzero(fold != number), held_out


def stratified_split(
    strata: Labels,
    test_size: float,
    rng: np.random.Generator,
    groups: IntVector | None = None,
) -> tuple[IntVector, IntVector]:
    """Training and test rows; every stratum keeps at least one training row.

    With ``groups`` the rows of a group stay on one side.
    """
    first, member = _first_rows(len(strata), groups)
    labels = strata[first]
    chosen = np.zeros(len(first), dtype=bool)
    for label in np.unique(labels):
        places = rng.permutation(np.flatnonzero(labels == label))
        # Random rounding, so that the shares are right on average.
        wanted = int(np.floor(test_size * len(places) + rng.random()))
        chosen[places[: min(wanted, len(places) - 1)]] = True
    rows = rng.permutation(len(strata))
    in_test = chosen[member[rows]]
    return rows[~in_test], rows[in_test]


def nested_order(strata: Labels, rng: np.random.Generator) -> IntVector:
    """An order of all rows whose every beginning keeps the shares of the strata."""
    # Row i of a class of n gets the place (i + u) / n, with one u per class: any
    # beginning then holds each class within one document of its share.
    place = np.empty(len(strata))
    for label in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == label))
        place[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return np.argsort(place, kind="stable").astype(np.int64)


def group_folds(
    groups: IntVector, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[IntVector, IntVector]]:
    """What to leave out, groups whole, and of that the first row of each group."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    if len(first) < 2:
        return
    fold = rng.permutation(len(first)) % n_folds
    for number in range(min(n_folds, len(first))):
        yield np.flatnonzero(fold[member] == number), first[fold == number]


def group_split(
    groups: IntVector, n_rows: int, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """About so many rows, groups whole, and of each other group the first row."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    total = np.cumsum(np.bincount(member)[order])
    n_groups = max(1, int(np.searchsorted(total, n_rows, side="right")))
    inside = np.isin(member, order[:n_groups])
    return np.flatnonzero(inside), np.sort(first[order[n_groups:]])


def _first_rows(n: int, groups: IntVector | None) -> tuple[IntVector, IntVector]:
    """The first row of each group, in the order of rows; the group of each row."""
    if groups is None:
        return np.arange(n), np.arange(n)
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[member]
