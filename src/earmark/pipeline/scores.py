"""One shape for every estimator's answer: class scores and log-probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark.kernels.logspace import log_normalize
from earmark.models._base import ClassScoresMixin, LinearRule
from earmark.typing import FloatMatrix, MatrixLike

__all__ = [
    "as_columns",
    "class_scores",
    "has_probabilities",
    "linear_form",
    "log_probabilities",
    "posterior_rule",
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


def linear_form(estimator: Any) -> LinearRule | None:
    """How the class scores are linear in a row, or None where they are not."""
    if hasattr(estimator, "_linear_form"):
        rule: LinearRule | None = estimator._linear_form()
        return rule
    coef = getattr(estimator, "coef_", None)
    offset = getattr(estimator, "intercept_", None)
    if coef is None or offset is None:
        return None
    return LinearRule.from_coef(coef, offset)


def posterior_rule(estimator: Any) -> Callable[[FloatMatrix], FloatMatrix] | None:
    """From class scores to log-probabilities, or None where scores do not say."""
    if hasattr(estimator, "_log_posteriors"):
        rule: Callable[[FloatMatrix], FloatMatrix] = estimator._log_posteriors
        return rule
    is_logit = isinstance(estimator, LogisticRegression) or getattr(
        estimator, "_scores_are_logits", False
    )
    return log_normalize if is_logit else None


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
