"""Which model ``TextClassifier`` takes: from the data to a plan and the reasons for it.

``choose`` is a pure function. With a model that the user named there is nothing to
choose; ``"auto"`` is ``linear``, or ``semi-supervised`` where many documents without
labels and few with one are given.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from earmark.exceptions import DataError, EarmarkWarning
from earmark.features.vectors import known_share
from earmark.folds import rows_by_lot, stratified_folds, take
from earmark.inputs.class_names import ClassNames
from earmark.inputs.regions import joined_regions, n_distinct
from earmark.inputs.training import TrainingData
from earmark.inputs.weights import ClassWeight
from earmark.models.base.classifier import check_parameters, require_weighted
from earmark.models.semi_supervised import (
    MIN_POOL,
    MIN_POOL_RATIO,
    SemiSupervisedClassifier,
    pool_is_useful,
)
from earmark.pipeline.text_model import Plan, Planner, TextModel, takes_rows
from earmark.typing import FloatVector, Labels

_LINEAR, _SEMI = "linear", "semi-supervised"
# What the vectors of every model that takes some come from, unless a user says.
STATIC = "static"
# From so many labels per class on, whether the pool helps is left to the labels.
_MANY_LABELS = 50
# Seconds of this processor that learning from a pool may take, unless a budget is set.
_POOL_BUDGET = 600.0
# It is measured on a small part if documents times classes are more than this.
_WORTH_MEASURING = 1_000_000


@dataclass(frozen=True)
class Choice:
    """A plan, and why it was chosen."""

    plan: Plan
    reasons: list[str]
    fitted: TextModel | None = None
    """The fitted model, where choosing has made it."""


def choose(
    model: Any, data: TrainingData, planner: Planner, budget: float | None = None
) -> Choice:
    """The plan for the model asked for, or the choice of ``model="auto"``.

    ``budget`` is in seconds, for learning from a pool; None: as long as is usual.
    """
    if data.multi_label:
        name = _LINEAR if model == "auto" else model
        why = "the default for several labels per document"
        chosen = why if model == "auto" else "chosen by you"
        return Choice(planner.plan(name), [chosen, *unused_pool(data.n_pool)])
    if data.names.labels and unlabelled_classes(data):
        return _from_names(model, data, planner)
    useful, left_out = _pool_serves(model, data) if data.n_pool else (False, [])
    if model == _SEMI and not useful:
        model = "auto"  # below the guard the pool is ignored
        left_out = left_out or ["no unlabelled documents were given"]
        left_out.append(f"so {_SEMI} learning, asked for, is the same as none")
    if model != "auto":
        return _named(model, data, planner, left_out)
    weight = ClassWeight(planner.class_weight).of_documents(data.labels, data.weight)
    if weight is not None:
        require_weighted(data.labels, weight)
    few = len(data.labels) / len(data.classes) < _MANY_LABELS
    if useful and (not few or budget is not None):
        useful, left_out = _pool_in_time(data, planner, budget)
    if useful and few:
        # A choice by few labels is worse than no choice.
        plan = planner.plan(_SEMI)
        fitted = plan.fit(data)
        if fitted.class_share is not None:
            return Choice(plan, _used(data.n_pool), fitted)
        useful = False
        left_out = [
            f"{data.n_pool:,} unlabelled documents were not used: too few of them "
            "differ in the words that they share with others"
        ]
    if useful:
        return _with_pool(data, planner)
    why = "the default: words, pieces of words and meaning under one linear machine"
    return Choice(planner.plan(_LINEAR), [why, *left_out])


def unlabelled_classes(data: TrainingData) -> list[str]:
    """Classes asked for that no document has as its label."""
    known = set(data.labels.tolist())
    return [str(label) for label in data.names.labels if label not in known]


def _pool_in_time(
    data: TrainingData, planner: Planner, budget: float | None
) -> tuple[bool, list[str]]:
    """Whether learning from the pool is within the budget, tried on a small part."""
    n_labelled, n_pool = len(data.labels), data.n_pool
    limit = _POOL_BUDGET if budget is None else budget
    if (n_labelled + n_pool) * len(data.classes) <= _WORTH_MEASURING:
        return True, []
    some = data.take(rows_by_lot(n_labelled, 500))
    if len(np.unique(some.labels)) < 2:
        return True, []
    small = replace(
        some,
        weight=None,
        pool=take(data.pool, rows_by_lot(n_pool, 1500)),
        names=ClassNames(),
    )
    started = time.thread_time()
    planner.plan(_SEMI).fit(small)
    spent = time.thread_time() - started
    seconds = spent * (n_labelled + n_pool) / (len(small.labels) + small.n_pool)
    if seconds <= limit:
        return True, []
    return False, [
        f"{n_pool:,} unlabelled documents were not used: learning from them would take "
        f"about {_seconds(seconds)}, the budget is {_seconds(limit)}"
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def _from_names(model: Any, data: TrainingData, planner: Planner) -> Choice:
    """Plan the few-label method, for classes that have a name but no document."""
    plan = planner.plan(_SEMI if model == "auto" else model)
    if plan.name != _SEMI or not data.n_pool:
        first = unlabelled_classes(data)[0]
        raise DataError(
            f"no document has the label {first!r}, and a class is learned from its "
            "name by model='semi-supervised' and from unlabelled documents only; got "
            f"model={plan.name!r} and {data.n_pool:,} unlabelled documents."
        )
    return Choice(plan, _used(data.n_pool))


def _named(
    model: Any, data: TrainingData, planner: Planner, left_out: list[str]
) -> Choice:
    plan = planner.plan(model)
    if not data.n_pool:
        return Choice(plan, ["chosen by you"])
    reasons = unused_pool(data.n_pool)
    if isinstance(plan.estimator, SemiSupervisedClassifier):
        reasons = left_out or _used(data.n_pool)
    elif plan.uses_pool:
        reasons = _used(data.n_pool)
    return Choice(plan, ["chosen by you", *reasons])


def _with_pool(data: TrainingData, planner: Planner) -> Choice:
    """Fit with the pool and without, and take what answers left-out labels better."""
    with_pool, alone = planner.plan(_SEMI), planner.plan(_LINEAR)
    fitted, other = with_pool.fit(data), alone.fit(data)
    right = _right(with_pool, fitted, data), _right(alone, other, data)
    both = np.flatnonzero(np.isfinite(right[0]) & np.isfinite(right[1]))
    if not len(both):
        return Choice(with_pool, _used(data.n_pool), fitted)
    lead = right[1][both] - right[0][both]
    error = float(lead.std()) / np.sqrt(len(lead))
    tried = (
        f"on {len(both):,} labelled documents, left out: {_SEMI} "
        f"{right[0][both].mean():.3f}, {_LINEAR} {right[1][both].mean():.3f}"
    )
    if lead.mean() > error:
        unused = f"so the {data.n_pool:,} unlabelled documents are left out"
        return Choice(alone, [tried, unused], other)
    return Choice(with_pool, [*_used(data.n_pool), tried], fitted)


def _right(plan: Plan, fitted: TextModel, data: TrainingData) -> FloatVector:
    """Whether labelled documents, left out, are answered rightly; NaN: not judged."""
    right = np.full(len(data.labels), np.nan)
    answers = fitted.left_out_answers
    if answers is not None:
        rows, log_proba = answers
        right[rows] = fitted.classes_[log_proba.argmax(axis=1)] == data.labels[rows]
        return right
    for train, test in stratified_folds(data.labels, 3, 0, data.copies.group):
        some = data.take(train)
        if len(np.unique(some.labels)) > 1:
            best = plan.fit(some).decide(take(data.texts, test)).best
            right[test] = best == data.labels[test]
    return right


# -- the pool ------------------------------------------------------------------------


def _used(n_pool: int) -> list[str]:
    return [f"{n_pool:,} unlabelled documents are used"] if n_pool else []


def unused_pool(n_pool: int) -> list[str]:
    """What to say of unlabelled documents that a model makes no use of."""
    if not n_pool:
        return []
    return [f"{n_pool:,} unlabelled documents were not used by this model"]


def _pool_serves(model: Any, data: TrainingData) -> tuple[bool, list[str]]:
    """Whether the pool is large enough to be used, and if not, what to say."""
    min_pool, min_ratio = MIN_POOL, MIN_POOL_RATIO
    if isinstance(model, SemiSupervisedClassifier):
        check_parameters(model)
        min_pool, min_ratio = model.min_pool, model.min_pool_ratio
    n_pool = data.n_pool
    if not n_pool:
        return False, []
    n_different = n_distinct(data.pool)
    n_labelled = len(data.labels)
    if pool_is_useful(n_labelled, n_different, min_pool, min_ratio):
        return True, []
    same = "" if n_different == n_pool else f" ({n_different:,} different ones)"
    return False, [
        f"{n_pool:,} unlabelled documents{same} were not used: expected at "
        f"least {min_pool}, and at least {min_ratio:g} per labelled one"
    ]


# -- what was used, in words ---------------------------------------------------------


def view_words(fitted: TextModel, encoder: Any, data: TrainingData) -> list[str]:
    """What documents held out and the encoder were good for; why one was not used."""
    if not takes_rows(fitted.model):
        return _unused(encoder, f"it is for the models {_LINEAR} and {_SEMI}")
    words, columns = _held_out(fitted, data), fitted.columns.encoder
    if encoder is None:
        return words
    if columns is None:
        known = known_share(encoder, joined_regions(data.texts, list(data.texts)))
        why = f"it knows {known:.0%} of the words"
        return [*words, f"the encoder {encoder} was not used: {why}"]
    models = fitted.model.estimators_ if fitted.multi_label else [fitted.model]
    share = next(one.encoder_share_ for one in models if one is not None)
    if share is None:
        return [*words, *_unused(encoder, f"{_SEMI} learning uses it with a pool only")]
    rest = "were not encoded; their vectors are learned from their words"
    spared = f"; {columns.n_spared:,} documents of the pool {rest}"
    return [
        *words,
        f"the encoder has {share:.0%} of the vote{spared if columns.n_spared else ''}",
    ]


def _unused(encoder: Any, why: str) -> list[str]:
    """Why an encoder that somebody asked for was not used."""
    if encoder is None or encoder == STATIC:
        return []
    unused = f"the encoder was not used: {why}"
    warnings.warn(f"{unused}.", EarmarkWarning, stacklevel=5)
    return [unused]


def _held_out(fitted: TextModel, data: TrainingData) -> list[str]:
    right = fitted.left_out_right(data.labels) if data.n_pool else None
    if right is not None:
        return [f"cross-validated with the pool: {_SEMI} {right.mean():.3f}"]
    n_held_out = getattr(fitted.model, "n_held_out_", 0)
    if not n_held_out:
        return []
    return [f"its settings were chosen on {n_held_out:,} documents held out in turn"]


_UNKNOWN = (
    "no labelled document: learned from class names alone, so accuracy and confidence "
    "are unknown; check ten of its answers (earmark label) and train with them to know"
)


def class_name_words(
    used: Mapping[Hashable, list[str]], names: ClassNames, labels: Labels
) -> list[str]:
    """Which class names were used, in words, and what nobody knows without labels."""
    if not used:
        unused = "the class names were not used: they count beside unlabelled documents"
        return [unused] if names.labels else []
    described = [f"{label} ({', '.join(t)})" for label, t in used.items()]
    more = f" and {len(described) - 5} more" if len(described) > 5 else ""
    words = f"class names used as weak documents: {'; '.join(described[:5])}{more}"
    if not len(labels):
        return [_UNKNOWN, words]
    known = set(labels.tolist())
    only = [str(label) for label in used if label not in known]
    if not only:
        return [words]
    listed = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
    return [words, f"no labelled document of {listed}: no figure here speaks of them"]
