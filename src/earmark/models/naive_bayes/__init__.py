"""Naive Bayes on exact class statistics."""

from earmark.models.naive_bayes.bernoulli import BernoulliNaiveBayes
from earmark.models.naive_bayes.count_model import (
    ComplementNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.naive_bayes.gaussian import GaussianNaiveBayes

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "MultinomialNaiveBayes",
]
