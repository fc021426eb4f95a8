"""How far the classifier's confidence can be believed: evidence and thresholds.

The evidence is the confidence and the correctness of answers to documents that
the answering model had not seen: given calibration documents, or training
documents left out one by one or fold by fold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from earmark.decision.guarantee import (
    Threshold,
    estimated_threshold,
    guaranteed_threshold,
)
from earmark.evaluation.duplicates import group_near_duplicates
from earmark.exceptions import DataError, NotSupportedError
from earmark.pipeline.build import Engine
from earmark.pipeline.cross_fit import folds
from earmark.pipeline.inputs import RegionTexts, take
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, Labels

__all__ = ["ConfidenceEvidence"]

_N_FOLDS = 5


class ConfidenceEvidence:
    """Confidence and correctness of answers to unseen documents (AB1).

    Parameters
    ----------
    confidence : ndarray of shape (n_documents,)
        Probability of the likeliest label.
    correct : ndarray of bool of shape (n_documents,)
        Whether it is the true one.
    held_out : bool
        Whether the documents took no part in fitting. Only then does a threshold
        come with a guarantee; otherwise it is an estimate.

    """

    def __init__(
        self, confidence: FloatVector, correct: BoolVector, held_out: bool
    ) -> None:
        self.confidence = confidence
        self.correct = correct
        self.held_out = held_out

    @property
    def accuracy(self) -> float:
        """Share of right answers if every document is answered."""
        return float(self.correct.mean())

    def threshold(self, max_error: float, confidence: float) -> Threshold:
        """From which confidence on to answer, so that ``max_error`` holds."""
        if self.held_out:
            return guaranteed_threshold(
                self.confidence, self.correct, max_error, confidence
            )
        return estimated_threshold(self.confidence, self.correct, max_error)

    @classmethod
    def from_calibration(
        cls,
        engine: Engine,
        training: RegionTexts,
        calibration: tuple[RegionTexts, Labels],
    ) -> ConfidenceEvidence:
        """Evidence from documents that took no part in fitting.

        Near-duplicates of training documents and of each other count once: they
        are not independent.
        """
        texts, labels = calibration
        rows = _independent(training, texts)
        if not len(rows):
            raise DataError(
                "calibration holds only near-duplicates of training documents; they "
                "tell nothing about new ones: give other documents."
            )
        proba = engine.log_probabilities(take(texts, rows))
        return cls(*_judged(proba, engine.classes_, labels[rows]), True)

    @classmethod
    def from_training(
        cls,
        engine: Engine,
        make: Callable[[], Engine],
        texts: RegionTexts,
        labels: Labels,
        weight: Any | None,
    ) -> ConfidenceEvidence:
        """An estimate from the training documents, each judged without itself."""
        unseen = getattr(engine, "unseen_answers", lambda: None)()
        if unseen is not None:
            confidence, correct = unseen
            return cls(confidence, correct, False)
        try:
            proba = engine.leave_one_out(texts, labels, weight)
        except NotSupportedError:
            proba = _cross_fitted(make, texts, labels, weight, engine.classes_)
        return cls(*_judged(proba, engine.classes_, labels), False)


def _judged(
    log_proba: FloatMatrix, classes: Labels, labels: Labels
) -> tuple[FloatVector, BoolVector]:
    best = log_proba.argmax(axis=1)
    return np.exp(log_proba.max(axis=1)), np.asarray(classes[best] == labels)


def _independent(training: RegionTexts, texts: RegionTexts) -> IntVector:
    seen, new = _joined(training), _joined(texts)
    first = group_near_duplicates([*seen, *new]).first
    return np.asarray(np.sort(first[first >= len(seen)] - len(seen)), dtype=np.int64)


def _joined(texts: RegionTexts) -> list[str]:
    return ["\n".join(row) for row in zip(*texts.values(), strict=True)]


def _cross_fitted(
    make: Callable[[], Engine],
    texts: RegionTexts,
    labels: Labels,
    weight: Any | None,
    classes: Labels,
) -> FloatMatrix:
    """Log-probabilities of each document by an engine fitted without its fold."""
    found = np.full((len(labels), len(classes)), -np.inf)
    for part in folds(labels, _N_FOLDS, random_state=0):
        rest = np.setdiff1d(np.arange(len(labels)), part)
        engine = make()
        given = None if weight is None else np.asarray(weight)[rest]
        engine.fit(take(texts, rest), labels[rest], given)
        columns = np.searchsorted(classes, engine.classes_)
        found[np.ix_(part, columns)] = engine.log_probabilities(take(texts, part))
    return found
