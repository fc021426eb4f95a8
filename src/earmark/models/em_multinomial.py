"""Naive Bayes with labelled and unlabelled documents, by the EM loop (SS1, SS2).

The loop asks for sums over the unlabelled documents and nothing else of them: here a
function call makes them, in parts an executor.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Self

import numpy as np
from scipy import sparse

from earmark.exceptions import DataError
from earmark.features.scoring import LinearRule
from earmark.kernels.rows import (
    log_normalize,
    require_counts,
)
from earmark.models.base.classifier import JointClassifier
from earmark.models.base.declaration import Model
from earmark.models.base.parted import PartedRows, PartRows, class_counts
from earmark.models.shared.pool_em import (
    Expect,
    Parameters,
    Pool,
    PoolSums,
    checked_few_labels,
    expected_sums,
    labelled_sums,
    naive_bayes_em,
)
from earmark.parameters import (
    AtLeastOne,
    NotNegative,
    Positive,
    PositiveShare,
    estimator,
)
from earmark.statistics import ClassStatistics
from earmark.stored import floats
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    Labels,
    LabelsLike,
    Matrix,
    MatrixLike,
    SparseMatrix,
)


@estimator
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

    converged_: bool = field(init=False)
    feature_log_prob_: Annotated[
        FloatMatrix, floats("n_classes", "n_features", high=0)
    ] = field(init=False)
    n_iter_: int = field(init=False)

    _takes_counts = True
    alpha: Positive = 0.1
    pool_weight: PositiveShare = 1.0
    evidence: Positive | None = None
    max_iter: AtLeastOne = 20
    tol: NotNegative = 1e-3

    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        *,
        unlabelled: MatrixLike | None = None,
        start: ArrayLike | None = None,
    ) -> Self:
        """Learn from counts X and labels y, None where a document has no label.

        Documents without a label may also be given apart, as ``unlabelled``.

        ``start`` is the first posterior of the unlabelled documents, of shape
        (n_unlabelled, n_classes); without it naive Bayes on the labelled ones gives it.
        """
        self._check_parameters()
        if unlabelled is not None:
            none = np.full(np.shape(unlabelled)[0], None, dtype=object)
            y = np.concatenate([np.asarray(y, dtype=object), none])
            X = sparse.vstack([sparse.csr_array(X), sparse.csr_array(unlabelled)])
        rows, labels, is_labelled = checked_few_labels(self, X, y)
        require_counts(rows, f"{type(self).__name__} takes")
        labelled, pool = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
        classes, y_index = np.unique(labels[labelled], return_inverse=True)
        ones = np.ones(len(labelled))
        own = labelled_sums(rows[labelled], y_index, len(classes), ones)
        unknown = rows[pool]
        self._begin(classes, own)
        if not len(pool):
            return self
        waiting = Pool(unknown, self._first_posterior(unknown, start), self.evidence)
        return self._learn(own, waiting.sums(), waiting.expect)

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """The same loop as in memory; sums of the pool come from the parts."""
        n_classes = len(rows.classes)
        labelled: ClassStatistics = rows.sum("labelled", class_counts, n_classes)
        docs = labelled.docs.astype(np.float64)
        own = PoolSums(labelled.dense_tokens().T, docs, 0.0, int(docs.sum()))

        def expect(now: Parameters, before: Parameters | None) -> PoolSums:
            sums: PoolSums = rows.sum("expected", _expected, now, before, self.evidence)
            return sums

        return self.fit_sums(rows.classes, own, expect)

    def fit_sums(self, classes: Labels, own: PoolSums, expect: Expect) -> Self:
        """Learn from sums over documents that are elsewhere, such as in parts.

        ``own`` has the sums of the labelled documents; ``expect`` gives those of the
        others under parameters.
        """
        self._check_parameters()
        if len(classes) < 2:
            raise DataError(
                f"{type(self).__name__} needs labelled documents of at least 2 "
                f"classes, got {classes.tolist()!r}."
            )
        self._begin(classes, own)
        self.n_features_in_ = own.tokens.shape[0]
        log_prob = np.ascontiguousarray(self.feature_log_prob_.T)
        start = Parameters(log_prob, self.class_log_prior_, tempered=False)
        first = expect(start, None)
        return self._learn(own, first, expect, start) if first.n_documents else self

    def _begin(self, classes: Labels, own: PoolSums) -> None:
        """Naive Bayes from the sums of labelled documents."""
        self.classes_ = classes
        smooth = own.tokens.T + self.alpha
        self.feature_log_prob_ = np.log(smooth / smooth.sum(axis=1, keepdims=True))
        self.class_log_prior_ = np.log(own.docs / own.docs.sum())
        self.n_iter_, self.converged_ = 1, True

    def _learn(
        self,
        own: PoolSums,
        first: PoolSums,
        expect: Expect,
        start: Parameters | None = None,
    ) -> Self:
        result = naive_bayes_em(
            own,
            first,
            expect,
            weight=self.pool_weight,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
            start=start,
        )
        log_prob, self.class_log_prior_, _ = result.parameters
        self.feature_log_prob_ = np.ascontiguousarray(log_prob.T)
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        return self

    def _first_posterior(
        self, rows: SparseMatrix, start: ArrayLike | None
    ) -> FloatMatrix:
        if start is None:
            return np.exp(log_normalize(self._joint_log_likelihood(rows)))
        shape = (rows.shape[0], len(self.classes_))
        posterior = np.array(start, dtype=np.float64)
        if posterior.shape != shape or not (posterior >= 0).all():
            raise ValueError(
                "SemiSupervisedNaiveBayes.fit: start must be non-negative of shape "
                f"{shape}, got shape {posterior.shape}."
            )
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        return np.asarray(X @ self.feature_log_prob_.T + self.class_log_prior_)

    def linear_rule(self) -> LinearRule:
        """The scores as a sum over the document's tokens."""
        weights = np.ascontiguousarray(self.feature_log_prob_.T)
        return LinearRule(weights, self.class_log_prior_, log_posteriors=log_normalize)


def _expected(
    now: Parameters, before: Parameters | None, evidence: float | None, rows: PartRows
) -> PoolSums:
    """The E-step of a part: sums of its unlabelled documents (SS1)."""
    return expected_sums(rows.pool, now, before, evidence)


MODEL = Model(
    "em-multinomial",
    SemiSupervisedNaiveBayes,
    "naive Bayes with EM on unlabelled text; can help or hurt",
    columns_from_pool=True,
)
