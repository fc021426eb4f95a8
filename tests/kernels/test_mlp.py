"""The network's kernels: twins, finite differences, Adam on absent terms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.kernels import mlp
from earmark.kernels.backend import native

compiled = pytest.mark.skipif(native() is None, reason="the extension was not built")


def problem(rng, n_samples=30, n_features=20, n_classes=3):
    X = rng.random((n_samples, n_features)) * rng.poisson(0.3, (n_samples, n_features))
    y = rng.integers(0, n_classes, n_samples)
    return sparse.csr_array(X), y, rng.choice([0.5, 1.0, 2.0], n_samples)


def loss_and_gradient(network, X, y, weight):
    """Mean loss, and its gradient in W_1 and in the dense layers."""
    loss, deltas, dense = mlp.backpropagate(network, X, y, weight)
    return loss / len(y), np.asarray(X.T @ deltas), dense


def trained(data, sizes, activation, training, n_passes=2):
    X, y, weight = data
    network = mlp.new_network(X.shape[1], sizes, activation, seed=3)
    memory = mlp.new_memory(network, training.rule)
    order = np.arange(len(y))[::-1].copy()
    losses = [
        mlp.learn(X, y, weight, order, network, memory, training)
        for _ in range(n_passes)
    ]
    mlp.settle(network, memory, training)
    return losses, network


@compiled
@pytest.mark.parametrize("rule", ["adaptive", "adam", "sgd"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(5,), (6, 4), (3, 2, 5)])
@pytest.mark.parametrize(("dropout", "learn_bias"), [(0.0, True), (0.3, False)])
def test_compiled_and_plain_kernels_agree(
    rng, monkeypatch, rule, activation, hidden, dropout, learn_bias
):
    data = problem(rng)
    training = mlp.Training(rule, 0.05, 0.02, 4, 9, dropout, 0.5, learn_bias)
    fast = trained(data, (*hidden, 3), activation, training)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain = trained(data, (*hidden, 3), activation, training)
    assert_allclose(fast[0], plain[0], rtol=1e-12)
    assert_allclose(fast[1].first, plain[1].first, rtol=1e-12, atol=1e-12)
    assert_allclose(fast[1].dense, plain[1].dense, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(4,), (5, 3)])
def test_gradients_are_those_of_finite_differences(rng, activation, hidden):
    X, y, weight = problem(rng)
    network = mlp.new_network(X.shape[1], (*hidden, 3), activation, seed=1)
    network.first[:] = rng.normal(size=network.first.shape)
    network.dense[:] = rng.normal(size=network.dense.shape)
    _, first, dense = loss_and_gradient(network, X, y, weight)
    for array, gradient in ((network.first, first), (network.dense, dense)):
        flat, slopes = array.reshape(-1), gradient.reshape(-1)
        for i in rng.permutation(flat.size)[:25]:
            value = flat[i]
            flat[i] = value + 1e-6
            up = loss_and_gradient(network, X, y, weight)[0]
            flat[i] = value - 1e-6
            down = loss_and_gradient(network, X, y, weight)[0]
            flat[i] = value
            assert_allclose(slopes[i], (up - down) / 2e-6, atol=1e-6)


def test_a_plain_step_goes_down_the_gradient(rng):
    X, y, weight = problem(rng)
    network = mlp.new_network(X.shape[1], (4, 3), "tanh", seed=1)
    _, first, dense = loss_and_gradient(network, X, y, weight)
    before = network.first.copy(), network.dense.copy()
    training = mlp.Training("sgd", 0.1, 0.1, len(y), 0)
    memory = mlp.new_memory(network, "sgd")
    mlp.learn(X, y, weight, np.arange(len(y)), network, memory, training)
    assert_allclose(network.first, before[0] - 0.1 * first, rtol=1e-12, atol=1e-15)
    assert_allclose(network.dense, before[1] - 0.1 * dense, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rule", ["adaptive", "adam", "sgd"])
def test_a_step_touches_only_the_terms_of_its_batch(rng, rule):
    X, y, weight = problem(rng)
    network = mlp.new_network(X.shape[1], (4, 3), "tanh", seed=1)
    before = network.first.copy()
    training = mlp.Training(rule, 0.1, 0.1, 2, 0)
    memory = mlp.new_memory(network, rule)
    mlp.learn(X, y, weight, np.array([3, 8]), network, memory, training)
    absent = np.setdiff1d(np.arange(X.shape[1]), X[[3, 8]].indices)
    assert len(absent) > 3
    assert_array_equal(network.first[absent], before[absent])
    assert (network.first[X[[3]].indices] != before[X[[3]].indices]).any()


def test_absent_terms_follow_adam_as_if_they_had_been_updated_at_every_step(rng):
    X, y, weight = problem(rng, n_samples=40)
    network = mlp.new_network(X.shape[1], (4, 3), "tanh", seed=1)
    memory = mlp.new_memory(network, "adam")
    memory.step[:] = memory.met[:] = 20_000  # late, so that corrections are constant
    training = mlp.Training("adam", 1e-4, 1e-4, 1, 0)
    first, dense = network.first.copy(), network.dense.copy()
    moment, square = np.zeros_like(first), np.zeros(len(first))
    d_moment, d_square = np.zeros_like(dense), np.zeros_like(dense)
    for d in range(40):  # Adam on all rows, with one mean square a row
        now = mlp.Network(first, dense, (4, 3), "tanh")
        _, g, h = loss_and_gradient(now, X[[d]], y[[d]], weight[[d]])
        moment = 0.9 * moment + 0.1 * g
        square = 0.999 * square + 0.001 * (g * g).mean(axis=1)
        first -= 1e-4 * moment / (np.sqrt(square)[:, None] + 1e-8)
        d_moment, d_square = 0.9 * d_moment + 0.1 * h, 0.999 * d_square + 0.001 * h * h
        dense -= 1e-4 * d_moment / (np.sqrt(d_square) + 1e-8)
    mlp.learn(X, y, weight, np.arange(40), network, memory, training)
    mlp.settle(network, memory, training)
    assert_allclose(network.first, first, atol=1e-7)
    assert_allclose(network.dense, dense, atol=1e-7)


def test_dropout_keeps_the_mean_output(rng):
    X, y, weight = problem(rng, n_samples=1)
    network = mlp.new_network(X.shape[1], (2000, 3), "relu", seed=1)
    training = mlp.Training("sgd", 1e-12, 1e-12, 1, 4, dropout=0.5)
    memory = mlp.new_memory(network, "sgd")
    order = np.array([0])
    losses = [
        mlp.learn(X, y, weight, order, network, memory, training) for _ in range(60)
    ]
    exact = loss_and_gradient(network, X, y, weight)[0]
    assert np.std(losses) > 0
    assert abs(np.mean(losses) - exact) < 5 * np.std(losses) / np.sqrt(60) + 1e-3


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_slopes_carry_every_layer_exactly(rng, activation):
    X, _, _ = problem(rng)
    network = mlp.new_network(X.shape[1], (6, 4, 3), activation, seed=2)
    network.dense[:] = rng.normal(size=network.dense.shape)
    slopes, empty = mlp.secants(network, X)
    (first, _), (second, _), (third, _) = network.layers()
    moved = (((X @ first) * slopes[0]) @ second * slopes[1]) @ third
    assert_allclose(moved + empty, mlp.scores(network, X), rtol=1e-12, atol=1e-12)
