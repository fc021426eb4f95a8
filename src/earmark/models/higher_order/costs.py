"""Choosing the cost C of the base classifiers, one for all pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from earmark.exceptions import DataError
from earmark.models.higher_order.one_against_one import OneAgainstOne
from earmark.typing import IntVector, Labels, SparseMatrix

__all__ = ["COSTS", "best_in_cross_validation", "best_on_training"]

COSTS = tuple(10.0**k for k in range(-4, 5))


def best_on_training(
    task: OneAgainstOne,
    base: Any,
    rows: SparseMatrix,
    y_index: IntVector,
    classes: Labels,
    n_jobs: int | None,
) -> tuple[float, list[Any]]:
    """The smallest cost with the best training accuracy (HO7), and its classifiers."""
    best_accuracy, best_cost, best_models = -1.0, COSTS[0], []
    for cost in COSTS:
        models = _fit_quietly(task, base, cost, rows, y_index, classes, n_jobs)
        accuracy = np.mean(task.scores(models, rows).argmax(axis=1) == y_index)
        if accuracy > best_accuracy:
            best_accuracy, best_cost, best_models = float(accuracy), cost, models
        if accuracy == 1.0:
            break
    return best_cost, best_models


def best_in_cross_validation(
    make_task: Callable[[SparseMatrix, IntVector], OneAgainstOne],
    base: Any,
    rows: SparseMatrix,
    y_index: IntVector,
    classes: Labels,
    n_jobs: int | None,
    n_parts: int,
    seed: int,
) -> float:
    """The smallest cost with the best accuracy on held-out parts.

    Paths are counted afresh without the held-out documents.
    """
    smallest = int(np.bincount(y_index).min())
    if smallest < 2:
        raise DataError(
            "C='cross_validation' needs at least 2 documents in every class, got a "
            "class of 1; take C='training' or a number."
        )
    correct = np.zeros(len(COSTS))
    parts = StratifiedKFold(min(n_parts, smallest), shuffle=True, random_state=seed)
    for train, test in parts.split(y_index, y_index):
        known, labels = rows[train], y_index[train]
        task = make_task(known, labels)
        for at, cost in enumerate(COSTS):
            models = _fit_quietly(task, base, cost, known, labels, classes, n_jobs)
            answers = task.scores(models, rows[test]).argmax(axis=1)
            correct[at] += np.sum(answers == y_index[test])
    return COSTS[int(correct.argmax())]


def _fit_quietly(task: OneAgainstOne, base: Any, cost: float, *data: Any) -> list[Any]:
    """Fit at a cost that may be far too large: its convergence is no concern."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return task.fit(base.set_params(C=cost), *data)
