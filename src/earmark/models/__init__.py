"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.hierarchical import HierarchicalBayes
from earmark.models.hybrid import HybridBayes
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HierarchicalBayes",
    "HybridBayes",
    "MultinomialNaiveBayes",
]
