"""Dual ascent: twins, the optimum's own equations, scikit-learn, the gap."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from earmark.kernels.backend import native
from earmark.kernels.keys import distinct_documents
from earmark.kernels.softmax import DualStart, _solve_visit, maximize_dual, softmax

compiled = pytest.mark.skipif(native() is None, reason="the extension was not built")


def problem(rng, n_classes, n_samples=80, n_features=30):
    dense = rng.random((n_samples, n_features)) * rng.poisson(
        0.3, (n_samples, n_features)
    )
    y = rng.integers(0, n_classes, n_samples)
    dense[np.arange(n_samples), y] += 0.4
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n_samples)
    X = sparse.csr_array(dense)
    return X, y, distinct_documents(X, y, weight)


def solve(data, n_classes, **options):
    given = {"C": 3.0, "seed": 0, "max_passes": 4000, "tol": 1e-10, **options}
    return maximize_dual(*data, n_classes, **given)


@compiled
@pytest.mark.parametrize("n_classes", [2, 3, 4, 8, 20])
@pytest.mark.parametrize("fit_bias", [True, False])
def test_compiled_and_plain_kernels_agree(rng, monkeypatch, n_classes, fit_bias):
    data = problem(rng, n_classes)
    options = {"max_passes": 4, "tol": 1e-12, "fit_bias": fit_bias}
    fast = solve(data, n_classes, **options)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    plain = solve(data, n_classes, **options)
    assert_allclose(fast.weights, plain.weights, rtol=1e-12, atol=1e-12)
    assert_allclose(fast.bias, plain.bias, rtol=1e-12, atol=1e-12)
    assert_allclose(fast.gaps, plain.gaps, rtol=1e-11)
    assert_allclose(fast.objective, plain.objective, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_optimum_is_that_of_scikit_learn(rng, n_classes, C):
    X, y, visits = data = problem(rng, n_classes)
    ours = solve(data, n_classes, C=C)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=5000)
    theirs.fit(X, y, visits.weight)
    scores = theirs.decision_function(X)
    loss = softmax(scores)[1] - scores[np.arange(len(y)), y]
    total = C * visits.weight.sum()
    objective = (C * visits.weight @ loss + 0.5 * (theirs.coef_**2).sum()) / total
    assert ours.converged
    assert_allclose(ours.objective, objective, rtol=1e-8)
    assert_allclose(ours.weights.T, theirs.coef_, atol=1e-3)


def test_weights_at_the_optimum_are_the_sum_of_residuals(rng):
    # W = C sum_d s_d x_d (t_d - y_d)', and the bias makes the residuals sum to zero.
    X, y, visits = data = problem(rng, 4)
    found = solve(data, 4, tol=1e-13)
    proba, _ = softmax(X @ found.weights + found.bias)
    residual = 3.0 * visits.weight[:, None] * (np.eye(4)[y] - proba)
    assert_allclose(found.weights, X.T @ residual, atol=1e-4)
    assert_allclose(residual.sum(axis=0), 0.0, atol=1e-4)


def test_the_gap_bounds_the_distance_to_the_optimum(rng):
    data = problem(rng, 3)
    best = solve(data, 3).objective
    for n_passes in (1, 2, 5, 10, 20):
        found = solve(data, 3, max_passes=n_passes, tol=1e-14)
        # The gap was met during the pass, when the model was no better than after it.
        assert best - 1e-12 <= found.objective <= best + found.gaps[-1]


def test_a_start_near_the_solution_saves_passes(rng):
    X, *_ = data = problem(rng, 3)
    cold = solve(data, 3, tol=1e-6)
    proba, _ = softmax(X @ cold.weights + cold.bias)
    warm = solve(data, 3, tol=1e-6, start=DualStart(proba, cold.bias))
    assert len(warm.gaps) < len(cold.gaps) / 2
    assert_allclose(warm.objective, cold.objective, rtol=1e-5)


def test_too_few_passes_are_told(rng):
    assert not solve(problem(rng, 3), 3, max_passes=2).converged


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 12),
    log_q=st.floats(-4, 6),
    log_scale=st.floats(-2, 2.5),
    spread=st.floats(0.1, 30),
)
@example(seed=22324, n_classes=9, log_q=6.0, log_scale=-1.0, spread=16.0)
def test_a_visit_solves_its_equations(seed, n_classes, log_q, log_scale, spread):
    rng = np.random.default_rng(seed)
    q, scores = 10**log_q, rng.normal(size=n_classes) * 10**log_scale
    old = softmax(spread * rng.normal(size=(1, n_classes)))[0][0]
    logs, now = _solve_visit(scores + q * old, np.log(np.maximum(old, 1e-300)), q)
    # It stops when no share moves by 1e-6 any more.
    assert abs(now.sum() - 1.0) < 1e-6 * n_classes
    level = logs + q * (now - old) - scores
    held = now > 1e-9
    assert np.ptp(level[held]) <= 1e-5 * (1.0 + q)
