"""Generative regions of the hybrid: log-likelihoods, with and without a document."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from earmark.kernels.rows import canonical_rows, row_lengths
from earmark.models._base import ScoreParts
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix

__all__ = ["EVENT_MODELS", "GenerativeRegion"]

EVENT_MODELS = ("multinomial", "bernoulli", "gaussian")


class GenerativeRegion:
    """One region's naive Bayes model and its length n_r (HY1, HY4).

    Parameters
    ----------
    event_model : {"multinomial", "bernoulli", "gaussian"}
        How the region's features arise.
    alpha : float
        Smoothing of the count models.
    columns : ndarray of int
        The region's columns of X.

    """

    def __init__(self, event_model: str, alpha: float, columns: IntVector) -> None:
        self.event_model = event_model
        self.columns = columns
        self.model: Any
        if event_model == "gaussian":
            self.model = GaussianNaiveBayes(class_prior="uniform")
        else:
            kind = {
                "multinomial": MultinomialNaiveBayes,
                "bernoulli": BernoulliNaiveBayes,
            }[event_model]
            self.model = kind(alpha=alpha, class_prior="uniform")

    def rows(self, X: Matrix) -> Matrix:
        """The region's part of X, as its model takes it."""
        part = X[:, self.columns]
        if self.event_model == "gaussian":
            return part.toarray() if sparse.issparse(part) else part
        return canonical_rows(self.model._training_rows(canonical_rows(part)))

    def smooth(self, alpha: float) -> Self:
        """The same statistics with another smoothing."""
        if self.event_model != "gaussian":
            self.model.set_params(alpha=alpha)
            self.model._derive()
        return self

    def lengths(self, rows: Matrix) -> FloatVector:
        """n_r of each document; 0 where the region is empty, so says nothing (HY2)."""
        if self.event_model == "multinomial":
            return row_lengths(rows)
        held = np.asarray((rows != 0).sum(axis=1)).ravel()
        return np.where(held > 0, float(len(self.columns)), 0.0)

    def log_likelihood(self, rows: Matrix) -> FloatMatrix:
        """Log P(x_r | c) of each document."""
        joint = self.model._joint_log_likelihood(rows)
        return np.asarray(joint - self.model.class_log_prior_)

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
        if removed is None:
            return np.asarray(self.model._log_likelihood_without(rows, own, weight))
        return np.asarray(
            self.model._log_likelihood_without(rows, own, weight, removed)
        )

    def parts(self, rows: Matrix, factor: FloatVector) -> list[ScoreParts]:
        """Score parts of factor_d log P(x_r | c), on the columns of X."""
        if self.event_model == "gaussian":
            return self._dense_parts(rows, factor)
        found = []
        for part, f in zip(self.model._score_parts(rows), factor, strict=True):
            constants = {
                name: f * value
                for name, value in part.constants.items()
                if name != "class prior"
            }
            found.append(
                ScoreParts(self.columns[part.columns], f * part.terms, constants)
            )
        return found

    def _dense_parts(self, rows: FloatMatrix, factor: FloatVector) -> list[ScoreParts]:
        mean, var = self.model.theta_, self.model.var_
        found = []
        for row, f in zip(rows, factor, strict=True):
            terms = -0.5 * (np.log(2 * np.pi * var) + (row - mean) ** 2 / var)
            found.append(ScoreParts(self.columns, f * terms.T, {}))
        return found
