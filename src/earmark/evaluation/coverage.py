"""What confidence is worth: the accuracy of the surest answers, and reliability (AB2).

Reliability asks whether "90 % sure" comes true nine times out of ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.inputs.labels import (
    all_known,
    as_labels,
    as_probabilities,
    confidence_and_choice,
    index_of,
    is_multi_label,
    label_matrix,
    label_sets,
    right_answers,
)
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    JsonObject,
    Label,
)


def spread(n_points: int, most: int) -> IntVector:
    """At most so many of the points of a curve: evenly, with the first and the last."""
    places = np.linspace(0, n_points - 1, min(n_points, most))
    return np.unique(places.round().astype(np.int64))


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
        keep = spread(len(self.coverage), max_points)
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
    answers, scores = as_labels(y_pred), np.asarray(confidence, dtype=np.float64)
    truth = all_known(as_labels(y_true), y_pred=answers, confidence=scores)
    n_documents = len(truth)
    has_answer = np.fromiter((a is not None for a in answers), bool, n_documents)
    correct = right_answers(truth, answers)
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
    if not has_answer.any():
        empty = np.empty(0)
        return AccuracyCoverage(empty, empty, empty, empty.astype(int), n_documents)
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


@dataclass(frozen=True, eq=False)
class Reliability(Result):
    """Calibration figures and the bins of a reliability diagram.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Borders of the bins of confidence.
    confidence, accuracy : ndarray of shape (n_bins,)
        Mean confidence and share of right answers in each bin; NaN when empty.
    count : ndarray of shape (n_bins,)
        Answers in each bin.
    ece : float
        Expected calibration error: mean over answers of |accuracy - confidence|
        of their bin.
    brier : float
        Mean squared distance between the probabilities and the one-hot truth,
        summed over classes: 0 is perfect, 2 is certain and wrong. For several
        labels per document: the mean of (p - y)² over label decisions.
    log_loss : float
        Mean of -ln P(true class), P cut at the machine epsilon.
    bias : float
        Mean confidence minus accuracy: above 0 it is too sure of itself.
    n_answers : int
        What was counted: documents, or label decisions.

    """

    edges: FloatVector
    confidence: FloatVector
    accuracy: FloatVector
    count: IntVector
    ece: float
    brier: float
    log_loss: float
    bias: float
    n_answers: int

    def to_dict(self) -> JsonObject:
        """Plain values for JSON; empty bins hold None."""
        bins = {"confidence": self.confidence, "accuracy": self.accuracy}
        return super().to_dict() | {
            name: [None if np.isnan(v) else v for v in values.tolist()]
            for name, values in bins.items()
        }


def reliability(
    y_true: ArrayLike,
    proba: ArrayLike,
    classes: ArrayLike,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
) -> Reliability:
    """Reliability bins, expected calibration error, Brier score and log loss (AB2).

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        The true labels, or a list of label lists. A label that is not among
        ``classes`` was given probability 0.
    proba : array-like of shape (n_documents, n_classes)
        Probabilities, columns in the order of ``classes``.
    classes : array-like of shape (n_classes,)
        The labels of the columns.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal number of answers.

    Returns
    -------
    Reliability
        Bins and figures; the bins look at the most probable class of each
        document, or at every label decision when documents carry several labels.

    Examples
    --------
    >>> found = reliability("ab", [[0.8, 0.2], [0.4, 0.6]], ["a", "b"])
    >>> round(found.ece, 3), round(found.log_loss, 3)
    (0.3, 0.367)

    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be >= 1, got {n_bins!r}.")
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}.")
    labels = as_labels(classes)
    several = is_multi_label(y_true)
    matrix = as_probabilities(proba, len(labels), one_of=not several)
    judged = _per_decision if several else _per_document
    right, sure, brier, log_loss = judged(y_true, matrix, labels)
    edges = np.linspace(0, 1, n_bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.r_[0.0, np.quantile(sure, edges[1:-1]), 1.0])
    place = np.clip(np.searchsorted(edges, sure, side="left") - 1, 0, len(edges) - 2)
    count = np.bincount(place, minlength=len(edges) - 1)
    total = np.maximum(count, 1)
    mean_sure = np.bincount(place, sure, len(count)) / total
    mean_right = np.bincount(place, right, len(count)) / total
    gap = np.abs(mean_sure - mean_right)
    n_answers = len(sure)
    return Reliability(
        edges=edges,
        confidence=np.where(count > 0, mean_sure, np.nan),
        accuracy=np.where(count > 0, mean_right, np.nan),
        count=count.astype(np.int64),
        ece=float(count @ gap / n_answers),
        brier=brier,
        log_loss=max(0.0, log_loss),  # rounding may go below
        bias=float(sure.mean() - right.mean()),
        n_answers=n_answers,
    )


def _per_document(
    y_true: ArrayLike, proba: FloatMatrix, classes: list[Label]
) -> tuple[BoolVector, FloatVector, float, float]:
    index = index_of(all_known(as_labels(y_true), proba=proba), classes)
    sure, choice = confidence_and_choice(proba)
    known = index >= 0
    p_true = np.zeros(len(index))
    p_true[known] = proba[np.flatnonzero(known), index[known]]
    # sum_c (p_c - 1[c = y])² = sum_c p_c² - 2 p_y + 1, without the one-hot matrix
    brier = float(np.mean(np.einsum("ij,ij->i", proba, proba) - 2 * p_true + 1))
    return choice == index, sure, brier, _mean_log_loss(p_true)


def _per_decision(
    y_true: ArrayLike, proba: FloatMatrix, classes: list[Label]
) -> tuple[BoolVector, FloatVector, float, float]:
    sets = all_known(label_sets(y_true, classes), proba=proba)
    p_event, event = proba.ravel(), label_matrix(sets, classes).ravel()
    p_true = np.where(event, p_event, 1 - p_event)
    brier = float(np.mean((p_event - event) ** 2))
    return event, p_event, brier, _mean_log_loss(p_true)


def _mean_log_loss(p_true: FloatVector) -> float:
    return float(-np.mean(np.log(np.clip(p_true, np.finfo(np.float64).eps, 1))))
