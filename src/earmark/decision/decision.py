"""The one value that every way of deciding returns, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from earmark.decision.guarantee import Threshold
from earmark.decision.scores import Scores
from earmark.evaluation.labels import as_labels
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, Labels

__all__ = [
    "Decision",
    "any_of_decision",
    "object_array",
    "one_of_decision",
    "with_abstain_label",
]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about each document, and on what ground.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,)
        One-of: the label, or None for an abstention. Any-of: a tuple of labels,
        or None where no label could be decided on.
    scores : ndarray of shape (n_documents, n_classes)
        The scores behind the decision: probabilities where the model has them.
    classes : ndarray of shape (n_classes,)
        Labels of the columns.
    abstained : ndarray of bool
        One-of: shape (n_documents,). Any-of: shape (n_documents, n_classes), one
        entry per label decision.
    confidence : ndarray of shape (n_documents,)
        One-of: the probability (or margin) of the best label, also where the
        decision was to abstain. Any-of: that of the least certain label decision.
    novelty : ndarray of shape (n_documents,) or None
        p-value that the document is like the training documents: the smaller, the
        more foreign. None if not measured.
    max_novelty : float or None
        Documents with a ``novelty`` of this or less are foreign, and not answered.
    best : ndarray of shape (n_documents,) or None
        The answer that would have been given without abstaining.
    certainty : ndarray or None
        What is held against the thresholds: log-odds of the best label, or its
        margin; any-of: distance of each label's score from its cut, signed,
        shape (n_documents, n_classes).

    Examples
    --------
    >>> made = Decision(
    ...     labels=np.array(["a", None], dtype=object), scores=np.eye(2),
    ...     classes=np.array(["a", "b"]), abstained=np.array([False, True]),
    ...     confidence=np.array([1.0, 0.5]),
    ... )
    >>> made.coverage
    0.5

    """

    labels: Labels
    scores: FloatMatrix
    classes: Labels
    abstained: BoolVector
    confidence: FloatVector
    novelty: FloatVector | None = None
    max_novelty: float | None = None
    best: Labels | None = None
    certainty: FloatMatrix | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def any_of(self) -> bool:
        """Whether each label was decided on by itself."""
        return self.abstained.ndim == 2

    @property
    def coverage(self) -> float:
        """Share of documents (any-of: of label decisions) that were decided."""
        return float(1 - self.abstained.mean()) if self.abstained.size else float("nan")

    @property
    def foreign(self) -> BoolVector:
        """Documents called unlike the training documents."""
        if self.novelty is None or self.max_novelty is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.novelty <= self.max_novelty)

    def with_novelty(
        self, novelty: FloatVector, max_novelty: float | None = None
    ) -> Decision:
        """The same with p-values; foreign documents are not answered."""
        told = replace(self, novelty=novelty, max_novelty=max_novelty)
        return told if max_novelty is None else told._without_foreign()

    def take(self, rows: IntVector | slice) -> Decision:
        """The same for some of the documents."""
        return replace(
            self,
            labels=self.labels[rows],
            scores=self.scores[rows],
            abstained=self.abstained[rows],
            confidence=self.confidence[rows],
            novelty=None if self.novelty is None else self.novelty[rows],
            best=None if self.best is None else self.best[rows],
            certainty=None if self.certainty is None else self.certainty[rows],
        )

    def at(self, thresholds: Sequence[Threshold]) -> Decision:
        """The same documents decided at other thresholds; none answers them all."""
        decide = _any_of_at if self.any_of else _one_of_at
        decided = decide(self, thresholds)
        return decided if self.max_novelty is None else decided._without_foreign()

    def _without_foreign(self) -> Decision:
        labels, abstained = self.labels.astype(object), self.abstained.copy()
        labels[self.foreign] = None
        abstained[self.foreign] = True
        return replace(self, labels=labels, abstained=abstained)


def one_of_decision(
    scores: Scores, classes: Labels, thresholds: Sequence[Threshold] = ()
) -> Decision:
    """The best label of each document, None where it is not certain enough."""
    best = classes[scores.choice]
    everything = Decision(
        labels=best,
        scores=scores.readable,
        classes=classes,
        abstained=np.zeros(len(best), dtype=bool),
        confidence=scores.confidence,
        best=best,
        certainty=scores.certainty,
    )
    return everything.at(thresholds) if thresholds else everything


def any_of_decision(
    margins: FloatMatrix,
    proba: FloatMatrix,
    classes: Labels,
    thresholds: Sequence[Threshold] = (),
) -> Decision:
    """Labels with a margin of 0 and more, where it is far enough from 0."""
    given = margins >= 0
    best = _label_tuples(given, classes)
    everything = Decision(
        labels=best,
        scores=proba,
        classes=classes,
        abstained=np.zeros(margins.shape, dtype=bool),
        confidence=special.expit(np.abs(margins).min(axis=1)),
        best=best,
        certainty=margins,
    )
    return everything.at(thresholds) if thresholds else everything


def _one_of_at(decision: Decision, thresholds: Sequence[Threshold]) -> Decision:
    assert decision.certainty is not None
    assert decision.best is not None
    if not thresholds:
        abstained = np.zeros(len(decision), dtype=bool)
        return replace(decision, labels=decision.best, abstained=abstained)
    cut = np.array([threshold.value for threshold in thresholds])
    if len(cut) > 1:  # one per predicted class
        cut = cut[decision.scores.argmax(axis=1)]
    abstained = decision.certainty < cut
    labels = decision.best.astype(object)
    labels[abstained] = None
    return replace(decision, labels=labels, abstained=abstained)


def _any_of_at(decision: Decision, thresholds: Sequence[Threshold]) -> Decision:
    margins = decision.certainty
    assert margins is not None
    if not thresholds:
        abstained = np.zeros(margins.shape, dtype=bool)
        labels = _label_tuples(margins >= 0, decision.classes)
        return replace(decision, labels=labels, abstained=abstained)
    cut = np.array([threshold.value for threshold in thresholds])
    abstained = np.abs(margins) < cut
    labels = _label_tuples((margins >= 0) & ~abstained, decision.classes)
    labels[abstained.all(axis=1)] = None
    return replace(decision, labels=labels, abstained=abstained)


def _label_tuples(given: BoolVector, classes: Labels) -> Labels:
    names = as_labels(classes)
    return object_array([tuple(names[c] for c in np.flatnonzero(r)) for r in given])


def with_abstain_label(labels: Labels, abstain_label: object) -> Labels:
    """Labels with something else than None for abstentions; plain if of one type.

    Examples
    --------
    >>> with_abstain_label(np.array([2, None], dtype=object), -1)
    array([ 2, -1])

    """
    if abstain_label is None or labels.dtype != object:
        return labels
    answers = [abstain_label if label is None else label for label in labels]
    one_type = len({type(answer) for answer in answers}) == 1
    is_plain = one_type and not isinstance(answers[0], tuple)
    return np.array(answers) if is_plain else object_array(answers)


def object_array(values: Sequence[object]) -> Labels:
    """A one-dimensional object array, also of tuples and None."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        array[place] = value
    return array
