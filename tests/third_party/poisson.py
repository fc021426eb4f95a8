"""A model of another package: Poisson naive Bayes, one class and its declaration."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from earmark.features.scoring import LinearRule
from earmark.kernels.rows import canonical_rows, log_normalize
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import JointClassifier
from earmark.models.base.declaration import Model
from earmark.parameters import Positive, estimator
from earmark.statistics import ClassStatistics
from earmark.stored import DERIVED, sizes
from earmark.typing import FloatMatrix, FloatVector


@estimator
class PoissonNaiveBayes(JointClassifier, AdditiveClassifier):
    """Each count of a term is a Poisson number whose mean depends on the class."""

    by_term = True
    _takes_counts = True
    alpha: Positive = 0.1

    statistics_: Annotated[
        ClassStatistics, sizes(n_terms="n_features", n_classes="n_classes")
    ]
    class_log_prior_: Annotated[FloatVector, DERIVED]
    _weights: Annotated[FloatMatrix, DERIVED]
    _offset: Annotated[FloatVector, DERIVED]

    def _empty_statistics(self, classes, n_features):
        return ClassStatistics(classes, n_features)

    def _derive(self):
        docs, counts = self.statistics_.docs, self.statistics_.dense_tokens()
        with np.errstate(divide="ignore"):  # a class may have been forgotten
            self.class_log_prior_ = np.log(docs / docs.sum())
        mean = self._means(counts, docs[:, None])
        self._weights = np.ascontiguousarray(np.log(mean).T)
        self._offset = self.class_log_prior_ - mean.sum(axis=1)

    def _means(self, counts, docs):
        return (counts + self.alpha) / (docs + 1.0)

    def _joint_log_likelihood(self, X):
        return np.asarray(canonical_rows(X) @ self._weights) + self._offset

    def linear_rule(self):
        return LinearRule(self._weights, self._offset, log_posteriors=log_normalize)

    def _log_posteriors_without(self, X, own, weight):
        rows = canonical_rows(X).toarray().astype(float)
        docs = np.tile(self.statistics_.docs.astype(float), (len(own), 1))
        docs[np.arange(len(own)), own] -= weight
        scores = np.asarray(rows @ self._weights) - np.exp(self._weights).sum(axis=0)
        for i, (row, c) in enumerate(zip(rows, own, strict=True)):
            left = self.statistics_.dense_tokens()[c] - weight[i] * row
            mean = self._means(left, docs[i, c])
            scores[i, c] = row @ np.log(mean) - mean.sum()
        with np.errstate(divide="ignore"):
            prior = np.log(docs / docs.sum(axis=1, keepdims=True))
        return log_normalize(scores + prior)


MODEL = Model(
    "poisson",
    PoissonNaiveBayes,
    "Poisson naive Bayes: counts of words whose mean depends on the class",
)
