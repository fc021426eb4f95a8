"""Generative regions of the hybrid: log-likelihoods, with and without a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from earmark.kernels.rows import dense_blocks, row_lengths
from earmark.models.base import ScoreParts, joint_log_likelihood
from earmark.models.hybrid.statistics import has_content, region_rows
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.naive_bayes.count_model import log_likelihood_without
from earmark.statistics.class_statistics import checked_weights
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
)

__all__ = [
    "EVENT_MODELS",
    "GenerativeRegion",
    "evidence",
    "evidence_without",
    "joined_parts",
    "left_out",
    "length_factor",
]

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
            self.model.set_params(alpha=alpha).finalise(self.model.statistics_)
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
        joint = joint_log_likelihood(self.model, rows)
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
        without = partial(log_likelihood_without, self.model)
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


def _neutral(values: FloatMatrix, seen: BoolVector) -> FloatMatrix:
    """Put the mean of the seen classes where a class was not seen; 0 if none was."""
    if seen.all():
        return values
    total = np.where(seen, values, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.where(seen, values, mean)


def evidence(
    regions: Sequence[GenerativeRegion], parts: Sequence[Matrix], normalize: bool
) -> list[FloatMatrix]:
    """b_rc of each document in each region, (n_samples, n_classes) a region.

    ``parts`` holds the rows of each region.
    """
    found = []
    for region, rows in zip(regions, parts, strict=True):
        factor = length_factor(region, rows, normalize)
        found.append(factor[:, None] * region.log_likelihood(rows))
    return found


def evidence_without(
    regions: Sequence[GenerativeRegion],
    parts: Sequence[Matrix],
    own: IntVector,
    lost: FloatVector,
    normalize: bool,
    removed: Matrix | None = None,
) -> list[FloatMatrix]:
    """b_rc of each document with the document taken out of its class (HY3)."""
    found = []
    for region, rows in zip(regions, parts, strict=True):
        values = region.log_likelihood_without(rows, own, lost, removed)
        found.append(length_factor(region, rows, normalize)[:, None] * values)
    return found


def length_factor(
    region: GenerativeRegion, rows: Matrix, normalize: bool
) -> FloatVector:
    """1/n_r; 0 where a document lacks the region, which then says nothing (HY1)."""
    lengths = region.lengths(rows)
    held = lengths > 0
    if not normalize:
        return held.astype(np.float64)
    return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=held)


def left_out(sample_weight: ArrayLike | None, n_samples: int) -> FloatVector:
    """How much of each document leaves with it.

    Whole weights count equal documents, of which one leaves; any other weight is
    one document's importance, which leaves with it.
    """
    given = checked_weights(sample_weight, n_samples)
    if given is None:
        return np.ones(n_samples)
    weight: FloatVector = given.astype(np.float64)
    return np.minimum(weight, 1.0) if given.dtype.kind == "i" else weight


def joined_parts(parts: Sequence[ScoreParts], bias: FloatVector) -> ScoreParts:
    """One document's score parts of all regions, and the class bias."""
    constants = {"class bias": bias}
    for part in parts:
        for name, value in part.constants.items():
            constants[name] = constants.get(name, 0.0) + value
    return ScoreParts(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.terms for part in parts]),
        constants,
    )
