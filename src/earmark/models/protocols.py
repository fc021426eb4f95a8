"""What a model says about its scores to the layers above: two protocols.

A ``LinearModel`` gives its scores as one weight for each term, so that they can be
summed up while the text is read. A model that ``ExplainsScores`` takes the scores of
a document apart. Every model here is both; one that is not linear answers None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

import numpy as np
from scipy import sparse

from earmark.kernels.rows import canonical_rows
from earmark.typing import (
    ArrayLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    MatrixLike,
    SparseMatrix,
)

__all__ = [
    "ExplainsScores",
    "LinearModel",
    "LinearRule",
    "ScoreParts",
    "class_columns",
    "linear_parts",
    "linear_rule_of",
]


@runtime_checkable
class LinearModel(Protocol):
    """A classifier whose class scores may be linear in a row."""

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over a row's entries; None where they are not one."""


@runtime_checkable
class ExplainsScores(Protocol):
    """A classifier whose class scores can be taken apart (AB3)."""

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart."""

    def term_weights(self) -> FloatMatrix | None:
        """Weight of each term for each class (n_features, n_classes), if it has one."""


@dataclass(frozen=True)
class LinearRule:
    """Class scores that are linear in a row: row @ weights + offset."""

    weights: FloatMatrix
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


def linear_rule_of(estimator: Estimator) -> LinearRule | None:
    """How any classifier's scores are linear in a row, or None where they are not."""
    if isinstance(estimator, LinearModel):
        return estimator.linear_rule()
    coef = getattr(estimator, "coef_", None)
    intercept = getattr(estimator, "intercept_", None)
    if coef is None or intercept is None:
        return None
    dense = coef.toarray() if sparse.issparse(coef) else coef
    return LinearRule.from_coef(dense, intercept)


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


def class_columns(margins: ArrayLike) -> FloatMatrix:
    """A column for each class; the margin d of two classes becomes (-d/2, d/2)."""
    columns = np.asarray(margins, dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.shape[1] > 1:
        return columns
    return np.concatenate([-columns, columns], axis=1) / 2.0


def linear_parts(
    X: SparseMatrix, weights: FloatMatrix, constants: Mapping[str, FloatVector]
) -> list[ScoreParts]:
    """Score parts of score = X @ weights + constants, weights (n_features, K)."""
    rows = canonical_rows(X)
    parts = []
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        columns = rows.indices[start:stop].astype(np.int64)
        terms = rows.data[start:stop, None] * weights[columns]
        parts.append(ScoreParts(columns, terms, constants))
    return parts
