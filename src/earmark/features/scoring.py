"""Scores that are sums over terms: linear rules, and what each term adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from earmark.kernels.rows import canonical_rows, row_entries
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    SparseMatrix,
)


@dataclass(frozen=True)
class LinearRule:
    """Class scores that are linear in a row: row @ weights + offset."""

    weights: FloatMatrix | FloatTable
    """(n_features, n_classes)."""
    offset: FloatVector
    binary: bool = False
    """The row says only which entries of X are positive ..."""
    unit: bool = False
    """... and is scaled to length 1."""
    empty: FloatVector | None = None
    """The scores of a row of zeros, where they are not ``offset``."""
    log_posteriors: Callable[[FloatMatrix], FloatMatrix] | None = None
    """From scores to log-probabilities; None where the scores do not say."""

    @property
    def on_rows(self) -> bool:
        """Whether the scores are linear in the rows of X as they are."""
        return not self.binary and not self.unit and self.empty is None

    @classmethod
    def from_coef(
        cls,
        coef: ArrayLike,
        intercept: ArrayLike,
        *,
        binary: bool = False,
        unit: bool = False,
    ) -> Self:
        """From weights as scikit-learn keeps them, (n_problems, n_features)."""
        weights = np.asarray(coef, dtype=np.float64)
        bias = np.asarray(intercept, dtype=np.float64)
        bias = np.broadcast_to(bias, weights.shape[:1])
        return cls(
            np.ascontiguousarray(class_columns(weights.T)),
            class_columns(bias[None, :])[0],
            binary,
            unit,
        )


@dataclass(frozen=True)
class ScoreParts:
    """One document's scores, taken apart (AB3).

    ``terms.sum(axis=0) + sum(constants.values())`` is the document's row of
    class scores.
    """

    columns: IntVector
    """Columns of the terms that contribute."""
    terms: FloatMatrix
    """Contribution of each of them to each class, (n_terms, n_classes)."""
    constants: Mapping[str, FloatVector] = field(default_factory=dict)
    """Named contributions that belong to no single term, such as the prior."""
    note: str = ""
    """A sentence for people, such as which hidden node answered."""
    labelled: FloatMatrix | None = None
    """The part of ``terms`` that labelled documents gave; the rest came from text
    without labels. None where nothing was learned from such text."""
    names: tuple[str, ...] | None = None
    """The terms, where they are not those of ``columns``."""


# The name of what a document's vector adds to its scores.
OF_VECTORS = "encoder"


@dataclass(frozen=True)
class VectorWeights:
    """What the vector of a document is multiplied by to give a part of its scores."""

    weights: FloatMatrix
    """(n_dimensions, n_classes)."""
    labelled: FloatMatrix | None = None
    """The part that labelled documents gave, as in ``ScoreParts``."""


def class_columns(margins: ArrayLike) -> FloatMatrix:
    """A column for each class; the margin d of two classes becomes (-d/2, d/2)."""
    columns = np.asarray(margins, dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.shape[1] > 1:
        return columns
    return np.concatenate([-columns, columns], axis=1) / 2.0


class TermRows(Protocol):
    """Weights of which some terms' rows can be had."""

    def __getitem__(self, columns: IntVector, /) -> FloatMatrix:
        """Weights of these terms, (n_terms, n_classes)."""


def linear_parts(
    X: SparseMatrix, weights: TermRows, constants: Mapping[str, FloatVector]
) -> list[ScoreParts]:
    """Score parts of score = X @ weights + constants, weights (n_features, K)."""
    parts = []
    for entries, values in row_entries(canonical_rows(X)):
        columns = entries.astype(np.int64)
        parts.append(ScoreParts(columns, values[:, None] * weights[columns], constants))
    return parts
