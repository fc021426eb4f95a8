"""What ``fit`` gets, read and checked: documents by region, labels, weights, a pool."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError, EarmarkWarning, Try
from earmark.folds import take
from earmark.inputs.class_names import ClassNames
from earmark.inputs.containers import as_column
from earmark.inputs.duplicates import DuplicateGroups, group_copies
from earmark.inputs.labels import indicator_matrix, object_array
from earmark.inputs.regions import (
    RegionTexts,
    as_region_texts,
    n_documents,
    with_regions,
)
from earmark.inputs.texts import as_list
from earmark.inputs.weights import checked_weights
from earmark.missing import is_missing
from earmark.parameters import shape_of
from earmark.typing import IntVector, Labels, LabelsLike, WeightsLike


@dataclass(eq=False)
class Target:
    """Labels of the documents that have one, and which documents those are."""

    labelled: IntVector
    """Row numbers."""
    labels: Labels
    """One for each of these; for any-of an object array of tuples."""
    n_documents: int
    multi_label: bool
    """Whether each document has a list of labels."""
    n_columns: int | None = None
    """Width of the 0/1 matrix that y was, else None."""

    @cached_property
    def unlabelled(self) -> IntVector:
        """Row numbers of the other documents."""
        missing = np.ones(self.n_documents, dtype=np.bool_)
        missing[self.labelled] = False
        return np.flatnonzero(missing)


@dataclass(eq=False)
class TrainingData:
    """Labelled documents, and what there is to learn from beside them."""

    texts: RegionTexts
    labels: Labels
    """One for each document; for any-of an object array of tuples."""
    weight: WeightsLike = None
    """Of each document; None: all count 1."""
    pool: RegionTexts = field(default_factory=dict)
    """Documents without a label."""
    names: ClassNames = field(default_factory=ClassNames)
    """What is said about classes."""
    multi_label: bool = False
    n_columns: int | None = None
    """Width of the 0/1 matrix that the labels were, else None."""
    rows: IntVector | None = None
    """Where the documents stand in what the user gave; None: all of it, in order."""

    @property
    def n_pool(self) -> int:
        """Documents without a label."""
        return n_documents(self.pool) if self.pool else 0

    @cached_property
    def classes(self) -> Labels:
        """The labels that documents have, sorted; for any-of in any order."""
        if self.multi_label:
            every = {label for several in self.labels for label in several}
            return np.array(list(every), dtype=object)
        return np.unique(self.labels)

    @cached_property
    def copies(self) -> DuplicateGroups:
        """Which labelled documents nearly repeat each other."""
        return group_copies(self.texts)

    def take(self, rows: IntVector) -> TrainingData:
        """Some of the labelled documents, with all of the pool."""
        weight = None if self.weight is None else np.asarray(self.weight)[rows]
        texts = take(self.texts, rows)
        return replace(
            self, texts=texts, labels=self.labels[rows], weight=weight, rows=None
        )


@dataclass(frozen=True)
class Inputs:
    """How a classifier reads what users give it: regions, and one label or several."""

    regions: Any = None
    """As in ``TextClassifier``."""
    multi_label: Any = "auto"

    def texts(
        self, X: Any, where: str = "X", like: Sequence[str] | None = None
    ) -> RegionTexts:
        """Documents by region, at least one; ``like`` has the names they must have."""
        texts = as_region_texts(X, self.regions, where)
        if not n_documents(texts):
            raise DataError(f"{where} holds no document.")
        if like is None:
            return texts
        return with_regions(texts, list(like), self.regions, where)

    def target(self, y: LabelsLike, n: int, where: str = "y") -> Target:
        """The labels of so many documents."""
        return as_target(y, n, self.multi_label, where)

    def pair(
        self, pair: Any, where: str, like: RegionTexts
    ) -> tuple[RegionTexts, Labels]:
        """A pair (X, y) that is held out: documents that have a label, and these."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{where} must be a pair (X, y), got {type(pair).__name__}."
            )
        texts = self.texts(pair[0], f"{where}[0]", list(like))
        target = self.target(pair[1], n_documents(texts), f"{where}[1]")
        return take(texts, target.labelled), target.labels

    def training(
        self,
        texts: RegionTexts,
        target: Target,
        unlabelled: Any = None,
        sample_weight: WeightsLike = None,
        names: ClassNames | None = None,
    ) -> TrainingData:
        """Labelled documents, and as the pool all others: theirs and those given."""
        labelled: RegionTexts = texts
        pool: RegionTexts = {name: [] for name in texts}
        if len(target.labelled) < target.n_documents:
            labelled = take(texts, target.labelled)
            pool = take(texts, target.unlabelled)
        if unlabelled is not None:
            more = as_region_texts(unlabelled, self.regions, "unlabelled")
            more = with_regions(more, list(texts), self.regions, "unlabelled")
            pool = {name: [*pool[name], *more[name]] for name in texts}
        weight = sample_weight
        if weight is not None:
            weight = checked_weights(weight, n_documents(texts))
        return TrainingData(
            labelled,
            target.labels,
            None if weight is None else weight[target.labelled],
            pool,
            ClassNames() if names is None else names,
            target.multi_label,
            target.n_columns,
            target.labelled if len(target.labelled) < target.n_documents else None,
        )

    def first_target(self, y: LabelsLike, n: int, names: ClassNames) -> Target:
        """The labels that a fit begins with; none at all where classes are named."""
        if y is not None and not (names.labels and all(map(is_missing, as_list(y)))):
            target = as_target(y, n, self.multi_label)
            labels = target.labels
            one_class = not (target.multi_label or np.any(labels[1:] != labels[0]))
            if one_class and {*names.labels} <= {labels[0]}:
                raise DataError(
                    f"the labels hold one class only, {labels[0]!s}; expected at least "
                    "2: label some documents of another class."
                )
            return target
        if len(names.labels) < 2:
            raise DataError(
                f"y is missing, and so are the names of at least 2 classes, got "
                f"{len(names.labels)}: give labels for some documents, or "
                "classes=[...] or class_names={label: text}."
            )
        if self.multi_label is True:
            raise no_labels("multi_label")
        nothing = np.empty(0, dtype=np.int64)
        return Target(nothing, np.array([], dtype=object), n, multi_label=False)


def no_labels(asked: str) -> DataError:
    """The error for a parameter that class names alone cannot serve."""
    return DataError(
        f"{asked} needs labelled documents, got none: class names tell nothing "
        "about the accuracy; label some documents first (earmark label)."
    )


# -- labels ------------------------------------------------------------------------


def as_target(
    y: Any, n_documents: int, multi_label: Any = "auto", name: str = "y"
) -> Target:
    """Labels checked against the number of documents; None, NaN and NA are none."""
    # A matrix of 0 and 1 stands for the numbers of its columns; -1 is a label.
    y = y if isinstance(y, list) else _one_column(y)
    is_column = isinstance(y, list) and len(y) > 0 and isinstance(y[0], str)
    if multi_label is not False and not is_column:
        matrix = indicator_matrix(y)
        if matrix is not None:
            lists = [np.flatnonzero(row).tolist() for row in matrix]
            target = as_target(lists, n_documents, True, name)
            return replace(target, n_columns=matrix.shape[1])
    # In an array of texts, whole numbers or booleans no label can be missing.
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "Ubiu"
    values: Any = y if plain or isinstance(y, list) else _as_list(y)
    if len(values) != n_documents:
        raise DataError(
            f"{name} must hold one label for each of the {n_documents} documents, "
            f"got {len(values)}."
        )
    if not (multi_label == "auto" or isinstance(multi_label, bool)):
        raise ValueError(
            f'multi_label must be "auto", True or False, got {multi_label!r}.'
        )
    # Of one type, no label is missing and none is a list.
    alike = plain or set(map(type, values)) in ({str}, {int}, {bool})
    if alike and len(values) and multi_label is not True:
        if not plain or values.dtype.kind == "U":
            _require_lasting(list(values), range(n_documents), name)
        return Target(np.arange(n_documents), np.asarray(values), n_documents, False)
    present = [i for i, value in enumerate(values) if not is_missing(value)]
    if not present:
        raise DataError(
            f"{name} holds no label at all; label a few documents of each class."
        )
    rows = np.asarray(present, dtype=np.int64)
    known = [values[i] for i in present]
    if _are_lists(known, present, multi_label, name):
        return Target(rows, _label_lists(known, present, name), n_documents, True)
    return Target(rows, _labels(known, present, name), n_documents, False)


def _are_lists(known: list[Any], rows: list[int], multi_label: Any, name: str) -> bool:
    """Whether the labels are lists of labels; an error if only some are."""
    is_list = [
        isinstance(v, list | tuple | set | frozenset | np.ndarray) for v in known
    ]
    several = any(is_list) if multi_label == "auto" else bool(multi_label)
    if several and not all(is_list):
        odd = is_list.index(False)
        raise DataError(
            f"{name}, row {rows[odd]}: expected a list of labels as in the other rows, "
            f"got {known[odd]!r}."
        )
    if not several and any(is_list):
        odd = is_list.index(True)
        raise DataError(
            f"{name}, row {rows[odd]}: expected one label, got the list {known[odd]!r}",
            Try("set", " for several labels per document", multi_label=True),
        )
    return several


def _label_lists(known: list[Any], rows: list[int], name: str) -> Labels:
    """The labels of each document, sorted, as tuples."""
    each = [
        (row, label) for row, some in zip(rows, known, strict=True) for label in some
    ]
    _labels([label for _, label in each], [row for row, _ in each], name)
    return object_array([tuple(sorted({*labels})) for labels in known])


def _require_lasting(labels: list[Any], rows: Sequence[int], name: str) -> None:
    """Raise for labels that numpy would change, or a file could not hold."""
    try:
        distinct = set(labels)
    except TypeError:
        odd = next((i for i, v in enumerate(labels) if not isinstance(v, Hashable)), 0)
        raise DataError(
            f"{name}, row {rows[odd]}: expected labels that are texts, numbers or "
            f"booleans, got {labels[odd]!r}."
        ) from None
    for label in distinct:
        if isinstance(label, str) and "\0" in label:
            what = "without NUL characters, which are lost at the end of a text"
        elif isinstance(label, float | np.floating) and not np.isfinite(label):
            what = "that are finite"
        elif isinstance(label, str) and not label.strip():
            what = "that are not blank (None: no label)"
        else:
            continue
        row = rows[labels.index(label)]
        raise DataError(f"{name}, row {row}: expected labels {what}, got {label!r}.")


def _one_column(y: LabelsLike) -> LabelsLike:
    """Turn a sparse matrix of labels dense, and one of one column into a vector."""
    y = y if sparse.issparse(y) else as_column(y)
    shape = shape_of(y)
    if len(shape) != 2:
        return y
    dense = np.asarray(y.toarray() if sparse.issparse(y) else y)
    return dense[:, 0] if shape[1] == 1 else dense


def _as_list(y: Any) -> list[Any]:
    if isinstance(y, str) or not isinstance(y, Iterable):
        raise DataError(f"y must be a sequence of labels, got {y!r}.")
    if isinstance(y, np.ndarray) and y.ndim != 1:
        return list(y)
    return as_list(y, "y")


def _labels(values: list[Any], rows: list[int], name: str) -> Labels:
    _require_lasting(values, rows, name)
    kinds = {str if isinstance(v, str) else type(v) for v in values}
    # True equals 1: among numbers it would be one of them.
    numbers, booleans = {int, float, np.int64, np.float64}, {bool, np.bool_}
    if len(kinds) > 1 and not (kinds <= numbers or kinds <= booleans):
        odd = next(i for i, v in enumerate(values) if type(v) is not type(values[0]))
        raise DataError(
            f"{name}, row {rows[odd]}: label {values[odd]!r} is of another type than "
            f"{values[0]!r}; use one type."
        )
    labels = np.asarray(values)
    if labels.ndim != 1 or labels.dtype.kind not in "biufUO":
        raise DataError(
            f"{name} must hold texts, numbers or booleans as labels, got {values[0]!r}."
        )
    return labels


def require_same_kind(labels: Labels, multi_label: bool, where: str) -> None:
    """One label per document on both sides, or lists of labels on both."""
    lists = len(labels) > 0 and isinstance(labels[0], tuple)
    if lists and not multi_label:
        raise DataError(
            f"{where}[1] holds lists of labels, but y holds one label per document; "
            "give single labels."
        )


def warn_of_new_labels(
    labels: Labels, classes: Labels, where: str, *, required: bool = False
) -> None:
    """Say which labels are unknown; an error if one is ``required`` and none is."""
    names = labels.tolist()
    if len(names) and isinstance(names[0], tuple):
        names = [label for several in names for label in several]
    known = set(classes.tolist())
    new = sorted(map(str, set(names) - known))
    if new:
        from earmark.documents.labels import label_key  # readers are not needed else

        listed = ", ".join(new[:5]) + (", ..." if len(new) > 5 else "")
        alike = {*map(label_key, known)} & {*map(label_key, new)}
        hint = " Some differ only by case, blanks or a final .0." if alike else ""
        if required and not known & set(names):
            raise DataError(
                f"{where}: the model has learned none of its labels, {listed}; it "
                f"knows {', '.join(map(str, list(classes)[:5]))}.{hint}"
            )
        warnings.warn(
            f"{where}: the model has not learned the label(s) {listed}; documents with "
            f"them count as wrong.{hint}",
            EarmarkWarning,
            stacklevel=3,
        )
