"""The classifiers compared, each tuned on the same validation documents.

Every method answers which test documents it has right: accuracies and tests over the
documents both follow from that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from earmark.models import (
    HierarchicalBayes,
    MultinomialNaiveBayes,
    SoftmaxRegression,
)
from earmark.typing import BoolVector
from reproductions.hierarchical.tasks import Task
from reproductions.study import BASELINES

__all__ = ["Baseline", "hierarchical", "naive_bayes", "text_baselines"]

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

Baseline = tuple[Any, str, Sequence[float], bool]
"""Estimator, the one setting that is tuned, its values, whether on tf-idf."""


def _tfidf_baselines() -> dict[str, Baseline]:
    found: dict[str, Baseline] = {}
    for name, (pipeline, grid) in BASELINES.items():
        ((key, values),) = grid.items()
        parameter = key.rpartition("__")[2]
        found[name] = (pipeline[-1], parameter, values, "tf-idf" in name)
    return found


# The paper names MaxEnt and a linear SVM and no weighting: counts, as naive Bayes has.
# The softmax regression is exact: the optimum of scikit-learn's LogisticRegression.
_COUNTS: Mapping[str, Baseline] = {
    "MaxEnt on counts": (
        SoftmaxRegression(solver="dual"),
        "C",
        (0.003, 0.01, 0.1, 1.0),
        False,
    ),
    "linear SVM on counts": (LinearSVC(), "C", (0.0003, 0.001, 0.01, 0.1, 1.0), False),
}


def naive_bayes(task: Task, alphas: Iterable[float] = ALPHAS) -> BoolVector:
    """Multinomial naive Bayes, alpha chosen on the validation documents."""
    X, X_validation, X_test = task.counts
    y, y_validation, y_test = task.labels
    models = [MultinomialNaiveBayes(alpha=alpha).fit(X, y) for alpha in alphas]
    scores = [model.score(X_validation, y_validation) for model in models]
    return np.asarray(models[int(np.argmax(scores))].predict(X_test) == y_test)


def hierarchical(task: Task, seed: int, **settings: Any) -> tuple[BoolVector, Any]:
    """Hierarchical Bayes that the validation documents chose; and the model."""
    X, X_validation, X_test = task.counts
    y, y_validation, y_test = task.labels
    model = HierarchicalBayes(random_state=seed, **settings)
    model.fit(X, y, validation=(X_validation, y_validation))
    return np.asarray(model.predict(X_test) == y_test), model


def text_baselines(
    tasks: Iterable[Task],
    grids: Mapping[str, Sequence[float]] | None = None,
    slow: Collection[str] = (),
    counts: bool = False,
) -> dict[str, list[BoolVector]]:
    """Test documents right on each task, of the baselines on tf-idf and on counts.

    Tasks that share their training documents share the fits. The validation
    documents of the first training part choose the setting for the others too.
    ``grids`` replaces the values that are tried, by name; those named in ``slow``
    are fitted to the first training part only. ``counts`` adds those on counts.
    """
    groups = _by_training_part(tasks)
    results: dict[str, list[BoolVector]] = {}
    chosen = {**(_COUNTS if counts else {}), **_tfidf_baselines()}
    for name, (estimator, parameter, usual, weigh) in chosen.items():
        values: Sequence[float] = (grids or {}).get(name, usual)
        results[name] = []
        for group in groups[:1] if name in slow else groups:
            models = [clone(estimator).set_params(**{parameter: v}) for v in values]
            right, best = _answers(group, models, weigh)
            results[name] += right
            values = (values[best],)
    return results


def _answers(
    tasks: list[Task], models: list[Any], weigh: bool
) -> tuple[list[BoolVector], int]:
    """Test documents right by the model that is best on each task's validation part.

    And which model that was for the first task.
    """
    weighting = TfidfTransformer(sublinear_tf=True)
    X, _, _ = tasks[0].counts
    X = weighting.fit_transform(X) if weigh else X
    for model in models:
        model.fit(X, tasks[0].labels[0])
    right, chosen = [], []
    for task in tasks:
        _, X_validation, X_test = task.counts
        _, y_validation, y_test = task.labels
        if weigh:
            X_validation = weighting.transform(X_validation)
            X_test = weighting.transform(X_test)
        scores = [model.score(X_validation, y_validation) for model in models]
        chosen.append(int(np.argmax(scores)))
        right.append(np.asarray(models[chosen[-1]].predict(X_test) == y_test))
    return right, chosen[0]


def _by_training_part(tasks: Iterable[Task]) -> list[list[Task]]:
    groups: list[list[Task]] = []
    for task in tasks:
        if groups and np.array_equal(groups[-1][0].train, task.train):
            groups[-1].append(task)
        else:
            groups.append([task])
    return groups
