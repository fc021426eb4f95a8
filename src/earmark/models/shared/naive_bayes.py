"""Multinomial and complement naive Bayes, and what all models on term counts share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from scipy import sparse

from earmark.features.scoring import LinearRule, ScoreParts, linear_parts
from earmark.kernels.rows import (
    canonical_rows,
    log_normalize,
    row_lengths,
    times_dense,
)
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import JointClassifier
from earmark.parameters import Limits
from earmark.statistics import ClassStatistics
from earmark.stored import DERIVED, sizes
from earmark.typing import (
    ArrayLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
)

# A count that smooths: it is added to others.
Added: TypeAlias = Annotated[float, Limits(0.0, hint="it is added to every count")]
DENSE_CELLS = 2**24
"""Classes times terms up to which all weights are kept, 128 MB of them."""
MOST_EMPTY_CELLS = 2**25
"""Classes times terms that a file may ask for with next to no sums in it."""


@dataclass(frozen=True)
class SparseWeights:
    """weights_wc = (by_term_w + by_class_c + extra_wc) * scale_c, most extra_wc 0.

    Of ten thousand classes and thirty thousand terms nearly all weights are alike: a
    term that a class has never had weighs what the smoothing says.
    """

    extra: SparseMatrix
    """(n_features, n_classes), CSR."""
    by_term: FloatVector
    by_class: FloatVector
    scale: FloatVector

    def times(self, rows: SparseMatrix) -> FloatMatrix:
        """``rows @ weights``, by the lists of classes of the rows' terms."""
        values = rows.astype(np.float64)
        sums = np.asarray((values @ self.extra).toarray(), dtype=np.float64)
        sums += row_lengths(values)[:, None] * self.by_class
        sums += np.asarray(values @ self.by_term)[:, None]
        sums *= self.scale
        return sums

    def __getitem__(self, columns: IntVector) -> FloatMatrix:
        """The weights of some terms, (n_terms, n_classes)."""
        cells = self.extra[columns].toarray() + self.by_term[columns, None]
        return np.asarray((cells + self.by_class) * self.scale)

    def dense(self) -> FloatMatrix:
        """All weights, (n_features, n_classes)."""
        return self[np.arange(len(self.by_term))]


def is_mostly_nothing(sums: SparseMatrix) -> bool:
    """Whether dense weights of these sums would be far larger than what they hold."""
    # Hashed columns are a number in a file: only sums that are there say how many of
    # them are real.
    cells = sums.shape[0] * sums.shape[1]
    return bool(cells > MOST_EMPTY_CELLS and cells > 64 * sums.nnz)


def weighted_sums(
    rows: SparseMatrix, weights: FloatMatrix | SparseWeights
) -> FloatMatrix:
    """``rows @ weights``, however they are kept."""
    if isinstance(weights, SparseWeights):
        return weights.times(sparse.csr_array(rows))
    return times_dense(rows, weights)


def cells_at(
    counts: SparseMatrix, rows: IntVector, columns: IntVector
) -> FloatVector | IntVector:
    """counts[rows[i], columns[i]] for every i, with a bounded number of dense rows."""
    cells = np.zeros(len(rows))
    step = max(1, DENSE_CELLS // max(1, counts.shape[1]))
    if step < counts.shape[0]:  # only the rows that are asked for
        asked, rows = np.unique(rows, return_inverse=True)
        counts = counts[asked]
    for start in range(0, counts.shape[0], step):
        dense = counts[start : start + step].toarray()
        if step >= counts.shape[0]:
            flat = rows * counts.shape[1] + columns
            return np.asarray(dense.ravel().take(flat))
        mine = (start <= rows) & (rows < start + step)
        cells[mine] = dense[rows[mine] - start, columns[mine]]
    return cells


def log_or_minus_inf(values: Any) -> Any:
    """Natural logarithm with log 0 = -inf and no warning (NB7)."""
    with np.errstate(divide="ignore"):
        return np.log(values)


class ClassPrior(AdditiveClassifier):
    """A model with a ``class_prior`` parameter."""

    class_prior: ArrayLike | str | None

    def _log_prior(self, docs: FloatVector) -> FloatVector:
        """Log P(c) (NB5): estimated, uniform, or given."""
        n_classes = len(self.classes_)
        if self.class_prior is None:
            return np.asarray(log_or_minus_inf(docs) - log_or_minus_inf(docs.sum()))
        if isinstance(self.class_prior, str):
            if self.class_prior != "uniform":
                raise ValueError(
                    f"{type(self).__name__}.class_prior must be None, 'uniform' or one "
                    f"probability for each class, got {self.class_prior!r}."
                )
            return np.full(n_classes, -np.log(n_classes))
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if (
            prior.shape != (n_classes,)
            or prior.min() < 0
            or abs(prior.sum() - 1) > 1e-9
        ):
            raise ValueError(
                f"{type(self).__name__}.class_prior must hold {n_classes} "
                f"probabilities that sum to 1, got {self.class_prior!r}."
            )
        return np.asarray(log_or_minus_inf(prior))

    def _log_prior_without(self, own: IntVector, weight: FloatVector) -> FloatMatrix:
        """Log P(c) for each document once it has left its class (NB8)."""
        docs = self.statistics_.docs.astype(np.float64)
        if self.class_prior is not None:
            return np.tile(self._log_prior(docs), (len(own), 1))
        left = np.tile(docs, (len(own), 1))
        left[np.arange(len(own)), own] -= weight
        np.maximum(left, 0.0, out=left)
        total = left.sum(axis=1, keepdims=True)
        return np.asarray(log_or_minus_inf(left) - log_or_minus_inf(total))


class CountNaiveBayes(JointClassifier, ClassPrior):
    """Base of multinomial, Bernoulli and complement naive Bayes.

    A child derives ``_weights`` (n_features, n_classes) and ``_offset``
    (n_classes,), and says what its likelihood is without one document.
    """

    class_log_prior_: Annotated[FloatVector, DERIVED]

    by_term = True
    alpha: float
    statistics_: Annotated[
        ClassStatistics, sizes(n_terms="n_features", n_classes="n_classes")
    ]
    _weights: Annotated[FloatMatrix | SparseWeights, DERIVED]
    _offset: Annotated[FloatVector, DERIVED]

    def _empty_statistics(self, classes: Labels, n_features: int) -> ClassStatistics:
        return ClassStatistics(classes, n_features)

    def _log_posteriors_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        rows = canonical_rows(X).astype(np.float64)
        prior = self._log_prior_without(own, weight)
        joint = self._log_likelihood_without(rows, own, weight) + prior
        impossible = np.all(np.isneginf(joint), axis=1, keepdims=True)
        return log_normalize(np.where(impossible, prior, joint))

    # -- scores --------------------------------------------------------------

    def _validated(self, X: MatrixLike) -> Matrix:
        return canonical_rows(self._training_rows(super()._validated(X)))

    @property
    def _keeps_sparse(self) -> bool:
        """Whether the weights are kept apart for the terms that a class has."""
        counts = self.statistics_.tokens
        cells = counts.shape[0] * counts.shape[1]
        return bool(self.alpha > 0 and cells > DENSE_CELLS and 4 * counts.nnz < cells)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report dense weights for columns of which next to nothing is stored."""
        yield from super()._faults(sizes)
        if is_mostly_nothing(self.statistics_.tokens) and not self._keeps_sparse:
            yield ".statistics_ has too many columns for its counts"

    def _joint_log_likelihood(self, X: SparseMatrix) -> FloatMatrix:
        return weighted_sums(X, self._weights) + self._offset

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over the document; None where some term has log 0.

        None also for so many classes that their weights are kept sparse.
        """
        weights = self._weights
        if isinstance(weights, SparseWeights) or not np.isfinite(weights).all():
            return None
        return LinearRule(weights, self._offset, log_posteriors=log_normalize)

    def term_weights(self) -> FloatMatrix:
        """Weight of each term for each class, also where some are log 0."""
        weights = self._weights
        return weights.dense() if isinstance(weights, SparseWeights) else weights

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        return linear_parts(
            self._validated(X), self._weights, {"class prior": self._offset}
        )

    @abstractmethod
    def _log_likelihood_without(
        self, rows: SparseMatrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        """Log P(x|c) of each row with the row itself taken out of its class (NB8)."""

    # -- linear form -------------------------------------------------------------

    @property
    def coef_(self) -> FloatMatrix:
        """Weights of the linear form (NB6); for two classes one row of log-odds."""
        weights = self.term_weights().T
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> FloatVector:
        """Offsets of the linear form (NB6), one for each row of ``coef_``."""
        offset = self._offset
        return offset[1:] - offset[:1] if len(self.classes_) == 2 else offset


class PresenceScores(JointClassifier):
    """Sum of log P(term present) and log P(term absent), at the cost of the present.

    A child sets ``class_log_prior_`` and calls ``_set_presence``; its ``_validated``
    returns the indicator of the present terms as CSR.
    """

    class_log_prior_: Annotated[FloatVector, DERIVED]

    _log_present: Annotated[FloatMatrix, DERIVED]
    _certain: Annotated[FloatMatrix | None, DERIVED]
    _weights: Annotated[FloatMatrix | SparseWeights, DERIVED]
    _absent: Annotated[FloatVector, DERIVED]
    _offset: Annotated[FloatVector, DERIVED]

    @property
    def feature_log_prob_(self) -> FloatMatrix:
        """Log P(term present | class), (n_classes, n_features)."""
        return self._log_present.T

    def _set_presence(self, log_present: FloatMatrix, log_missing: FloatMatrix) -> None:
        """Take log P(present) and log P(absent), (n_classes, n_features), as own."""
        self._log_present = np.array(log_present.T, order="C")
        # A term in every document of a class (alpha = 0) makes its absence
        # impossible: log 0 is kept out of the sums and counted apart (NB7).
        certain = np.isneginf(log_missing)
        self._certain = np.ascontiguousarray(certain.T) if certain.any() else None
        log_missing[certain] = 0.0
        log_present -= log_missing
        self._weights = np.ascontiguousarray(log_present.T)
        self._absent = log_missing.sum(axis=1)
        self._offset = self.class_log_prior_ + self._absent  # NB3

    def _joint_log_likelihood(self, X: SparseMatrix) -> FloatMatrix:
        joint = weighted_sums(X, self._weights) + self._offset
        if self._certain is not None:
            met = np.asarray(X @ self._certain.astype(np.int64))
            joint[met < self._certain.sum(axis=0)] = -np.inf
        return joint

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Present terms by log P(present), all absent terms as one item (AB3)."""
        parts = []
        for part in linear_parts(self._validated(X), self._weights, {}):
            present = self._log_present[part.columns]
            absent = self._absent + (part.terms - present).sum(axis=0)
            constants = {"class prior": self.class_log_prior_, "absent terms": absent}
            parts.append(ScoreParts(part.columns, present, constants))
        return parts


def alphas(alpha: float, sizes: FloatVector, *, by_size: bool) -> FloatVector:
    """What is added for each class; ``by_size`` in proportion to its size (NB9).

    A term that no document has is then equally probable in all classes.
    """
    mean = float(np.mean(sizes))
    if not by_size or mean <= 0:
        return np.full(len(sizes), float(alpha))
    return np.asarray(alpha * sizes / mean)


def log_likelihood_without(
    model: Estimator,
    rows: Matrix,
    own: IntVector,
    weight: FloatVector,
    *removed: Matrix,
) -> FloatMatrix:
    """Log P(x|c) of each row once it, or ``removed``, has left its own class (NB8)."""
    without: FloatMatrix = model._log_likelihood_without(rows, own, weight, *removed)
    return without
