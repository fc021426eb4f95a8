"""Labels at the door: plain Python values, None for an abstention, lists for any-of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.inputs.texts import plain_values
from earmark.missing import is_missing
from earmark.parameters import offers, shape_of
from earmark.typing import (
    BoolVector,
    DocumentsLike,
    FloatMatrix,
    IntVector,
    Label,
    Labels,
    LabelsLike,
    MatrixLike,
)

_ROWS = (list, tuple, np.ndarray)
_NUMBERS = (int, np.integer)
_MANY = (list, tuple, set, frozenset, np.ndarray)
_Known = TypeVar("_Known")


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for; missing values as None."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def as_labels(y: LabelsLike) -> list[Label]:
    """Any column of labels (list, array, Series, Arrow) as a list of plain values."""
    values = plain_values(y)
    if values is None:
        values = np.asarray(y).tolist() if hasattr(y, "__array__") else y
    return [value if isinstance(value, _MANY) else plain(value) for value in values]


def all_known(
    labels: Sequence[_Known | None], name: str = "y_true", **beside: DocumentsLike
) -> list[_Known]:
    """The labels, if none is missing and all that stands beside is as long."""
    check_equal_length(**{name: labels}, **beside)
    known = [label for label in labels if label is not None]
    if len(known) < len(labels):
        row = next(row for row, label in enumerate(labels) if label is None)
        raise DataError(
            f"{name} must hold a label for every document, got None in row {row}; "
            "leave documents without a label out of the evaluation."
        )
    return known


def is_multi_label(y: LabelsLike) -> bool:
    """Whether each document carries a set of labels, not one."""
    if len(shape_of(y)) == 2:
        return True
    return any(isinstance(value, _MANY) for value in as_labels(y))


def indicator_matrix(y: LabelsLike, undecided: bool = False) -> Labels | None:
    """The 0/1 matrix that y is, or None; NaN only among answers: ``undecided``."""
    # Lists of 0 and 1 are one if a value repeats in some: a set of labels would not.
    if len(shape_of(y)) == 2:
        return _checked_indicators(y, undecided)
    if isinstance(y, np.ndarray) and y.dtype != object:
        return None
    rows = np.asarray(y) if offers(y, "__array__") else y
    if not isinstance(rows, _ROWS) or not len(rows):
        return None
    if not all(isinstance(row, _ROWS) for row in rows):
        return None
    width = len(rows[0])
    if width < 2 or any(len(row) != width for row in rows):
        return None
    if not all(isinstance(v, _NUMBERS) and v in (0, 1) for row in rows for v in row):
        return None
    if all(len(set(row)) == width for row in rows):
        return None
    return np.array([list(row) for row in rows])


def _checked_indicators(y: Any, undecided: bool) -> Labels | None:
    dense: Labels = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if dense.dtype.kind not in "biuf":
        return None
    gaps = np.isnan(dense)
    if not (np.isin(dense, (0, 1)) | gaps).all():
        return None
    if gaps.any() and not undecided:
        raise DataError(
            f"y, row {np.flatnonzero(gaps.any(axis=1))[0]}: expected 0 or 1 in each "
            "column of a matrix of labels, got nan; leave the row out."
        )
    return dense


def label_sets(
    y: LabelsLike, classes: Sequence[Label] | None = None
) -> list[frozenset[Label] | None]:
    """Lists of labels, or an indicator matrix, as sets; None is an abstention."""
    matrix = indicator_matrix(y, undecided=True)
    if matrix is not None:
        width = matrix.shape[1]
        names = as_labels(range(width) if classes is None else classes)
        if len(names) != width:
            raise DataError(
                f"an indicator matrix needs one column per class, got {width} "
                f"columns for {len(names)} classes."
            )
        return [
            None
            if np.isnan(row).all()
            else frozenset(names[c] for c in np.flatnonzero(row == 1))
            for row in matrix
        ]
    y = y.toarray() if sparse.issparse(y) else y
    sets: list[frozenset[Label] | None] = []
    for value in as_labels(y):
        if value is None:
            sets.append(None)
        elif isinstance(value, _MANY):
            sets.append(frozenset(plain(label) for label in value))
        else:
            sets.append(frozenset([value]))
    return sets


def object_array(values: Sequence[object]) -> Labels:
    """A one-dimensional object array, also of tuples and None."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        array[place] = value
    return array


def label_array(labels: Sequence[Label]) -> Labels:
    """Labels as an array: plain if all are of one type, and not tuples or sets."""
    kinds = {type(label) for label in labels}
    is_plain = len(kinds) == 1 and not kinds & {tuple, frozenset}
    return np.array(labels) if is_plain else object_array(labels)


def label_column(y: LabelsLike) -> list[Label]:
    """One label per document, or a set of them."""
    return list(label_sets(y)) if is_multi_label(y) else as_labels(y)


def label_matrix(
    sets: Sequence[frozenset[Label] | None], classes: Sequence[Label]
) -> BoolVector:
    """Whether each document carries each class, (n_documents, n_classes)."""
    rows = [[c in (labels or ()) for c in classes] for labels in sets]
    return np.array(rows, dtype=bool).reshape(len(sets), len(classes))


def right_answers(truth: Sequence[Label], answers: Sequence[Label]) -> BoolVector:
    """Which answers are those that are true."""
    right = (t == a for t, a in zip(truth, answers, strict=True))
    return np.fromiter(right, bool, len(truth))


def class_list(*columns: Iterable[Label], classes: Any = None) -> tuple[Label, ...]:
    """The given classes, then any others seen in the columns; sorted where possible."""
    listed = [] if classes is None else as_labels(classes)
    seen = {label for column in columns for label in column if label is not None}
    rest = list(seen.difference(listed))
    try:
        rest.sort()
    except TypeError:  # labels of several types
        rest.sort(key=lambda label: (type(label).__name__, str(label)))
    return (*listed, *rest)


def index_of(labels: Sequence[Label], classes: Sequence[Label]) -> IntVector:
    """Position of each label in classes; -1 for None and for labels not there."""
    position = {label: number for number, label in enumerate(classes)}
    return np.fromiter(
        (-1 if label is None else position.get(label, -1) for label in labels),
        dtype=np.int64,
        count=len(labels),
    )


def as_probabilities(
    proba: MatrixLike, n_classes: int, *, one_of: bool = True
) -> FloatMatrix:
    """Check a matrix of probabilities (n_documents, n_classes) and return it."""
    matrix = np.asarray(proba, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n_classes:
        raise DataError(
            f"proba must be of shape (n_documents, {n_classes}), one column per class, "
            f"got shape {matrix.shape}."
        )
    bad = ~np.isfinite(matrix) | (matrix < 0) | (matrix > 1 + 1e-9)
    if bad.any():
        row = int(np.flatnonzero(bad.any(axis=1))[0])
        raise DataError(
            f"proba must lie in [0, 1], got {matrix[row].tolist()} in row {row}; "
            "exponentiate log-probabilities first."
        )
    if one_of and len(matrix):
        off = np.abs(matrix.sum(axis=1) - 1)
        if off.max() > 1e-3:
            row = int(off.argmax())
            raise DataError(
                f"the rows of proba must add up to 1, got {matrix[row].sum():.4g} "
                f"in row {row}; for several labels per document pass label lists."
            )
    return matrix


def confidence_and_choice(proba: FloatMatrix) -> tuple[FloatMatrix, IntVector]:
    """HY5: max_c P(c|d) and its class, per document."""
    choice = proba.argmax(axis=1)
    return proba[np.arange(len(proba)), choice], choice.astype(np.int64)
