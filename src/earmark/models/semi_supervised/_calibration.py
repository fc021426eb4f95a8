"""How sure the students may be: labelled documents that they did not learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize

from earmark.kernels.logspace import log_normalize
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["cross_fitted", "fit_scale"]

# Pseudo-documents that hold the scale at 1 when labels are very few.
_PRIOR_STRENGTH = 2.0


def cross_fitted(
    y: IntVector,
    score_without: Callable[[IntVector, IntVector], FloatMatrix],
    n_folds: int,
    seed: int,
) -> tuple[IntVector, FloatMatrix]:
    """Scores of labelled documents by students that never saw their labels.

    ``score_without(kept, held_out)`` learns from the kept labels and scores the
    documents held out. A class keeps at least one label: classes with a single
    one are never held out. Returns the documents that were scored, and scores.
    """
    rng = np.random.default_rng(seed)
    fold = np.full(len(y), -1)
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        if len(rows) > 1:
            fold[rows] = (np.arange(len(rows)) + c) % n_folds
            if (fold[rows] == fold[rows[0]]).all():
                fold[rows[0]] = -1
    done, scores = [], []
    for k in range(n_folds):
        held_out = np.flatnonzero(fold == k)
        if len(held_out):
            done.append(held_out)
            scores.append(score_without(np.flatnonzero(fold != k), held_out))
    if not done:
        return np.empty(0, dtype=np.int64), np.empty((0, int(y.max()) + 1))
    return np.concatenate(done), np.concatenate(scores)


def fit_scale(scores: FloatMatrix, y: IntVector, weight: FloatVector) -> float:
    """The factor on the scores with the best weighted log-likelihood.

    A penalty on its logarithm, worth a few documents, keeps it near 1 when there
    is little to go by.
    """
    if not len(y):
        return 1.0
    rows = np.arange(len(y))
    share = weight / weight.sum()

    def loss(log_scale: float) -> float:
        fit = log_normalize(np.exp(log_scale) * scores)[rows, y]
        return float(-(share * fit).sum() * len(y) + _PRIOR_STRENGTH * log_scale**2)

    found = optimize.minimize_scalar(loss, bounds=(-4.0, 3.0), method="bounded")
    return float(np.exp(found.x))
