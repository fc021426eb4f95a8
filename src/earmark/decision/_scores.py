"""Scores of any classifier, as a matrix, and how sure of its best label it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from earmark.exceptions import NotSupportedError
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["Scores", "read_scores", "scores_from_log_proba"]


@dataclass(frozen=True, eq=False)
class Scores:
    """Class scores of documents.

    ``matrix`` holds log probabilities, or margins when ``probabilistic`` is
    false. ``confidence`` is the log-odds of the best class (or its margin over
    the second): unlike a probability it does not run together at 1.
    """

    matrix: FloatMatrix
    probabilistic: bool
    choice: IntVector
    confidence: FloatVector

    @property
    def shown(self) -> FloatMatrix:
        """What people are shown: probabilities, or margins."""
        return np.exp(self.matrix) if self.probabilistic else self.matrix

    def shown_confidence(self) -> FloatVector:
        """The probability of the best class, or its margin."""
        return np.asarray(to_shown(self.confidence, self.probabilistic))


def to_shown(confidence: Any, probabilistic: bool) -> Any:
    """Log-odds as a probability; an infinite threshold stays infinite (never)."""
    if not probabilistic:
        return confidence
    values = np.asarray(confidence, dtype=np.float64)
    return np.where(np.isposinf(values), np.inf, special.expit(values))


def read_scores(model: Any, X: Any) -> Scores:
    """Scores by predict_log_proba, predict_proba or decision_function."""
    with np.errstate(divide="ignore"):  # a probability of 0 is a score of -inf
        if hasattr(model, "predict_log_proba"):
            return scores_from_log_proba(np.asarray(model.predict_log_proba(X)))
        if hasattr(model, "predict_proba"):
            return scores_from_log_proba(np.log(np.asarray(model.predict_proba(X))))
    if not hasattr(model, "decision_function"):
        raise NotSupportedError(
            f"{type(model).__name__} has neither predict_proba nor decision_function; "
            "abstaining needs to know how sure the classifier is."
        )
    margins = np.asarray(model.decision_function(X), dtype=np.float64)
    if margins.ndim == 1:
        margins = np.column_stack([-margins / 2, margins / 2])
    choice = margins.argmax(axis=1)
    best = np.partition(margins, -2, axis=1)[:, -2:]
    return Scores(margins, False, choice.astype(np.int64), best[:, 1] - best[:, 0])


def scores_from_log_proba(log_proba: FloatMatrix) -> Scores:
    """Scores from log probabilities (n_documents, n_classes)."""
    rows = np.arange(len(log_proba))
    choice = log_proba.argmax(axis=1).astype(np.int64)
    if log_proba.shape[1] == 1:  # one class: nothing to be unsure about
        return Scores(log_proba, True, choice, np.full(len(rows), np.inf))
    others = log_proba.copy()
    others[rows, choice] = -np.inf
    confidence = log_proba[rows, choice] - special.logsumexp(others, axis=1)
    return Scores(log_proba, True, choice, confidence)
