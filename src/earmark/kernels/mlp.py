"""The multilayer perceptron on sparse documents.

    z_1 = f(W_1'x + b_1),  z_l = f(W_l'z_(l-1) + b_l),  y = softmax(W_L'z_(L-1) + b_L)
    minimise  sum_d s_d (-log y_d,t(d)) / sum_d s_d

by backpropagation (NN1). A step touches only the rows of W_1 whose terms are in the
batch (NN2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from earmark.kernels import mlp_plain
from earmark.kernels.backend import native
from earmark.kernels.keys import uniforms
from earmark.kernels.mlp_plain import Memory, Network, Training
from earmark.kernels.rows import csr_arrays
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix

__all__ = [
    "Memory",
    "Network",
    "Training",
    "learn",
    "loss_and_gradient",
    "new_memory",
    "new_network",
    "scores",
    "secants",
    "settle",
]

_ACTIVATIONS = {"tanh": 0, "relu": 1}
_RULES = {"adaptive": 0, "adam": 1, "sgd": 2}


def new_network(
    n_features: int, sizes: Sequence[int], activation: str, seed: int
) -> Network:
    """Random weights of the usual size for the activation, no bias.

    ``sizes`` are the widths of the layers after the input, classes last.
    """
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
        return mlp_plain.learn(X, labels, weight, order, network, memory, training)
    loss: float = lib.mlp_learn(
        *csr_arrays(X),
        order=order,
        y=labels,
        weight=weight,
        first=network.first,
        dense=network.dense,
        sizes=np.array(network.sizes, dtype=np.int64),
        activation=_ACTIVATIONS[network.activation],
        **vars(memory),
        **{**vars(training), "rule": rule, "seed": training.seed % 2**64},
    )
    return loss


def settle(network: Network, memory: Memory, training: Training) -> None:
    """Let the momentum of terms that are absent now run out (Adam)."""
    if training.rule != "adam":
        return
    now = int(memory.step[0])
    rate = mlp_plain.adam_rate(training.last_eta, now)
    for start in range(0, len(memory.met), 4096):
        terms = np.arange(start, min(start + 4096, len(memory.met)))
        mlp_plain.catch_up(network, memory, terms, now, rate)


def scores(network: Network, X: Matrix) -> FloatMatrix:
    """Scores before the softmax, (n_samples, n_classes)."""
    *hidden, (weights, bias) = network.layers()
    z: Matrix = X
    for matrix, offset in hidden:
        z = mlp_plain.activate(np.asarray(z @ matrix + offset), network.activation)[0]
    return np.asarray(z @ weights + bias, dtype=np.float64)


def loss_and_gradient(
    network: Network, X: SparseMatrix, y_index: IntVector, weight: FloatVector
) -> tuple[float, FloatMatrix, FloatVector]:
    """Mean loss, and its gradient in W_1 (dense!) and in the dense layers.

    For small problems, such as checking the derivatives.
    """
    labels = np.asarray(y_index, dtype=np.int32)
    loss, deltas, dense = mlp_plain.backpropagate(network, X, labels, weight, None)
    first = np.asarray(X.T @ deltas)
    return loss / len(labels), first, dense


def secants(network: Network, X: Matrix) -> tuple[list[FloatMatrix], FloatVector]:
    """Each hidden unit's change of output for its change of input, layer by layer.

    The change is from the empty document to each row of X: (f(a) - f(a_0)) / (a - a_0),
    (n_samples, width) each. Also the scores of the empty document. Every layer moves
    by exactly the layer before it times these slopes, so that a score can be taken
    apart into its terms without a remainder.
    """
    *hidden, (weights, bias) = network.layers()
    z, at_rest = X, np.zeros((1, X.shape[1]))
    slopes = []
    for matrix, offset in hidden:
        inputs = np.asarray(z @ matrix + offset)
        before = np.asarray(at_rest @ matrix + offset)
        z, _ = mlp_plain.activate(inputs, network.activation)
        at_rest, derivative = mlp_plain.activate(before, network.activation)
        moved = inputs - before
        still = np.abs(moved) < mlp_plain.TINY
        ratio = (z - at_rest) / np.where(still, 1.0, moved)
        slopes.append(np.where(still, derivative, ratio))
    return slopes, np.asarray(at_rest @ weights + bias)[0]
