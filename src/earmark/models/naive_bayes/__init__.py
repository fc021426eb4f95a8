"""Naive Bayes on exact class statistics."""

from earmark.models.naive_bayes.bernoulli import BernoulliNaiveBayes
from earmark.models.naive_bayes.complement import ComplementNaiveBayes
from earmark.models.naive_bayes.gaussian import GaussianNaiveBayes
from earmark.models.naive_bayes.multinomial import MultinomialNaiveBayes

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "MultinomialNaiveBayes",
]
