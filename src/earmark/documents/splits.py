"""Splits as index arrays: stratified, and few labels per class.

Every function depends on the labels and ``random_state`` only. An unlabelled
document (None) has no stratum: drop it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from earmark.exceptions import DataError
from earmark.typing import IntVector

__all__ = ["labelled_per_class", "stratified_split"]


def stratified_split(
    y: Iterable[Any], test_size: float | int = 0.25, random_state: Any = None
) -> tuple[IntVector, IntVector]:
    """Shuffled train and test indices with each class in its proportion.

    Test documents are shared out by largest remainder, so rare classes do no
    harm: a class of one document stays in train.

    Parameters
    ----------
    y : iterable
        Labels; a list of labels counts as one stratum.
    test_size : float in (0, 1) or int, default=0.25
        Share or number of test documents.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle.

    Returns
    -------
    train, test : ndarray of int64
        Disjoint, together every index.

    Examples
    --------
    >>> from earmark.documents import stratified_split
    >>> train, test = stratified_split(["a"] * 8 + ["b"] * 4, 0.25, random_state=0)
    >>> sorted((test // 8).tolist())
    [0, 0, 1]

    """
    stratum, sizes = _strata(y)
    n_samples = len(stratum)
    n_test = _how_many(test_size, n_samples, "test_size")
    if not 0 < n_test < n_samples:
        raise ValueError(
            f"test_size must leave documents on both sides, got {test_size!r} "
            f"of {n_samples} documents."
        )
    quota = sizes * (n_test / n_samples)
    # A class keeps one document in train unless the test part is larger than that.
    room = np.maximum(sizes - 1, 0)
    share = np.minimum(np.floor(quota).astype(np.int64), room)
    by_remainder = np.argsort(-(quota - share), kind="stable")
    for limit in (room, sizes):
        while (missing := n_test - int(share.sum())) > 0:
            open_ = [c for c in by_remainder if share[c] < limit[c]]
            if not open_:
                break
            share[open_[:missing]] += 1
    order, rank = _shuffled_ranks(stratum, random_state)
    in_test = rank < share[stratum]
    return order[~in_test[order]], order[in_test[order]]


def labelled_per_class(
    y: Iterable[Any], n: int, random_state: Any = None
) -> tuple[IntVector, IntVector]:
    """Indices of ``n`` labelled documents per class, and of the rest as a pool.

    With the same seed a larger ``n`` keeps the documents of a smaller one. A class
    with fewer than ``n`` documents gives all it has.

    Parameters
    ----------
    y : iterable
        Labels; a list of labels counts as one stratum.
    n : int
        Labelled documents per class.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle.

    Returns
    -------
    labelled, pool : ndarray of int64
        Disjoint, together every index, each shuffled.

    Examples
    --------
    >>> from earmark.documents import labelled_per_class
    >>> labelled, pool = labelled_per_class(["a", "b"] * 5, 2, random_state=0)
    >>> len(labelled), len(pool)
    (4, 6)

    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a whole number >= 1, got {n!r}.")
    stratum, _ = _strata(y)
    order, rank = _shuffled_ranks(stratum, random_state)
    chosen = rank < n
    return order[chosen[order]], order[~chosen[order]]


def _strata(y: Iterable[Any]) -> tuple[IntVector, IntVector]:
    """Stratum of each document, and the sizes of the strata in order of label."""
    keys = []
    for index, label in enumerate(y):
        if label is None:
            raise DataError(
                f"y: expected a label for every document, got None at index {index}; "
                f"leave the unlabelled documents out of the split."
            )
        listy = isinstance(label, list | tuple | set | frozenset)
        keys.append(tuple(sorted(map(str, label))) if listy else label)
    if not keys:
        raise DataError("y: expected at least one document, got none.")
    number = {key: i for i, key in enumerate(sorted(set(keys), key=repr))}
    stratum = np.fromiter((number[key] for key in keys), np.int64, len(keys))
    return stratum, np.bincount(stratum).astype(np.int64)


def _shuffled_ranks(
    stratum: IntVector, random_state: Any
) -> tuple[IntVector, IntVector]:
    """A shuffle of all documents, and each one's place among its class in it."""
    # Reading files must not wait for scikit-learn.
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    order = rng.permutation(len(stratum)).astype(np.int64)
    grouped = order[np.argsort(stratum[order], kind="stable")]
    sizes = np.bincount(stratum)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.empty(len(stratum), dtype=np.int64)
    rank[grouped] = np.arange(len(stratum)) - starts
    return order, rank


def _how_many(size: float | int, n_samples: int, name: str) -> int:
    """A number of documents from a number or a share."""
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    if whole and 0 < size <= n_samples:
        return int(size)
    if isinstance(size, float | np.floating) and 0.0 < size <= 1.0:
        return max(1, round(float(size) * n_samples))
    raise ValueError(
        f"{name} must be a share in (0, 1] or a whole number in [1, {n_samples}] "
        f"(the number of documents), got {size!r}."
    )
