"""Counts, and labels of which some are missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from earmark.exceptions import DataError
from earmark.kernels.rows import canonical_rows
from earmark.typing import BoolVector, IntVector, Labels, Matrix, MatrixLike

__all__ = ["checked_few_labels"]


def checked_few_labels(
    estimator: Any, X: MatrixLike, y: Any
) -> tuple[Matrix, Labels, IntVector]:
    """Rows of X, labels, and the numbers of the rows that have one.

    None marks a row without a label; what stands in its place in the labels that
    are returned means nothing.
    """
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    values = np.asarray(y)
    missing = np.array([label is None for label in values.ravel()], dtype=bool)
    labels = y
    if missing.any() and values.ndim == 1:
        if missing.all():
            raise DataError("y holds no label at all; label a few of each class.")
        labels = _filled(values, missing)
    X, labels = validate_data(
        estimator, X, labels, accept_sparse="csr", dtype=np.float64
    )
    check_classification_targets(labels)
    labelled = np.flatnonzero(~missing)
    if len(np.unique(labels[labelled])) < 2:
        raise DataError(
            f"{name} needs labelled documents of at least 2 classes, got 1 class: "
            f"{np.unique(labels[labelled]).tolist()!r}."
        )
    return canonical_rows(X), labels, labelled


def _filled(values: Labels, missing: BoolVector) -> Labels:
    """The labels in their own type, any of them in place of the missing."""
    given = values[~missing].tolist()
    is_text = [isinstance(label, str) for label in given]
    if any(is_text) != all(is_text):
        raise DataError("y mixes texts and other labels; use one type.")
    first = given[0]
    return np.asarray([first if label is None else label for label in values.tolist()])
