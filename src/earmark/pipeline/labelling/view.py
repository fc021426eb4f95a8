"""What the model thinks at one moment: guesses, doubts, an honest estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from earmark.decision.evidence import Evidence
from earmark.decision.guarantee import Threshold
from earmark.decision.scores import Scores, log_odds
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
    certainty : ndarray of shape (n_documents,)
        Log-odds that the guess for each document is right, by the model itself.
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
    certainty: FloatVector
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

    @property
    def confidence(self) -> FloatVector:
        """Probability of the guess for each document, as people read it."""
        if self.fitted is None:
            return self.certainty
        confidence: FloatVector = special.expit(self.certainty)
        return confidence

    def guaranteed(self) -> BoolVector:
        """Which documents may be taken over with the promise."""
        if self.threshold is None or not self.threshold.n_answered:
            return np.zeros(len(self.certainty), dtype=bool)
        return self.certainty >= self.threshold.value


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
    certainty, doubt = _certainty(fitted, any_of)
    unknown = Estimate(0, 0, 0.0, 1.0)
    view = View(version, classes, fitted, any_of, certainty, doubt, unknown, None, 0)
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
    evidence = Evidence(certainty[documents], right, held_out=True)
    (threshold,) = evidence.thresholds(max_error, confidence)
    return replace(view, estimate=estimate, threshold=threshold, n_learned=n_learned)


def _certainty(fitted: Fitted, any_of: bool) -> tuple[FloatVector, FloatVector]:
    """Log-odds of the guess, and doubt: the smaller the gap, the larger."""
    log_proba = fitted.log_proba
    if any_of:
        each = special.log_expit(np.abs(log_odds(log_proba)))
        return log_odds(each.sum(axis=1)), -np.exp(each.min(axis=1))
    if log_proba.shape[1] == 1:
        return np.full(len(log_proba), np.inf), np.zeros(len(log_proba))
    gap = Scores.from_margins(log_proba).certainty
    return Scores.from_log_proba(log_proba).certainty, -gap
