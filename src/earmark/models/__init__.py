"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.hybrid import HybridBayes
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.semi_supervised import (
    SemiSupervisedClassifier,
    SemiSupervisedNaiveBayes,
)
from earmark.models.softmax import SoftmaxRegression

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HybridBayes",
    "MultinomialNaiveBayes",
    "SemiSupervisedClassifier",
    "SemiSupervisedNaiveBayes",
    "SoftmaxRegression",
]
