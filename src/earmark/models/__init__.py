"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.hybrid import HybridBayes
from earmark.models.mlp import MultilayerPerceptron
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.nbsvm import NBSVM
from earmark.models.softmax import SoftmaxRegression

__all__ = [
    "NBSVM",
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HybridBayes",
    "MultilayerPerceptron",
    "MultinomialNaiveBayes",
    "SoftmaxRegression",
]
