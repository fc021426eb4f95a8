"""Reliability: whether "90 % sure" comes true nine times out of ten (AB2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.evaluation.labels import (
    as_labels,
    as_probabilities,
    check_true_labels,
    confidence_and_choice,
    index_of,
    is_multi_label,
    label_matrix,
    label_sets,
)
from earmark.evaluation.result import Result
from earmark.folds import check_equal_length
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    JsonObject,
    Label,
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
        filled = self.count > 0
        return super().to_dict() | {
            "confidence": _or_none(self.confidence, filled),
            "accuracy": _or_none(self.accuracy, filled),
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
    if several:
        right, sure, brier, log_loss = _per_decision(y_true, matrix, labels)
    else:
        right, sure, brier, log_loss = _per_document(y_true, matrix, labels)
    edges = _bin_edges(sure, n_bins, strategy)
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
    truth = as_labels(y_true)
    check_true_labels(truth)
    n_documents = check_equal_length(y_true=truth, proba=proba)
    index = index_of(truth, classes)
    sure, choice = confidence_and_choice(proba)
    known = index >= 0
    p_true = np.zeros(n_documents)
    p_true[known] = proba[np.flatnonzero(known), index[known]]
    # sum_c (p_c - 1[c = y])² = sum_c p_c² - 2 p_y + 1, without the one-hot matrix
    brier = float(np.mean(np.einsum("ij,ij->i", proba, proba) - 2 * p_true + 1))
    return choice == index, sure, brier, _mean_log_loss(p_true)


def _per_decision(
    y_true: ArrayLike, proba: FloatMatrix, classes: list[Label]
) -> tuple[BoolVector, FloatVector, float, float]:
    sets = label_sets(y_true, classes)
    check_true_labels(sets)
    check_equal_length(y_true=sets, proba=proba)
    p_event, event = proba.ravel(), label_matrix(sets, classes).ravel()
    p_true = np.where(event, p_event, 1 - p_event)
    brier = float(np.mean((p_event - event) ** 2))
    return event, p_event, brier, _mean_log_loss(p_true)


def _mean_log_loss(p_true: FloatVector) -> float:
    return float(-np.mean(np.log(np.clip(p_true, np.finfo(np.float64).eps, 1))))


def _bin_edges(sure: FloatVector, n_bins: int, strategy: str) -> FloatVector:
    if strategy == "uniform":
        return np.linspace(0, 1, n_bins + 1)
    inner = np.unique(np.quantile(sure, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return np.unique(np.r_[0.0, inner, 1.0])


def _or_none(values: FloatVector, filled: BoolVector) -> list[float | None]:
    return [float(v) if f else None for v, f in zip(values, filled, strict=True)]
