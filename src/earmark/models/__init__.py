"""Classifiers on term counts and vectors, scikit-learn compatible."""

from earmark.models.hierarchical import HierarchicalBayes
from earmark.models.higher_order import (
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
    HigherOrderTransformer,
)
from earmark.models.hybrid import HybridBayes
from earmark.models.linear import LinearClassifier
from earmark.models.mlp import MultilayerPerceptron
from earmark.models.naive_bayes import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.neighbors import NeighborsClassifier
from earmark.models.rocchio import RocchioClassifier
from earmark.models.semi_supervised import (
    SemiSupervisedClassifier,
    SemiSupervisedNaiveBayes,
)
from earmark.models.softmax import SoftmaxRegression
from earmark.models.svm import NBSVM, BlendedSVM

__all__ = [
    "NBSVM",
    "BernoulliNaiveBayes",
    "BlendedSVM",
    "ComplementNaiveBayes",
    "GaussianNaiveBayes",
    "HierarchicalBayes",
    "HigherOrderClassifier",
    "HigherOrderNaiveBayes",
    "HigherOrderTransformer",
    "HybridBayes",
    "LinearClassifier",
    "MultilayerPerceptron",
    "MultinomialNaiveBayes",
    "NeighborsClassifier",
    "RocchioClassifier",
    "SemiSupervisedClassifier",
    "SemiSupervisedNaiveBayes",
    "SoftmaxRegression",
]
