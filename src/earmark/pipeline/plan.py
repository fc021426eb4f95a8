"""What to fit: the model asked for, or the one the data ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.models.registry import BuildOptions
from earmark.pipeline.build import Engine, build_engine
from earmark.pipeline.cross_fit import folds
from earmark.pipeline.inputs import RegionTexts, n_documents, take
from earmark.pipeline.labels import Target

__all__ = ["Plan", "make_plan", "model_name"]

# Tried in this order when no model is named; ties go to the earlier one.
CANDIDATES = ("complement", "svm")
_N_FOLDS = 5
# Cross-validation of more documents than this tells nothing new, only later.
_MOST_DOCUMENTS = 4000


@dataclass(frozen=True)
class Plan:
    """An engine to fit, its name, and why it was chosen."""

    engine: Engine
    name: str
    reasons: list[str]


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
) -> Plan:
    """The engine for the model asked for, or the choice of ``model="auto"``."""
    unused = _unused(n_documents(pool))
    if target.multi_label and model == "auto":
        engine = build_engine("svm", features, options, True)
        return Plan(engine, "svm", ["the default for several labels a document"])
    if model != "auto":
        engine = build_engine(model, features, options, target.multi_label)
        return Plan(engine, model_name(model), ["chosen by you", *unused])
    scores = {
        name: _cross_validated(name, features, options, texts, target.labels)
        for name in CANDIDATES
    }
    best = max(scores, key=lambda name: scores[name])
    listed = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    return Plan(
        build_engine(best, features, options),
        best,
        [f"best of the cross-validated accuracies: {listed}", *unused],
    )


def _unused(n_pool: int) -> list[str]:
    if not n_pool:
        return []
    return [f"{n_pool:,} unlabelled documents were not used by this model"]


def _cross_validated(
    name: str, features: Any, options: BuildOptions, texts: RegionTexts, y: Any
) -> float:
    """Share of labelled documents that a model fitted without them gets right."""
    rng = np.random.default_rng(0)
    rows = np.arange(len(y))
    if len(rows) > _MOST_DOCUMENTS:
        rows = np.sort(rng.choice(rows, _MOST_DOCUMENTS, replace=False))
    right = 0
    for part in folds(y[rows], _N_FOLDS, random_state=0):
        rest = np.setdiff1d(np.arange(len(rows)), part)
        if len(np.unique(y[rows[rest]])) < 2:
            continue
        engine = build_engine(name, features, options)
        engine.fit(take(texts, rows[rest]), y[rows[rest]], calibrate=False)
        best = engine.scores(take(texts, rows[part])).argmax(axis=1)
        right += int((engine.classes_[best] == y[rows[part]]).sum())
    return right / len(rows)
