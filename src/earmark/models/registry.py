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
    estimator: str
    """Where the class is defined, as ``module:Class``; imported at first use."""
    features: str = "counts"
    """What the model is fed by default: "counts" or "tfidf"."""
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
        "earmark.models.naive_bayes.count_model:MultinomialNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "bernoulli",
        "Bernoulli naive Bayes: present and absent words count",
        "earmark.models.naive_bayes.bernoulli:BernoulliNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "complement",
        "complement naive Bayes: steadier when class sizes differ",
        "earmark.models.naive_bayes.count_model:ComplementNaiveBayes",
        parameters={"alpha": 0.3},
        in_parts=True,
    ),
    ModelSpec(
        "hybrid",
        "hybrid Bayes: naive Bayes in each region, weighed leave-one-out",
        "earmark.models.hybrid:HybridBayes",
        in_parts=True,
    ),
    ModelSpec(
        "hierarchical",
        "hierarchical Bayes: classes made of sub-topics, found by repeated EM",
        "earmark.models.hierarchical.model:HierarchicalBayes",
        passes=("random_state", "n_jobs", "verbose"),
        in_parts=True,
    ),
    ModelSpec(
        "higher-order",
        "higher-order naive Bayes: words linked across documents; for few labels",
        "earmark.models.higher_order:HigherOrderNaiveBayes",
        parameters={"keep_documents": True},
        in_parts=True,
    ),
    ModelSpec(
        "higher-order-svm",
        "linear SVM on words weighted by higher-order paths, one class against one",
        "earmark.models.higher_order:HigherOrderClassifier",
        passes=("random_state", "n_jobs"),
    ),
    ModelSpec(
        "rocchio",
        "Rocchio: the class with the nearest prototype; very quick",
        "earmark.models.rocchio:RocchioClassifier",
        "tfidf",
        parameters={"metric": "cosine"},
        in_parts=True,
    ),
    ModelSpec(
        "knn",
        "k nearest neighbours by cosine: shows the documents that decided",
        "earmark.models.neighbors:NeighborsClassifier",
        "tfidf",
        parameters={"n_neighbors": "auto"},
        passes=("random_state", "n_jobs"),
    ),
    ModelSpec(
        "semi-supervised",
        "few labels and many documents without: views label the pool, students learn",
        "earmark.models.semi_supervised:SemiSupervisedClassifier",
        passes=("random_state",),
        in_parts=True,
    ),
    ModelSpec(
        "em-multinomial",
        "naive Bayes that learns unlabelled documents by plain EM: a gamble",
        "earmark.models.semi_supervised:SemiSupervisedNaiveBayes",
        in_parts=True,
    ),
    ModelSpec(
        "softmax",
        "softmax regression (multi-class logistic regression) on tf-idf",
        "earmark.models.softmax:SoftmaxRegression",
        "tfidf",
        parameters={"solver": "dual", "C": 10.0},
        passes=("class_weight", "random_state"),
        in_parts=True,
    ),
    ModelSpec(
        "mlp",
        "multilayer perceptron on tf-idf, with a sparse first layer",
        "earmark.models.mlp:MultilayerPerceptron",
        "tfidf",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "nbsvm",
        "NBSVM: naive Bayes log-count ratios under a linear classifier",
        "earmark.models.linear:NBSVM",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "blended-svm",
        "mean of two linear SVMs: on tf-idf, and on naive Bayes log-count ratios",
        "earmark.models.linear:BlendedSVM",
        "tfidf",
        passes=("class_weight", "random_state"),
    ),
    ModelSpec(
        "svm",
        "linear support vector machine on tf-idf (scikit-learn's LinearSVC)",
        "sklearn.svm:LinearSVC",
        "tfidf",
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
