"""Which documents calibrate: none that was fitted on, near-duplicates once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedGroupKFold

from earmark.evaluation._labels import as_labels, is_multi_label, label_sets
from earmark.evaluation._splits import n_rows, stratified_split
from earmark.evaluation.duplicates import (
    group_equal_rows,
    group_near_duplicates,
    texts_of,
)
from earmark.exceptions import DataError
from earmark.typing import IntVector

__all__ = ["folds", "independent_rows", "listed", "split_rows", "strata"]


def strata(y: Any) -> IntVector:
    """Numbers of the labels, or of the combinations of labels."""
    if is_multi_label(y):
        keys = ["\x1f".join(sorted(map(str, s or ()))) for s in label_sets(y)]
    else:
        keys = [str(label) for label in as_labels(y)]
    return np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)


def listed(y: Any) -> Any:
    """Labels that can be taken by rows: arrays stay arrays, the rest becomes lists."""
    if hasattr(y, "shape") and not hasattr(y, "columns"):
        return y
    return as_labels(y)


def split_rows(
    X: Any, numbers: IntVector, share: float, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Training and calibration rows; near-duplicates stay on one side.

    Of each group of near-duplicates one document calibrates, so that the
    calibration documents are independent of the fitted ones and of each other.
    """
    groups = _groups(X)
    fit_groups, held_groups = stratified_split(numbers[groups.first], share, rng)
    if not len(held_groups):
        raise DataError(
            f"no document is left for calibration: n_samples = {n_rows(X)}, "
            f"{groups.n_groups} without near-duplicates; give more, or pass "
            "calibration=(X, y)."
        )
    train = np.flatnonzero(np.isin(groups.group, fit_groups))
    return train, groups.first[np.sort(held_groups)]


def independent_rows(X: Any, X_calibration: Any) -> IntVector:
    """Calibration rows that repeat neither a training row nor an earlier one."""
    n_train = n_rows(X)
    texts, more = texts_of(X), texts_of(X_calibration)
    if texts is not None and more is not None:
        groups = group_near_duplicates([*texts, *more])
    else:
        groups = group_equal_rows(_stacked(X, X_calibration))
    first = groups.first
    return first[first >= n_train] - n_train


def folds(
    X: Any, numbers: IntVector | None, n_folds: int, seed: int
) -> Iterator[tuple[IntVector, IntVector]]:
    """Training and held-out rows; near-duplicates stay in one fold."""
    n_documents = n_rows(X)
    rows = np.zeros((n_documents, 1))
    if numbers is None:
        shuffled = KFold(min(n_folds, n_documents), shuffle=True, random_state=seed)
        yield from shuffled.split(rows)
        return
    smallest = int(np.bincount(numbers).min())
    n_folds = max(2, min(n_folds, smallest))
    grouped = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    yield from grouped.split(rows, numbers, _groups(X).group)


def _groups(X: Any) -> Any:
    texts = texts_of(X)
    return group_equal_rows(X) if texts is None else group_near_duplicates(texts)


def _stacked(X: Any, more: Any) -> Any:
    if sparse.issparse(X) or sparse.issparse(more):
        return sparse.vstack([sparse.csr_array(X), sparse.csr_array(more)])
    return np.vstack([np.asarray(X), np.asarray(more)])
