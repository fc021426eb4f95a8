"""What the wrapping classifiers check before they ask their base."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from earmark.evaluation.labels import (
    as_labels,
    check_equal_length,
    is_multi_label,
)
from earmark.exceptions import DataError
from earmark.folds import n_rows

__all__ = ["copy_tags", "listed", "require_labels"]


def require_labels(owner: object, X: Any, y: Any) -> None:
    """Raise unless there is a label for each document, and something to learn from."""
    name = type(owner).__name__
    if y is None:
        raise DataError(
            f"{name} requires y to be passed, but the target y is None; pass it."
        )
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] == 0:
        raise DataError(
            f"{name} got 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            "required."
        )
    check_equal_length(X=np.empty(n_rows(X)), y=np.empty(n_rows(y)))
    if n_rows(X) == 0:
        raise DataError(f"{name} needs documents to learn from, got n_samples = 0.")
    if not is_multi_label(y):
        values = np.asarray(y)
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
            check_classification_targets(values)


def listed(y: Any) -> Any:
    """Labels that can be taken by rows: arrays stay arrays, the rest becomes lists."""
    if hasattr(y, "shape") and not hasattr(y, "columns"):
        return y
    return as_labels(y)


def copy_tags(tags: Any, base: Any) -> None:
    """Take over from the base's tags what is true of the wrapper as well."""
    tags.input_tags.sparse = base.input_tags.sparse
    tags.input_tags.positive_only = base.input_tags.positive_only
    if base.classifier_tags is not None:
        tags.classifier_tags.poor_score = base.classifier_tags.poor_score
