"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.hybrid import HybridBayes
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.neighbors import NeighborsClassifier
from earmark.models.rocchio import RocchioClassifier

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HybridBayes",
    "MultinomialNaiveBayes",
    "NeighborsClassifier",
    "RocchioClassifier",
]
