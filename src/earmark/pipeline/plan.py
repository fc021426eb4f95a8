"""What to fit: the model asked for, or the one the data ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.models.registry import BuildOptions
from earmark.models.semi_supervised import (
    MIN_POOL,
    MIN_POOL_RATIO,
    SemiSupervisedClassifier,
    pool_is_useful,
)
from earmark.models.semi_supervised.classifier import check_parameters
from earmark.pipeline.build import Engine, build_engine
from earmark.pipeline.choice import Trial, are_few, best_trial, try_models
from earmark.pipeline.inputs import RegionTexts, n_distinct, n_documents
from earmark.pipeline.labels import Target
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.semi_engine import SemiEngine
from earmark.typing import Labels

__all__ = ["Plan", "make_plan", "model_name", "unused_pool"]

_SEMI = "semi-supervised"
# From so many labels a class on, whether the pool helps is left to the labels.
_MANY_LABELS = 50
# Labelled documents times classes, beyond which fitting weights takes minutes.
_MOST_SCORES = 5_000_000
_QUICK = "complement"
_MANY_CLASSES = "so many classes that nothing else is quick; name a model to have it"


@dataclass(frozen=True)
class Plan:
    """An engine to fit, its name, and why it was chosen."""

    engine: Engine
    name: str
    reasons: list[str]
    is_fitted: bool = False


def model_name(model: Any) -> str:
    """How a model is called in summaries: its name, or its class."""
    return model if isinstance(model, str) else type(model).__name__


def make_plan(
    model: Any,
    features: Any,
    options: BuildOptions,
    texts: RegionTexts,
    target: Target,
    pool: RegionTexts,
    weight: Any | None = None,
) -> Plan:
    """The engine for the model asked for, or the choice of ``model="auto"``."""
    n_pool = n_documents(pool)
    if target.multi_label:
        name = "svm" if model == "auto" else model
        why = "the default for several labels a document"
        reasons = [why if model == "auto" else "chosen by you", *unused_pool(n_pool)]
        engine = build_engine(name, features, options, True)
        return Plan(engine, model_name(name), reasons)
    n_different = n_distinct(pool) if n_pool else 0
    min_pool, min_ratio = _guard(model)
    useful = pool_is_useful(len(target.labels), n_different, min_pool, min_ratio)
    left_out = [] if useful else _too_small(n_pool, n_different, min_pool, min_ratio)
    if model == _SEMI and not useful:
        model = "auto"  # below the guard the pool is ignored
        left_out = left_out or ["no unlabelled documents were given"]
        left_out.append(f"so {_SEMI} learning, asked for, is the same as none")
    if model != "auto":
        engine = build_engine(model, features, options)
        told = unused_pool(n_pool)
        if isinstance(engine, SemiEngine):
            told = left_out or _used(n_pool)
        elif isinstance(engine, MatrixEngine) and engine.uses_pool:
            told = _used(n_pool)
        return Plan(engine, model_name(model), ["chosen by you", *told])
    if _too_many_classes(target.labels):
        engine = build_engine(_QUICK, features, options)
        return Plan(engine, _QUICK, [_MANY_CLASSES, *unused_pool(n_pool)])
    trials = try_models(features, options, texts, target.labels)
    if not useful:
        compared = _compared(trials, target.labels)
        return _best_supervised(trials, features, options, [compared, *left_out])
    return _with_pool(trials, features, options, texts, target, pool, weight)


def _too_many_classes(y: Labels) -> bool:
    return len(y) * len(np.unique(y)) > _MOST_SCORES


def _best_supervised(
    trials: list[Trial], features: Any, options: BuildOptions, reasons: list[str]
) -> Plan:
    """The best in cross-validation, by rules that hold with few labels too."""
    best = best_trial(trials)
    return Plan(build_engine(best.name, features, options), best.name, reasons)


def _with_pool(
    trials: list[Trial],
    features: Any,
    options: BuildOptions,
    texts: RegionTexts,
    target: Target,
    pool: RegionTexts,
    weight: Any | None,
) -> Plan:
    """The pool is used; with many labels only if they do not speak against it.

    A choice by few labels is worse than no choice, so there is none then.
    """
    engine = build_engine(_SEMI, features, options)
    compared = _compared(trials, target.labels)
    reasons = [*_used(n_documents(pool)), f"without them, {compared}"]
    n_classes = len(np.unique(target.labels))
    if len(target.labels) < _MANY_LABELS * n_classes:
        return Plan(engine, _SEMI, reasons)
    engine.fit(texts, target.labels, weight, pool)
    left_out = engine.left_out if isinstance(engine, SemiEngine) else None
    best = max(trials, key=lambda trial: trial.accuracy)
    if left_out is None:
        return Plan(engine, _SEMI, reasons, is_fitted=True)
    rows, log_proba = left_out
    right = engine.classes_[log_proba.argmax(axis=1)] == target.labels[rows]
    accuracy = float(right.mean())
    error = np.sqrt(accuracy * (1.0 - accuracy) / len(right))
    told = f"with the pool, likewise: {_SEMI} {accuracy:.3f}"
    if best.accuracy > accuracy + error:
        unused = f"so the {n_documents(pool):,} unlabelled documents are left out"
        return _best_supervised(trials, features, options, [compared, told, unused])
    return Plan(engine, _SEMI, [*reasons, told], is_fitted=True)


def _compared(trials: list[Trial], y: Labels) -> str:
    """What each model scored."""
    listed = ", ".join(f"{trial.name} {trial.accuracy:.3f}" for trial in trials)
    caution = " (so few that it says little)" if are_few(y) else ""
    return f"cross-validated on the labelled documents{caution}: {listed}"


def _used(n_pool: int) -> list[str]:
    return [f"{n_pool:,} unlabelled documents help"] if n_pool else []


def unused_pool(n_pool: int) -> list[str]:
    """What to say of unlabelled documents that a model makes no use of."""
    if not n_pool:
        return []
    return [f"{n_pool:,} unlabelled documents were not used by this model"]


def _guard(model: Any) -> tuple[int, float]:
    """From which size on a pool is used, in all and for each labelled document."""
    if isinstance(model, SemiSupervisedClassifier):
        check_parameters(model)
        return model.min_pool, model.min_pool_ratio
    return MIN_POOL, MIN_POOL_RATIO


def _too_small(
    n_pool: int, n_different: int, min_pool: int, min_ratio: float
) -> list[str]:
    """Why a pool was left out."""
    if not n_pool:
        return []
    same = "" if n_different == n_pool else f" ({n_different:,} different ones)"
    return [
        f"{n_pool:,} unlabelled documents{same} were not used: they help from "
        f"{min_pool} on, and if there are {min_ratio:g} for each labelled one"
    ]
