"""What the model thinks at one moment: guesses, doubts, an honest estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.decision.guarantee import Threshold, guaranteed_threshold
from earmark.evaluation.intervals import exact_interval
from earmark.pipeline.labelling.learners import Answers, Fitted
from earmark.typing import BoolVector, FloatVector, IntVector

__all__ = ["Estimate", "View", "make_view"]


@dataclass(frozen=True)
class Estimate:
    """Share of right guesses among random documents that nothing was learned from."""

    n_documents: int
    n_right: int
    low: float
    high: float

    @property
    def accuracy(self) -> float | None:
        """The share; None before the first random document was answered."""
        return self.n_right / self.n_documents if self.n_documents else None


@dataclass(frozen=True)
class View:
    """One state of the model; never changed, only replaced.

    Attributes
    ----------
    version : int
        Counts the states.
    fitted : Fitted or None
        None until there is something to tell apart.
    confidence : ndarray of shape (n_documents,)
        Of the best guess for each document.
    doubt : ndarray of shape (n_documents,)
        The smaller the gap between the two best guesses, the larger.
    estimate : Estimate
        How right the guesses are, with its interval.
    threshold : Threshold or None
        From which confidence on the guesses may be taken over.
    n_learned : int
        Documents learned from.

    """

    version: int
    classes: list[str]
    fitted: Fitted | None
    any_of: bool
    confidence: FloatVector
    doubt: FloatVector
    estimate: Estimate
    threshold: Threshold | None
    n_learned: int

    def guesses(self, documents: IntVector) -> list[tuple[str, ...]]:
        """The labels that the model would give."""
        if self.fitted is None:
            return [() for _ in documents]
        rows = self.fitted.log_proba[documents]
        names = self.fitted.classes
        if not self.any_of:
            return [(names[c],) for c in rows.argmax(axis=1)]
        return [
            tuple(names[c] for c in np.flatnonzero(row > np.log(0.5))) for row in rows
        ]

    def guaranteed(self) -> BoolVector:
        """Which documents may be taken over with the promise."""
        if self.threshold is None or not self.threshold.n_answered:
            return np.zeros(len(self.confidence), dtype=bool)
        found: BoolVector = self.confidence >= self.threshold.value
        return found


def make_view(
    version: int,
    classes: list[str],
    fitted: Fitted | None,
    any_of: bool,
    n_documents: int,
    checks: Answers,
    max_error: float,
    confidence: float,
    n_learned: int,
) -> View:
    """Derive all that is shown; ``checks`` are the random documents kept apart."""
    if fitted is None:
        flat = np.zeros(n_documents)
        estimate = Estimate(0, 0, 0.0, 1.0)
        return View(
            version, classes, None, any_of, flat, flat, estimate, None, n_learned
        )
    sure, doubt = _certainty(fitted, any_of)
    view = View(
        version, classes, fitted, any_of, sure, doubt, Estimate(0, 0, 0.0, 1.0), None, 0
    )
    documents = np.fromiter(checks, dtype=np.int64)
    right = np.asarray(
        [
            set(guess) == set(given)
            for guess, given in zip(
                view.guesses(documents), checks.values(), strict=True
            )
        ],
        dtype=bool,
    )
    n_right = int(right.sum())
    estimate = Estimate(len(right), n_right, *exact_interval(n_right, len(right)))
    threshold = guaranteed_threshold(sure[documents], right, max_error, confidence)
    return View(
        version, classes, fitted, any_of, sure, doubt, estimate, threshold, n_learned
    )


def _certainty(fitted: Fitted, any_of: bool) -> tuple[FloatVector, FloatVector]:
    log_proba: Any = fitted.log_proba
    if any_of:
        proba = np.exp(log_proba)
        sure = np.maximum(proba, 1 - proba)
        return sure.prod(axis=1), -sure.min(axis=1)
    best = np.partition(log_proba, -2, axis=1) if log_proba.shape[1] > 1 else log_proba
    top = best[:, -1]
    gap = top - best[:, -2] if log_proba.shape[1] > 1 else np.zeros(len(best))
    return np.exp(top), -gap
