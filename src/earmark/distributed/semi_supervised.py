"""EM with labelled and unlabelled documents: one map-reduce an iteration (SS1)."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from earmark.distributed.data import PartedRows
from earmark.distributed.executor import merged
from earmark.distributed.higher_order import PresenceTask
from earmark.distributed.rows import PartRows
from earmark.exceptions import DataError, NotSupportedError
from earmark.kernels.logspace import log_normalize
from earmark.models import SemiSupervisedNaiveBayes
from earmark.models.semi_supervised._em import m_step, tempering
from earmark.statistics import ClassStatistics
from earmark.typing import FloatMatrix, FloatVector, SparseMatrix

__all__ = ["fit_semi_supervised"]


class Parameters(NamedTuple):
    """What gives a posterior."""

    log_prob: FloatMatrix
    """log P(term | class), (n_terms, n_classes)."""
    log_prior: FloatVector
    evidence: float | None
    """At most so many tokens of a document speak; None: all (SS2)."""


class PoolSums:
    """What the unlabelled documents add to each class; they add up over parts."""

    def __init__(
        self, tokens: FloatMatrix, docs: FloatVector, moved: float, n_documents: int
    ) -> None:
        self.tokens = tokens
        self.docs = docs
        self.moved = moved
        self.n_documents = n_documents

    def merge(self, other: PoolSums) -> Self:
        """Add those of other documents."""
        self.tokens = self.tokens + other.tokens
        self.docs = self.docs + other.docs
        self.moved = max(self.moved, other.moved)
        self.n_documents += other.n_documents
        return self


class ExpectTask:
    """``PartRows`` -> sums of its unlabelled documents by their posterior (SS1).

    A worker keeps no posterior between rounds: the one before is computed again
    from the parameters before, to see how far it has moved.
    """

    def __init__(self, now: Parameters, before: Parameters | None) -> None:
        self.now = now
        self.before = before

    def __call__(self, rows: PartRows) -> PoolSums:
        """The E-step of this part."""
        pool = rows.pool
        posterior = _posterior(pool, self.now)
        moved = np.inf
        if self.before is not None:
            last = _posterior(pool, self.before)
            moved = float(np.abs(posterior - last).max(initial=0.0))
        tokens = np.asarray(pool.T @ posterior)
        return PoolSums(tokens, posterior.sum(axis=0), moved, pool.shape[0])


def _posterior(rows: SparseMatrix, given: Parameters) -> FloatMatrix:
    joint = np.asarray(rows @ given.log_prob + given.log_prior)
    return np.exp(log_normalize(joint * tempering(rows, given.evidence)))


def fit_semi_supervised(model: SemiSupervisedNaiveBayes, data: PartedRows) -> None:
    """The same loop as in memory; sums of the pool come from the parts."""
    model._check_parameters()
    if model.start is not None:
        raise NotSupportedError(
            "SemiSupervisedNaiveBayes.start is an array in the order of the "
            "documents; in parts it must be None."
        )
    if len(data.classes) < 2:
        raise DataError(
            "SemiSupervisedNaiveBayes needs labelled documents of at least 2 classes, "
            f"got {data.classes.tolist()!r}."
        )
    model.classes_, model.n_features_in_ = data.classes, data.n_features
    own: ClassStatistics = data.executor.reduce(
        "labelled", PresenceTask(len(data.classes)), data.items, merged
    )
    own_tokens = own.dense_tokens()
    model._begin(own_tokens, own.docs)
    log_prob = np.ascontiguousarray(model.feature_log_prob_.T)
    now = Parameters(log_prob, model.class_log_prior_, None)
    sums = _expected(data, now, None)
    model.n_iter_, model.converged_ = 1, True
    if not sums.n_documents:
        return
    model.n_iter_, model.converged_ = 0, False
    while model.n_iter_ < model.max_iter and not model.converged_:
        model.n_iter_ += 1
        before = now
        found = m_step(
            own_tokens.T + model.pool_weight * sums.tokens,
            own.docs + model.pool_weight * sums.docs,
            model.alpha,
        )
        now = Parameters(*found, model.evidence)
        sums = _expected(data, now, before)
        model.converged_ = bool(sums.moved <= model.tol)
    model.feature_log_prob_ = np.ascontiguousarray(now.log_prob.T)
    model.class_log_prior_ = now.log_prior


def _expected(data: PartedRows, now: Parameters, before: Parameters | None) -> PoolSums:
    task = ExpectTask(now, before)
    sums: PoolSums = data.executor.reduce("expected", task, data.items, merged)
    return sums
