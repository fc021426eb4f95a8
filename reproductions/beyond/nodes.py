"""A number of hidden nodes for each class, chosen by its own held-back documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import HierarchicalBayes
from reproductions.hierarchical.tasks import Task, held_back, load
from reproductions.study import Run, documents_p_value, mean_and_error

__all__ = ["nodes_per_class"]

_NUMBERS = (1, 2, 3, 4)
_SETTINGS: dict[str, Any] = {"n_restarts": 10, "max_iter": 5, "select": "log_loss"}
# Corpus -> (title, smoothing that its tuned models choose).
_CORPORA = {"r8": ("R8", 0.1), "r52": ("R52", 0.03), "webkb": ("WebKB", 0.3)}


def nodes_per_class(run: Run) -> dict[str, Any]:
    """One number for all classes against a number per class; paired over documents."""
    names = list(_CORPORA)[:1] if run.quick else list(_CORPORA)
    return {_CORPORA[name][0]: _corpus(name, run) for name in names}


def _corpus(name: str, run: Run) -> dict[str, Any]:
    title, alpha = _CORPORA[name]
    tasks = list(held_back(load(name, title), 0.1, 2 if run.quick else 5))
    draws = [_draw(task, alpha, seed) for seed, task in enumerate(tasks)]
    run.progress(f"nodes per class: {title}")
    tests = [task.test for task in tasks]
    rows = {}
    for method in ("H = 1 for all", "H = 2 for all", "best H for all", "H per class"):
        right = [draw["right"][method] for draw in draws]
        rows[method] = {
            **mean_and_error(float(each.mean()) for each in right),
            "p against H = 2": documents_p_value(
                right, [draw["right"]["H = 2 for all"] for draw in draws], tests
            ),
        }
    numbers = np.array([draw["numbers"] for draw in draws])
    return {"rows": rows, "mean nodes per class": float(numbers.mean())}


def _draw(task: Task, alpha: float, seed: int) -> dict[str, Any]:
    X, X_validation, X_test = task.counts
    y, y_validation, y_test = task.labels
    models = [
        HierarchicalBayes(n_hidden=h, alpha=alpha, random_state=seed, **_SETTINGS).fit(
            X, y, validation=(X_validation, y_validation)
        )
        for h in _NUMBERS
    ]
    classes = models[0].classes_
    held, tested = (
        np.stack([model.class_scores(part) for model in models])
        for part in (X_validation, X_test)
    )
    own = np.searchsorted(classes, y_validation)
    # Mean log P(x, c) of the held-back documents of each class, by number of nodes;
    # classes without any keep one node.
    fit = np.full((len(_NUMBERS), len(classes)), -np.inf)
    fit[0] = 0.0
    for c in np.unique(own):
        mine = own == c
        fit[:, c] = held[:, mine, c].mean(axis=1)
    best = fit.argmax(axis=0)
    together = tested[best, :, np.arange(len(classes))].T
    answers = {
        "H = 1 for all": tested[0],
        "H = 2 for all": tested[1],
        "best H for all": tested[
            int(np.argmax([(s.argmax(axis=1) == own).mean() for s in held]))
        ],
        "H per class": together,
    }
    return {
        "right": {
            name: classes[scores.argmax(axis=1)] == y_test
            for name, scores in answers.items()
        },
        "numbers": [_NUMBERS[b] for b in best],
    }
