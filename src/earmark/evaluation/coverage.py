"""Accuracy against coverage: the accuracy of the most confident answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.evaluation.labels import as_labels, check_true_labels, right_answers
from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.typing import ArrayLike, FloatVector, IntVector, JsonObject


@dataclass(frozen=True, eq=False)
class AccuracyCoverage(Result):
    """The accuracy/coverage curve of a set of predictions.

    One point per distinct confidence: the points are what a threshold can
    reach, so the curve does not depend on the order of tied documents.

    Attributes
    ----------
    coverage : ndarray of shape (n_points,)
        Share of documents answered when every confidence from ``threshold`` up
        is answered; increasing.
    accuracy : ndarray of shape (n_points,)
        Share of right answers among them.
    threshold : ndarray of shape (n_points,)
        The confidence at that point; decreasing.
    answered : ndarray of shape (n_points,)
        Number of documents answered.
    n_documents : int
        All documents, those without an answer included.

    """

    coverage: FloatVector
    accuracy: FloatVector
    threshold: FloatVector
    answered: IntVector
    n_documents: int

    @property
    def area(self) -> float:
        """Mean accuracy over all coverages 1/n, 2/n, ... (1 is perfect).

        Within a group of tied documents the accuracy is the expected one under
        a random order of the group. Documents without an answer count as wrong.
        """
        correct = np.rint(self.accuracy * self.answered)
        ranks = np.arange(1, self.n_documents + 1)
        steps = np.interp(ranks, np.r_[0, self.answered], np.r_[0, correct])
        return float(np.mean(steps / ranks))

    def coverage_at(self, accuracy: float) -> float:
        """Largest coverage at which at least ``accuracy`` of the answers are right.

        0.0 when no threshold reaches it.
        """
        point = self._point_at(accuracy)
        return 0.0 if point is None else float(self.coverage[point])

    def threshold_at(self, accuracy: float) -> float | None:
        """Confidence from which on to answer, to reach ``accuracy``; None: not at all.

        The threshold is chosen and judged on the same documents. For a promise
        about new documents use ``AbstainingClassifier``.
        """
        point = self._point_at(accuracy)
        return None if point is None else float(self.threshold[point])

    def accuracy_at(self, coverage: float) -> float:
        """Accuracy of the most confident ``coverage`` share of the documents."""
        if not 0 < coverage <= 1:
            raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")
        correct = self.accuracy * self.answered
        rank = coverage * self.n_documents
        return float(np.interp(rank, np.r_[0, self.answered], np.r_[0, correct]) / rank)

    def at_threshold(self, threshold: float) -> tuple[float, float | None]:
        """Coverage and accuracy when answering from confidence ``threshold`` on."""
        point = int(np.count_nonzero(self.threshold >= threshold)) - 1
        if point < 0:
            return 0.0, None
        return float(self.coverage[point]), float(self.accuracy[point])

    def to_dict(self, max_points: int = 200) -> JsonObject:
        """Plain values for JSON; long curves are thinned to ``max_points``."""
        keep = _thinned(len(self.coverage), max_points)
        return {
            "coverage": self.coverage[keep].tolist(),
            "accuracy": self.accuracy[keep].tolist(),
            "threshold": self.threshold[keep].tolist(),
            "area": self.area,
            "coverage_at": {
                str(target): self.coverage_at(target) for target in (0.9, 0.95, 0.99)
            },
            "n_documents": self.n_documents,
        }

    def _point_at(self, accuracy: float) -> int | None:
        # A hair of slack: 19 right of 20 must count as 0.95.
        points = np.flatnonzero(self.accuracy >= accuracy - 1e-12)
        return int(points[-1]) if len(points) else None


def accuracy_coverage(
    y_true: ArrayLike, y_pred: ArrayLike, confidence: ArrayLike
) -> AccuracyCoverage:
    """Accuracy of the x % most confident answers, for every x (HY5).

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        The true labels.
    y_pred : array-like of shape (n_documents,)
        The predicted labels; None where the classifier abstained, whatever the
        threshold: such a document is never covered.
    confidence : array-like of shape (n_documents,)
        Any score that rises with confidence, such as max_c P(c|d).

    Returns
    -------
    AccuracyCoverage
        The curve, with ``coverage_at(accuracy)`` and ``area``.

    References
    ----------
    R. Raina, Y. Shen, A. Ng, A. McCallum (2003). Classification with hybrid
    generative/discriminative models. NIPS, section 5.

    Examples
    --------
    >>> curve = accuracy_coverage("aabb", "aaba", [0.9, 0.8, 0.7, 0.6])
    >>> curve.coverage_at(1.0)
    0.75
    >>> curve.accuracy.tolist()
    [1.0, 1.0, 1.0, 0.75]

    """
    truth, answers = as_labels(y_true), as_labels(y_pred)
    scores = np.asarray(confidence, dtype=np.float64)
    n_documents = check_equal_length(y_true=truth, y_pred=answers, confidence=scores)
    check_true_labels(truth)
    has_answer = np.fromiter((a is not None for a in answers), bool, n_documents)
    correct = right_answers(truth, answers)
    _check_confidence(scores, has_answer)
    if not has_answer.any():
        empty = np.empty(0)
        nobody = np.empty(0, np.int64)
        return AccuracyCoverage(empty, empty, empty, nobody, n_documents)
    scores, correct = scores[has_answer], correct[has_answer]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True])  # last of each tie
    answered = ends + 1
    right = np.cumsum(correct[order])[ends]
    return AccuracyCoverage(
        coverage=answered / n_documents,
        accuracy=right / answered,
        threshold=ranked[ends],
        answered=answered.astype(np.int64),
        n_documents=n_documents,
    )


def _check_confidence(scores: FloatVector, has_answer: np.ndarray[Any, Any]) -> None:
    if scores.ndim != 1:
        raise DataError(
            "confidence must hold one number per document, got an array of shape "
            f"{scores.shape}; take the largest probability of each row."
        )
    bad = np.flatnonzero(np.isnan(scores) & has_answer)
    if len(bad):
        raise DataError(
            f"confidence must be a number, got NaN in row {bad[0]} and "
            f"{len(bad) - 1} more rows."
        )


def _thinned(n_points: int, at_most: int) -> IntVector:
    """Evenly spread point numbers, first and last included."""
    if n_points <= at_most:
        return np.arange(n_points)
    return np.unique(np.linspace(0, n_points - 1, at_most).round().astype(np.int64))
