"""Multinomial naive Bayes on exact class statistics."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from earmark.kernels.rows import (
    canonical_rows,
    presence,
    row_lengths,
    row_numbers,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.naive_bayes import (
    Added,
    CountNaiveBayes,
    SparseWeights,
    cells_at,
    log_or_minus_inf,
    weighted_sums,
)
from earmark.parameters import estimator
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    SparseMatrix,
)


@estimator
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
        if self._keeps_sparse:
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


MODEL = Model(
    "multinomial",
    MultinomialNaiveBayes,
    "multinomial naive Bayes: quick, exact updates, a strong first model",
)
