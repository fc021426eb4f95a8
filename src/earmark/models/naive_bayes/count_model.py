"""Multinomial and complement naive Bayes, and what all models on term counts share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from earmark.kernels.rows import (
    canonical_rows,
    log_normalize,
    presence,
    row_lengths,
    row_numbers,
    times_dense,
)
from earmark.models.base import (
    AdditiveClassifier,
    JointClassifier,
    LinearRule,
    ScoreParts,
    linear_parts,
)
from earmark.parameters import Limits, with_parameters
from earmark.statistics import ClassStatistics
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
"""Classes times terms up to which all weights are kept, 256 MB of them."""


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


def is_spread_out(counts: SparseMatrix, alpha: float) -> bool:
    """Whether the weights of these class x term counts are better kept sparse."""
    cells = counts.shape[0] * counts.shape[1]
    return bool(alpha > 0 and cells > DENSE_CELLS and 4 * counts.nnz < cells)


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

    _derived: ClassVar[tuple[str, ...]] = ("_offset", "_weights", "class_log_prior_")

    alpha: float
    statistics_: ClassStatistics
    _weights: FloatMatrix | SparseWeights
    _offset: FloatVector

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

    _derived: ClassVar[tuple[str, ...]] = (
        "_absent",
        "_certain",
        "_log_present",
        "_offset",
        "_weights",
        "class_log_prior_",
    )

    _log_present: FloatMatrix
    _certain: FloatMatrix | None
    _weights: FloatMatrix | SparseWeights
    _absent: FloatVector
    _offset: FloatVector

    @property
    def feature_log_prob_(self) -> FloatMatrix:
        """Log P(term present | class), (n_classes, n_features)."""
        return self._log_present.T

    def _set_presence(self, log_present: FloatMatrix, log_missing: FloatMatrix) -> None:
        """Take log P(present) and log P(absent), both (n_classes, n_features)."""
        self._log_present = np.ascontiguousarray(log_present.T)
        # A term in every document of a class (alpha = 0) makes its absence
        # impossible: log 0 is kept out of the sums and counted apart (NB7).
        certain = np.isneginf(log_missing)
        self._certain = np.ascontiguousarray(certain.T) if certain.any() else None
        log_missing = np.where(certain, 0.0, log_missing)
        self._weights = np.ascontiguousarray((log_present - log_missing).T)
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


@with_parameters()
class MultinomialNaiveBayes(CountNaiveBayes):
    """Every token of a document is an independent draw from its class.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Smoothing count added to every term of every class. 0 gives the maximum
        likelihood estimate; a document that no class can produce then gets the
        class prior, with a warning.
    class_prior : None, "uniform" or array-like of shape (n_classes,), default=None
        Prior probabilities; None estimates them from the class sizes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    statistics_ : ClassStatistics
        The exact counts learned; everything else is derived from them.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log P(term | class).
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] R. Raina, Y. Shen, A. Y. Ng and A. McCallum (2003). Classification with
       hybrid generative/discriminative models. NIPS. Equations 3-4.

    Examples
    --------
    >>> model = MultinomialNaiveBayes().fit([[2, 0], [0, 3]], ["a", "b"])
    >>> model.predict([[1, 0]])
    array(['a'], dtype='<U1')

    """

    _takes_counts = True
    alpha: Added = 1.0
    class_prior: ArrayLike | str | None = None

    @property
    def feature_log_prob_(self) -> FloatMatrix:
        """Log P(term | class), (n_classes, n_features)."""
        return self.term_weights().T

    def _derive(self) -> None:
        docs = self.statistics_.docs.astype(np.float64)
        self.class_log_prior_ = self._log_prior(docs)
        self._offset = self.class_log_prior_
        if is_spread_out(self.statistics_.tokens, self.alpha):
            self._weights = self._sparse_weights()
            return
        tokens = sparse.csr_array(self.statistics_.tokens)
        total = row_lengths(tokens) + self.alpha * tokens.shape[1]
        # A class without any token says nothing about terms, even for alpha = 0.
        log_total = np.log(np.where(total > 0, total, 1.0))
        weights = np.empty(tokens.shape[::-1])
        weights[:] = log_or_minus_inf(self.alpha) - log_total
        own = row_numbers(tokens)
        log_count = log_or_minus_inf(tokens.data + self.alpha)
        weights[tokens.indices, own] = log_count - log_total[own]  # NB4
        self._weights = weights

    def _sparse_weights(self) -> SparseWeights:
        """Log (n_cw + alpha) / total_c, apart for the terms that a class has (NB4)."""
        tokens = self.statistics_.tokens
        extra = sparse.csr_array(tokens.T, dtype=np.float64)
        extra.data = np.log1p(extra.data / self.alpha)
        total = row_lengths(tokens) + self.alpha * tokens.shape[1]
        by_class = np.log(self.alpha) - np.log(total)
        by_term = np.zeros(tokens.shape[1])
        return SparseWeights(extra, by_term, by_class, np.ones(len(total)))

    def _log_likelihood_without(
        self,
        rows: SparseMatrix,
        own: IntVector,
        weight: FloatVector,
        removed: SparseMatrix | None = None,
    ) -> FloatMatrix:
        """Log P(x|c) once the row, or ``removed`` with its terms, has left (NB8)."""
        likelihood = weighted_sums(rows, self._weights)
        if removed is None:
            gone, gone_tokens = rows.data, row_lengths(rows)
        else:
            gone = canonical_rows(presence(rows).multiply(removed)).data
            gone_tokens = row_lengths(removed)
        n_terms = np.diff(rows.indptr)
        tokens = self.statistics_.tokens
        left = cells_at(tokens, np.repeat(own, n_terms), rows.indices)
        left = left - np.repeat(weight, n_terms) * gone
        np.maximum(left, 0.0, out=left)
        left += self.alpha
        logs = rows.data * log_or_minus_inf(left)
        total = np.maximum(row_lengths(tokens)[own] - weight * gone_tokens, 0.0)
        total = total + self.alpha * rows.shape[1]
        log_total = np.log(np.where(total > 0, total, 1.0))
        sums = np.add.reduceat(np.append(logs, 0.0), rows.indptr[:-1])
        sums[n_terms == 0] = 0.0
        likelihood[np.arange(len(own)), own] = sums - row_lengths(rows) * log_total
        return likelihood


@with_parameters()
class ComplementNaiveBayes(CountNaiveBayes):
    """Score a class by how badly the rest of the corpus explains the document.

    Its weights come from the documents of all *other* classes, which is steadier
    than the class's own few documents when class sizes differ. The class prior
    plays no part (but answers where a document is impossible, as for alpha = 0).

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Smoothing count added to every term of every complement.
    norm : bool, default=False
        Divide each class's weights by their sum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    statistics_ : ClassStatistics
        The exact counts learned; everything else is derived from them.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] J. Rennie, L. Shih, J. Teevan and D. Karger (2003). Tackling the poor
       assumptions of naive Bayes text classifiers. ICML.

    Examples
    --------
    >>> model = ComplementNaiveBayes().fit([[2, 0], [0, 3]], ["a", "b"])
    >>> model.predict([[1, 0]])
    array(['a'], dtype='<U1')

    """

    class_prior = None
    _takes_counts = True
    alpha: Added = 1.0
    norm: bool = False

    def _derive(self) -> None:
        docs = self.statistics_.docs.astype(np.float64)
        self.class_log_prior_ = self._log_prior(docs)
        # With one class there is no complement to speak of: its prior answers.
        alone = len(self.classes_) == 1
        self._offset = self.class_log_prior_ if alone else np.zeros(len(self.classes_))
        if is_spread_out(self.statistics_.tokens, self.alpha):
            self._weights = self._sparse_weights()
            return
        tokens = self.statistics_.dense_tokens()
        complement = tokens.sum(axis=0) - tokens + self.alpha
        total = complement.sum(axis=1, keepdims=True)
        logged = log_or_minus_inf(complement) - np.log(np.where(total > 0, total, 1.0))
        weights = logged / logged.sum(axis=1, keepdims=True) if self.norm else -logged
        self._weights = np.ascontiguousarray(weights.T)

    def _sparse_weights(self) -> SparseWeights:
        """The same, apart for the terms that a class has and its complement lacks."""
        tokens = self.statistics_.tokens
        everywhere = np.asarray(tokens.sum(axis=0), dtype=np.float64).ravel()
        by_term = np.log(everywhere + self.alpha)
        extra = sparse.csr_array(tokens.T, dtype=np.float64)
        entry_term = row_numbers(extra)
        rest = everywhere[entry_term] - extra.data + self.alpha
        extra.data = np.log(rest) - by_term[entry_term]
        total = everywhere.sum() - row_lengths(tokens) + self.alpha * tokens.shape[1]
        by_class = -np.log(total)
        scale = np.full(len(total), -1.0)
        if self.norm:
            sums = (
                by_term.sum() + len(by_term) * by_class + row_lengths(extra.T.tocsr())
            )
            scale = 1.0 / sums
        return SparseWeights(extra, by_term, by_class, scale)

    def _joint_log_likelihood(self, X: SparseMatrix) -> FloatMatrix:
        return self._settled(super()._joint_log_likelihood(X), self.class_log_prior_)

    def _settled(self, scores: FloatMatrix, log_prior: FloatMatrix) -> FloatMatrix:
        """A class of impossible complement is certain (NB7); else the prior."""
        endless = np.isposinf(scores)
        rows = np.any(endless, axis=1, keepdims=True)
        if np.any(rows):
            scores = np.where(rows, np.where(endless, log_prior, -np.inf), scores)
        return scores

    def _log_prior_without(self, own: IntVector, weight: FloatVector) -> FloatMatrix:
        prior = super()._log_prior_without(own, weight)
        return prior if len(self.classes_) == 1 else np.zeros_like(prior)

    def _log_likelihood_without(
        self, rows: SparseMatrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        """NB8: every class except the document's own loses it; O(nnz K)."""
        tokens = self.statistics_.dense_tokens()
        complement = tokens.sum(axis=0) - tokens
        totals = complement.sum(axis=1) + self.alpha * rows.shape[1]
        number = row_numbers(rows)
        n_tokens = np.asarray(rows.sum(axis=1)).ravel()
        scores = np.empty((rows.shape[0], len(self.classes_)))
        for c in range(len(self.classes_)):
            gone = np.where(own == c, 0.0, weight)
            before = complement[c][rows.indices]
            left = np.maximum(before - gone[number] * rows.data, 0.0) + self.alpha
            total = np.maximum(totals[c] - gone * n_tokens, 0.0)
            log_total = np.log(np.where(total > 0, total, 1.0))
            log_left = log_or_minus_inf(left)
            terms = rows.copy()
            terms.data = rows.data * log_left
            logged = np.asarray(terms.sum(axis=1)).ravel() - n_tokens * log_total
            if self.norm:
                terms.data = log_left - log_or_minus_inf(before + self.alpha)
                whole = log_or_minus_inf(complement[c] + self.alpha).sum()
                whole = whole + np.asarray(terms.sum(axis=1)).ravel()
                scores[:, c] = logged / (whole - rows.shape[1] * log_total)
            else:
                scores[:, c] = -logged
        prior = super()._log_prior_without(own, weight)
        return self._settled(scores, prior)
