"""The linear SVM with a constant row: LinearSVC on dense rows, and twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.svm import LinearSVC

from earmark.kernels.offset_svm import fit_offset_svm


def problem(rng, n_samples=30, n_features=80):
    D = rng.normal(size=(n_samples, n_features))
    D[rng.random(D.shape) < 0.9] = 0.0
    offset = 0.2 * rng.normal(size=n_features)
    sign = np.where(rng.random(n_samples) < 0.4, -1.0, 1.0)
    return sparse.csr_array(D), offset, sign


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("scale", [0.0, 5.0])
def test_the_answer_is_that_of_linear_svc_on_the_dense_rows(loss, C, scale, rng):
    D, offset, sign = problem(rng)
    dense = LinearSVC(
        C=C,
        loss=loss,
        dual=True,
        tol=1e-9,
        max_iter=10**6,
        fit_intercept=scale > 0,
        intercept_scaling=scale or 1.0,
        random_state=0,
    ).fit(D.toarray() + offset, sign)

    fit = fit_offset_svm(
        D,
        offset,
        sign,
        np.full(len(sign), C),
        scale=scale,
        squared=loss == "squared_hinge",
        tol=1e-8,
        max_iter=10**4,
    )

    assert fit.converged
    assert_allclose(fit.weights, dense.coef_[0], atol=1e-7)
    expected = dense.decision_function(D.toarray() + offset)
    assert_allclose(D @ fit.weights + fit.intercept, expected, atol=1e-6)


@pytest.mark.parametrize("squared", [True, False])
def test_twins_take_the_same_steps(squared, rng, monkeypatch):
    D, offset, sign = problem(rng, n_samples=20)
    cost = rng.uniform(0.5, 2.0, len(sign))
    fits = []
    for no_native in "01":
        monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
        fits.append(fit_offset_svm(D, offset, sign, cost, squared=squared, seed=7))
    assert fits[0].n_iter == fits[1].n_iter
    assert_allclose(fits[0].weights, fits[1].weights, rtol=1e-9, atol=1e-12)
    assert_allclose(fits[0].intercept, fits[1].intercept, rtol=1e-9)


def test_too_few_passes_are_reported(rng):
    D, offset, sign = problem(rng)
    fit = fit_offset_svm(D, offset, sign, np.full(len(sign), 100.0), max_iter=2)
    assert not fit.converged
    assert fit.n_iter == 2
