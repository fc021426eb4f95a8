"""From the parameters of TextClassifier to an engine that can be fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from sklearn.base import is_classifier

from earmark.decision.any_of import AnyOfClassifier
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import SemiSupervisedClassifier
from earmark.models.naive_bayes.count_model import CountNaiveBayes
from earmark.models.registry import BuildOptions, get_spec, wanted_features
from earmark.pipeline.any_of_engine import AnyOfEngine
from earmark.pipeline.count_engine import CountEngine
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.region_features import RegionFeatures, make_counter
from earmark.pipeline.semi_engine import SemiEngine
from earmark.pipeline.semi_features import SemiFeatures

__all__ = ["Engine", "build_engine", "region_features"]

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
    if isinstance(estimator, SemiSupervisedClassifier):
        return _semi_engine(estimator, features, options)
    if isinstance(estimator, CountNaiveBayes) and isinstance(counter, WordCounter):
        return CountEngine(estimator, counter, options.class_weight)
    return MatrixEngine(
        _region_features(counter, spec.features, features, estimator),
        estimator,
        class_weight=None if "class_weight" in spec.passes else options.class_weight,
        random_state=options.random_state,
    )


def region_features(kind: str, features: Any, options: BuildOptions) -> RegionFeatures:
    """What a model is fed: "counts" or "tfidf" of each region."""
    counter = make_counter(features, options.n_jobs)
    return _region_features(counter, kind, features, None)


def _any_of_engine(
    model: Any, features: Any, counter: Any, options: BuildOptions
) -> AnyOfEngine:
    if isinstance(model, str):
        spec = get_spec(model)
        estimator, wanted = spec.build(options), spec.features
    else:
        estimator, wanted = model, wanted_features(model)
    return AnyOfEngine(
        _region_features(counter, wanted, features, estimator),
        AnyOfClassifier(estimator, random_state=options.random_state or 0),
        random_state=options.random_state,
    )


def _engine_of_estimator(
    model: Any, features: Any, counter: Any, options: BuildOptions
) -> Engine:
    if not hasattr(model, "fit") or not is_classifier(model):
        raise TypeError(
            "TextClassifier.model must be a model name or a scikit-learn classifier, "
            f"got {model!r}."
        )
    if isinstance(model, SemiSupervisedClassifier):
        return _semi_engine(model, features, options)
    if isinstance(model, CountNaiveBayes) and isinstance(counter, WordCounter):
        return CountEngine(model, counter, options.class_weight)
    return MatrixEngine(
        _region_features(counter, wanted_features(model), features, model),
        model,
        class_weight=options.class_weight,
        random_state=options.random_state,
    )


def _semi_engine(
    estimator: SemiSupervisedClassifier, features: Any, options: BuildOptions
) -> SemiEngine:
    """Words of a single document carry nothing from text to text: two at least."""
    if features is None or isinstance(features, Mapping):
        features = {"min_df": estimator.min_df, **(features or {})}
    counter = make_counter(features, options.n_jobs)
    return SemiEngine(
        SemiFeatures(counter, options.encoder),
        estimator,
        class_weight=options.class_weight,
        random_state=options.random_state,
    )


def _region_features(
    counter: Any, wanted: str, features: Any, estimator: Any
) -> RegionFeatures:
    """tf-idf for the models that want it, unless the user brings a vectorizer."""
    own = hasattr(features, "fit_transform")
    weighting = None if own or wanted != "tfidf" else TfidfWeighting()
    shared = getattr(estimator, "vocabulary", None) == "shared"
    return RegionFeatures(counter, weighting, shared)
