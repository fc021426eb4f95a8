"""A confidence learned from evidence: how likely the best label is right (AB1).

Log-odds rank documents well for models whose probabilities can be believed. Naive
Bayes grows surer with every word, so its log-odds rank long documents too high. A small
logistic model of log-odds, margin, entropy, length and class size puts that right.
It is fitted on training documents that were left out, never on calibration documents:
for these it is one more fixed score, and the promise of ``guaranteed_threshold`` holds
as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, special

from earmark.decision.decision import Scores
from earmark.evaluation.duplicates import texts_of
from earmark.folds import stratified_folds
from earmark.typing import (
    BoolVector,
    DocumentsLike,
    FloatMatrix,
    FloatVector,
    IntVector,
)

__all__ = [
    "LearnedConfidence",
    "confidence_features",
    "document_lengths",
    "learn_confidence",
    "mean_risk",
]

_FEWEST = 10  # right and wrong answers in the evidence, each
_USEFUL = 0.95  # of the mean risk of the log-odds: it must fall below
_MOST = 700.0  # log-odds beyond this are told apart by nothing


@dataclass(frozen=True, eq=False)
class LearnedConfidence:
    """A logistic model of whether the best label is right."""

    mean: FloatVector
    """Mean of the features, (n_features,)."""
    scale: FloatVector
    """Standard deviation of the features, (n_features,)."""
    weight: FloatVector
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
