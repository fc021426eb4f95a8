"""Scores of any classifier: which label is best, and how sure of it the model is.

What is ranked or thresholded is the log-odds of the best label, which keeps apart
what a probability would round to 1; what people read is the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from earmark.exceptions import DataError, NotSupportedError
from earmark.kernels.rows import logsumexp_rows
from earmark.parameters import offers
from earmark.typing import (
    ArrayLike,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
)

__all__ = [
    "Ranking",
    "Scores",
    "as_columns",
    "class_log_odds",
    "has_probabilities",
    "log_odds",
    "log_probabilities",
    "rank",
    "read_scores",
]


@dataclass(frozen=True, eq=False)
class Scores:
    """Class scores of documents.

    Attributes
    ----------
    matrix : ndarray of shape (n_documents, n_classes)
        Log probabilities, or margins where ``probabilistic`` is false.
    probabilistic : bool
        Whether the model gives probabilities.
    choice : ndarray of int of shape (n_documents,)
        The best class.
    certainty : ndarray of shape (n_documents,)
        Log-odds of the best class against all others together, or its margin over
        the second: unlike a probability it does not run together at 1.

    """

    matrix: FloatMatrix
    probabilistic: bool
    choice: IntVector
    certainty: FloatVector

    @classmethod
    def from_log_proba(cls, log_proba: FloatMatrix) -> Scores:
        """Scores from log probabilities (n_documents, n_classes)."""
        rows = np.arange(len(log_proba))
        choice = log_proba.argmax(axis=1).astype(np.int64)
        if log_proba.shape[1] == 1:  # one class: nothing to be unsure about
            return cls(log_proba, True, choice, np.full(len(rows), np.inf))
        others = log_proba.copy()
        others[rows, choice] = -np.inf
        rest = logsumexp_rows(others)
        return cls(log_proba, True, choice, log_proba[rows, choice] - rest)

    @classmethod
    def from_margins(cls, margins: FloatMatrix) -> Scores:
        """Scores from margins (n_documents, n_classes)."""
        best = np.partition(margins, -2, axis=1)[:, -2:]
        choice = margins.argmax(axis=1).astype(np.int64)
        return cls(margins, False, choice, best[:, 1] - best[:, 0])

    @property
    def readable(self) -> FloatMatrix:
        """What people read: probabilities, or margins."""
        return np.exp(self.matrix) if self.probabilistic else self.matrix

    @property
    def confidence(self) -> FloatVector:
        """The probability of the best class, or its margin over the second."""
        return special.expit(self.certainty) if self.probabilistic else self.certainty


def log_odds(log_proba: ArrayLike) -> FloatVector:
    """Log-odds from log probabilities, exact also where 1 - P would round to 0."""
    values = np.asarray(log_proba, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds: FloatVector = values - np.log(-np.expm1(values))
    return odds


def class_log_odds(log_scores: FloatMatrix) -> FloatMatrix:
    """Log P(c) - log P(not c) for every class, of scores that need not sum to 1."""
    total = special.logsumexp(log_scores, axis=1, keepdims=True)
    log_p: FloatMatrix = log_scores - total
    rows, best = np.arange(len(log_p)), log_p.argmax(axis=1)
    odds = log_odds(log_p)
    # For the best class P may round to 1.
    odds[rows, best] = Scores.from_log_proba(log_p).certainty
    return odds


def as_columns(scores: ArrayLike) -> FloatMatrix:
    """A score for each class; a two-class margin d becomes (-d/2, d/2)."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim == 1 or array.shape[1] == 1:
        half = array.reshape(-1) / 2.0
        return np.stack([-half, half], axis=1)
    return array


def has_probabilities(model: Estimator) -> bool:
    """Whether a classifier gives class probabilities by itself."""
    return offers(model, "predict_log_proba") or offers(model, "predict_proba")


def log_probabilities(model: Estimator, X: DocumentsLike) -> FloatMatrix:
    """Log class probabilities, (n_documents, n_classes), of a model that has them."""
    with np.errstate(divide="ignore"):  # a probability of 0 is a score of -inf
        if offers(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(X), dtype=np.float64)
        return np.log(np.asarray(model.predict_proba(X), dtype=np.float64))


def read_scores(model: Estimator, X: DocumentsLike) -> Scores:
    """Scores by predict_log_proba, predict_proba or decision_function."""
    if has_probabilities(model):
        return Scores.from_log_proba(log_probabilities(model, X))
    if not offers(model, "decision_function"):
        raise NotSupportedError(
            f"{type(model).__name__} has neither predict_proba nor decision_function; "
            "abstaining needs to know how sure the classifier is."
        )
    return Scores.from_margins(as_columns(model.decision_function(X)))


class Ranking(NamedTuple):
    """Documents in the order of their fit to a class."""

    positions: IntVector
    """Rows of X, best first."""
    scores: FloatVector
    """Their scores, falling."""


def rank(
    model: Estimator, X: DocumentsLike, label: Any, top: int | None = None
) -> Ranking:
    """Order documents by how well they fit a class, without deciding on any (VS4).

    Parameters
    ----------
    model : fitted classifier
        Asked for ``decision_function``, else for ``predict_log_proba`` or
        ``predict_proba``.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Whatever ``model`` takes.
    label : label
        One of ``model.classes_``.
    top : int, optional
        How many documents to return; all by default.

    Returns
    -------
    ranking : Ranking
        Positions and scores, best first; equal scores keep the order of X.

    Examples
    --------
    >>> from earmark.models import RocchioClassifier
    >>> model = RocchioClassifier().fit([[2, 0], [0, 1]], ["sport", "trade"])
    >>> rank(model, [[1, 3], [1, 0], [1, 1]], "sport", top=2).positions.tolist()
    [1, 2]

    """
    place = np.flatnonzero(np.asarray(model.classes_) == label)
    if len(place) != 1:
        known = ", ".join(repr(c) for c in np.asarray(model.classes_)[:10].tolist())
        raise DataError(f"cannot rank for {label!r}: the model's classes are {known}.")
    if offers(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:  # two classes: the margin of the second
            scores = np.column_stack([-scores, scores])
    elif offers(model, "predict_log_proba"):
        scores = np.asarray(model.predict_log_proba(X), dtype=np.float64)
    elif offers(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)
    else:
        raise NotSupportedError(
            f"{type(model).__name__} has neither decision_function nor predict_proba; "
            "ranking needs scores."
        )
    column = scores[:, int(place[0])]
    order = np.argsort(-column, kind="stable")[:top]
    return Ranking(order.astype(np.int64), column[order])
