"""How much an encoder has to say beside the views of words.

Encoders differ: one may be much the better view, another of no use for the task. Its
share of the vote is learned from labelled documents held out in turn, and held at
that of one view among equals as long as there is little to go by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize
from scipy.special import expit, logit

from earmark.kernels.logspace import log_normalize
from earmark.models.semi_supervised._calibration import cross_fitted
from earmark.models.semi_supervised.students import LinearStudent
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix

__all__ = ["ENCODER", "VIEWS_WEIGHT", "learned_share", "vote_together"]

# The view and the student of an encoder's vectors.
ENCODER = "encoder"
# All views together speak with the weight of three.
VIEWS_WEIGHT = 3.0
_LEAST, _MOST = 0.02, 0.9
_N_FOLDS = 5
# Pseudo-documents that hold the share at that of one view among equals.
_PRIOR_STRENGTH = 2.0


def vote_together(votes: Mapping[str, FloatMatrix], share: float | None) -> FloatMatrix:
    """The views' log-posteriors as one; ``share`` is the encoder's, if there is one."""
    words = [vote for name, vote in votes.items() if name != ENCODER]
    if share is None or not words:
        return np.asarray(VIEWS_WEIGHT * np.mean(list(votes.values()), axis=0))
    blend = (1.0 - share) * np.mean(words, axis=0) + share * votes[ENCODER]
    return np.asarray(VIEWS_WEIGHT * blend)


def learned_share(
    views: Mapping[str, Matrix], y: IntVector, voter: Any, weight: FloatVector
) -> float | None:
    """The encoder's share of the vote with the best likelihood; None without one.

    ``views`` has the labelled documents only, ``y`` their class numbers.
    """
    if ENCODER not in views:
        return None
    equal = 1.0 / len(views)
    if len(views) == 1:
        return _MOST
    votes = {}
    for name, view in views.items():
        rows, votes[name] = _cross_fitted_votes(view, y, voter, weight)
    if not len(rows):
        return equal
    return _likeliest_share(votes, y[rows], equal)


def _cross_fitted_votes(
    view: Matrix, y: IntVector, voter: Any, weight: FloatVector
) -> tuple[IntVector, FloatMatrix]:
    """Documents, and their log-posteriors by voters that did not see their labels."""

    def vote_without(kept: IntVector, held_out: IntVector) -> FloatMatrix:
        model = LinearStudent(voter).fit(view[kept], y[kept], weight[kept])
        return model.log_probabilities(view[held_out])

    return cross_fitted(y, vote_without, _N_FOLDS, seed=0)


def _likeliest_share(
    votes: Mapping[str, FloatMatrix], y: IntVector, equal: float
) -> float:
    rows = np.arange(len(y))

    def loss(log_odds: float) -> float:
        together = log_normalize(vote_together(votes, float(expit(log_odds))))
        penalty = _PRIOR_STRENGTH * (log_odds - logit(equal)) ** 2
        return float(penalty - together[rows, y].sum())

    bounds = (logit(_LEAST), logit(_MOST))
    found = optimize.minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(expit(found.x))
