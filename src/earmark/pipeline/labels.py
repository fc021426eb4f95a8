"""Labels as people give them: one a document, none, or a list."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.exceptions import DataError, EarmarkWarning
from earmark.text.containers import as_list, is_missing
from earmark.typing import IntVector, Labels, LabelsLike

__all__ = ["Target", "as_target", "warn_of_new_labels"]


class Target:
    """Labels of the documents that have one, and which documents those are.

    Attributes
    ----------
    labelled, unlabelled : ndarray of int
        Row numbers.
    labels : ndarray of shape (n_labelled,)
        One label each; for any-of an object array of tuples.
    multi_label : bool
        Whether each document has a list of labels.
    n_columns : int or None
        Width of the 0/1 matrix that y was, else None.

    """

    def __init__(
        self,
        labelled: IntVector,
        labels: Labels,
        n: int,
        multi: bool,
        n_columns: int | None = None,
    ) -> None:
        self.labelled = labelled
        missing = np.ones(n, dtype=np.bool_)
        missing[labelled] = False
        self.unlabelled = np.flatnonzero(missing)
        self.labels = labels
        self.multi_label = multi
        self.n_columns = n_columns


def as_target(y: Any, n_documents: int, multi_label: Any = "auto") -> Target:
    """Check labels against the number of documents and sort out the missing ones.

    None (or NaN, or pandas' NA) marks an unlabelled document; -1 is a label like any
    other. A matrix of 0 and 1 as scikit-learn has it stands for the numbers of its
    columns.
    """
    if multi_label is not False:
        matrix = _indicators(y)
        if matrix is not None:
            lists = [np.flatnonzero(row).tolist() for row in matrix]
            target = as_target(lists, n_documents, True)
            target.n_columns = matrix.shape[1]
            return target
    y = _one_column(y)
    values: Any = y if _is_plain_array(y) else _as_list(y)
    if len(values) != n_documents:
        raise DataError(
            f"y must hold one label for each of the {n_documents} documents, "
            f"got {len(values)}."
        )
    if not _may_be_special(values) and multi_label is not True:
        return Target(np.arange(n_documents), np.asarray(values), n_documents, False)
    present = [i for i, value in enumerate(values) if not is_missing(value)]
    if not present:
        raise DataError("y holds no label at all; label a few documents of each class.")
    given = [values[i] for i in present]
    is_list = [
        isinstance(v, list | tuple | set | frozenset | np.ndarray) for v in given
    ]
    if multi_label == "auto":
        multi_label = any(is_list)
    if multi_label and not all(is_list):
        row = present[is_list.index(False)]
        raise DataError(
            f"y, row {row}: expected a list of labels as in the other rows, "
            f"got {values[row]!r}."
        )
    if not multi_label and any(is_list):
        row = present[is_list.index(True)]
        raise DataError(
            f"y, row {row}: expected one label, got the list {values[row]!r}; "
            "set multi_label=True for several labels a document."
        )
    rows = np.asarray(present, dtype=np.int64)
    labels = _label_lists(given) if multi_label else _labels(given, present)
    return Target(rows, labels, n_documents, bool(multi_label))


def _is_plain_array(y: Any) -> bool:
    """An array of texts, whole numbers or booleans: no label can be missing."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "Ubiu"


def _may_be_special(values: Any) -> bool:
    """Whether some label may be missing, a list, or of another type."""
    if isinstance(values, np.ndarray):
        return not len(values)
    return set(map(type, values)) not in ({str}, {int}, {bool})


def _indicators(y: LabelsLike) -> NDArray[Any] | None:
    """The matrix of 0 and 1 that y is, or None."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] < 2:
        return None
    dense = np.asarray(y.toarray() if sparse.issparse(y) else y)
    numeric = dense.dtype.kind in "biuf"
    return dense if numeric and np.isin(dense, (0, 1)).all() else None


def _one_column(y: LabelsLike) -> LabelsLike:
    """A single column of two dimensions as one."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2:
        return y
    if shape[1] == 1:
        return np.asarray(y)[:, 0]
    return y if isinstance(y, np.ndarray) else np.asarray(y)


def _as_list(y: Any) -> list[Any]:
    if isinstance(y, str) or not hasattr(y, "__iter__"):
        raise DataError(f"y must be a sequence of labels, got {y!r}.")
    if isinstance(y, np.ndarray) and y.ndim != 1:
        return list(y)
    return as_list(y, "y")


def _labels(given: list[Any], rows: list[int]) -> Labels:
    kinds = {str if isinstance(v, str) else type(v) for v in given}
    numeric = kinds <= {int, float, bool, np.int64, np.float64, np.bool_}
    if len(kinds) > 1 and not numeric:
        odd = next(i for i, v in enumerate(given) if type(v) is not type(given[0]))
        raise DataError(
            f"y, row {rows[odd]}: label {given[odd]!r} is a "
            f"{type(given[odd]).__name__} while {given[0]!r} is a "
            f"{type(given[0]).__name__}; use one type."
        )
    labels = np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "biufUO":
        raise DataError(
            f"y must hold texts, numbers or booleans as labels, got {given[0]!r}."
        )
    return labels


def _label_lists(given: list[Any]) -> Labels:
    lists = np.empty(len(given), dtype=object)
    for row, labels in enumerate(given):  # slice assignment would unpack tuples
        lists[row] = tuple(sorted({*labels}))
    return lists


def warn_of_new_labels(labels: Labels, classes: Labels, where: str) -> None:
    """Labels that a model has not learned can only be answered wrongly: say so."""
    given = labels.tolist()
    if len(given) and isinstance(given[0], tuple):
        given = [label for several in given for label in several]
    new = sorted(map(str, set(given) - set(classes.tolist())))
    if new:
        listed = ", ".join(new[:5]) + (", ..." if len(new) > 5 else "")
        warnings.warn(
            f"{where}: the model has not learned the label(s) {listed}; documents with "
            "them count as wrong.",
            EarmarkWarning,
            stacklevel=3,
        )
