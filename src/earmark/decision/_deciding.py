"""Scores and thresholds to decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from earmark.decision._scores import Scores
from earmark.decision.decision import Decision, object_array
from earmark.evaluation._labels import as_labels
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, Labels

__all__ = ["any_of_decision", "one_of_decision"]


def one_of_decision(
    scores: Scores, choice: IntVector, abstained: BoolVector, classes: Labels
) -> Decision:
    """The chosen label of each document, None where it abstains."""
    names = as_labels(classes)
    labels = [
        None if gone else names[c]
        for c, gone in zip(choice.tolist(), abstained.tolist(), strict=True)
    ]
    return Decision(
        labels=object_array(labels),
        scores=scores.shown,
        classes=classes,
        abstained=abstained,
        confidence=scores.shown_confidence(),
    )


def any_of_decision(
    margins: FloatMatrix, proba: FloatMatrix, classes: Labels, thresholds: FloatVector
) -> Decision:
    """Labels with a margin of 0 and more, where it is far enough from 0."""
    abstained: Any = np.abs(margins) < thresholds
    names = as_labels(classes)
    labels = [
        None
        if gone.all()
        else tuple(names[c] for c in np.flatnonzero((row >= 0) & ~gone))
        for row, gone in zip(margins, abstained, strict=True)
    ]
    return Decision(
        labels=object_array(labels),
        scores=proba,
        classes=classes,
        abstained=abstained,
        confidence=special.expit(np.abs(margins).min(axis=1)),
    )
