"""Naive Bayes with labelled and unlabelled documents, by the EM loop (SS1, SS2).

The loop asks for sums over the unlabelled documents and nothing else of them: here a
function call makes them, in parts an executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from earmark.exceptions import DataError
from earmark.kernels.rows import (
    canonical_rows,
    class_sums,
    log_normalize,
    row_lengths,
)
from earmark.models.base.classifier import document_weights
from earmark.models.shared.em import EMSettings, run_em
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
    Matrix,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)


class Parameters(NamedTuple):
    """What gives a posterior."""

    log_prob: FloatMatrix  # log P(term | class), (n_terms, n_classes)
    log_prior: FloatVector
    tempered: bool = True  # whether a long document counts for less (SS2)


@dataclass(eq=False)
class PoolSums:
    """What documents add to each class; they add up over parts."""

    tokens: FloatMatrix
    """Counts of each term, shared out by posterior, (n_terms, n_classes)."""
    docs: FloatVector  # documents, shared out likewise, (n_classes,)
    moved: float  # the largest change of a posterior since the round before
    n_documents: int

    def merge(self, other: PoolSums) -> Self:
        """Add those of other documents."""
        self.tokens = self.tokens + other.tokens
        self.docs = self.docs + other.docs
        self.moved = max(self.moved, other.moved)
        self.n_documents += other.n_documents
        return self


# From parameters, and those of the round before, to sums over the pool.
Expect = Callable[[Parameters, Parameters | None], PoolSums]


class EMResult(NamedTuple):
    """Where the loop ended."""

    parameters: Parameters  # from the last M-step
    n_iter: int
    converged: bool


def naive_bayes_em(
    own: PoolSums,
    first: PoolSums,
    expect: Expect,
    *,
    weight: float = 1.0,
    alpha: float = 0.1,
    max_iter: int = 20,
    tol: float = 0.0,
    start: Parameters | None = None,
) -> EMResult:
    """Multinomial naive Bayes; unlabelled documents count by their posterior."""

    # ``first`` are the sums of the pool under any posterior, or that of ``start`` for
    # an ``expect`` (the E-step) that keeps none. ``own`` are those of labelled
    # documents.
    def step(
        state: tuple[Parameters | None, PoolSums],
    ) -> tuple[tuple[Parameters, PoolSums], FloatVector]:
        before, sums = state
        now = m_step(
            own.tokens + weight * sums.tokens, own.docs + weight * sums.docs, alpha
        )
        sums = expect(now, before)
        return (now, sums), np.array([sums.moved])

    begin: tuple[Parameters | None, PoolSums] = (start, first)
    settings = EMSettings(max_iter, tol, moves=True)
    (run,) = run_em(begin, step, lambda state: state, settings)
    parameters = run.params[0]
    assert parameters is not None
    return EMResult(parameters, run.n_iter, run.ending == "converged")


def m_step(tokens: FloatMatrix, docs: FloatVector, alpha: float) -> Parameters:
    """Log P(term | class) and log P(class) from tokens (n_terms, n_classes) (SS1)."""
    tokens = tokens + alpha
    feature_log_prob = np.log(tokens) - np.log(tokens.sum(axis=0))
    docs = docs + 1.0
    return Parameters(feature_log_prob, np.log(docs) - np.log(docs.sum()))


def labelled_sums(
    rows: SparseMatrix, y_index: IntVector, n_classes: int, weight: FloatVector
) -> PoolSums:
    """Sums of labelled documents, each wholly in its class."""
    weighted = rows.multiply(weight[:, None]).tocsr()
    tokens = class_sums(weighted, y_index, n_classes).toarray().T
    docs = np.bincount(y_index, weight, minlength=n_classes).astype(np.float64)
    return PoolSums(tokens, docs, 0.0, len(y_index))


def posteriors(
    rows: SparseMatrix,
    parameters: Parameters,
    temper: FloatMatrix | None = None,
    anchor: FloatMatrix | None = None,
) -> FloatMatrix:
    """P(class | document), tempered and with the evidence of others (SS1, SS2)."""
    joint = rows @ parameters.log_prob + parameters.log_prior
    if temper is not None and parameters.tempered:
        joint = joint * temper
    log_posterior = log_normalize(joint)
    if anchor is not None:
        log_posterior = log_normalize(anchor + log_posterior)
    return np.exp(log_posterior)


def expected_sums(
    rows: SparseMatrix,
    now: Parameters,
    before: Parameters | None,
    evidence: float | None,
) -> PoolSums:
    """The E-step of documents whose posterior nobody keeps: it is computed again."""
    temper = tempering(rows, evidence)
    posterior, moved = posteriors(rows, now, temper), np.inf
    if before is not None:
        last = posteriors(rows, before, temper)
        moved = float(np.abs(posterior - last).max(initial=0.0))
    tokens = np.asarray(rows.T @ posterior)
    return PoolSums(tokens, posterior.sum(axis=0), moved, rows.shape[0])


@dataclass(eq=False)
class Pool:
    """Unlabelled documents that are here, with their posterior from round to round."""

    rows: SparseMatrix
    posterior: FloatMatrix
    evidence: float | None = None
    # Log-evidence of others, to which ``means`` add: it keeps the loop near what they
    # said. Without it this is plain EM.
    anchor: FloatMatrix | None = None
    means: ClassMeans | None = None

    def __post_init__(self) -> None:
        self.by_term = self.rows.T.tocsr()
        self.temper = tempering(self.rows, self.evidence)

    def sums(self, moved: float = np.inf) -> PoolSums:
        """The documents by their present posterior."""
        docs = self.posterior.sum(axis=0)
        return PoolSums(self.by_term @ self.posterior, docs, moved, len(self.posterior))

    def expect(self, now: Parameters, before: Parameters | None) -> PoolSums:
        """The E-step; the posterior is kept."""
        anchor = self.anchor
        if anchor is not None and self.means is not None:
            anchor = anchor + self.means.evidence(self.posterior)
        posterior = posteriors(self.rows, now, self.temper, anchor)
        moved = float(np.abs(posterior - self.posterior).max(initial=0.0))
        self.posterior = posterior
        return self.sums(moved)


# How sharply the distance to a class's mean speaks: 1 / (2 variance).
_SHARPNESS = 8.0


class ClassMeans:
    """Classes as spheres of one size in an encoder's space (SS7)."""

    # ``vectors`` are those of the labelled documents, and then of the pool.

    def __init__(
        self,
        vectors: FloatMatrix,
        y_index: IntVector,
        n_classes: int,
        label_weight: FloatVector,
        pool_weight: float,
        weight: float = 1.0,
    ) -> None:
        labelled, self.pool = np.split(vectors, [len(y_index)])
        member = np.eye(n_classes)[y_index] * label_weight[:, None]
        self.sums, self.sizes = labelled.T @ member, member.sum(axis=0)
        self.pool_weight, self.weight = pool_weight, weight

    def evidence(self, posterior: FloatMatrix) -> FloatMatrix:
        """Log-posteriors of the pool, whose documents count by ``posterior``."""
        sizes = self.sizes + self.pool_weight * posterior.sum(axis=0)
        sums = self.sums + self.pool_weight * (self.pool.T @ posterior)
        means = sums / np.maximum(sizes, 1e-12)
        closeness = 2.0 * (self.pool @ means) - (means * means).sum(axis=0)
        return self.weight * log_normalize(_SHARPNESS * closeness)


def tempering(rows: SparseMatrix, evidence: float | None) -> FloatMatrix:
    """Factor on each log-joint: min(1, evidence / length), as tokens depend (SS2)."""
    if evidence is None:
        return np.ones((rows.shape[0], 1))
    lengths = row_lengths(rows)
    share = np.divide(evidence, lengths, out=np.ones(len(lengths)), where=lengths > 0)
    return np.minimum(1.0, share)[:, None]


def checked_few_labels(
    estimator: Estimator,
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: WeightsLike = None,
    named: Sequence[object] = (),
) -> tuple[Matrix, Labels, BoolVector]:
    """Rows of X, labels (anything where None was), and which rows have one."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    values = np.asarray(y)
    missing = np.array([label is None for label in values.ravel()], dtype=bool)
    labels = y
    if missing.any() and values.ndim == 1:
        if missing.all() and not len(named):
            raise DataError("y holds no label at all; label a few of each class.")
        labels = _filled(values, missing, named)
    X, labels = validate_data(
        estimator, X, labels, accept_sparse="csr", dtype=np.float64
    )
    check_classification_targets(labels)
    counted = ~missing & (document_weights(sample_weight, labels) > 0)
    known = {*labels[counted].tolist(), *named}
    if len(known) < 2:
        raise DataError(
            f"{name} needs labelled documents of at least 2 classes, got 1 class: "
            f"{sorted(known, key=str)!r}."
        )
    return canonical_rows(X), labels, ~missing


def _filled(values: Labels, missing: BoolVector, named: Sequence[object]) -> Labels:
    """The labels in their own type, any of them in place of the missing."""
    labels = [*values[~missing].tolist(), *named]
    is_text = [isinstance(label, str) for label in labels]
    if any(is_text) != all(is_text):
        raise DataError("y mixes texts and other labels; use one type.")
    return np.asarray([labels[0] if v is None else v for v in values.tolist()])
