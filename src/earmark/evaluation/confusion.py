"""Right and wrong answers counted: by class, pair of classes and label (VS4, VS5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.inputs.labels import (
    all_known,
    as_labels,
    class_list,
    index_of,
    label_sets,
)
from earmark.typing import ArrayLike, FloatVector, IntVector, JsonObject, Label


@dataclass(frozen=True)
class ClassScores(Result):
    """How well one class is found; rates without a denominator are 0."""

    label: Label
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    correct: int


@dataclass(frozen=True)
class Averages(Result):
    """Micro or macro averaged precision, recall and F1."""

    precision: float
    recall: float
    f1: float


def score_classes(
    classes: Sequence[Label],
    correct: IntVector,
    predicted: IntVector,
    support: IntVector,
) -> tuple[ClassScores, ...]:
    """Scores per class from its right answers, its answers and its documents."""
    rows = zip(
        classes, correct.tolist(), predicted.tolist(), support.tolist(), strict=True
    )
    return tuple(
        ClassScores(c, *_rates(hits, said, there), there, said, hits)
        for c, hits, said, there in rows
    )


def averages(scores: Sequence[ClassScores]) -> tuple[Averages, Averages]:
    """Averages over all counts (micro), and over the classes that occur (macro)."""
    counts = [(s.correct, s.predicted, s.support) for s in scores] or [(0, 0, 0)]
    micro = Averages(*_rates(*map(sum, zip(*counts, strict=True))))
    there = [s for s in scores if s.support or s.predicted]
    rates = [(s.precision, s.recall, s.f1) for s in there] or [(0.0, 0.0, 0.0)]
    macro = (sum(column) / len(rates) for column in zip(*rates, strict=True))
    return micro, Averages(*macro)


def _rates(correct: int, predicted: int, support: int) -> tuple[float, float, float]:
    precision = correct / predicted if predicted else 0.0
    recall = correct / support if support else 0.0
    f1 = 2 * correct / (predicted + support) if predicted + support else 0.0
    return precision, recall, f1


@dataclass(frozen=True)
class ConfusedPair(Result):
    """Documents of one class taken for another, the most confident examples first."""

    true: Label
    predicted: Label
    count: int
    share: float
    examples: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ConfusionMatrix(Result):
    """Counts of documents by true and predicted class; build with from_predictions.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of rows and columns.
    counts : ndarray of shape (n_classes, n_classes)
        Row: true class. Column: predicted class.
    abstained : ndarray of shape (n_classes,)
        Documents of each true class that got no answer.
    true_index, predicted_index : ndarray of shape (n_documents,)
        Row and column of every document; a column of -1 is an abstention.
    confidence : ndarray of shape (n_documents,) or None
        How sure the classifier was, if it was given.

    Examples
    --------
    >>> found = ConfusionMatrix.from_predictions(
    ...     ["a", "a", "b", "b"], ["a", "b", "b", None]
    ... )
    >>> found.counts.tolist(), found.abstained.tolist()
    ([[1, 1], [0, 1]], [0, 1])
    >>> round(found.accuracy, 3), found.coverage
    (0.667, 0.75)

    """

    classes: tuple[Label, ...]
    counts: NDArray[np.int64]
    abstained: IntVector
    true_index: IntVector
    predicted_index: IntVector
    confidence: FloatVector | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
    ) -> ConfusionMatrix:
        """Count predictions against the truth.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            True labels.
        y_pred : array-like of shape (n_documents,)
            Predicted labels; None where the classifier abstained.
        classes : array-like of shape (n_classes,), optional
            Order of rows and columns. Labels seen but not listed come after.
        confidence : array-like of shape (n_documents,), optional
            Puts the most confident documents first among the examples.

        """
        truth, answers = as_labels(y_true), as_labels(y_pred)
        if not truth:
            raise DataError(
                "a confusion matrix needs at least one document, got none; "
                "check the test part."
            )
        sure = None if confidence is None else np.asarray(confidence, np.float64)
        truth = all_known(truth, y_pred=answers, confidence=sure)
        labels = class_list(truth, answers, classes=classes)
        row, column = index_of(truth, labels), index_of(answers, labels)
        size = len(labels)
        cell = row * (size + 1) + np.where(column < 0, size, column)
        table = np.bincount(cell, minlength=size * (size + 1)).reshape(size, size + 1)
        return cls(labels, table[:, :size], table[:, size], row, column, sure)

    @property
    def n_documents(self) -> int:
        """All documents, answered or not."""
        return len(self.true_index)

    @property
    def n_answered(self) -> int:
        """Documents that got an answer."""
        return int(self.counts.sum())

    @property
    def n_correct(self) -> int:
        """Documents that got the right answer."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """Share of right answers among the answers given; NaN without answers."""
        return self.n_correct / self.n_answered if self.n_answered else float("nan")

    @property
    def coverage(self) -> float:
        """Share of documents that got an answer."""
        return self.n_answered / self.n_documents

    @property
    def per_class(self) -> tuple[ClassScores, ...]:
        """Precision, recall and F1 per class.

        Precision looks at the answers given; an unanswered document counts
        against the recall of its class.
        """
        return score_classes(
            self.classes,
            self.counts.diagonal(),
            self.counts.sum(axis=0),
            self.counts.sum(axis=1) + self.abstained,
        )

    @property
    def micro(self) -> Averages:
        """Averages over documents."""
        return averages(self.per_class)[0]

    @property
    def macro(self) -> Averages:
        """Averages over classes."""
        return averages(self.per_class)[1]

    def examples(
        self, true: Label, predicted: Label, top: int | None = None
    ) -> IntVector:
        """Positions of the documents of one cell; ``predicted=None``: unanswered."""
        row, column = index_of([true, predicted], self.classes)
        if row < 0 or (column < 0 and predicted is not None):
            missing = true if row < 0 else predicted
            n = len(self.classes)
            raise DataError(f"{missing!r} is not among the {n} classes of this matrix.")
        return self.cells.get((int(row), int(column)), self.true_index[:0])[:top]

    def most_confused(self, top: int = 10, n_examples: int = 3) -> list[ConfusedPair]:
        """The off-diagonal cells with most documents, largest first."""
        errors = self.counts.copy()
        np.fill_diagonal(errors, 0)
        flat = errors.ravel()
        order = np.argsort(-flat, kind="stable")[:top]
        order = order[flat[order] > 0]
        support = self.counts.sum(axis=1) + self.abstained
        size = len(self.classes)
        return [
            ConfusedPair(
                true=self.classes[row],
                predicted=self.classes[column],
                count=int(errors[row, column]),
                share=float(errors[row, column] / support[row]),
                examples=tuple(self.cells[row, column][:n_examples].tolist()),
            )
            for row, column in (divmod(int(cell), size) for cell in order)
        ]

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        return {
            "classes": list(self.classes),
            "counts": self.counts.tolist(),
            "abstained": self.abstained.tolist(),
            "accuracy": None if not self.n_answered else self.accuracy,
            "coverage": self.coverage,
            "n_documents": self.n_documents,
            "micro": self.micro.to_dict(),
            "macro": self.macro.to_dict(),
            "per_class": [scores.to_dict() for scores in self.per_class],
            "most_confused": [pair.to_dict() for pair in self.most_confused()],
        }

    @cached_property
    def cells(self) -> dict[tuple[int, int], IntVector]:
        """Documents by row and column (-1: unanswered), the most confident first."""
        cell = self.true_index * (len(self.classes) + 1) + self.predicted_index
        keys = [cell] if self.confidence is None else [-self.confidence, cell]
        order = np.lexsort(keys)
        ends = np.flatnonzero(np.diff(cell[order])) + 1
        return {
            (int(self.true_index[part[0]]), int(self.predicted_index[part[0]])): part
            for part in np.split(order, ends)
        }


@dataclass(frozen=True, eq=False)
class MultiLabelScores(Result):
    """Scores of any-of predictions, averaged over decisions (micro) and labels."""

    classes: tuple[Label, ...]
    per_class: tuple[ClassScores, ...]
    micro: Averages
    macro: Averages
    subset_accuracy: float  # share of answered documents with the whole set right
    hamming_loss: float  # share of wrong decisions among answered documents x labels
    n_documents: int
    n_answered: int

    @property
    def coverage(self) -> float:
        """Share of documents that got an answer."""
        return self.n_answered / self.n_documents

    def to_dict(self) -> JsonObject:
        """Plain values for JSON."""
        return super().to_dict() | {"coverage": self.coverage}


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
    names = None if classes is None else as_labels(classes)
    answers = label_sets(y_pred, names)
    truth = all_known(label_sets(y_true, names), y_pred=answers)
    if not truth:
        raise DataError("scores need at least one document, got none.")
    said = [answer for answer in answers if answer is not None]
    labels = class_list(*truth, *said, classes=names)
    support, predicted = _count(truth, labels), _count(said, labels)
    pairs = [(t, a) for t, a in zip(truth, answers, strict=True) if a is not None]
    correct = _count([t & a for t, a in pairs], labels)
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


def _count(sets: Sequence[frozenset[Label]], labels: tuple[Label, ...]) -> IntVector:
    each = index_of([label for one in sets for label in one], labels)
    return np.bincount(each, minlength=len(labels))
