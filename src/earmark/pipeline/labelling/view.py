"""What the model thinks at one moment: guesses, doubts, an honest estimate.

The promise is looked at at checkpoints only, and stays once it is granted. Each look
spends a part of the risk, ``1 - confidence``, and the parts add up to it: so the
promise holds although somebody watches, and may act on it at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from earmark.decision.evidence import Evidence
from earmark.decision.guarantee import Threshold
from earmark.decision.novelty import USUAL_LEVEL, NoveltyDetector
from earmark.decision.scores import Scores, log_odds
from earmark.evaluation.significance import exact_interval
from earmark.pipeline.labelling.learners import Answers, Fitted
from earmark.typing import BoolVector, FloatVector, IntVector

__all__ = ["Estimate", "View", "make_view"]

# Between two looks the number of checks grows by this factor.
_LOOK_GROWTH = 1.25


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
        What the last look at the promise came to.
    n_learned : int
        Documents learned from.
    granted : View or None
        The state whose guesses the promise speaks of: this one or an earlier one.
    n_looks, next_look : int
        Looks at the promise so far, and the number of checks of the next one.
    known : NoveltyDetector or None
        Tells documents unlike these; None while they are too few to tell.

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
    granted: View | None = None
    n_looks: int = 0
    next_look: int = 0
    known: NoveltyDetector | None = None

    def is_unlike_known(self, text: str) -> bool:
        """Whether a text is unlike all that was learned from."""
        if self.known is None:
            return False
        return bool(self.known.p_values([text])[0] <= USUAL_LEVEL)

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
        """Which documents may be accepted with the promise: guesses of ``granted``."""
        if self.granted is None or self.granted.threshold is None:
            return np.zeros(len(self.certainty), dtype=bool)
        return self.granted.certainty >= self.granted.threshold.value

    def guaranteed_guesses(self, documents: IntVector) -> list[tuple[str, ...]]:
        """The guesses that the promise speaks of."""
        return (self.granted or self).guesses(documents)


def make_view(
    previous: View | None,
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
    unknown = Estimate(0, 0, 0.0, 1.0)
    flat = np.zeros(n_documents)
    certainty, doubt = (flat, flat) if fitted is None else _certainty(fitted, any_of)
    view = View(
        0 if previous is None else previous.version + 1,
        *(classes, fitted, any_of, certainty, doubt, unknown, None, n_learned),
    )
    if previous is not None:
        view = replace(
            view,
            threshold=previous.threshold,
            granted=previous.granted,
            n_looks=previous.n_looks,
            next_look=previous.next_look,
        )
    if fitted is None:
        return view
    documents = np.fromiter(checks, dtype=np.int64)
    guesses = view.guesses(documents)
    right = np.asarray(
        [
            set(guess) == set(answer)
            for guess, answer in zip(guesses, checks.values(), strict=True)
        ],
        dtype=bool,
    )
    n_right = int(right.sum())
    estimate = Estimate(len(right), n_right, *exact_interval(n_right, len(right)))
    view = replace(view, estimate=estimate)
    evidence = Evidence(certainty[documents], right, held_out=True)
    return _looked(view, evidence, max_error, confidence)


def _looked(
    view: View, evidence: Evidence, max_error: float, confidence: float
) -> View:
    """The view after a look at the promise, if one is due."""
    look = view.n_looks + 1
    # 1 / (look (look + 1)) adds up to 1 over all looks.
    spent = (1 - confidence) / (look * (look + 1))
    n_checks = len(evidence.correct)
    fewest = int(np.ceil(np.log(spent) / np.log1p(-max_error)))
    if n_checks < max(view.next_look, fewest):
        if view.threshold is not None:
            return view
        (threshold,) = evidence.thresholds(max_error, confidence)
        return replace(view, threshold=threshold, next_look=fewest)
    (threshold,) = evidence.thresholds(max_error, 1 - spent)
    after = replace(
        view,
        threshold=threshold,
        n_looks=look,
        next_look=max(n_checks + 1, int(np.ceil(_LOOK_GROWTH * n_checks))),
    )
    if not threshold.n_answered:
        return after
    new = replace(after, granted=None)
    new = replace(new, granted=new)
    return new if new.guaranteed().sum() >= view.guaranteed().sum() else after


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
