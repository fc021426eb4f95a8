"""The classifiers compared, each tuned on the same validation documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer

from earmark.models import HierarchicalBayes, MultinomialNaiveBayes
from reproductions.hierarchical.tasks import Task
from reproductions.study import BASELINES

__all__ = ["hierarchical", "naive_bayes", "text_baselines"]

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def naive_bayes(task: Task, alphas: Iterable[float] = ALPHAS) -> float:
    """Multinomial naive Bayes, alpha chosen on the validation documents."""
    X, X_validation, X_test = task.counts
    y, y_validation, y_test = task.labels
    models = [MultinomialNaiveBayes(alpha=alpha).fit(X, y) for alpha in alphas]
    scores = [model.score(X_validation, y_validation) for model in models]
    return float(models[int(np.argmax(scores))].score(X_test, y_test))


def hierarchical(task: Task, seed: int, **settings: Any) -> tuple[float, Any]:
    """Hierarchical Bayes that the validation documents chose; and the model."""
    X, X_validation, X_test = task.counts
    y, y_validation, y_test = task.labels
    model = HierarchicalBayes(random_state=seed, **settings)
    model.fit(X, y, validation=(X_validation, y_validation))
    return float(model.score(X_test, y_test)), model


def text_baselines(
    tasks: Iterable[Task],
    grids: Mapping[str, Sequence[float]] | None = None,
    slow: Collection[str] = (),
) -> dict[str, list[float]]:
    """Accuracy on each task of the tf-idf baselines and complement naive Bayes.

    Tasks that share their training documents share the fits. The validation
    documents of the first training part choose the setting for the others too.
    ``grids`` replaces the values that are tried, by name; those named in ``slow``
    are fitted to the first training part only.
    """
    groups = _by_training_part(tasks)
    results: dict[str, list[float]] = {}
    for name, (pipeline, grid) in BASELINES.items():
        ((key, usual),) = grid.items()
        values: Sequence[float] = (grids or {}).get(name, usual)
        results[name] = []
        for group in groups[:1] if name in slow else groups:
            parameter = key.rpartition("__")[2]
            models = [clone(pipeline[-1]).set_params(**{parameter: v}) for v in values]
            found, best = _accuracies(group, models, "tf-idf" in name)
            results[name] += found
            values = (values[best],)
    return results


def _accuracies(
    tasks: list[Task], models: list[Any], weigh: bool
) -> tuple[list[float], int]:
    """Test accuracy of the model that is best on the validation part of each task.

    And which model that was for the first task.
    """
    weighting = TfidfTransformer(sublinear_tf=True)
    X, _, _ = tasks[0].counts
    X = weighting.fit_transform(X) if weigh else X
    for model in models:
        model.fit(X, tasks[0].labels[0])
    found, chosen = [], []
    for task in tasks:
        _, X_validation, X_test = task.counts
        _, y_validation, y_test = task.labels
        if weigh:
            X_validation = weighting.transform(X_validation)
            X_test = weighting.transform(X_test)
        scores = [model.score(X_validation, y_validation) for model in models]
        chosen.append(int(np.argmax(scores)))
        found.append(float(models[chosen[-1]].score(X_test, y_test)))
    return found, chosen[0]


def _by_training_part(tasks: Iterable[Task]) -> list[list[Task]]:
    groups: list[list[Task]] = []
    for task in tasks:
        if groups and np.array_equal(groups[-1][0].train, task.train):
            groups[-1].append(task)
        else:
            groups.append([task])
    return groups
