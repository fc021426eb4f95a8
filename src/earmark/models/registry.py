"""Model names -> estimators: read by TextClassifier and the command line."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from earmark.encoders.by_name import Encoder
from earmark.text.class_names import ClassNames
from earmark.typing import ClassWeightLike, Estimator


@dataclass(frozen=True)
class BuildOptions:
    """What TextClassifier passes on to whichever estimator it builds."""

    class_weight: ClassWeightLike = None
    random_state: int | None = None
    n_jobs: int | None = None
    encoder: Encoder | None = None
    """From texts to vectors, for the models that use one."""
    verbose: int = 0
    names: ClassNames = field(default_factory=ClassNames)
    """What is said about classes, for the models that make use of it."""


@dataclass(frozen=True)
class ModelSpec:
    """One name of ``TextClassifier(model=...)``."""

    name: str
    summary: str
    """One line for ``earmark train --help`` and the docs."""
    features: str
    """What the model is fed by default: "counts" or "tfidf"."""
    estimator: str
    """Where the class is defined, as ``module:Class``; imported at first use."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Constructor parameters that differ from the estimator's defaults."""
    passes: tuple[str, ...] = ()
    """Which of BuildOptions the constructor takes."""
    in_parts: bool = False
    """Whether ``earmark.distributed`` fits it to documents in parts."""

    def build(self, options: BuildOptions) -> Estimator:
        """A new estimator."""
        module, _, name = self.estimator.partition(":")
        make: Callable[..., Estimator] = getattr(importlib.import_module(module), name)
        passed = {key: getattr(options, key) for key in self.passes}
        return make(**{**self.parameters, **passed})


_SPECS = (
    ModelSpec(
        "multinomial",
        "multinomial naive Bayes: quick, exact updates, a strong first model",
        "counts",
        "earmark.models.naive_bayes.count_model:MultinomialNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "bernoulli",
        "Bernoulli naive Bayes: present and absent words count",
        "counts",
        "earmark.models.naive_bayes.bernoulli:BernoulliNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "complement",
        "complement naive Bayes: steadier when class sizes differ",
        "counts",
        "earmark.models.naive_bayes.count_model:ComplementNaiveBayes",
        {"alpha": 0.3},
        in_parts=True,
    ),
    ModelSpec(
        "hybrid",
        "hybrid Bayes: naive Bayes in each region, weighed leave-one-out",
        "counts",
        "earmark.models.hybrid:HybridBayes",
        in_parts=True,
    ),
    ModelSpec(
        "hierarchical",
        "hierarchical Bayes: classes made of sub-topics, found by repeated EM",
        "counts",
        "earmark.models.hierarchical.model:HierarchicalBayes",
        passes=("random_state", "n_jobs", "verbose"),
        in_parts=True,
    ),
    ModelSpec(
        "higher-order",
        "higher-order naive Bayes: words linked across documents; for few labels",
        "counts",
        "earmark.models.higher_order:HigherOrderNaiveBayes",
        {"keep_documents": True},
        in_parts=True,
    ),
    ModelSpec(
        "higher-order-svm",
        "linear SVM on words weighted by higher-order paths, one class against one",
        "counts",
        "earmark.models.higher_order:HigherOrderClassifier",
        passes=("random_state", "n_jobs"),
    ),
    ModelSpec(
        "rocchio",
        "Rocchio: the class with the nearest prototype; very quick",
        "tfidf",
        "earmark.models.rocchio:RocchioClassifier",
        {"metric": "cosine"},
        in_parts=True,
    ),
    ModelSpec(
        "knn",
        "k nearest neighbours by cosine: shows the documents that decided",
        "tfidf",
        "earmark.models.neighbors:NeighborsClassifier",
        {"n_neighbors": "auto"},
        passes=("random_state", "n_jobs"),
    ),
    ModelSpec(
        "semi-supervised",
        "few labels and many documents without: views label the pool, students learn",
        "counts",
        "earmark.models.semi_supervised:SemiSupervisedClassifier",
        passes=("random_state",),
        in_parts=True,
    ),
    ModelSpec(
        "em-multinomial",
        "naive Bayes that learns unlabelled documents by plain EM: a gamble",
        "counts",
        "earmark.models.semi_supervised:SemiSupervisedNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "softmax",
        "softmax regression (multi-class logistic regression) on tf-idf",
        "tfidf",
        "earmark.models.softmax:SoftmaxRegression",
        {"solver": "dual", "C": 10.0},
        passes=("class_weight", "random_state"),
        in_parts=True,
    ),
    ModelSpec(
        "mlp",
        "multilayer perceptron on tf-idf, with a sparse first layer",
        "tfidf",
        "earmark.models.mlp:MultilayerPerceptron",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "nbsvm",
        "NBSVM: naive Bayes log-count ratios under a linear classifier",
        "counts",
        "earmark.models.linear:NBSVM",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "blended-svm",
        "mean of two linear SVMs: on tf-idf, and on naive Bayes log-count ratios",
        "tfidf",
        "earmark.models.linear:BlendedSVM",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "svm",
        "linear support vector machine on tf-idf (scikit-learn's LinearSVC)",
        "tfidf",
        "sklearn.svm:LinearSVC",
        passes=("class_weight", "random_state"),
    ),
)
MODELS: Mapping[str, ModelSpec] = {spec.name: spec for spec in _SPECS}


def get_spec(name: str) -> ModelSpec:
    """The model of that name, or an error that lists the names."""
    try:
        return MODELS[name]
    except KeyError:
        listed = ", ".join(["auto", *MODELS])
        raise ValueError(
            f"TextClassifier.model must be an estimator or one of {listed}; "
            f"got {name!r}."
        ) from None


def wanted_features(estimator: Estimator) -> str:
    """What an estimator is fed: as the model of its class says, else "tfidf"."""
    kind = type(estimator)
    for spec in MODELS.values():
        module, _, name = spec.estimator.partition(":")
        if kind.__name__ == name and kind.__module__.startswith(module):
            return spec.features
    return "tfidf"
