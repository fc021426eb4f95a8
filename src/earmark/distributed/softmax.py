"""Softmax regression: L-BFGS here, its gradients summed over the parts."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from earmark.distributed.data import PartedRows
from earmark.distributed.executor import merged
from earmark.distributed.rows import PartRows
from earmark.exceptions import DataError, NotSupportedError
from earmark.kernels.logspace import log_normalize
from earmark.models import SoftmaxRegression
from earmark.typing import FloatMatrix, FloatVector

__all__ = ["fit_softmax"]

# The optimum is unique. Where the gradient is below so much of the penalty's own,
# the weights are right to 1e-9, however the gradient was added up.
_NEAR = 1e-10
_STEEP, _NEWTON_STEPS, _CG_STEPS = 1e-14, 3, 200


class Slope:
    """Loss and gradient of some documents; they add."""

    def __init__(self, loss: float, weights: FloatMatrix, bias: FloatVector) -> None:
        self.loss = loss
        self.weights = weights
        self.bias = bias

    def merge(self, other: Slope) -> Self:
        """Add those of other documents."""
        self.loss = self.loss + other.loss
        self.weights = self.weights + other.weights
        self.bias = self.bias + other.bias
        return self


class SlopeTask:
    """``PartRows`` -> cross-entropy and its gradient at some weights."""

    def __init__(
        self, weights: FloatMatrix, bias: FloatVector, factor: FloatVector | None
    ) -> None:
        self.weights = weights
        self.bias = bias
        self.factor = factor

    def __call__(self, rows: PartRows) -> Slope:
        """Sums over the part."""
        log_proba = log_normalize(rows.X @ self.weights + self.bias)
        every = np.arange(len(rows.y))
        weight = np.ones(len(every)) if self.factor is None else self.factor[rows.y]
        loss = -float(weight @ log_proba[every, rows.y])
        residual = np.exp(log_proba)
        residual[every, rows.y] -= 1.0
        residual *= weight[:, None]
        return Slope(loss, np.asarray(rows.X.T @ residual), residual.sum(axis=0))


class CurveTask:
    """``PartRows`` -> the change of the gradient along a direction (no loss)."""

    def __init__(
        self,
        at: tuple[FloatMatrix, FloatVector],
        along: tuple[FloatMatrix, FloatVector],
        factor: FloatVector | None,
    ) -> None:
        self.at = at
        self.along = along
        self.factor = factor

    def __call__(self, rows: PartRows) -> Slope:
        """Sums over the part."""
        share = np.exp(log_normalize(rows.X @ self.at[0] + self.at[1]))
        change = np.asarray(rows.X @ self.along[0] + self.along[1])
        bent = share * (change - (share * change).sum(axis=1, keepdims=True))
        if self.factor is not None:
            bent *= self.factor[rows.y][:, None]
        return Slope(0.0, np.asarray(rows.X.T @ bent), bent.sum(axis=0))


class Objective:
    """Sum of weighted losses / total weight + |W|^2 / (2 C total weight)."""

    def __init__(self, model: SoftmaxRegression, data: PartedRows) -> None:
        self.data = data
        self.shape = (data.n_features, len(data.classes))
        docs = data.docs.astype(np.float64)
        factor = data.class_weight
        self.total = float(docs.sum() if factor is None else docs @ factor)
        self.penalty = 1.0 / (model._c() * self.total)
        self.has_bias = model.fit_intercept
        self.trace: list[float] = []

    def parted(self, point: FloatVector) -> tuple[FloatMatrix, FloatVector]:
        """Weights and offsets of a point."""
        n_weights = self.shape[0] * self.shape[1]
        return point[:n_weights].reshape(self.shape), point[n_weights:]

    def slope(self, point: FloatVector) -> tuple[float, FloatVector]:
        """Value and gradient: one pass over the parts."""
        weights, bias = self.parted(point)
        found = self._summed(SlopeTask(weights, bias, self.data.class_weight))
        value = found.loss / self.total + 0.5 * self.penalty * float(
            np.vdot(weights, weights)
        )
        self.trace.append(value)
        return value, self._joined(found, weights)

    def curve(self, point: FloatVector, along: FloatVector) -> FloatVector:
        """Second derivative times a direction: one pass over the parts."""
        here, there = self.parted(point), self.parted(along)
        found = self._summed(CurveTask(here, there, self.data.class_weight))
        return self._joined(found, there[0])

    def _summed(self, task: Any) -> Slope:
        data = self.data
        found: Slope = data.executor.reduce("slope", task, data.items, merged)
        return found

    def _joined(self, found: Slope, weights: FloatMatrix) -> FloatVector:
        gradient = found.weights / self.total + self.penalty * weights
        bias = found.bias / self.total
        return np.concatenate([gradient.ravel(), bias if self.has_bias else 0.0 * bias])


def fit_softmax(model: SoftmaxRegression, data: PartedRows) -> None:
    """The exact optimum that ``solver="dual"`` approaches in memory.

    L-BFGS with one pass over the parts for every step. Where it can see no more
    progress in the objective, Newton steps bring the gradient to zero, so that the
    optimum does not depend on how the documents are divided.
    """
    if model.solver != "dual":
        raise NotSupportedError(
            f"SoftmaxRegression(solver={model.solver!r}) visits documents one by one; "
            "in parts take solver='dual', whose optimum is found by L-BFGS."
        )
    if len(data.classes) < 2:
        raise DataError(
            "SoftmaxRegression needs at least 2 classes, got "
            f"{data.classes.tolist()!r}."
        )
    model.classes_, model.n_features_in_ = data.classes, data.n_features
    model._check_parameters()
    objective = Objective(model, data)
    most = 1000 if model.epochs is None else model.epochs
    result: Any = optimize.minimize(
        objective.slope,
        np.zeros(objective.shape[0] * objective.shape[1] + objective.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": most, "maxcor": 20, "ftol": 0.0, "gtol": _STEEP},
    )
    point, gradient = result.x, result.jac
    for _ in range(_NEWTON_STEPS):
        size = objective.penalty * float(np.abs(objective.parted(point)[0]).max())
        if np.abs(gradient).max() <= _NEAR * size or result.nit >= most:
            break
        step = _newton_step(objective, point, gradient)
        _, flatter = objective.slope(point - step)
        if not np.abs(flatter).max() < np.abs(gradient).max():
            break
        point, gradient = point - step, flatter
    _become(model, objective, point, gradient, int(result.nit))


def _newton_step(
    objective: Objective, point: FloatVector, gradient: FloatVector
) -> FloatVector:
    """Conjugate gradients, until what is left is a small part of the gradient."""
    step = np.zeros_like(gradient)
    left = gradient.copy()
    direction = left.copy()
    squared = float(left @ left)
    goal = 1e-8 * squared
    for _ in range(_CG_STEPS):
        bent = objective.curve(point, direction)
        length = squared / float(direction @ bent)
        step += length * direction
        left -= length * bent
        before, squared = squared, float(left @ left)
        if squared <= goal:
            break
        direction = left + (squared / before) * direction
    return step


def _become(
    model: SoftmaxRegression,
    objective: Objective,
    point: FloatVector,
    gradient: FloatVector,
    n_steps: int,
) -> None:
    weights, bias = objective.parted(point)
    model._weights, model._offset = np.ascontiguousarray(weights), bias.copy()
    model._squares = np.zeros(0)
    model.step_size_, model.objective_ = math.nan, objective.trace[-1]
    model.n_iter_, model.trace_ = n_steps, {"objective": objective.trace}
    steepest = float(np.abs(gradient).max())
    if steepest > 1e-6:
        warnings.warn(
            f"SoftmaxRegression has not converged after {n_steps} steps: the "
            f"gradient is still {steepest:.3g}; raise epochs or give a smaller C.",
            ConvergenceWarning,
            stacklevel=4,
        )
