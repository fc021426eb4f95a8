"""The multilayer perceptron in plain NumPy: the parts, and the twin of the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.keys import uniforms
from earmark.kernels.softmax import softmax
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = [
    "TINY",
    "Memory",
    "Network",
    "Training",
    "activate",
    "adam_rate",
    "backpropagate",
    "catch_up",
    "learn",
]

FADE_1, FADE_2, TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Network:
    """Weights of all layers; kernels change the arrays in place."""

    first: FloatMatrix
    """W_1, (n_features, sizes[0])."""
    dense: FloatVector
    """b_1, W_2, b_2, W_3, b_3, ... one after the other."""
    sizes: tuple[int, ...]
    """Widths of the layers after the input; the last is the number of classes."""
    activation: str

    def layers(self) -> list[tuple[FloatMatrix, FloatVector]]:
        """Weights (n_in, n_out) and bias of each layer, as views."""
        return [
            (self.first, self.dense[: self.sizes[0]]),
            *self.dense_layers(self.dense),
        ]

    def dense_layers(
        self, values: FloatVector
    ) -> list[tuple[FloatMatrix, FloatVector]]:
        """Cut an array like ``dense`` into the layers after the first."""
        parts, at = [], self.sizes[0]
        for n_in, n_out in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            end = at + n_in * n_out
            weights = values[at:end].reshape(n_in, n_out)
            parts.append((weights, values[end : end + n_out]))
            at = end + n_out
        return parts


@dataclass(frozen=True)
class Memory:
    """What an optimiser remembers of earlier gradients.

    Adaptive: sums of squares, one for each row of weights. Adam: fading means; the
    mean square of a term's row of W_1 is one number.
    """

    first_moment: FloatMatrix
    first_square: FloatVector
    met: IntVector
    """Step at which each term's row was last up to date (Adam)."""
    dense_moment: FloatVector
    dense_square: FloatVector
    """The adaptive rule uses the place of each row's first weight."""
    step: IntVector
    """One value: the number of steps made."""


@dataclass(frozen=True)
class Training:
    """How one pass learns."""

    rule: str
    """"adaptive", "adam" or "sgd"."""
    first_eta: float
    last_eta: float
    batch_size: int
    seed: int
    dropout: float = 0.0
    dense_rate: float = 1.0
    """Factor on the adaptive steps of the dense layers."""
    learn_bias: bool = True


def activate(inputs: FloatMatrix, activation: str) -> tuple[FloatMatrix, FloatMatrix]:
    """Output of the activation, and its derivative."""
    if activation == "tanh":
        z = np.tanh(inputs)
        return z, 1.0 - z * z
    slope = (inputs > 0.0).astype(np.float64)
    return inputs * slope, slope


def backpropagate(
    network: Network,
    X: SparseMatrix,
    labels: NDArray[np.int32],
    weight: FloatVector,
    masks: list[FloatMatrix] | None,
) -> tuple[float, FloatMatrix, FloatVector]:
    """Sum of losses; dE/da_1 of each row; gradient of the dense layers (NN1).

    E is the mean loss of the rows. ``masks`` multiply the hidden units (dropout).
    """
    layers = network.layers()
    z, slopes, outputs = X, [], []
    for depth, (weights, bias) in enumerate(layers[:-1]):
        z, slope = activate(np.asarray(z @ weights + bias), network.activation)
        if masks is not None:
            z, slope = z * masks[depth], slope * masks[depth]
        outputs.append(z)
        slopes.append(slope)
    totals = np.asarray(z @ layers[-1][0] + layers[-1][1])
    rows = np.arange(len(labels))
    proba, normalizer = softmax(totals)
    loss = float(weight @ (normalizer - totals[rows, labels]))
    delta = proba
    delta[rows, labels] -= 1.0
    delta *= (weight / len(labels))[:, None]
    gradient = np.zeros_like(network.dense)
    parts = network.dense_layers(gradient)
    for depth in range(len(parts) - 1, -1, -1):
        parts[depth][0][:] = outputs[depth].T @ delta
        parts[depth][1][:] = delta.sum(axis=0)
        delta = (delta @ layers[depth + 1][0].T) * slopes[depth]
    gradient[: network.sizes[0]] = delta.sum(axis=0)
    return loss, delta, gradient


def learn(
    X: SparseMatrix,
    labels: NDArray[np.int32],
    weight: FloatVector,
    order: IntVector,
    network: Network,
    memory: Memory,
    training: Training,
) -> float:
    """One pass over the rows in ``order``; the sum of the losses met on the way."""
    n_rows, total = len(order), 0.0
    for begin in range(0, n_rows, training.batch_size):
        docs = order[begin : begin + training.batch_size]
        change = training.last_eta - training.first_eta
        eta = training.first_eta + change * (begin / n_rows)
        memory.step[0] += 1
        step, rows = int(memory.step[0]), X[docs]
        rate = adam_rate(eta, step)
        if training.rule == "adam":
            terms = np.unique(rows.indices)
            catch_up(network, memory, terms, step - 1, rate)
        loss, deltas, gradient = backpropagate(
            network,
            rows,
            labels[docs],
            weight[docs],
            _masks(network, training, step, len(docs)),
        )
        total += loss
        if not training.learn_bias:
            gradient[: network.sizes[0]] = 0.0
            for _, bias in network.dense_layers(gradient):
                bias[:] = 0.0
        if training.rule == "adam":
            _adam_rows(network, memory, terms, rows, deltas, rate)
            memory.met[terms] = step
            _adam_dense(network, memory, gradient, rate)
            continue
        for d in range(len(docs)):
            part = slice(rows.indptr[d], rows.indptr[d + 1])
            _step_row(
                network,
                memory,
                rows.indices[part],
                rows.data[part],
                deltas[d],
                eta,
                training,
            )
        if training.rule == "adaptive":
            _adapt_dense(network, memory, gradient, eta * training.dense_rate)
        else:
            network.dense[:] -= eta * gradient
    return total


def _masks(
    network: Network, training: Training, step: int, n_rows: int
) -> list[FloatMatrix] | None:
    """Dropout: 0 or 1/(1 - dropout) for each hidden unit of each document."""
    if training.dropout == 0.0:
        return None
    draws = uniforms(training.seed, step, n_rows * sum(network.sizes))
    draws = draws.reshape(n_rows, -1)
    keep = np.where(draws >= training.dropout, 1.0 / (1.0 - training.dropout), 0.0)
    edges = np.cumsum(network.sizes)[:-1]
    return np.split(keep, edges, axis=1)[:-1]


def _step_row(
    network: Network,
    memory: Memory,
    terms: IntVector,
    x: FloatVector,
    delta: FloatVector,
    eta: float,
    training: Training,
) -> None:
    """A document's share of the step in W_1: only the rows of its terms (NN2)."""
    size = float(delta @ delta)
    if size == 0.0:
        return
    factor = -eta * x
    if training.rule == "adaptive":
        memory.first_square[terms] += x * x * size
        factor = factor / np.sqrt(memory.first_square[terms])
    network.first[terms] += factor[:, None] * delta


def _adapt_dense(
    network: Network, memory: Memory, gradient: FloatVector, rate: float
) -> None:
    """Step of each row / root of the sum of its squared gradients."""
    ends = [slice(0, network.sizes[0])]
    at = network.sizes[0]
    for n_in, n_out in zip(network.sizes[:-1], network.sizes[1:], strict=True):
        for _ in range(n_in + 1):
            ends.append(slice(at, at + n_out))
            at += n_out
    for row in ends:
        g = gradient[row]
        memory.dense_square[row.start] += g @ g
        if memory.dense_square[row.start] > 0.0:
            network.dense[row] -= rate / math.sqrt(memory.dense_square[row.start]) * g


def adam_rate(eta: float, step: int) -> float:
    """Step size with the corrections for means that started at zero."""
    if step == 0:
        return eta
    return eta * math.sqrt(1.0 - FADE_2**step) / (1.0 - FADE_1**step)


def catch_up(
    network: Network, memory: Memory, terms: IntVector, now: int, rate: float
) -> None:
    """Bring rows up to date that no batch has touched for some steps (Adam).

    Their momentum went on moving them while it faded: a geometric series of ratio
    FADE_1 / sqrt(FADE_2).
    """
    steps = (now - memory.met[terms]).astype(np.float64)
    late = (steps > 0) & (memory.first_square[terms] > 0.0)
    rows, gap = terms[late], steps[late]
    ratio = FADE_1 / math.sqrt(FADE_2)
    size = np.sqrt(memory.first_square[rows]) + TINY
    travel = rate * ratio * (1.0 - ratio**gap) / (1.0 - ratio) / size
    network.first[rows] -= travel[:, None] * memory.first_moment[rows]
    memory.first_moment[rows] *= (FADE_1**gap)[:, None]
    memory.first_square[rows] *= FADE_2**gap
    memory.met[terms] = now


def _adam_rows(
    network: Network,
    memory: Memory,
    terms: IntVector,
    rows: SparseMatrix,
    deltas: FloatMatrix,
    rate: float,
) -> None:
    gradient = np.asarray(rows[:, terms].T @ deltas)
    square = (gradient * gradient).sum(axis=1) / gradient.shape[1]
    square = FADE_2 * memory.first_square[terms] + (1.0 - FADE_2) * square
    moment = FADE_1 * memory.first_moment[terms] + (1.0 - FADE_1) * gradient
    memory.first_square[terms], memory.first_moment[terms] = square, moment
    network.first[terms] -= (rate / (np.sqrt(square) + TINY))[:, None] * moment


def _adam_dense(
    network: Network, memory: Memory, gradient: FloatVector, rate: float
) -> None:
    memory.dense_moment[:] = FADE_1 * memory.dense_moment + (1.0 - FADE_1) * gradient
    memory.dense_square[:] = FADE_2 * memory.dense_square + (1.0 - FADE_2) * gradient**2
    network.dense[:] -= (
        rate * memory.dense_moment / (np.sqrt(memory.dense_square) + TINY)
    )
