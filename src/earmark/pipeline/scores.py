"""One shape for every estimator's answer: class scores and log-probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark.kernels.logspace import log_normalize
from earmark.models._base import ClassScoresMixin
from earmark.typing import FloatMatrix, FloatVector, MatrixLike

__all__ = [
    "as_columns",
    "class_scores",
    "has_probabilities",
    "linear_form",
    "log_probabilities",
    "scores_are_logits",
]


def as_columns(scores: Any) -> FloatMatrix:
    """A score for each class; a two-class margin d becomes (-d/2, d/2)."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim == 1 or array.shape[1] == 1:
        half = array.reshape(-1) / 2.0
        return np.stack([-half, half], axis=1)
    return array


def has_probabilities(estimator: Any) -> bool:
    """Whether the estimator gives class probabilities by itself."""
    return hasattr(estimator, "predict_log_proba") or hasattr(
        estimator, "predict_proba"
    )


def linear_form(estimator: Any) -> tuple[FloatMatrix, FloatVector] | None:
    """Weights (n_features, n_classes) and offsets of a linear model, else None.

    A two-class margin is shared out as (-d/2, d/2), as in ``as_columns``.
    """
    coef = getattr(estimator, "coef_", None)
    offset = getattr(estimator, "intercept_", None)
    if coef is None or offset is None:
        return None
    weights = np.asarray(coef, dtype=np.float64)
    bias = np.broadcast_to(np.asarray(offset, dtype=np.float64), weights.shape[:1])
    if weights.shape[0] == 1:
        weights = np.concatenate([-weights, weights]) / 2.0
        bias = np.array([-bias[0], bias[0]]) / 2.0
    return np.ascontiguousarray(weights.T), bias


def scores_are_logits(estimator: Any) -> bool:
    """Whether the softmax of the class scores gives the probabilities."""
    return isinstance(estimator, LogisticRegression) or getattr(
        estimator, "_scores_are_logits", False
    )


def class_scores(estimator: Any, X: MatrixLike) -> FloatMatrix:
    """The estimator's own scores, (n_samples, n_classes)."""
    if isinstance(estimator, ClassScoresMixin):
        return estimator._scores(X)
    if hasattr(estimator, "decision_function"):
        return as_columns(estimator.decision_function(X))
    return log_probabilities(estimator, X)


def log_probabilities(estimator: Any, X: MatrixLike) -> FloatMatrix:
    """Log class probabilities, (n_samples, n_classes); tiny ones are floored."""
    if hasattr(estimator, "predict_log_proba"):
        return np.asarray(estimator.predict_log_proba(X), dtype=np.float64)
    proba = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return log_normalize(np.log(np.maximum(proba, 1e-300)))
