"""Linear classifiers on labelled and machine-labelled documents."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from earmark.kernels.rows import log_normalize
from earmark.models.base import linear_rule_of
from earmark.models.softmax import SoftmaxRegression, cross_entropy
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
)

__all__ = ["LinearStudent", "softmax_regression"]


def softmax_regression(C: float = 10.0) -> SoftmaxRegression:
    """The linear classifier of every voter and student: L2 softmax regression."""
    return SoftmaxRegression(solver="dual", C=C, tol=1e-3)


class LinearStudent(BaseEstimator):
    """A linear classifier that remembers which part of its weights had labels.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Anything linear whose ``fit`` takes ``sample_weight``; None is softmax
        regression.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_classes)
        Weight of each feature for each class.
    offsets_ : ndarray of shape (n_classes,)
        Constant of each class.
    labelled_weights_ : ndarray of shape (n_features, n_classes)
        The part of ``weights_`` that labelled documents put there; the rest came
        from documents without a label.

    """

    def __init__(self, estimator: Estimator = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Matrix,
        y: IntVector,
        sample_weight: FloatVector | None = None,
        is_labelled: BoolVector | None = None,
    ) -> Self:
        """Learn from features and class numbers; every class must occur."""
        used, dense = _used_columns(X)
        estimator = softmax_regression() if self.estimator is None else self.estimator
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings():
            # A last digit of the optimum is of no account here, and a document or two
            # of each class are what there is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The number of unique classes")
            model = clone(estimator).fit(dense, y, **given)
        weights, offsets = _linear_form(model)
        self.offsets_ = offsets
        self.weights_ = np.zeros((X.shape[1], len(offsets)))
        self.weights_[used] = weights
        self.labelled_weights_ = self.weights_.copy()
        if is_labelled is not None and not np.all(is_labelled):
            weight = np.ones(len(y)) if sample_weight is None else sample_weight
            self.labelled_weights_[used] = self._labelled_part(
                dense, weights, y, weight, np.asarray(is_labelled)
            )
        return self

    def _labelled_part(
        self,
        X: Matrix,
        weights: FloatMatrix,
        y: IntVector,
        sample_weight: FloatVector,
        is_labelled: BoolVector,
    ) -> FloatMatrix:
        """Share out the weights among the documents.

        At the optimum of a penalised log-loss each weight is a sum over documents,
        w = c * sum_i s_i (1[y_i] - p_i) x_i: those with a label give their part.
        """
        _, error = cross_entropy(X @ weights + self.offsets_, y, -sample_weight)
        labelled = X[is_labelled].T @ error[is_labelled]
        every = labelled + X[~is_labelled].T @ error[~is_labelled]
        size = float((every * every).sum())
        scale = float((weights * every).sum()) / size if size else 0.0
        return np.asarray(scale * labelled)

    def scores(self, X: Matrix) -> FloatMatrix:
        """Log-odds up to a constant a document, (n_documents, n_classes)."""
        return np.asarray(X @ self.weights_ + self.offsets_)

    def log_probabilities(self, X: Matrix) -> FloatMatrix:
        """Log-posteriors, (n_documents, n_classes)."""
        return log_normalize(self.scores(X))


def _used_columns(X: Matrix) -> tuple[Any, Matrix]:
    """Columns that are not all zero, and X on them; the others get no weight."""
    if not sparse.issparse(X):
        return slice(None), X
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    return (slice(None), X) if len(used) == X.shape[1] else (used, X[:, used])


def _linear_form(model: Estimator) -> tuple[FloatMatrix, FloatVector]:
    """Weights (n_features, n_classes) and offsets; a margin is split in halves."""
    rule = linear_rule_of(model)
    if rule is None or not rule.on_rows:
        raise TypeError(
            "SemiSupervisedClassifier.student must be 'softmax' or a linear classifier "
            f"with coef_ and intercept_, got {model!r}."
        )
    return rule.weights, np.array(rule.offset)
