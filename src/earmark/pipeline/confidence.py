"""How far the classifier's confidence can be believed: evidence and thresholds.

The evidence is the confidence and the correctness of answers to documents that
the answering model had not seen: given calibration documents, or training
documents left out one by one or fold by fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from earmark.decision._evidence import Evidence, any_of_evidence, joined
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
# Documents times classes whose scores are held at a time.
_MOST_SCORES = 10_000_000


class ConfidenceEvidence:
    """Confidence and correctness of answers to unseen documents (AB1).

    Parameters
    ----------
    confidence : ndarray of shape (n_answers,)
        Probability of the likeliest label; for several labels a document the
        distance of each label's score from its cut.
    correct : ndarray of bool of shape (n_answers,)
        Whether the answer is right.
    held_out : bool
        Whether the documents took no part in fitting. Only then does a threshold
        come with a guarantee; otherwise it is an estimate.
    label : ndarray of int of shape (n_answers,) or None, default=None
        For several labels a document, the label that each answer is about.
    n_labels : int, default=1
        How many there are: each has a threshold of its own.

    """

    def __init__(
        self,
        confidence: FloatVector,
        correct: BoolVector,
        held_out: bool,
        label: IntVector | None = None,
        n_labels: int = 1,
    ) -> None:
        self.confidence = confidence
        self.correct = correct
        self.held_out = held_out
        self.label = label
        self.n_labels = n_labels

    @property
    def accuracy(self) -> float:
        """Share of right answers if every document is answered."""
        return float(self.correct.mean())

    def thresholds(self, max_error: float, confidence: float) -> list[Threshold]:
        """From which confidence on to answer, so that ``max_error`` holds.

        Several labels share the risk, so that all of their thresholds hold together.
        """
        shared = 1 - (1 - confidence) / self.n_labels

        def choose(sure: FloatVector, right: BoolVector) -> Threshold:
            if self.held_out:
                return guaranteed_threshold(sure, right, max_error, shared)
            return estimated_threshold(sure, right, max_error)

        if self.label is None:
            return [choose(self.confidence, self.correct)]
        every = Evidence(self.confidence, self.correct, self.label, self.n_labels)
        return every.thresholds(choose)

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
                "calibration holds no document of its own: each repeats a training "
                "document; give documents that took no part in fitting."
            )
        kept, truth = take(texts, rows), labels[rows]
        if engine.multi_label:
            return cls._any_of([_label_answers(engine, kept, truth, engine)], True)
        proba = engine.log_probabilities(kept)
        return cls(*_judged(proba, engine.classes_, truth), True)

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
        if engine.multi_label:
            return cls._any_of(
                [
                    _label_answers(other, take(texts, part), labels[part], engine)
                    for other, part in _refitted(make, texts, labels, weight)
                ],
                False,
            )
        unseen = getattr(engine, "unseen_answers", lambda: None)()
        if unseen is not None:
            confidence, correct = unseen
            return cls(confidence, correct, False)
        try:
            return cls(*_left_out(engine, texts, labels, weight), False)
        except NotSupportedError:
            proba = _cross_fitted(make, texts, labels, weight, engine.classes_)
        return cls(*_judged(proba, engine.classes_, labels), False)

    @classmethod
    def _any_of(cls, parts: list[Evidence], held_out: bool) -> ConfidenceEvidence:
        found = joined(parts)
        return cls(found.sure, found.right, held_out, found.group, found.n_groups)


def _judged(
    log_proba: FloatMatrix, classes: Labels, labels: Labels
) -> tuple[FloatVector, BoolVector]:
    best, sure = log_proba.argmax(axis=1), np.exp(log_proba.max(axis=1))
    # Where no model could be fitted without a document, it counts as wrong.
    return sure, np.asarray((classes[best] == labels) & (sure > 0))


def _left_out(
    engine: Engine, texts: RegionTexts, labels: Labels, weight: Any | None
) -> tuple[FloatVector, BoolVector]:
    """Each document judged without itself, so many at a time as memory allows."""
    step = max(1, _MOST_SCORES // len(engine.classes_))
    found = []
    for start in range(0, len(labels), step):
        rows = np.arange(start, min(start + step, len(labels)))
        given = None if weight is None else np.asarray(weight)[rows]
        proba = engine.leave_one_out(take(texts, rows), labels[rows], given)
        found.append(_judged(proba, engine.classes_, labels[rows]))
    sure, right = zip(*found, strict=True)
    return np.concatenate(sure), np.concatenate(right)


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
    for engine, part in _refitted(make, texts, labels, weight):
        columns = np.searchsorted(classes, engine.classes_)
        found[np.ix_(part, columns)] = engine.log_probabilities(take(texts, part))
    return found


def _refitted(
    make: Callable[[], Engine], texts: RegionTexts, labels: Labels, weight: Any | None
) -> Iterator[tuple[Engine, IntVector]]:
    """Engines, each fitted without the documents of one fold, and those documents."""
    strata = _strata(labels)
    for part in folds(strata, _N_FOLDS, random_state=0):
        rest = np.setdiff1d(np.arange(len(labels)), part)
        if strata is labels and len(set(labels[rest].tolist())) < 2:
            continue  # one class is left: there is nothing to fit
        engine = make()
        given = None if weight is None else np.asarray(weight)[rest]
        engine.fit(take(texts, rest), labels[rest], given)
        yield engine, part


def _strata(labels: Labels) -> Labels:
    """Labels to spread over folds: the first one of a list, or that there is none."""
    if labels.dtype != object or not isinstance(labels[0], tuple):
        return labels
    return np.array([str(each[:1]) for each in labels])


def _label_answers(
    model: Engine, texts: RegionTexts, labels: Labels, engine: Engine
) -> Evidence:
    margins = model.scores(texts)
    return any_of_evidence(margins, model.classes_, labels, engine.classes_)
