"""The bias-variance experiments of section 14.6 (VS6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from earmark.evaluation import bias_variance
from earmark.features import TermSelector
from earmark.models import (
    MultinomialNaiveBayes,
    NeighborsClassifier,
    RocchioClassifier,
)
from earmark.typing import FloatMatrix
from reproductions.study import Progress
from reproductions.vector_space.features import Split
from reproductions.vector_space.plane import (
    enclave,
    linear_with_noise,
    nearest,
    rocchio,
)

__all__ = ["Stump", "by_neighbours", "by_terms", "same", "three_classifiers"]

Represent = Callable[[FloatMatrix], Any]
PROBLEMS = {"linear": linear_with_noise, "enclave": enclave}
NEIGHBOURS = (1, 3, 5, 11, 25, 51, 101)


def counts(points: FloatMatrix) -> Any:
    """A point as a page with so many Roman and Chinese characters, for naive Bayes."""
    return np.rint(100 * points)


def same(points: FloatMatrix) -> Any:
    """Points as they are."""
    return points


def height(points: FloatMatrix) -> Any:
    """The one feature of the one-feature classifier."""
    return points[:, 1:]


class Stump(ClassifierMixin, BaseEstimator):
    """One feature and a threshold that minimizes the errors on the training set."""

    def fit(self, X: FloatMatrix, y: Any) -> Stump:
        """Of equally good thresholds the middle one; classes 0 below and 1 above."""
        self.classes_ = np.array([0, 1])
        order = np.argsort(X[:, 0])
        values, labels = X[order, 0], np.asarray(y)[order]
        below = np.concatenate(([0], np.cumsum(labels == 1)))
        above = np.concatenate((np.cumsum((labels == 0)[::-1])[::-1], [0]))
        errors = below + above
        best = np.flatnonzero(errors == errors.min())
        cut = int(best[len(best) // 2])
        ends = np.concatenate(([values[0] - 1.0], values, [values[-1] + 1.0]))
        self.threshold_ = float((ends[cut] + ends[cut + 1]) / 2)
        return self

    def predict(self, X: FloatMatrix) -> Any:
        """1 above the threshold."""
        return (X[:, 0] > self.threshold_).astype(np.int64)


def by_neighbours(n_sets: int, progress: Progress) -> dict[str, Any]:
    """KNN for many k, Rocchio and naive Bayes, on a linear and a non-linear problem.

    P(c|d) is known: labels are noisy with probability 0.05.
    """
    found: dict[str, Any] = {}
    for name, problem in PROBLEMS.items():
        models: dict[str, tuple[Any, Represent]] = {
            f"{k}NN": (nearest(k), same) for k in NEIGHBOURS
        }
        models["Rocchio"] = (rocchio(), same)
        models["naive Bayes"] = (MultinomialNaiveBayes(), counts)
        found[name] = {
            each: measured(problem, *models[each], n_sets) for each in models
        }
        progress(f"bias and variance on the {name} problem")
    return found


def three_classifiers(n_sets: int, progress: Progress) -> dict[str, Any]:
    """The three classifiers of figure 14.10: one feature, a line, a perfect fit."""
    models: dict[str, tuple[Any, Represent]] = {
        "one feature": (Stump(), height),
        "line": (LogisticRegression(C=100.0), same),
        "fits the training set perfectly": (nearest(1), same),
    }
    found = {
        name: measured(linear_with_noise, *each, n_sets, output="label")
        for name, each in models.items()
    }
    progress("the three classifiers of figure 14.10")
    return found


def measured(
    problem: Callable[..., Any],
    model: Any,
    represent: Represent,
    n_sets: int,
    output: str = "auto",
    size: int = 200,
    n_test: int = 1000,
    seed: int = 0,
) -> dict[str, float]:
    """Bias and variance of one model on one problem; training sets of ``size``."""
    points, _, chance = problem(n_test, np.random.default_rng(seed + 1))

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        drawn, label, _ = problem(size, rng)
        return represent(drawn), label

    decomposed = bias_variance(
        model,
        draw,
        None,
        represent(points),
        proba_test=chance,
        classes=[0, 1],
        n_sets=n_sets,
        output=output,
        random_state=seed,
    )
    return decomposed.to_dict()


def by_terms(
    data: Split, sizes: tuple[int, ...], n_sets: int, progress: Progress
) -> dict[str, Any]:
    """Capacity as the number of terms: newsgroups, the label standing for P(c|d)."""
    X, y, test, y_test = data
    test, y_test = test[:1000], y_test[:1000]
    rows = []
    for size in sizes:
        row: dict[str, Any] = {"terms": size}
        for name, model in {
            "Rocchio": RocchioClassifier(metric="cosine"),
            "1NN": NeighborsClassifier(1, random_state=0),
        }.items():
            chain = make_pipeline(TermSelector(criterion="chi2", k=size), model)
            found = bias_variance(
                chain, X, y, test, y_test, n_sets=n_sets, set_size=1000
            )
            row[name] = found.to_dict()
        rows.append(row)
    progress("bias and variance by the number of terms")
    return {"rows": rows, "all terms": int(X.shape[1])}
