"""What users give: documents in any container, labels in any form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
from scipy import sparse

from earmark.evaluation.labels import indicator_matrix, object_array
from earmark.exceptions import DataError, EarmarkWarning
from earmark.folds import take
from earmark.kernels.text import Documents
from earmark.missing import is_missing
from earmark.parameters import shape_of
from earmark.text.containers import as_list, as_texts
from earmark.text.regions import split_mail
from earmark.text.tokens import unspaced_share
from earmark.typing import IntVector, Labels, LabelsLike

if TYPE_CHECKING:
    from earmark.pipeline.text_classifier import TextClassifier

# Region name -> one text per document; a single region is called "text".
RegionTexts: TypeAlias = dict[str, Documents]

SINGLE = "text"
# From this share of letters on a text is one without spaces.
_UNSPACED = 0.5
BY_CHARACTERS = "text without spaces: characters and pairs of them are counted"


def n_documents(texts: RegionTexts) -> int:
    """Number of documents, the same in every region."""
    return len(next(iter(texts.values())))


def n_distinct(texts: RegionTexts) -> int:
    """Number of different documents that are not blank."""
    rows = zip(*texts.values(), strict=True)
    return len({row for row in rows if any(part.strip() for part in row)})


def joined(texts: RegionTexts) -> list[str]:
    """One text per document, its regions on lines of their own."""
    return ["\n".join(row) for row in zip(*texts.values(), strict=True)]


def column_of(texts: RegionTexts, region: str) -> Documents:
    """A region's texts; a region that is missing counts as empty."""
    return texts[region] if region in texts else [""] * n_documents(texts)


def as_region_texts(X: Any, regions: Any, where: str = "X") -> RegionTexts:
    """Documents in any container, split into regions as ``regions`` says."""
    columns = _columns(X)
    if columns is None:
        texts = _strings(X, where)
        if regions is None:
            return {SINGLE: texts}
        if _are_split(regions):
            return _split(texts, regions, where)
        raise DataError(
            f"{where} must be a frame or dict with the columns {list(regions)!r}, "
            f"got {type(X).__name__}."
        )
    if _are_split(regions):
        if len(columns) != 1:
            raise DataError(
                f"{where} has the columns {list(columns)!r}; to split a text into "
                "regions give one column of raw text."
            )
        ((name, column),) = columns.items()
        return _split(_strings(column, f"{where}[{name!r}]"), regions, where)
    names = list(columns) if regions is None else list(regions)
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"{where} lacks the column(s) {missing!r}; it has {list(columns)!r}."
        )
    by_name = {n: _strings(columns[n], f"{where}[{n!r}]", empty=True) for n in names}
    lengths = {name: len(column) for name, column in by_name.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"the columns of {where} differ in length: {lengths!r}.")
    return by_name


def _are_split(regions: object) -> bool:
    """Whether one text per document is split into them."""
    return isinstance(regions, str) or callable(regions)


def trained_columns(classifier: TextClassifier) -> list[str] | None:
    """The columns that a model takes; None for one text, also if it splits that."""
    return None if _are_split(classifier.regions) else classifier.region_names_


def with_regions(
    texts: RegionTexts, names: list[str], regions: Any, where: str = "X"
) -> RegionTexts:
    """The same documents under the region names that a model was fitted on."""
    # Plain texts and one column are the same thing. A region that is not there is "";
    # if none of them is, the documents are of another kind, which is an error.
    if list(texts) == names:
        return texts
    if len(texts) == len(names) == 1 and SINGLE in (*texts, *names):
        return {names[0]: next(iter(texts.values()))}
    missing = [name for name in names if name not in texts]
    if missing and not _are_split(regions):
        if len(missing) == len(names):
            raise DataError(f"{where}: {_other_regions(list(texts), names)}")
        lacks = f"{where} lacks the column(s) {missing!r}: they count as empty."
        warnings.warn(lacks, EarmarkWarning, stacklevel=4)
    return {name: column_of(texts, name) for name in names}


def fitting_features(features: Any, texts: Mapping[str, Iterable[str]]) -> Any:
    """``features``, or if they are left open the ones that the script asks for."""
    # In text without spaces whole phrases would be words.
    if features is not None or max(map(unspaced_share, texts.values())) < _UNSPACED:
        return features
    return {"analyzer": "char", "ngram_range": (1, 2)}


def _other_regions(got: list[str], names: list[str]) -> str:
    if names == [SINGLE]:
        return (
            f"expected plain texts as in fitting, got the columns {got!r}; give the "
            "column that holds the text."
        )
    came = "plain texts" if got == [SINGLE] else f"{got!r}"
    return (
        f"expected the columns {names!r} as in fitting, got {came}; give a dict or "
        "frame with these columns, with '' where a document has no such text."
    )


def _columns(X: Any) -> Mapping[str, Any] | None:
    """Columns of a frame or dict, or None for a plain sequence of texts."""
    if isinstance(X, Mapping):
        if not X:
            raise DataError("the dict of regions is empty.")
        return {str(name): column for name, column in X.items()}
    if isinstance(X, list | tuple):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {name: frame[name].to_native() for name in frame.columns}
    return None


def _strings(column: Any, where: str, *, empty: bool = False) -> Documents:
    """The column as checked texts; a missing one is "" where regions allow it."""
    if empty:
        column = ["" if is_missing(value) else value for value in as_list(column)]
    try:
        return as_texts(column)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _split(
    texts: Documents, regions: str | Callable[[str], Mapping[str, str]], where: str
) -> RegionTexts:
    if isinstance(regions, str):
        if regions != "email":
            raise DataError(
                "TextClassifier.regions must be None, a list of columns, 'email' or "
                f"a function, got {regions!r}."
            )
        split: Callable[[str], Mapping[str, str]] = split_mail
    else:
        split = regions
    parts = [split(text) for text in texts]
    names = sorted({name for part in parts for name in part})
    for row, part in enumerate(parts):
        wrong = [n for n in part if not isinstance(part[n], str)]
        if wrong:
            raise DataError(
                f"{where}, row {row}: the region function must give strings, got "
                f"{type(part[wrong[0]]).__name__} {part[wrong[0]]!r:.40} for region "
                f"{wrong[0]!r}."
            )
    return {name: [part.get(name, "") for part in parts] for name in names}


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

    def split(self, texts: RegionTexts) -> tuple[RegionTexts, RegionTexts]:
        """The documents with a label, and the others."""
        if not len(self.unlabelled):
            return texts, {name: [] for name in texts}
        return take(texts, self.labelled), take(texts, self.unlabelled)


def as_target(
    y: Any, n_documents: int, multi_label: Any = "auto", name: str = "y"
) -> Target:
    """Labels checked against the number of documents; None, NaN and NA are none."""
    # A matrix of 0 and 1 stands for the numbers of its columns; -1 is a label.
    y = _one_column(y)
    is_column = isinstance(y, list) and len(y) > 0 and isinstance(y[0], str)
    if multi_label is not False and not is_column:
        matrix = indicator_matrix(y)
        if matrix is not None:
            lists = [np.flatnonzero(row).tolist() for row in matrix]
            target = as_target(lists, n_documents, True, name)
            target.n_columns = matrix.shape[1]
            return target
    # In an array of texts, whole numbers or booleans no label can be missing.
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "Ubiu"
    values: Any = y if plain else _as_list(y)
    if len(values) != n_documents:
        raise DataError(
            f"{name} must hold one label for each of the {n_documents} documents, "
            f"got {len(values)}."
        )
    if not (multi_label == "auto" or isinstance(multi_label, bool)):
        raise ValueError(
            f'multi_label must be "auto", True or False, got {multi_label!r}.'
        )
    if not _may_be_special(values) and multi_label is not True:
        if not plain or values.dtype.kind == "U":
            _require_lasting(list(values), range(n_documents), name)
        return Target(np.arange(n_documents), np.asarray(values), n_documents, False)
    present = [i for i, value in enumerate(values) if not is_missing(value)]
    if not present:
        raise DataError(
            f"{name} holds no label at all; label a few documents of each class."
        )
    known = [values[i] for i in present]
    is_list = [
        isinstance(v, list | tuple | set | frozenset | np.ndarray) for v in known
    ]
    if multi_label == "auto":
        multi_label = any(is_list)
    if multi_label and not all(is_list):
        row = present[is_list.index(False)]
        raise DataError(
            f"{name}, row {row}: expected a list of labels as in the other rows, "
            f"got {values[row]!r}."
        )
    if not multi_label and any(is_list):
        row = present[is_list.index(True)]
        raise DataError(
            f"{name}, row {row}: expected one label, got the list {values[row]!r}; "
            "set multi_label=True for several labels per document."
        )
    rows = np.asarray(present, dtype=np.int64)
    if not multi_label:
        return Target(rows, _labels(known, present, name), n_documents, False)
    each = [(i, label) for i in present for label in values[i]]
    _labels([label for _, label in each], [i for i, _ in each], name)
    several = object_array([tuple(sorted({*labels})) for labels in known])
    return Target(rows, several, n_documents, True)


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


def _may_be_special(values: Any) -> bool:
    """Whether some label may be missing, a list, or of another type."""
    if isinstance(values, np.ndarray):
        return not len(values)
    return set(map(type, values)) not in ({str}, {int}, {bool})


def _one_column(y: LabelsLike) -> LabelsLike:
    """A single column of two dimensions as one."""
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


def require_same_kind(labels: Labels, target: Target, where: str) -> None:
    """One label per document on both sides, or lists of labels on both."""
    lists = len(labels) > 0 and isinstance(labels[0], tuple)
    if lists and not target.multi_label:
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
