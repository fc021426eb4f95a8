"""One pair of classes: its transform, its classifier, the margin between them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from earmark.kernels.offset_svm import fit_offset_svm
from earmark.typing import (
    FloatVector,
    IntVector,
    Labels,
    SparseMatrix,
)

__all__ = ["PairProblem", "fit_pair", "pair_margin", "pair_weights"]


@dataclass(frozen=True)
class PairProblem:
    """The transform (HO6) between two classes."""

    columns: IntVector
    """Terms of the two classes' training documents; others are disregarded."""
    difference: FloatVector
    """Value of each of them when present, less that when absent."""
    offset: FloatVector
    """Value of each of them when absent: the constant part."""

    def features(self, rows: SparseMatrix) -> SparseMatrix:
        """The sparse part of the transform of presence rows."""
        cut = rows[:, self.columns]
        data = self.difference[cut.indices]
        return sparse.csr_array((data, cut.indices, cut.indptr), shape=cut.shape)


def fit_pair(
    base: Any, problem: PairProblem, features: SparseMatrix, labels: Labels
) -> Any:
    """Train a copy of the base classifier on the transformed documents of two classes.

    A linear support vector machine of LIBLINEAR's kind penalizes its intercept, so
    for it the constant part matters: it is trained on the full transform, exactly,
    in sparse form. Other classifiers get the sparse part.
    """
    if _is_plain_svm(base):
        return _fit_linear_svm(base, problem, features, labels)
    return clone(base).fit(features, labels)


def pair_margin(model: Any, problem: PairProblem, rows: SparseMatrix) -> FloatVector:
    """Margin of each row, positive for the second class."""
    linear = pair_weights(model, problem, rows.shape[1])
    if linear is not None:
        return np.asarray(rows @ linear[0] + linear[1], dtype=np.float64)
    features = problem.features(rows)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(features), dtype=np.float64).ravel()
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(features)[:, 1] - 0.5, dtype=np.float64)
    is_second = model.predict(features) == model.classes_[1]
    return np.where(is_second, 1.0, -1.0)


def pair_weights(
    model: Any, problem: PairProblem, n_features: int
) -> tuple[FloatVector, float] | None:
    """A linear model's weights on presences and its intercept; None if not linear."""
    coef = getattr(model, "coef_", None)
    if coef is None or not hasattr(model, "intercept_"):
        return None
    if sparse.issparse(coef):
        coef = coef.toarray()
    weights = np.zeros(n_features)
    weights[problem.columns] = np.ravel(coef) * problem.difference
    return weights, float(np.ravel(model.intercept_)[0])


def _is_plain_svm(base: Any) -> bool:
    return type(base) is LinearSVC and base.penalty == "l2"


def _fit_linear_svm(
    base: LinearSVC, problem: PairProblem, features: SparseMatrix, labels: Labels
) -> LinearSVC:
    """LinearSVC on the rows offset + features, without making them."""
    classes = np.unique(labels)
    weight = compute_class_weight(base.class_weight, classes=classes, y=labels)
    is_second = labels == classes[1]
    fit = fit_offset_svm(
        features,
        problem.offset,
        np.where(is_second, 1.0, -1.0),
        base.C * weight[is_second.astype(np.intp)],
        scale=float(base.intercept_scaling) if base.fit_intercept else 0.0,
        squared=base.loss == "squared_hinge",
        tol=base.tol,
        max_iter=base.max_iter,
        seed=base.random_state or 0,
    )
    if not fit.converged:
        warnings.warn(
            f"the linear SVM did not converge in {base.max_iter} passes; "
            "raise max_iter, or take a smaller C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    model = clone(base)
    model.classes_ = classes
    model.coef_, model.intercept_ = fit.weights[None, :], np.array([fit.intercept])
    model.n_iter_, model.n_features_in_ = fit.n_iter, features.shape[1]
    return model
