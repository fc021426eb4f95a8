"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.higher_order import (
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
    HigherOrderTransformer,
)
from earmark.models.hierarchical import HierarchicalBayes
from earmark.models.hybrid import HybridBayes
from earmark.models.mlp import MultilayerPerceptron
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
from earmark.models.neighbors import NeighborsClassifier
from earmark.models.rocchio import RocchioClassifier

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HigherOrderClassifier",
    "HigherOrderNaiveBayes",
    "HigherOrderTransformer",
    "HierarchicalBayes",
    "HybridBayes",
    "MultilayerPerceptron",
    "MultinomialNaiveBayes",
    "SemiSupervisedClassifier",
    "SemiSupervisedNaiveBayes",
    "SoftmaxRegression",
    "NeighborsClassifier",
    "RocchioClassifier",
]
