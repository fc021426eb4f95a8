"""From the parameters of TextClassifier to an engine that can be fitted."""

from __future__ import annotations

from typing import Any, TypeAlias

from sklearn.base import is_classifier

from earmark.decision.any_of import AnyOfClassifier
from earmark.features import TfidfWeighting, WordCounter
from earmark.models.naive_bayes._count_model import CountNaiveBayes
from earmark.models.registry import BuildOptions, ModelSpec, get_spec
from earmark.pipeline.any_of_engine import AnyOfEngine
from earmark.pipeline.count_engine import CountEngine
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.region_features import RegionFeatures, make_counter

__all__ = ["Engine", "build_engine"]

Engine: TypeAlias = CountEngine | MatrixEngine


def build_engine(
    model: Any, features: Any, options: BuildOptions, multi_label: bool = False
) -> Engine:
    """An unfitted engine for a model name or an estimator."""
    counter = make_counter(features, options.n_jobs)
    if multi_label:
        return _any_of_engine(model, features, counter, options)
    if not isinstance(model, str):
        return _engine_of_estimator(model, features, counter, options)
    spec = get_spec(model)
    estimator = spec.build(options)
    if isinstance(estimator, CountNaiveBayes) and isinstance(counter, WordCounter):
        return CountEngine(estimator, counter, options.class_weight)
    return MatrixEngine(
        RegionFeatures(counter, _weighting(spec, features)),
        estimator,
        class_weight=None if "class_weight" in spec.passes else options.class_weight,
        random_state=options.random_state,
    )


def _any_of_engine(
    model: Any, features: Any, counter: Any, options: BuildOptions
) -> AnyOfEngine:
    if isinstance(model, str):
        spec = get_spec(model)
        estimator, weighting = spec.build(options), _weighting(spec, features)
    else:
        estimator = model
        weighting = None if _is_vectorizer(features) else TfidfWeighting()
    return AnyOfEngine(
        RegionFeatures(counter, weighting),
        AnyOfClassifier(estimator, random_state=options.random_state or 0),
        random_state=options.random_state,
    )


def _engine_of_estimator(
    model: Any, features: Any, counter: Any, options: BuildOptions
) -> Engine:
    if not is_classifier(model):
        raise TypeError(
            "TextClassifier.model must be a model name or a scikit-learn classifier, "
            f"got {model!r}."
        )
    if isinstance(model, CountNaiveBayes) and isinstance(counter, WordCounter):
        return CountEngine(model, counter, options.class_weight)
    weighting = None if _is_vectorizer(features) else TfidfWeighting()
    return MatrixEngine(
        RegionFeatures(counter, weighting),
        model,
        class_weight=options.class_weight,
        random_state=options.random_state,
    )


def _weighting(spec: ModelSpec, features: Any) -> TfidfWeighting | None:
    """tf-idf for the models that want it, unless the user brings a vectorizer."""
    if spec.features != "tfidf" or _is_vectorizer(features):
        return None
    return TfidfWeighting()


def _is_vectorizer(features: Any) -> bool:
    return hasattr(features, "fit_transform")
