"""Softmax regression by mini-batch gradient descent on sparse documents.

    minimise  sum_d s_d (-log y_d,t(d)) / sum_d s_d + penalty/2 |W|^2
    with      y_d = softmax(W'x_d + b)

A step costs what the terms of its batch cost, also with a penalty: the decay of
a term waits until the term is met again (SR1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.rows import csr_arrays
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = ["Descent", "Steps", "descend", "new_descent", "settle", "softmax"]


@dataclass
class Descent:
    """The state of a descent; the kernels change it in place."""

    weights: FloatMatrix
    """(n_features, n_classes)."""
    bias: FloatVector
    squares: FloatVector
    """Sum of squared gradients of each term and, at the end, of the bias."""
    decayed: FloatVector
    """Length of the path up to which each term's decay was applied."""
    path: FloatVector
    """One value: the sum of the step sizes so far."""


@dataclass(frozen=True)
class Steps:
    """How far each step of a pass goes."""

    first: float
    """Step size at the start of the pass, and ..."""
    last: float
    """... at its end; between them it changes in a straight line."""
    batch_size: int = 1
    adaptive: bool = True
    """Divide a term's step by the root of the sum of its squared gradients."""
    bias_rate: float = 1.0
    penalty: float = 0.0


def new_descent(n_features: int, n_classes: int) -> Descent:
    """Zero weights."""
    return Descent(
        np.zeros((n_features, n_classes)),
        np.zeros(n_classes),
        np.zeros(n_features + 1),
        np.zeros(n_features),
        np.zeros(1),
    )


def descend(
    X: SparseMatrix,
    y_index: IntVector,
    weight: FloatVector,
    order: IntVector,
    state: Descent,
    steps: Steps,
) -> float:
    """One pass over the rows in ``order``; the sum of losses met on the way.

    Each document's loss is taken before the step that learns it.
    """
    labels = np.ascontiguousarray(y_index, dtype=np.int32)
    lib = native()
    if lib is None:
        return _descend_plain(X, labels, weight, order, state, steps)
    loss: float = lib.softmax_descend(
        *csr_arrays(X),
        order=order,
        y=labels,
        weight=weight,
        **vars(state),
        **vars(steps),
    )
    return loss


def settle(state: Descent, steps: Steps) -> None:
    """Apply the decay that still waits, to every term."""
    if steps.penalty > 0:
        gap = state.path[0] - state.decayed
        keep = _kept(gap, state.squares[:-1], steps)
        state.weights *= keep[:, None]
    state.decayed[:] = 0.0
    state.path[:] = 0.0


def softmax(scores: FloatMatrix) -> tuple[FloatMatrix, FloatVector]:
    """Probabilities of each row, and the logs of their normalisers."""
    top = scores.max(axis=1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True)
    return powers / total, (top + np.log(total))[:, 0]


def _descend_plain(
    X: SparseMatrix,
    labels: NDArray[np.int32],
    weight: FloatVector,
    order: IntVector,
    state: Descent,
    steps: Steps,
) -> float:
    n_rows, loss = len(order), 0.0
    for first in range(0, n_rows, steps.batch_size):
        batch = order[first : first + steps.batch_size]
        eta = steps.first + (steps.last - steps.first) * (first / n_rows)
        rows = [_row(X, int(d)) for d in batch]
        for terms, _ in rows:
            if steps.penalty > 0:
                gap = state.path[0] - state.decayed[terms]
                keep = _kept(gap, state.squares[terms], steps)
                state.weights[terms] *= keep[:, None]
                state.decayed[terms] = state.path[0]
        scores = np.stack([x @ state.weights[terms] for terms, x in rows]) + state.bias
        own = scores[np.arange(len(batch)), labels[batch]]
        residuals, normalizer = softmax(scores)
        loss += float(weight[batch] @ (normalizer - own))
        residuals[np.arange(len(batch)), labels[batch]] -= 1.0
        residuals *= weight[batch, None]
        step = eta if steps.adaptive else eta / len(batch)
        for (terms, x), residual in zip(rows, residuals, strict=True):
            _step_plain(terms, x, residual, step, state, steps)
        state.path[0] += eta * len(batch) if steps.adaptive else eta
    return loss


def _step_plain(
    terms: IntVector,
    x: FloatVector,
    residual: FloatVector,
    step: float,
    state: Descent,
    steps: Steps,
) -> None:
    """A document's share of the step: W -= step x (y - t)' (SR1)."""
    square = float(residual @ residual)
    if square == 0.0:
        return
    factor, bias_factor = -step * x, -step * steps.bias_rate
    if steps.adaptive:
        state.squares[terms] += x * x * square
        state.squares[-1] += square
        factor = factor / np.sqrt(state.squares[terms])
        bias_factor /= np.sqrt(state.squares[-1])
    state.weights[terms] += factor[:, None] * residual
    state.bias += bias_factor * residual


def _kept(gap: FloatVector, squares: FloatVector, steps: Steps) -> FloatVector:
    """What is left of each weight after the decay of a stretch of the path."""
    rate = np.ones_like(gap)
    if steps.adaptive:
        rate = np.zeros_like(gap)
        np.divide(1.0, np.sqrt(squares), out=rate, where=squares > 0)
    return np.asarray(1.0 / (1.0 + steps.penalty * gap * rate))


def _row(X: SparseMatrix, d: int) -> tuple[IntVector, FloatVector]:
    part = slice(X.indptr[d], X.indptr[d + 1])
    return X.indices[part], X.data[part]
