"""Softmax descent: twins, hand calculation, finite differences, lazy decay."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.kernels.backend import native
from earmark.kernels.softmax import Steps, descend, new_descent, settle, softmax

compiled = pytest.mark.skipif(native() is None, reason="the extension was not built")


def problem(rng, n_classes, n_samples=40, n_features=30):
    X = sparse.csr_array(
        rng.random((n_samples, n_features)) * rng.poisson(0.2, (n_samples, n_features))
    )
    y = rng.integers(0, n_classes, n_samples)
    return X, y, rng.choice([0.5, 1.0, 2.0], n_samples), rng.permutation(n_samples)


def run(X, y, weight, order, steps, n_classes, n_passes=3):
    state = new_descent(X.shape[1], n_classes)
    losses = [descend(X, y, weight, order, state, steps) for _ in range(n_passes)]
    settle(state, steps)
    return losses, state


@compiled
@pytest.mark.parametrize("n_classes", [2, 3, 4, 8, 20, 23])
@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(("batch_size", "penalty"), [(1, 0.0), (7, 0.03), (100, 0.1)])
def test_compiled_and_plain_kernels_agree(
    rng, monkeypatch, n_classes, adaptive, batch_size, penalty
):
    data = problem(rng, n_classes)
    steps = Steps(0.5, 0.1, batch_size, adaptive, 1.5, penalty)
    losses, state = run(*data, steps, n_classes)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain_losses, plain = run(*data, steps, n_classes)
    assert_allclose(losses, plain_losses, rtol=1e-12)
    for ours, theirs in zip(vars(state).values(), vars(plain).values(), strict=True):
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_first_step_is_the_hand_calculation():
    # SR1 from zero weights: y = 1/3 each, W = -eta x (y - t)'.
    X, y = sparse.csr_array([[2.0, 0.0, 1.0]]), np.array([1])
    state = new_descent(3, 3)
    steps = Steps(0.3, 0.3, 1, adaptive=False)
    loss = descend(X, y, np.ones(1), np.array([0]), state, steps)
    residual = np.array([1 / 3, 1 / 3 - 1, 1 / 3])
    assert_allclose(loss, np.log(3), rtol=1e-14)
    assert_allclose(state.weights, -0.3 * np.outer([2, 0, 1], residual), atol=1e-15)
    assert_allclose(state.bias, -0.3 * residual, rtol=1e-14)


def test_adaptive_step_is_the_hand_calculation():
    # The first step of a term has length eta, whatever the term's value.
    X, y = sparse.csr_array([[2.0, 0.0, 0.01]]), np.array([1])
    state = new_descent(3, 3)
    descend(X, y, np.ones(1), np.array([0]), state, Steps(0.3, 0.3))
    residual = np.array([1 / 3, 1 / 3 - 1, 1 / 3])
    step = -0.3 * residual / np.linalg.norm(residual)
    assert_allclose(state.weights, [step, np.zeros(3), step], rtol=1e-12)


def test_gradient_is_that_of_finite_differences(rng):
    X, y, weight, order = problem(rng, 4)
    eta = 1e-3
    start, bias = rng.normal(size=(X.shape[1], 4)), rng.normal(size=4)

    def loss(weights, offset):
        scores = X @ weights + offset
        own = scores[np.arange(len(y)), y]
        return weight @ (softmax(scores)[1] - own) / len(y)

    state = new_descent(X.shape[1], 4)
    state.weights[:], state.bias[:] = start, bias
    steps = Steps(eta, eta, len(y), adaptive=False)
    total = descend(X, y, weight, order, state, steps)
    assert_allclose(total / len(y), loss(start, bias), rtol=1e-12)
    gradient = (start - state.weights) / eta
    for _ in range(40):
        i, k = rng.integers(X.shape[1]), rng.integers(4)
        moved = start.copy()
        moved[i, k] += 1e-5
        up = loss(moved, bias)
        moved[i, k] -= 2e-5
        assert_allclose(gradient[i, k], (up - loss(moved, bias)) / 2e-5, atol=1e-6)


def test_a_step_touches_only_the_terms_of_its_batch(rng):
    X, y, weight, _ = problem(rng, 3)
    state = new_descent(X.shape[1], 3)
    state.weights[:] = before = rng.normal(size=state.weights.shape)
    descend(X, y, weight, np.array([4, 9]), state, Steps(0.5, 0.5, 2, penalty=0.1))
    absent = np.setdiff1d(np.arange(X.shape[1]), X[[4, 9]].indices)
    assert len(absent) > 5
    assert_array_equal(state.weights[absent], before[absent])


@pytest.mark.parametrize("adaptive", [True, False])
def test_waiting_decay_equals_decay_at_every_step(rng, adaptive):
    X, y, weight, order = problem(rng, 3)
    steps = Steps(0.1, 0.1, 1, adaptive, 1.0, penalty=1e-4)
    _, lazy = run(X, y, weight, order, steps, 3)
    eager = new_descent(X.shape[1], 3)
    for _ in range(3):
        for d in order:
            descend(X, y, weight, np.array([d]), eager, steps)
            settle(eager, steps)
    free = run(X, y, weight, order, Steps(0.1, 0.1, 1, adaptive), 3)[1]
    decay = np.abs(free.weights - eager.weights).max()
    assert np.abs(lazy.weights - eager.weights).max() < 0.01 * decay


def test_a_certain_and_right_model_stays_as_it_is():
    X, y = sparse.csr_array([[1.0, 0.0]]), np.array([0])
    state = new_descent(2, 2)
    state.weights[0] = [2000.0, -2000.0]  # the residual is exactly zero
    loss = descend(X, y, np.ones(1), np.array([0]), state, Steps(0.5, 0.5))
    assert loss == 0.0
    assert np.isfinite(state.weights).all()
    assert state.squares[0] == 0.0


def test_units_of_x_do_not_matter_to_the_adaptive_steps(rng):
    X, y, weight, order = problem(rng, 3)
    _, plain = run(X, y, weight, order, Steps(0.5, 0.1, bias_rate=1.0), 3)
    _, stretched = run(
        7.0 * X, y, weight, order, Steps(0.5 / 7, 0.1 / 7, bias_rate=7.0), 3
    )
    assert_allclose(plain.weights, 7.0 * stretched.weights, rtol=1e-9, atol=1e-12)
    assert_allclose(plain.bias, stretched.bias, rtol=1e-9)
