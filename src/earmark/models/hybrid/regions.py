"""Generative regions of the hybrid: log-likelihoods, with and without a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from earmark.kernels.rows import dense_blocks, row_lengths
from earmark.models.hybrid.statistics import has_content, region_rows
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.protocols import ScoreParts
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, Matrix

__all__ = ["EVENT_MODELS", "GenerativeRegion"]

# A class of few documents has next to no variance once one of them is left out:
# a floor well above rounding keeps its density in bounds.
_VAR_SMOOTHING = 0.01

EVENT_MODELS: Mapping[str, Callable[[float], Any]] = {
    "multinomial": lambda alpha: MultinomialNaiveBayes(
        alpha=alpha, class_prior="uniform"
    ),
    "bernoulli": lambda alpha: BernoulliNaiveBayes(alpha=alpha, class_prior="uniform"),
    "gaussian": lambda _: GaussianNaiveBayes(
        class_prior="uniform", var_smoothing=_VAR_SMOOTHING
    ),
}


class GenerativeRegion:
    """One region's naive Bayes model and its length n_r (HY1, HY4).

    A class that never had the region gets the mean evidence of those that had
    it, which speaks neither for nor against it.

    Parameters
    ----------
    event_model : {"multinomial", "bernoulli", "gaussian"}
        How the region's features arise.
    alpha : float
        Smoothing of the count models.
    columns : ndarray of int
        The region's columns of X.
    statistics : ClassStatistics or ClassMoments
        What was learned of the region.

    """

    def __init__(
        self, event_model: str, alpha: float, columns: IntVector, statistics: Any
    ) -> None:
        self.event_model = event_model
        self.columns = columns
        self.model = EVENT_MODELS[event_model](alpha).finalise(statistics)

    def rows(self, X: Matrix) -> Matrix:
        """The region's part of X, as its model takes it."""
        return region_rows(X, self.columns, self.event_model)

    def smooth(self, alpha: float) -> Self:
        """The same statistics with another smoothing."""
        if self.event_model != "gaussian" and self.model.alpha != alpha:
            self.model.set_params(alpha=alpha)
            self.model._derive()
        return self

    def lengths(self, rows: Matrix) -> FloatVector:
        """n_r of each document; 0 where the document lacks the region (HY2)."""
        if self.event_model == "multinomial":
            return row_lengths(rows)
        return np.where(has_content(rows), float(len(self.columns)), 0.0)

    def mean_length(self) -> float:
        """Mean n_r of the learned documents that have the region."""
        if self.event_model != "multinomial":
            return float(len(self.columns))
        statistics = self.model.statistics_
        return float(statistics.tokens.sum()) / max(float(statistics.docs.sum()), 1.0)

    def log_likelihood(self, rows: Matrix) -> FloatMatrix:
        """Log P(x_r | c) of each document."""
        joint = self.model._joint_log_likelihood(rows)
        return self._balanced(np.asarray(joint - self.model.class_log_prior_))

    def log_likelihood_without(
        self,
        rows: Matrix,
        own: IntVector,
        weight: FloatVector,
        removed: Matrix | None = None,
    ) -> FloatMatrix:
        """Log P(x_r | c) with the document itself taken out of its class (NB8).

        ``removed`` holds what leaves with it where regions share a vocabulary.
        """
        without = self.model._log_likelihood_without
        if self.event_model == "gaussian":
            blocks = [
                without(block, own[part], weight[part])
                for part, block in dense_blocks(rows)
            ]
            values = np.concatenate(blocks)
        elif removed is None:
            values = np.asarray(without(rows, own, weight))
        else:
            values = np.asarray(without(rows, own, weight, removed))
        docs = self.model.statistics_.docs.astype(np.float64)
        alone = docs[own] - weight <= 1e-9 * docs[own]
        seen = np.tile(self._seen, (len(own), 1))
        seen[np.flatnonzero(alone), own[alone]] = False
        return _neutral(values, seen)

    def parts(self, rows: Matrix, factor: FloatVector) -> list[ScoreParts]:
        """Score parts of factor_d log P(x_r | c), on the columns of X."""
        if self.event_model == "gaussian":
            return self._dense_parts(rows, factor)
        found = []
        for part, f in zip(self.model.score_parts(rows), factor, strict=True):
            constants = {
                name: self._balanced(f * value[None])[0]
                for name, value in part.constants.items()
                if name != "class prior"
            }
            terms = self._balanced(f * part.terms)
            found.append(ScoreParts(self.columns[part.columns], terms, constants))
        return found

    @property
    def _seen(self) -> BoolVector:
        """Which classes have had the region."""
        return np.asarray(self.model.statistics_.docs > 0)

    def _balanced(self, values: FloatMatrix) -> FloatMatrix:
        seen = self._seen
        return (
            values if seen.all() else _neutral(values, np.tile(seen, (len(values), 1)))
        )

    def _dense_parts(self, rows: Matrix, factor: FloatVector) -> list[ScoreParts]:
        mean, var = self.model.theta_, self.model.var_
        found = []
        for part, block in dense_blocks(rows):
            for row, f in zip(block, factor[part], strict=True):
                terms = -0.5 * (np.log(2 * np.pi * var) + (row - mean) ** 2 / var)
                scaled = self._balanced(f * terms.T)
                found.append(ScoreParts(self.columns, scaled, {}))
        return found


def _neutral(values: FloatMatrix, seen: Any) -> FloatMatrix:
    """Put the mean of the seen classes where a class was not seen; 0 if none was."""
    if seen.all():
        return values
    total = np.where(seen, values, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.where(seen, values, mean)
