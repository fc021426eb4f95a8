"""Scores of training documents by models that did not see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.pipeline.scores import class_scores, has_probabilities, log_probabilities
from earmark.typing import FloatMatrix, IntVector, Labels, SparseMatrix

__all__ = ["cross_scores", "folds"]


def folds(y: Labels, n_folds: int, random_state: int | None) -> Iterator[IntVector]:
    """Disjoint test parts that cover all rows, each class spread over all of them.

    Unlike scikit-learn's stratified folds, a class may have fewer documents than
    there are folds: it is then missing from some of them.
    """
    rng = np.random.default_rng(random_state)
    place = np.empty(len(y), dtype=np.int64)
    next_fold = 0
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        place[rows] = (next_fold + np.arange(len(rows))) % n_folds
        next_fold = (next_fold + len(rows)) % n_folds
    for fold in range(n_folds):
        part = np.flatnonzero(place == fold)
        if len(part):
            yield part


def cross_scores(
    estimator: Any,
    X: SparseMatrix,
    y: Labels,
    *,
    n_folds: int = 3,
    random_state: int | None = None,
    sample_weight: Any | None = None,
    proba: bool = False,
) -> FloatMatrix:
    """Class scores (or log-probabilities) of each row by a model fitted without it.

    Columns are the sorted labels of y; a class that a fold's training part lacks
    scores as low as the lowest class there.
    """
    classes = np.unique(y)
    scores = np.zeros((X.shape[0], len(classes)))
    for part in folds(y, n_folds, random_state):
        rest = np.setdiff1d(np.arange(X.shape[0]), part)
        if len(np.unique(y[rest])) < 2:
            continue
        given = (
            {}
            if sample_weight is None
            else {"sample_weight": np.asarray(sample_weight)[rest]}
        )
        model = clone(estimator).fit(X[rest], y[rest], **given)
        use_proba = proba and has_probabilities(model)
        answer = (log_probabilities if use_proba else class_scores)(model, X[part])
        columns = np.searchsorted(classes, model.classes_)
        lowest = answer.min(axis=1, keepdims=True)
        scores[part] = np.broadcast_to(lowest, (len(part), len(classes)))
        scores[np.ix_(part, columns)] = answer
    return scores
