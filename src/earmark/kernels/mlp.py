"""The multilayer perceptron on sparse documents.

    z_1 = f(W_1'x + b_1),  z_l = f(W_l'z_(l-1) + b_l),  y = softmax(W_L'z_(L-1) + b_L)
    minimize  sum_d s_d (-log y_d,t(d)) / sum_d s_d

by backpropagation (NN1). A step touches only the rows of W_1 whose terms are in the
batch (NN2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.backend import native
from earmark.kernels.keys import uniforms
from earmark.kernels.rows import csr_arrays, row_entries
from earmark.kernels.softmax import softmax
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix

_ACTIVATIONS = {"tanh": 0, "relu": 1}
_RULES = {"adaptive": 0, "adam": 1, "sgd": 2}
_FADE_1, _FADE_2, _TINY = 0.9, 0.999, 1e-8


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
        bias = self.dense[: self.sizes[0]]
        return [(self.first, bias), *self.dense_layers(self.dense)]

    def dense_layers(
        self, values: FloatVector
    ) -> list[tuple[FloatMatrix, FloatVector]]:
        """Cut an array like ``dense`` into the layers after the first."""
        parts, at = [], self.sizes[0]
        for n_in, n_out in pairwise(self.sizes):
            end = at + n_in * n_out
            weights = values[at:end].reshape(n_in, n_out)
            parts.append((weights, values[end : end + n_out]))
            at = end + n_out
        return parts

    def activate(self, inputs: FloatMatrix) -> tuple[FloatMatrix, FloatMatrix]:
        """Output of the activation, and its derivative."""
        if self.activation == "tanh":
            z = np.tanh(inputs)
            return z, 1.0 - z * z
        slope = (inputs > 0.0).astype(np.float64)
        return inputs * slope, slope


@dataclass(frozen=True)
class Memory:
    """What an optimizer remembers of earlier gradients.

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


def new_network(
    n_features: int, sizes: Sequence[int], activation: str, seed: int
) -> Network:
    """Random weights of the usual size for the activation, no bias; classes last."""
    n_dense = sizes[0] + sum((a + 1) * b for a, b in pairwise(sizes))
    gain = 2.0 if activation == "relu" else 6.0

    def random(layer: int, n_in: int, n_out: int) -> FloatMatrix:
        bound = math.sqrt(gain / (n_in + n_out))
        values = uniforms(seed, -2 - layer, n_in * n_out)
        values *= 2.0 * bound
        values -= bound
        return values.reshape(n_in, n_out)

    first = random(0, n_features, sizes[0])
    network = Network(first, np.zeros(n_dense), tuple(sizes), activation)
    for layer, (weights, _) in enumerate(network.layers()[1:], start=1):
        weights[:] = random(layer, *weights.shape)
    return network


def new_memory(network: Network, rule: str) -> Memory:
    """What the rule remembers at the start: nothing."""
    n_features, width = network.first.shape
    n_kept = n_features if rule == "adam" else 0
    return Memory(
        np.zeros((n_kept, width)),
        np.zeros(n_features),
        np.zeros(n_kept, dtype=np.int64),
        np.zeros_like(network.dense),
        np.zeros_like(network.dense),
        np.zeros(1, dtype=np.int64),
    )


def learn(
    X: SparseMatrix,
    y_index: IntVector,
    weight: FloatVector,
    order: IntVector,
    network: Network,
    memory: Memory,
    training: Training,
) -> float:
    """One pass over the rows in ``order``; the sum of the losses met on the way."""
    labels = np.ascontiguousarray(y_index, dtype=np.int32)
    lib, rule = native(), _RULES[training.rule]
    if lib is None:
        return _PlainPass(network, memory, training).learn(X, labels, weight, order)
    loss: float = lib.mlp_learn(
        *csr_arrays(X),
        order=order,
        y=labels,
        weight=weight,
        first=network.first,
        dense=network.dense,
        sizes=np.array(network.sizes, dtype=np.int64),
        activation=_ACTIVATIONS[network.activation],
        first_moment=memory.first_moment,
        first_square=memory.first_square,
        met=memory.met,
        dense_moment=memory.dense_moment,
        dense_square=memory.dense_square,
        step=memory.step,
        rule=rule,
        first_eta=training.first_eta,
        last_eta=training.last_eta,
        batch_size=training.batch_size,
        seed=training.seed % 2**64,
        dropout=training.dropout,
        dense_rate=training.dense_rate,
        learn_bias=training.learn_bias,
    )
    return loss


def settle(network: Network, memory: Memory, training: Training) -> None:
    """Let the momentum of terms that are absent now run out (Adam)."""
    if training.rule != "adam":
        return
    now = int(memory.step[0])
    plain = _PlainPass(network, memory, training)
    rate = adam_rate(training.last_eta, now)
    for start in range(0, len(memory.met), 4096):
        terms = np.arange(start, min(start + 4096, len(memory.met)))
        plain.catch_up(terms, now, rate)


def adam_rate(eta: float, step: int) -> float:
    """Step size with the corrections for means that started at zero."""
    if step == 0:
        return eta
    return eta * math.sqrt(1.0 - _FADE_2**step) / (1.0 - _FADE_1**step)


def scores(network: Network, X: Matrix) -> FloatMatrix:
    """Scores before the softmax, (n_samples, n_classes)."""
    *hidden, (weights, bias) = network.layers()
    z: Matrix = X
    for matrix, offset in hidden:
        z = network.activate(np.asarray(z @ matrix + offset))[0]
    return np.asarray(z @ weights + bias, dtype=np.float64)


def backpropagate(
    network: Network,
    X: SparseMatrix,
    labels: NDArray[np.int32],
    weight: FloatVector,
    masks: list[FloatMatrix] | None = None,
) -> tuple[float, FloatMatrix, FloatVector]:
    """Sum of losses; d(mean loss)/da_1 of each row; gradient of ``dense`` (NN1)."""
    layers = network.layers()
    z, slopes, outputs = X, [], []
    for depth, (weights, bias) in enumerate(layers[:-1]):
        z, slope = network.activate(np.asarray(z @ weights + bias))
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


def secants(network: Network, X: Matrix) -> tuple[list[FloatMatrix], FloatVector]:
    """Slope (f(a) - f(a_0)) / (a - a_0) of each hidden unit; scores of no document."""
    # a_0 is the input for the empty document. Every layer moves by exactly the layer
    # before it times these slopes, so that a score is a sum over terms, no remainder.
    *hidden, (weights, bias) = network.layers()
    z, at_rest = X, np.zeros((1, X.shape[1]))
    slopes = []
    for matrix, offset in hidden:
        inputs = np.asarray(z @ matrix + offset)
        before = np.asarray(at_rest @ matrix + offset)
        z, _ = network.activate(inputs)
        at_rest, derivative = network.activate(before)
        moved = inputs - before
        still = np.abs(moved) < _TINY
        ratio = (z - at_rest) / np.where(still, 1.0, moved)
        slopes.append(np.where(still, derivative, ratio))
    return slopes, np.asarray(at_rest @ weights + bias)[0]


@dataclass(frozen=True)
class _PlainPass:
    """One pass over the documents in plain Python, equal to the compiled one."""

    network: Network
    memory: Memory
    training: Training

    def learn(
        self,
        X: SparseMatrix,
        labels: NDArray[np.int32],
        weight: FloatVector,
        order: IntVector,
    ) -> float:
        """One pass over the rows in ``order``; the sum of the losses."""
        network, memory, training = self.network, self.memory, self.training
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
                self.catch_up(terms, step - 1, rate)
            loss, deltas, gradient = backpropagate(
                network, rows, labels[docs], weight[docs], self._masks(step, len(docs))
            )
            total += loss
            if not training.learn_bias:
                gradient[: network.sizes[0]] = 0.0
                for _, bias in network.dense_layers(gradient):
                    bias[:] = 0.0
            if training.rule == "adam":
                self._adam_rows(terms, rows, deltas, rate)
                memory.met[terms] = step
                self._adam_dense(gradient, rate)
                continue
            for delta, row in zip(deltas, row_entries(rows), strict=True):
                self._step_row(*row, delta, eta)
            if training.rule == "adaptive":
                self._adapt_dense(gradient, eta * training.dense_rate)
            else:
                network.dense[:] -= eta * gradient
        return total

    def _masks(self, step: int, n_rows: int) -> list[FloatMatrix] | None:
        """Dropout: 0 or 1/(1 - dropout) for each hidden unit of each document."""
        sizes, dropout = self.network.sizes, self.training.dropout
        if dropout == 0.0:
            return None
        draws = uniforms(self.training.seed, step, n_rows * sum(sizes))
        draws = draws.reshape(n_rows, -1)
        keep = np.where(draws >= dropout, 1.0 / (1.0 - dropout), 0.0)
        return np.split(keep, np.cumsum(sizes)[:-1], axis=1)[:-1]

    def _step_row(
        self, terms: IntVector, x: FloatVector, delta: FloatVector, eta: float
    ) -> None:
        """Move the first layer's rows of a document's terms by its gradient (NN2)."""
        size, memory = float(delta @ delta), self.memory
        if size == 0.0:
            return
        factor = -eta * x
        if self.training.rule == "adaptive":
            memory.first_square[terms] += x * x * size
            factor = factor / np.sqrt(memory.first_square[terms])
        self.network.first[terms] += factor[:, None] * delta

    def _adapt_dense(self, gradient: FloatVector, rate: float) -> None:
        """Move dense layers, each row by its adaptive step."""
        sizes, squares = self.network.sizes, self.memory.dense_square
        widths = [sizes[0]]
        for n_in, n_out in pairwise(sizes):
            widths += [n_out] * (n_in + 1)
        for start, stop in pairwise(np.cumsum([0, *widths])):
            g = gradient[start:stop]
            squares[start] += g @ g
            if squares[start] > 0.0:
                self.network.dense[start:stop] -= rate / math.sqrt(squares[start]) * g

    def catch_up(self, terms: IntVector, now: int, rate: float) -> None:
        """Bring rows up to date that no batch has touched for some steps (Adam)."""
        # Their momentum went on moving them while it faded: a geometric series.
        memory = self.memory
        steps = (now - memory.met[terms]).astype(np.float64)
        late = (steps > 0) & (memory.first_square[terms] > 0.0)
        rows, gap = terms[late], steps[late]
        ratio = _FADE_1 / math.sqrt(_FADE_2)
        size = np.sqrt(memory.first_square[rows]) + _TINY
        travel = rate * ratio * (1.0 - ratio**gap) / (1.0 - ratio) / size
        self.network.first[rows] -= travel[:, None] * memory.first_moment[rows]
        memory.first_moment[rows] *= (_FADE_1**gap)[:, None]
        memory.first_square[rows] *= _FADE_2**gap
        memory.met[terms] = now

    def _adam_rows(
        self, terms: IntVector, rows: SparseMatrix, deltas: FloatMatrix, rate: float
    ) -> None:
        memory = self.memory
        gradient = np.asarray(rows[:, terms].T @ deltas)
        square = (gradient * gradient).sum(axis=1) / gradient.shape[1]
        square = _FADE_2 * memory.first_square[terms] + (1.0 - _FADE_2) * square
        moment = _FADE_1 * memory.first_moment[terms] + (1.0 - _FADE_1) * gradient
        memory.first_square[terms], memory.first_moment[terms] = square, moment
        step = (rate / (np.sqrt(square) + _TINY))[:, None] * moment
        self.network.first[terms] -= step

    def _adam_dense(self, gradient: FloatVector, rate: float) -> None:
        moment, square = self.memory.dense_moment, self.memory.dense_square
        moment[:] = _FADE_1 * moment + (1.0 - _FADE_1) * gradient
        square[:] = _FADE_2 * square + (1.0 - _FADE_2) * gradient**2
        self.network.dense[:] -= rate * moment / (np.sqrt(square) + _TINY)
