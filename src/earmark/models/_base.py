"""What every classifier here shares: a score matrix in, labels out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import EarmarkWarning
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import canonical_rows
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
)

__all__ = [
    "ClassScoresMixin",
    "JointLogLikelihoodMixin",
    "LinearRule",
    "ScoreMatrixMixin",
    "ScoreParts",
    "linear_parts",
]


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


@dataclass(frozen=True)
class LinearRule:
    """Class scores that are linear in a row: row @ weights + offset.

    What ``_linear_form()`` of a model returns, so that its scores can be summed up
    while the text is read, without a matrix.
    """

    weights: FloatMatrix
    """(n_features, n_classes)."""
    offset: FloatVector
    binary: bool = False
    """The row says only which entries of X are positive ..."""
    unit: bool = False
    """... and is scaled to length 1."""
    empty: FloatVector | None = None
    """The scores of a row of zeros, where they are not ``offset``."""

    @classmethod
    def from_coef(
        cls,
        coef: ArrayLike,
        intercept: ArrayLike,
        *,
        binary: bool = False,
        unit: bool = False,
    ) -> Self:
        """From weights as scikit-learn keeps them, (n_problems, n_features).

        The margin d of a single problem is shared out as (-d/2, d/2).
        """
        weights = np.asarray(coef, dtype=np.float64)
        bias = np.asarray(intercept, dtype=np.float64)
        bias = np.broadcast_to(bias, weights.shape[:1])
        if len(weights) == 1:
            weights = np.concatenate([-weights, weights]) / 2.0
            bias = np.array([-bias[0], bias[0]]) / 2.0
        return cls(np.ascontiguousarray(weights.T), bias, binary, unit)


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


class ClassScoresMixin(ABC):
    """Derive ``predict`` from one abstract matrix of class scores."""

    classes_: Labels

    @abstractmethod
    def _class_scores(self, X: Matrix) -> FloatMatrix:
        """Score validated X -> (n_samples, n_classes), higher is likelier."""

    def _validated(self, X: MatrixLike) -> Matrix:
        """X as predict and its relatives take it."""
        check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False
        )

    def _scores(self, X: MatrixLike) -> FloatMatrix:
        return self._class_scores(self._validated(X))

    def predict(self, X: MatrixLike) -> Labels:
        """Label of the best-scoring class; ties go to the first in ``classes_``."""
        best = self._scores(X).argmax(axis=1)
        labels: Labels = self.classes_[best]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class ScoreMatrixMixin(ClassScoresMixin):
    """Scores that rank classes without being probabilities."""

    def decision_function(self, X: MatrixLike) -> FloatMatrix:
        """Class scores; for two classes, the margin of ``classes_[1]``."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class JointLogLikelihoodMixin(ClassScoresMixin):
    """Scores that are log P(x, c): probabilities follow by normalising (NB5)."""

    class_log_prior_: FloatVector

    @abstractmethod
    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        """Log P(x, c) of validated X -> (n_samples, n_classes)."""

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._possible(self._joint_log_likelihood(X))

    def predict_joint_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log P(x, c), not normalised, (n_samples, n_classes)."""
        return self._scores(X)

    def predict_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log posterior of each class, (n_samples, n_classes)."""
        return log_normalize(self._scores(X))

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Posterior probability of each class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def _possible(self, joint: FloatMatrix) -> FloatMatrix:
        """Documents impossible under every class fall back to the prior (NB7)."""
        impossible = np.all(np.isneginf(joint), axis=1, keepdims=True)
        if np.any(impossible):
            warnings.warn(
                f"{int(np.sum(impossible))} document(s) are impossible under every "
                "class (a term has probability 0); the class prior answers for them. "
                "A smoothing alpha > 0 avoids this.",
                EarmarkWarning,
                stacklevel=4,
            )
            joint = np.where(impossible, self.class_log_prior_, joint)
        return joint
