"""Labels that are shared: a distribution over classes, or votes, for each document.

A document with shares becomes copies of itself, one for each label, whose weights are
the shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from earmark.exceptions import DataError
from earmark.folds import take
from earmark.inputs.labels import as_labels
from earmark.inputs.regions import RegionTexts, n_documents
from earmark.inputs.training import TrainingData
from earmark.inputs.weights import real_weights
from earmark.missing import is_missing
from earmark.parameters import offers, shape_of
from earmark.typing import FloatVector, IntVector, LabelsLike, WeightsLike

_CLOSE = 1e-3  # rows of shares add up to 1 but for so much


@dataclass(frozen=True, eq=False)
class Copies:
    """Documents as weighted copies with one label each."""

    rows: IntVector
    """Which document each copy is of."""
    labels: list[Any]
    share: FloatVector

    def of(
        self, texts: RegionTexts, weight: WeightsLike
    ) -> tuple[RegionTexts, FloatVector]:
        """The texts and weights of the copies."""
        own = real_weights(weight, n_documents(texts))
        return take(texts, self.rows), own[self.rows] * self.share

    def placed(self, data: TrainingData) -> TrainingData:
        """Training data of copies, whose rows are those of the documents."""
        rows = self.rows if data.rows is None else self.rows[data.rows]
        return replace(data, rows=rows)


def soft_copies(y: LabelsLike, classes: Any, n_documents: int) -> Copies | None:
    """The copies that shares ask for; None where each document has plain labels."""
    shares = _shares(y, classes)
    if shares is None:
        return None
    if len(shares) != n_documents:
        raise DataError(
            f"y must hold the shares of each of the {n_documents} documents, got "
            f"{len(shares)}."
        )
    copies: list[tuple[int, Any, float]] = []
    for row, one in enumerate(shares):
        if not isinstance(one, Mapping):
            copies.append((row, one, 1.0))
            continue
        total = _total(one, row)
        # The likeliest label first: it is the one that estimates ask for.
        ranked = sorted(one.items(), key=lambda item: -item[1])
        copies += [(row, c, s / total) for c, s in ranked if s > 0]
        if not total:
            copies.append((row, None, 1.0))
    rows, labels, share = zip(*copies, strict=True)
    return Copies(np.array(rows, dtype=np.int64), list(labels), np.array(share))


def _shares(y: LabelsLike, classes: Any) -> Sequence[Any] | None:
    """A mapping from label to share, or a label, for each document; None: no shares."""
    if isinstance(y, list | tuple):
        if any(isinstance(one, Mapping) for one in y):
            return y
        if not y or not all(isinstance(one, list | tuple) for one in y):
            return None
    elif len(shape_of(y)) != 2 or not offers(y, "__array__"):
        return None
    try:
        matrix = np.asarray(y)
    except ValueError:  # lists of different lengths: sets of labels
        return None
    is_shares = matrix.ndim == 2 and matrix.dtype.kind == "f"
    if not is_shares or np.isin(matrix, (0.0, 1.0)).all():
        return None
    if classes is None:
        if matrix.shape[1] < 2 or (abs(matrix.sum(axis=1) - 1) > _CLOSE).any():
            return None
        raise DataError(
            "y holds rows of numbers, which are shares of classes; give the class of "
            "each column as classes=[...]."
        )
    names = as_labels(classes)
    if len(set(names)) < len(names):
        raise DataError(
            f"classes must differ, since each has a column of shares; got {names!r}."
        )
    if matrix.shape[1] != len(names):
        raise DataError(
            f"y must have one column of shares for each of the {len(names)} classes, "
            f"got {matrix.shape[1]}."
        )
    missing = np.isnan(matrix).all(axis=1)
    off = np.where(missing, 0.0, np.abs(matrix.sum(axis=1) - 1))
    if not (off <= _CLOSE).all():
        row = int(np.flatnonzero(~(off <= _CLOSE))[0])
        raise DataError(
            f"y, row {row}: expected shares that add up to 1, got "
            f"{matrix[row].tolist()}; for votes give a dict from label to votes."
        )
    return [
        None if gap else dict(zip(names, row, strict=True))
        for gap, row in zip(missing, matrix.tolist(), strict=True)
    ]


def _total(shares: Mapping[Any, Any], row: int) -> float:
    """The sum of the shares of a document, each of which is checked."""
    for label, share in shares.items():
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        if not is_number or is_missing(share) or not 0 <= share < float("inf"):
            raise DataError(
                f"y, row {row}: expected a share >= 0 for the label {label!r}, got "
                f"{share!r}."
            )
    return float(sum(shares.values()))
