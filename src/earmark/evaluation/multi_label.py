"""Figures for documents that carry any number of labels (VS4, VS5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.evaluation._labels import (
    check_equal_length,
    check_true_labels,
    class_list,
    label_sets,
)
from earmark.evaluation.rates import Averages, ClassScores, averages, score_classes
from earmark.exceptions import DataError
from earmark.typing import ArrayLike, IntVector

__all__ = ["MultiLabelScores", "multi_label_scores"]


@dataclass(frozen=True, eq=False)
class MultiLabelScores:
    """Scores of any-of predictions.

    Attributes
    ----------
    per_class : tuple of ClassScores
        One entry per label.
    micro, macro : Averages
        Over label decisions, and over labels.
    subset_accuracy : float
        Share of answered documents whose whole set of labels is right.
    hamming_loss : float
        Share of wrong yes/no decisions among answered documents x labels.
    n_documents, n_answered : int
        All documents, and those not abstained on.

    """

    classes: tuple[Any, ...]
    per_class: tuple[ClassScores, ...]
    micro: Averages
    macro: Averages
    subset_accuracy: float
    hamming_loss: float
    n_documents: int
    n_answered: int

    @property
    def coverage(self) -> float:
        """Share of documents that got an answer."""
        return self.n_answered / self.n_documents

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "classes": list(self.classes),
            "micro": self.micro.to_dict(),
            "macro": self.macro.to_dict(),
            "subset_accuracy": self.subset_accuracy,
            "hamming_loss": self.hamming_loss,
            "coverage": self.coverage,
            "n_documents": self.n_documents,
            "per_class": [scores.to_dict() for scores in self.per_class],
        }


def multi_label_scores(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: ArrayLike | None = None
) -> MultiLabelScores:
    """Per-class, micro and macro scores and subset accuracy of label lists.

    Parameters
    ----------
    y_true, y_pred : sequence of label lists, or indicator matrix
        The true and the predicted labels of each document; an empty list is "no
        label", None in ``y_pred`` is an abstention, which counts against recall.
    classes : array-like of shape (n_classes,), optional
        Order of the labels; the column names of an indicator matrix.

    Examples
    --------
    >>> found = multi_label_scores([["a"], ["a", "b"], []], [["a"], ["b"], []])
    >>> round(found.micro.f1, 3), round(found.subset_accuracy, 3)
    (0.8, 0.667)

    """
    names = None if classes is None else list(np.asarray(classes, dtype=object))
    truth, answers = label_sets(y_true, names), label_sets(y_pred, names)
    if not truth:
        raise DataError("scores need at least one document, got none.")
    check_equal_length(y_true=truth, y_pred=answers)
    check_true_labels(truth)
    labels = class_list(
        *(s for s in truth if s is not None),
        *(s for s in answers if s is not None),
        classes=names,
    )
    support = _count(truth, labels)
    predicted = _count(answers, labels)
    both = [
        None if t is None or a is None else t & a
        for t, a in zip(truth, answers, strict=True)
    ]
    correct = _count(both, labels)
    pairs = [
        (t, a)
        for t, a in zip(truth, answers, strict=True)
        if t is not None and a is not None
    ]
    wrong = sum(len(t ^ a) for t, a in pairs)
    scores = score_classes(labels, correct, predicted, support)
    micro, macro = averages(scores)
    decisions = max(len(pairs) * len(labels), 1)
    return MultiLabelScores(
        classes=labels,
        per_class=scores,
        micro=micro,
        macro=macro,
        subset_accuracy=sum(t == a for t, a in pairs) / max(len(pairs), 1),
        hamming_loss=wrong / decisions,
        n_documents=len(truth),
        n_answered=len(pairs),
    )


def _count(sets: list[frozenset[Any] | None], labels: tuple[Any, ...]) -> IntVector:
    position = {label: number for number, label in enumerate(labels)}
    flat = [position[label] for s in sets if s is not None for label in s]
    return np.bincount(np.asarray(flat, np.int64), minlength=len(labels)).astype(
        np.int64
    )
