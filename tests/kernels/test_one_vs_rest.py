"""Machines of all classes against the rest: LinearSVC as the optimum, and twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark.kernels.one_vs_rest import OneVsRest


def problem(rng, n=40, n_columns=30, n_dense=3, n_classes=4):
    X = rng.random((n, n_columns)) * (rng.random((n, n_columns)) < 0.3)
    dense = rng.normal(size=(n, n_dense)).astype(np.float32)
    y = rng.integers(0, n_classes, n)
    truth = sparse.csr_array(np.eye(n_classes, dtype=np.float32)[y])
    return sparse.csr_array(X.astype(np.float32)), dense, truth, y


def fitted(machines, cost, factor=None, n_passes=3000):
    n, n_classes = machines.truth.shape
    factor = np.ones((2, n_classes)) if factor is None else factor
    order = np.arange(n)
    for _ in range(n_passes):
        moved, total = machines.visit(order, cost, factor)
        if moved <= 1e-7 * total:
            break
    return machines


def svc(C, bias_variance, **more):
    scale = np.sqrt(bias_variance)
    return LinearSVC(C=C, tol=1e-10, max_iter=10**6, intercept_scaling=scale, **more)


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_each_machine_is_the_optimum_of_linear_svc(rng, C):
    X, dense, truth, y = problem(rng)
    machines = OneVsRest(X, dense, truth, None, 0.4)
    fitted(machines, np.full(len(y), C))
    rows = np.hstack([X.toarray(), dense])
    for k in range(truth.shape[1]):
        expected = svc(C, 0.4).fit(rows, y == k)
        assert_allclose(machines.weights[:, k], expected.coef_[0], atol=2e-4)
        assert_allclose(machines.bias[k], expected.intercept_[0], atol=2e-4)


def test_a_variance_is_a_factor_on_its_column(rng):
    X, dense, truth, y = problem(rng)
    variance = rng.uniform(0.2, 3.0, (X.shape[1], truth.shape[1])).astype(np.float32)
    machines = OneVsRest(X, dense, truth, variance, 0.4)
    fitted(machines, np.ones(len(y)))
    for k in range(truth.shape[1]):
        root = np.sqrt(variance[:, k])
        rows = np.hstack([X.toarray() * root, dense])
        expected = svc(1.0, 0.4).fit(rows, y == k).coef_[0]
        expected[: len(root)] *= root
        assert_allclose(machines.weights[:, k], expected, atol=3e-4)


def test_costs_and_factors_are_weights_of_documents(rng):
    X, dense, truth, y = problem(rng)
    cost = rng.uniform(0.3, 2.0, len(y))
    factor = rng.uniform(0.5, 2.0, (2, truth.shape[1]))
    machines = fitted(OneVsRest(X, dense, truth, None, 0.4), cost, factor)
    rows = np.hstack([X.toarray(), dense])
    for k in range(truth.shape[1]):
        weight = cost * np.where(y == k, factor[1, k], factor[0, k])
        expected = svc(1.0, 0.4).fit(rows, y == k, sample_weight=weight)
        assert_allclose(machines.weights[:, k], expected.coef_[0], atol=3e-4)


@pytest.mark.parametrize("with_variance", [False, True])
@pytest.mark.parametrize("n_classes", [1, 2, 5, 40])
def test_twins_take_the_same_steps(with_variance, n_classes, rng, monkeypatch):
    X, dense, truth, _ = problem(rng, n_classes=n_classes)
    shape = X.shape[1], n_classes
    variance = rng.uniform(0.2, 3.0, shape).astype(np.float32)
    order, cost = rng.permutation(len(dense)), rng.uniform(0.5, 2.0, len(dense))
    every = []
    for no_native in "01":
        monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
        machines = OneVsRest(X, dense, truth, variance if with_variance else None)
        progress = [
            machines.visit(order, cost, np.ones((2, n_classes))) for _ in range(3)
        ]
        every.append((machines, progress))
    (compiled, progress), (plain, expected) = every
    assert_allclose(compiled.weights, plain.weights, atol=2e-5)
    assert_allclose(compiled.bias, plain.bias, atol=2e-5)
    assert_allclose(compiled.alpha, plain.alpha, atol=2e-5)
    assert_allclose(progress, expected, rtol=1e-3)


def test_a_document_may_have_any_number_of_classes(rng):
    X, dense, _, _ = problem(rng)
    has = rng.random((len(dense), 3)) < 0.4
    truth = sparse.csr_array(has.astype(np.float32))
    machines = fitted(OneVsRest(X, dense, truth, None, 0.4), np.ones(len(dense)))
    rows = np.hstack([X.toarray(), dense])
    for k in range(3):
        expected = svc(1.0, 0.4).fit(rows, has[:, k])
        assert_allclose(machines.weights[:, k], expected.coef_[0], atol=3e-4)
