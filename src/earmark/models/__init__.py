"""Classifiers on term counts and vectors, scikit-learn compatible."""

from typing import TYPE_CHECKING

from earmark._optional import names_at_first_use

if TYPE_CHECKING:
    from earmark.models.hierarchical import HierarchicalBayes
    from earmark.models.higher_order import (
        HigherOrderClassifier,
        HigherOrderNaiveBayes,
        HigherOrderTransformer,
    )
    from earmark.models.hybrid import HybridBayes
    from earmark.models.linear import NBSVM, BlendedSVM, LinearClassifier
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

__getattr__ = names_at_first_use(
    __name__,
    {
        "hierarchical": "HierarchicalBayes",
        "higher_order": (
            "HigherOrderClassifier HigherOrderNaiveBayes HigherOrderTransformer"
        ),
        "hybrid": "HybridBayes",
        "linear": "NBSVM BlendedSVM LinearClassifier",
        "mlp": "MultilayerPerceptron",
        "naive_bayes": (
            "BernoulliNaiveBayes ComplementNaiveBayes GaussianNaiveBayes "
            "MultinomialNaiveBayes"
        ),
        "neighbors": "NeighborsClassifier",
        "rocchio": "RocchioClassifier",
        "semi_supervised": "SemiSupervisedClassifier SemiSupervisedNaiveBayes",
        "softmax": "SoftmaxRegression",
    },
    estimators=True,
)
