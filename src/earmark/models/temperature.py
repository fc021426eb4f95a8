"""One temperature that turns scores into probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from earmark.kernels.rows import log_normalize
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["fitted_temperature"]

# Temperatures considered, relative to the spread of the scores.
_COLDEST, _HOTTEST = 1e-4, 1e2


def fitted_temperature(
    scores: FloatMatrix, own: IntVector, weight: FloatVector
) -> float | None:
    """The T for which softmax(scores / T) predicts the labels ``own`` best.

    Minimises the weighted log loss, which is convex in 1 / T. As in Platt's
    scaling the target is not 1 but a little less, as if two more documents had
    had any label: a handful of documents cannot prove certainty. A score of -inf
    marks an impossible class. Documents whose own class is impossible are left
    out; None where nothing is left to learn from.
    """
    usable = np.isfinite(scores[np.arange(len(own)), own]) & (weight > 0)
    usable &= np.isfinite(scores).sum(axis=1) > 1
    if not usable.any():
        return None
    scores, own, weight = scores[usable], own[usable], weight[usable]
    possible = np.isfinite(scores)
    n_possible = possible.sum(axis=1, keepdims=True)
    scores = np.where(possible, scores, 0.0)
    scores = scores - scores.sum(axis=1, keepdims=True) / n_possible
    spread = float(np.sqrt(np.mean(scores[possible] ** 2)))
    if not spread > 0:
        return None
    slack = 2.0 / (float(weight.sum()) + 2.0)
    target = np.where(possible, slack / n_possible, 0.0)
    target[np.arange(len(own)), own] += 1.0 - slack
    wanted = float(weight @ (target * scores).sum(axis=1))

    def slope(log_beta: float) -> tuple[float, float]:
        """Derivative of the log loss in beta = 1 / T, and its own in log beta."""
        beta = math.exp(log_beta)
        chance = np.exp(log_normalize(np.where(possible, scores * beta, -np.inf)))
        mean = (chance * scores).sum(axis=1)
        square = (chance * scores**2).sum(axis=1)
        return float(weight @ mean) - wanted, beta * float(weight @ (square - mean**2))

    low, high = -math.log(_HOTTEST * spread), -math.log(_COLDEST * spread)
    return math.exp(-_root(slope, low, high))


def _root(
    slope: Callable[[float], tuple[float, float]], low: float, high: float
) -> float:
    """Where a rising function crosses 0 in [low, high], or the nearer end.

    Newton's steps, and halving where they leave the bracket.
    """
    at = 0.5 * (low + high)
    for _ in range(60):
        value, rise = slope(at)
        low, high = (at, high) if value < 0 else (low, at)
        following = at - value / rise if rise > 0 else math.inf
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - at) < 1e-13 * max(1.0, abs(at)):
            break
        at = following
    return at
