"""All pairs of classes: their transforms, classifiers, cost and vote (HO7)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from earmark.exceptions import DataError
from earmark.folds import stratified_folds
from earmark.kernels.offset_svm import fit_offset_svm
from earmark.models.base import linear_rule_of
from earmark.models.higher_order.transformer import pair_values
from earmark.parameters import offers
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    SparseMatrix,
)

__all__ = [
    "COSTS",
    "OneAgainstOne",
    "PairProblem",
    "best_in_cross_validation",
    "best_on_training",
    "fit_pair",
    "pair_margin",
    "pair_weights",
]


@dataclass(frozen=True)
class PairProblem:
    """The transform (HO6) between two classes."""

    columns: IntVector
    """Terms of the two classes' training documents; others are disregarded."""
    difference: FloatVector
    """Value of each of them when present, less that when absent."""
    offset: FloatVector
    """Value of each of them when absent: the constant part."""

    def features(self, rows: SparseMatrix) -> SparseMatrix:
        """The sparse part of the transform of presence rows."""
        cut = rows[:, self.columns]
        data = self.difference[cut.indices]
        return sparse.csr_array((data, cut.indices, cut.indptr), shape=cut.shape)


def fit_pair(
    base: Estimator, problem: PairProblem, features: SparseMatrix, labels: Labels
) -> Any:
    """Train a copy of the base classifier on the transformed documents of two classes.

    A linear support vector machine of LIBLINEAR's kind penalizes its intercept, so
    for it the constant part matters: it is trained on the full transform, exactly,
    in sparse form. Other classifiers get the sparse part.
    """
    if _is_plain_svm(base):
        return _fit_linear_svm(base, problem, features, labels)
    return clone(base).fit(features, labels)


def pair_margin(
    model: Estimator, problem: PairProblem, rows: SparseMatrix
) -> FloatVector:
    """Margin of each row, positive for the second class."""
    linear = pair_weights(model, problem, rows.shape[1])
    if linear is not None:
        return np.asarray(rows @ linear[0] + linear[1], dtype=np.float64)
    features = problem.features(rows)
    if offers(model, "decision_function"):
        return np.asarray(model.decision_function(features), dtype=np.float64).ravel()
    if offers(model, "predict_proba"):
        return np.asarray(model.predict_proba(features)[:, 1] - 0.5, dtype=np.float64)
    is_second = model.predict(features) == model.classes_[1]
    return np.where(is_second, 1.0, -1.0)


def pair_weights(
    model: Estimator, problem: PairProblem, n_features: int
) -> tuple[FloatVector, float] | None:
    """A linear model's weights on presences and its intercept; None if not linear."""
    rule = linear_rule_of(model)
    if rule is None or not rule.on_rows:
        return None
    weights = np.zeros(n_features)
    margin = rule.weights[:, 1] - rule.weights[:, 0]
    weights[problem.columns] = margin * problem.difference
    return weights, float(rule.offset[1] - rule.offset[0])


def _is_plain_svm(base: Estimator) -> bool:
    return type(base) is LinearSVC and base.penalty == "l2"


def _fit_linear_svm(
    base: LinearSVC, problem: PairProblem, features: SparseMatrix, labels: Labels
) -> LinearSVC:
    """LinearSVC on the rows offset + features, without making them."""
    classes = np.unique(labels)
    weight = compute_class_weight(base.class_weight, classes=classes, y=labels)
    is_second = labels == classes[1]
    fit = fit_offset_svm(
        features,
        problem.offset,
        np.where(is_second, 1.0, -1.0),
        base.C * weight[is_second.astype(np.intp)],
        scale=float(base.intercept_scaling) if base.fit_intercept else 0.0,
        squared=base.loss == "squared_hinge",
        tol=base.tol,
        max_iter=base.max_iter,
        seed=base.random_state or 0,
    )
    if not fit.converged:
        warnings.warn(
            f"the linear SVM did not converge in {base.max_iter} passes; "
            "raise max_iter, or take a smaller C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    model = clone(base)
    model.classes_ = classes
    model.coef_, model.intercept_ = fit.weights[None, :], np.array([fit.intercept])
    model.n_iter_, model.n_features_in_ = fit.n_iter, features.shape[1]
    return model


@dataclass(frozen=True)
class OneAgainstOne:
    """One two-class problem for each pair of classes (HO7)."""

    log_present: FloatMatrix
    """log P(term present | class), (n_classes, n_features)."""
    log_absent: FloatMatrix
    """log P(term absent | class), (n_classes, n_features)."""
    held: BoolVector
    """Whether a training document of the class holds the term, of that shape."""
    normalize: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(0, 1), (0, 2), ..., (1, 2), ..."""
        n_classes = len(self.held)
        return [(j, k) for j in range(n_classes) for k in range(j + 1, n_classes)]

    def problem(self, first: int, second: int) -> PairProblem:
        """The transform (HO6) between two classes, on the terms of the two."""
        columns = np.flatnonzero(self.held[first] | self.held[second])
        present, absent = pair_values(
            self.log_present, self.log_absent, first, second, self.normalize
        )
        offset = absent[columns]
        return PairProblem(columns, present[columns] - offset, offset)

    def fit(
        self,
        base: Estimator,
        rows: SparseMatrix,
        y_index: IntVector,
        classes: Labels,
        n_jobs: int | None,
    ) -> list[Estimator]:
        """A classifier for each pair."""

        def fit_one(first: int, second: int) -> Estimator:
            mine = np.flatnonzero((y_index == first) | (y_index == second))
            problem = self.problem(first, second)
            features = problem.features(rows[mine])
            return fit_pair(base, problem, features, classes[y_index[mine]])

        fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(fit_one)(*pair) for pair in self.pairs
        )
        return list(fitted)

    def scores(self, models: list[Estimator], rows: SparseMatrix) -> FloatMatrix:
        """Class scores of presence rows, (n_samples, n_classes)."""
        margins = np.empty((rows.shape[0], len(models)))
        for p, (pair, model) in enumerate(zip(self.pairs, models, strict=True)):
            margins[:, p] = pair_margin(model, self.problem(*pair), rows)
        if len(models) == 1:
            return np.asarray(margins * np.array([-0.5, 0.5]))
        return self._vote(margins)

    def _vote(self, margins: FloatMatrix) -> FloatMatrix:
        """Votes for each class, ties broken by summed margins.

        The summed margins are squashed into (-1/3, 1/3): they never outweigh a vote.
        """
        votes: FloatMatrix = np.zeros((len(margins), len(self.held)))
        sums = np.zeros_like(votes)
        for margin, (first, second) in zip(margins.T, self.pairs, strict=True):
            votes[:, second] += margin > 0
            votes[:, first] += margin <= 0
            sums[:, second] += margin
            sums[:, first] -= margin
        return np.asarray(votes + sums / (3 * (1 + np.abs(sums))))


COSTS = tuple(10.0**k for k in range(-4, 5))


def best_on_training(
    task: OneAgainstOne,
    base: Estimator,
    rows: SparseMatrix,
    y_index: IntVector,
    classes: Labels,
    n_jobs: int | None,
) -> tuple[float, list[Estimator]]:
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
    base: Estimator,
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
    for train, test in stratified_folds(y_index, min(n_parts, smallest), seed):
        known, labels = rows[train], y_index[train]
        task = make_task(known, labels)
        for at, cost in enumerate(COSTS):
            models = _fit_quietly(task, base, cost, known, labels, classes, n_jobs)
            answers = task.scores(models, rows[test]).argmax(axis=1)
            correct[at] += np.sum(answers == y_index[test])
    return COSTS[int(correct.argmax())]


def _fit_quietly(
    task: OneAgainstOne, base: Estimator, cost: float, *data: Any
) -> list[Estimator]:
    """Fit at a cost that may be far too large: its convergence is no concern."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return task.fit(base.set_params(C=cost), *data)
