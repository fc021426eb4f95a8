"""Plain semi-supervised EM, the literature's method, to compare with (SS1)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from earmark._checks import require_in_range, require_integer
from earmark.exceptions import DataError
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import class_sums
from earmark.models.base import JointClassifier
from earmark.models.protocols import LinearRule
from earmark.models.semi_supervised._em import naive_bayes_em
from earmark.models.semi_supervised._targets import checked_few_labels
from earmark.typing import FloatMatrix, IntVector, Matrix, MatrixLike, SparseMatrix

__all__ = ["SemiSupervisedNaiveBayes"]


class SemiSupervisedNaiveBayes(JointClassifier):
    """Multinomial naive Bayes that learns from unlabelled documents by EM.

    A gamble with few labels: it can gain or lose much. SemiSupervisedClassifier
    uses the same loop more carefully.

    Parameters
    ----------
    alpha : float > 0, default=0.1
        Smoothing count added to every term of every class.
    pool_weight : float in (0, 1], default=1.0
        What an unlabelled document counts, a labelled one counting 1 (lambda).
    evidence : float > 0 or None, default=None
        At most so many tokens of a document speak in the E-step; None: all.
    start : None or array-like of shape (n_unlabelled, n_classes), default=None
        First posterior of the unlabelled documents; None takes it from naive Bayes
        on the labelled ones.
    max_iter : int, default=20
        Rounds at most.
    tol : float, default=1e-3
        Stop when no posterior moves by more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log P(term | class).
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_iter_ : int
        Rounds run; 1 if no document lacks a label.
    converged_ : bool
        Whether the posteriors stood still.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] K. Nigam, A. McCallum, S. Thrun and T. Mitchell (2000). Text
       classification from labeled and unlabeled documents using EM. Machine
       Learning 39.

    Examples
    --------
    >>> import numpy as np
    >>> X = [[2, 0, 0], [0, 2, 0], [1, 0, 3], [0, 0, 1]]
    >>> y = np.array(["a", "b", None, None], dtype=object)
    >>> SemiSupervisedNaiveBayes().fit(X, y).predict([[0, 0, 1]])
    array(['a'], dtype='<U1')

    """

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        pool_weight: float = 1.0,
        evidence: float | None = None,
        start: Any = None,
        max_iter: int = 20,
        tol: float = 1e-3,
    ) -> None:
        self.alpha = alpha
        self.pool_weight = pool_weight
        self.evidence = evidence
        self.start = start
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: MatrixLike, y: Any) -> Self:
        """Learn from counts X and labels y, None where a document has no label."""
        self._check_parameters()
        rows, labels, labelled = checked_few_labels(self, X, y)
        if rows.nnz and rows.data.min() < 0:
            raise DataError("Negative values in data: X must hold counts.")
        self.classes_, y_index = np.unique(labels[labelled], return_inverse=True)
        pool = np.setdiff1d(np.arange(rows.shape[0]), labelled)
        known, unknown = rows[labelled], rows[pool]
        self._supervised(known, y_index)
        self.n_iter_, self.converged_ = 1, True
        if len(pool):
            result = naive_bayes_em(
                known,
                y_index,
                unknown,
                self._first_posterior(unknown),
                weight=self.pool_weight,
                alpha=self.alpha,
                evidence=self.evidence,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            self.feature_log_prob_ = np.ascontiguousarray(result.feature_log_prob.T)
            self.class_log_prior_ = result.class_log_prior
            self.n_iter_, self.converged_ = result.n_iter, result.converged
        return self

    def _supervised(self, rows: SparseMatrix, y_index: IntVector) -> None:
        """Naive Bayes on the labelled documents."""
        n_classes = len(self.classes_)
        tokens = class_sums(rows, y_index, n_classes).toarray()
        self._begin(tokens, np.bincount(y_index, minlength=n_classes))

    def _begin(self, tokens: FloatMatrix, docs: IntVector) -> None:
        """Naive Bayes from the sums (n_classes, n_terms) of labelled documents."""
        smooth = tokens + self.alpha
        self.feature_log_prob_ = np.log(smooth / smooth.sum(axis=1, keepdims=True))
        self.class_log_prior_ = np.log(docs / docs.sum())

    def _first_posterior(self, rows: SparseMatrix) -> FloatMatrix:
        shape = (rows.shape[0], len(self.classes_))
        if self.start is None:
            joint = self._joint_log_likelihood(rows)
            joint -= joint.max(axis=1, keepdims=True)
            posterior = np.exp(joint)
        else:
            posterior = np.array(self.start, dtype=np.float64)
            if posterior.shape != shape or not (posterior >= 0).all():
                raise ValueError(
                    "SemiSupervisedNaiveBayes.start must be non-negative of shape "
                    f"{shape}, got shape {posterior.shape}."
                )
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        return np.asarray(X @ self.feature_log_prob_.T + self.class_log_prior_)

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over the document's tokens."""
        weights = np.ascontiguousarray(self.feature_log_prob_.T)
        return LinearRule(weights, self.class_log_prior_, log_posteriors=log_normalize)

    def _check_parameters(self) -> None:
        require_in_range(self, "alpha", low=0.0, open_low=True)
        require_in_range(self, "pool_weight", low=0.0, high=1.0, open_low=True)
        require_integer(self, "max_iter", low=1)
        require_in_range(self, "tol", low=0.0)
        if self.evidence is not None:
            require_in_range(self, "evidence", low=0.0, open_low=True)

    def _takes_counts(self) -> bool:
        return True
