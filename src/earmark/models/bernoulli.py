"""Bernoulli naive Bayes on exact class statistics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from earmark.features.scoring import LinearRule
from earmark.kernels.rows import canonical_rows, presence, row_lengths
from earmark.models.base.declaration import Model
from earmark.models.shared.naive_bayes import (
    Added,
    CountNaiveBayes,
    PresenceScores,
    alphas,
    log_or_minus_inf,
)
from earmark.parameters import estimator
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)


@estimator
class BernoulliNaiveBayes(PresenceScores, CountNaiveBayes):
    """Every term is present or absent, independently, with its class's probability.

    A term counts as present where X > 0. Absent terms are evidence too; scoring
    still costs only the terms of the document.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Smoothing: alpha documents with and alpha without every term are added to
        each class. 0 gives the maximum likelihood estimate.
    alpha_by_size : bool, default=False
        Give each class alpha in proportion to its number of documents, alpha in the
        mean. Otherwise a term that no document has is most probable in the smallest
        class.
    class_prior : None, "uniform" or array-like of shape (n_classes,), default=None
        Prior probabilities; None estimates them from the class sizes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    statistics_ : ClassStatistics
        The exact counts learned; everything else is derived from them.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log P(term present | class).
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] M. C. Ganiz, N. I. Lytkin and W. M. Pottenger (2009). Leveraging higher
       order dependencies between features for text classification. ECML PKDD.
       Equations 4 and 6.

    Examples
    --------
    >>> model = BernoulliNaiveBayes().fit([[1, 0], [0, 1]], ["a", "b"])
    >>> model.predict([[3, 0]])
    array(['a'], dtype='<U1')

    """

    alpha: Added = 1.0
    alpha_by_size: bool = False
    class_prior: ArrayLike | str | None = None

    def _training_rows(self, X: Matrix) -> SparseMatrix:
        return presence(canonical_rows(X))

    def _derive(self) -> None:
        docs = self.statistics_.docs.astype(np.float64)
        self.class_log_prior_ = self._log_prior(docs)
        alpha = self._alphas(docs)
        total = docs + 2 * alpha
        log_total = np.log(np.where(total > 0, total, 1.0))[:, None]
        # In place: these two are as large as all weights.
        present = self.statistics_.dense_presence()
        missing = docs[:, None] - present
        np.maximum(missing, 0.0, out=missing)
        for counts in (present, missing):
            counts += alpha[:, None]
            with np.errstate(divide="ignore"):
                np.log(counts, out=counts)
            counts -= log_total  # NB2
        self._set_presence(present, missing)

    def _alphas(self, docs: FloatVector) -> FloatVector:
        return alphas(self.alpha, docs, by_size=self.alpha_by_size)

    @property
    def _keeps_sparse(self) -> bool:
        return False

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over the terms; None where some term has log 0."""
        rule = super().linear_rule()
        if rule is None or self._certain is not None:
            return None
        return replace(rule, binary=True)

    def _log_likelihood_without(
        self, rows: SparseMatrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        joint = self._joint_log_likelihood(rows)
        likelihood = np.where(
            np.isneginf(joint), -np.inf, joint - self.class_log_prior_
        )
        docs = self.statistics_.docs.astype(np.float64)
        for c in np.unique(own):
            for w in np.unique(weight[own == c]):
                mine = np.flatnonzero((own == c) & (weight == w))
                left = docs.copy()
                left[c] -= w
                alpha = self._alphas(left)
                # Where alpha goes by size, that of all classes changes.
                for k in range(len(docs)) if self.alpha_by_size else (c,):
                    likelihood[mine, k] = self._likelihood_without(
                        rows[mine], k, w if k == c else 0.0, alpha[k]
                    )
        return likelihood

    def _likelihood_without(
        self, rows: SparseMatrix, c: int, lost: float, alpha: float
    ) -> FloatVector:
        """Log P(x|c) of documents of which each takes ``lost`` from the class (NB8)."""
        docs = float(self.statistics_.docs[c])
        frequency = self.statistics_.presence[[c]].toarray()[0].astype(np.float64)
        # All absent terms change, as the class has fewer documents: their sum is made
        # once and corrected for each document's own terms.
        left = docs - lost
        # Terms with held > left are in every document, so in the one that leaves.
        missing = left - frequency
        open_terms = missing > -1e-9 * max(docs, 1.0)
        log_missing = np.zeros(len(frequency))
        log_missing[open_terms] = log_or_minus_inf(
            np.maximum(missing[open_terms], 0.0) + alpha
        )
        certain = np.isneginf(log_missing)
        log_missing[certain] = 0.0
        present = np.maximum(frequency - lost, 0.0) + alpha
        change = log_or_minus_inf(present) - log_missing
        log_total = np.log(max(left + 2 * alpha, np.finfo(float).tiny))
        likelihood = np.asarray(rows @ change) + log_missing.sum()
        likelihood -= rows.shape[1] * log_total
        if certain.any():
            met = np.asarray(rows @ certain.astype(np.float64))
            likelihood[met < certain.sum()] = -np.inf
        if left + 2 * alpha <= 0:
            likelihood[:] = np.where(row_lengths(rows) > 0, -np.inf, 0.0)
        return np.asarray(likelihood, dtype=np.float64)


MODEL = Model(
    "bernoulli",
    BernoulliNaiveBayes,
    "Bernoulli naive Bayes: present and absent words count",
)
