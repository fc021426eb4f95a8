"""Complement naive Bayes: a class by the terms of all others, on exact statistics."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from earmark.kernels.rows import (
    row_lengths,
    row_numbers,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.naive_bayes import (
    Added,
    CountNaiveBayes,
    SparseWeights,
    log_or_minus_inf,
)
from earmark.parameters import estimator
from earmark.typing import (
    FloatMatrix,
    FloatVector,
    IntVector,
    SparseMatrix,
)


@estimator
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
        if self._keeps_sparse:
            self._weights = self._sparse_weights()
            return
        tokens = self.statistics_.dense_tokens()
        complement = tokens.sum(axis=0) - tokens + self.alpha
        total = complement.sum(axis=1, keepdims=True)
        logged = log_or_minus_inf(complement) - np.log(np.where(total > 0, total, 1.0))
        weights = logged / logged.sum(axis=1, keepdims=True) if self.norm else -logged
        self._weights = np.ascontiguousarray(weights.T)

    def _sparse_weights(self) -> SparseWeights:
        """The weights, apart for terms that a class has and its complement lacks."""
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
        """Make classes certain whose complement is impossible, by their prior (NB7)."""
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
        """Scores of each row once all classes but its own have lost it (NB8)."""
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


MODEL = Model(
    "complement",
    ComplementNaiveBayes,
    "complement naive Bayes: steadier when class sizes differ",
    defaults={"alpha": 0.3},
)
