"""Scores that can be believed: calibrated probabilities, a learned confidence (AB1).

The calibrator takes log scores (n_documents, n_classes), such as leave-one-out log
posteriors, and the true column of each document; it returns log probabilities.

Log-odds rank documents well for models whose probabilities can be believed. Naive
Bayes grows surer with every word, so its log-odds rank long documents too high. A small
logistic model of log-odds, margin, entropy, length and class size puts that right.
It is fitted on training documents that were left out, never on calibration documents:
for these it is one more fixed score, and the promise of ``guaranteed_threshold`` holds
as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np
from scipy import sparse, special
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from earmark.decision.decision import Scores
from earmark.exceptions import DataError
from earmark.folds import check_equal_length, stratified_folds
from earmark.inputs.duplicates import texts_of
from earmark.kernels.rows import log_normalize
from earmark.kernels.softmax import fitted_temperature
from earmark.parameters import Positive
from earmark.stored import floats, size, stored
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    FloatMatrix,
    FloatVector,
    IntVector,
)

_FEWEST = 10  # right and wrong answers in the evidence, each
_USEFUL = 0.95  # of the mean risk of the log-odds: it must fall below
_MOST = 700.0  # log-odds beyond this are told apart by nothing
_LOWEST = -700.0  # log scores below are as good as impossible


@stored
class TemperatureCalibrator(BaseEstimator):
    """One factor for all scores: P(c) proportional to exp(score_c / T).

    Changes no decision, so accuracy stays what it was. The factor minimises the
    log loss, a convex problem in 1/T.

    Attributes
    ----------
    temperature_ : float
        Above 1 the classifier was too sure of itself.
    n_classes_ : int
        Columns of the scores.

    Examples
    --------
    >>> sure = np.log([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01], [0.01, 0.99]])
    >>> found = TemperatureCalibrator().fit(sure, [0, 0, 1, 1])
    >>> np.exp(found.transform(sure[:1])).round(2)
    array([[0.75, 0.25]])

    """

    n_classes_: Annotated[int, size("n_classes")]
    temperature_: Positive

    def fit(self, log_scores: ArrayLike, y_index: ArrayLike) -> Self:
        """Choose the temperature on scores that did not see their own label."""
        scores, index = _checked(log_scores, y_index)
        weight = np.ones(len(scores))
        temperature = fitted_temperature(
            scores, index, weight, softened=False, bounds=(-7.0, 7.0)
        )
        self.temperature_ = temperature or 1.0
        self.n_classes_ = scores.shape[1]
        return self

    def transform(self, log_scores: ArrayLike) -> FloatMatrix:
        """Log probabilities, (n_documents, n_classes)."""
        check_is_fitted(self)
        return log_normalize(_columns(log_scores, self.n_classes_) / self.temperature_)


def _checked(
    log_scores: ArrayLike, y_index: ArrayLike
) -> tuple[FloatMatrix, IntVector]:
    scores = np.asarray(log_scores, dtype=np.float64)
    index = np.asarray(y_index, dtype=np.int64)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise DataError(
            "log_scores must be of shape (n_documents, n_classes) with at least 2 "
            f"classes, got shape {scores.shape}."
        )
    if not check_equal_length(log_scores=scores, y_index=index):
        raise DataError("calibration needs at least one document, got none.")
    if index.min() < 0 or index.max() >= scores.shape[1]:
        raise DataError(
            f"y_index must lie in 0..{scores.shape[1] - 1}, the columns of "
            f"log_scores, got {index.min()}..{index.max()}."
        )
    return _columns(scores, scores.shape[1]), index


def _columns(log_scores: ArrayLike, n_classes: int) -> FloatMatrix:
    """Shift and bound scores: the best of each row is 0, none is below the lowest."""
    scores = np.asarray(log_scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != n_classes:
        raise DataError(
            f"log_scores must have {n_classes} columns, as in fit, got shape "
            f"{scores.shape}."
        )
    bad = np.isnan(scores).any(axis=1)
    if bad.any():
        raise DataError(
            f"log_scores must be numbers, got NaN in row {int(np.argmax(bad))}."
        )
    shifted: FloatMatrix = np.maximum(
        scores - np.maximum(scores.max(axis=1, keepdims=True), -1e300), _LOWEST
    )
    return shifted


@stored
@dataclass(frozen=True, eq=False)
class LearnedConfidence:
    """A logistic model of whether the best label is right."""

    mean: Annotated[FloatVector, floats("n_figures")]
    """Mean of the features, (n_features,)."""
    scale: Annotated[FloatVector, floats("n_figures")]
    """Standard deviation of the features, (n_features,)."""
    weight: Annotated[FloatVector, floats("n_figures")]
    """Of the standardized features, (n_features,)."""
    bias: float
    """What is added."""
    risk: float
    """Mean risk in folds of the evidence."""
    plain_risk: float
    """The same with log-odds alone."""

    @property
    def words(self) -> str:
        """What it is good for, in plain words."""
        gain = 100 * (1 - self.risk / self.plain_risk)
        return (
            f"confidence: learned; the mean error over all coverages is {gain:.0f} % "
            "lower than with log-odds, on left-out training documents"
        )

    def log_odds(self, features: FloatMatrix) -> FloatVector:
        """Log-odds that the best label is right."""
        values: FloatVector = (features - self.mean) / self.scale @ self.weight
        return values + self.bias

    def ranked(
        self, scores: Scores, class_sizes: IntVector, X: DocumentsLike
    ) -> Scores:
        """The scores of documents with this certainty."""
        features = confidence_features(scores, class_sizes, document_lengths(X))
        return replace(scores, certainty=self.log_odds(features))


def confidence_features(
    scores: Scores, class_sizes: IntVector, lengths: FloatVector
) -> FloatMatrix:
    """What a learned confidence looks at, (n_documents, 7)."""
    log_proba = scores.matrix
    certainty = np.clip(scores.certainty, -_MOST, _MOST)
    falling = np.sort(np.maximum(log_proba, -_MOST), axis=1)[:, ::-1]
    second = falling[:, min(1, falling.shape[1] - 1)]
    third = falling[:, min(2, falling.shape[1] - 1)]
    entropy = special.entr(np.exp(log_proba)).sum(axis=1)
    columns = [
        certainty,
        np.sign(certainty) * np.log1p(np.abs(certainty)),
        certainty / np.sqrt(lengths + 1),
        second - third,
        np.log(entropy + 1e-6),
        np.log1p(lengths),
        np.log1p(np.asarray(class_sizes)[scores.choice]),
    ]
    return np.column_stack(columns).astype(np.float64)


def document_lengths(X: DocumentsLike) -> FloatVector:
    """Words of texts; sums of the rows of a matrix."""
    texts = texts_of(X)
    if texts is not None:
        return np.array([len(text.split()) for text in texts], dtype=np.float64)
    rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    return np.asarray(abs(rows).sum(axis=1), dtype=np.float64).ravel()


def mean_risk(certainty: FloatVector, correct: BoolVector) -> float:
    """Mean error of the k most certain answers over all k; ties in mean order."""
    values, tie = np.unique(-certainty, return_inverse=True)
    size = np.bincount(tie)
    wrong = np.bincount(tie, weights=~correct) / size  # spread evenly over a tie
    errors = np.cumsum(np.repeat(wrong, size))
    assert len(values) == len(size)
    return float(np.mean(errors / np.arange(1, len(errors) + 1)))


def learn_confidence(
    features: FloatMatrix, certainty: FloatVector, correct: BoolVector, seed: int = 0
) -> LearnedConfidence | None:
    """A learned confidence where it was measured, in folds, to help, else None."""
    right = np.asarray(correct, dtype=bool)
    if min(right.sum(), (~right).sum()) < _FEWEST:
        return None
    learned = np.empty(len(right))
    for train, test in stratified_folds(right, 5, seed):
        model = _fitted(features[train], right[train])
        learned[test] = model.log_odds(features[test])
    risk, plain = mean_risk(learned, right), mean_risk(certainty, right)
    if risk > _USEFUL * plain:
        return None
    return _fitted(features, right, risk, plain)


def _fitted(
    features: FloatMatrix, right: BoolVector, risk: float = 0.0, plain: float = 0.0
) -> LearnedConfidence:
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    from sklearn.linear_model import LogisticRegression  # costs much, used here only

    model = LogisticRegression(C=0.1, max_iter=1000)
    model.fit((features - mean) / scale, right)
    return LearnedConfidence(
        mean, scale, model.coef_[0], float(model.intercept_[0]), risk, plain
    )
