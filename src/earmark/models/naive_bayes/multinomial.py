"""Multinomial naive Bayes on exact class statistics."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from earmark.kernels.rows import canonical_rows, presence, row_lengths
from earmark.models.naive_bayes.count_model import CountNaiveBayes, log_or_minus_inf
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    SparseMatrix,
)

__all__ = ["MultinomialNaiveBayes"]


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

    _derived: ClassVar[tuple[str, ...]] = ("_offset", "_weights", "class_log_prior_")

    def __init__(
        self, *, alpha: float = 1.0, class_prior: ArrayLike | str | None = None
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior

    @property
    def feature_log_prob_(self) -> FloatMatrix:
        """Log P(term | class), (n_classes, n_features)."""
        return self._weights.T

    def _derive(self) -> None:
        docs = self.statistics_.docs.astype(np.float64)
        self.class_log_prior_ = self._log_prior(docs)
        self._offset = self.class_log_prior_
        smoothed = self.statistics_.dense_tokens() + self.alpha
        total = smoothed.sum(axis=1)
        # A class without any token says nothing about terms, even for alpha = 0.
        total[total == 0] = 1.0
        log_phi = log_or_minus_inf(smoothed) - np.log(total)[:, None]  # NB4
        self._weights = np.ascontiguousarray(log_phi.T)

    def _log_likelihood_without(
        self,
        rows: SparseMatrix,
        own: IntVector,
        weight: FloatVector,
        removed: SparseMatrix | None = None,
    ) -> FloatMatrix:
        """Log P(x|c) of each row once it has left its own class (NB8).

        ``removed`` holds the counts that leave with it, the row's own by default;
        it must cover the row's terms.
        """
        likelihood = np.asarray(rows @ self._weights, dtype=np.float64)
        if removed is None:
            gone, gone_tokens = rows.data, row_lengths(rows)
        else:
            gone = canonical_rows(presence(rows).multiply(removed)).data
            gone_tokens = row_lengths(removed)
        n_tokens = row_lengths(rows)
        entries = np.repeat(own, np.diff(rows.indptr))
        lost = np.repeat(weight, np.diff(rows.indptr)) * gone
        for c in np.unique(own):
            tokens = self.statistics_.tokens[[c]].toarray()[0].astype(np.float64)
            mine, held = own == c, entries == c
            left = np.maximum(tokens[rows.indices[held]] - lost[held], 0.0)
            logs = rows.data[held] * log_or_minus_inf(left + self.alpha)
            total = np.maximum(tokens.sum() - weight[mine] * gone_tokens[mine], 0.0)
            total = total + self.alpha * rows.shape[1]
            log_total = np.log(np.where(total > 0, total, 1.0))
            sums = np.add.reduceat(np.append(logs, 0.0), _starts(rows, mine))
            sums[np.diff(rows.indptr)[mine] == 0] = 0.0
            likelihood[mine, c] = sums - n_tokens[mine] * log_total
        return likelihood

    def _takes_counts(self) -> bool:
        return True


def _starts(rows: SparseMatrix, mine: BoolVector) -> IntVector:
    """Where each chosen row begins among the chosen rows' entries."""
    lengths = np.diff(rows.indptr)[mine]
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
