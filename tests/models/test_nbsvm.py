"""NBSVM: ratios by hand, LinearSVC and naive Bayes as limits, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from earmark.models import NBSVM


def documents(rng, n_samples=150, n_features=40, n_classes=2):
    rate = rng.gamma(0.5, 0.8, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return sparse.csr_array(rng.poisson(rate[y])), np.array(["a", "b", "c", "d"])[y]


def test_ratios_are_the_hand_calculation():
    X = np.array([[2, 0, 1], [1, 0, 0], [0, 1, 1]])
    model = NBSVM(alpha=1.0).fit(X, [1, 1, 0])
    # Documents with each term, plus one: class 1 has (3, 1, 2), class 0 (1, 2, 2).
    p, q = np.array([3, 1, 2]) / 6, np.array([1, 2, 2]) / 5
    assert_allclose(model.log_ratio_, [np.log(p / q)], rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("rows", ["unit", "indicators", "given"])
@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_scores_are_those_of_a_linear_model_on_scaled_rows(rng, n_classes, rows, loss):
    X, y = documents(rng, n_classes=n_classes)
    model = NBSVM(rows=rows, loss=loss, C=0.7, tol=1e-8, max_iter=100_000).fit(X, y)
    held = X.toarray().astype(float) if rows == "given" else (X.toarray() > 0) * 1.0
    held = normalize(held) if rows == "unit" else held
    theirs = (
        LinearSVC(C=0.7, tol=1e-8, max_iter=100_000)
        if loss == "squared_hinge"
        else LogisticRegression(C=0.7, tol=1e-8, max_iter=1000)
    )
    margins = []
    for c, ratio in enumerate(model.log_ratio_):
        own = y == model.classes_[c if n_classes > 2 else 1]
        margins.append(
            clone(theirs).fit(held * ratio, own).decision_function(held * ratio)
        )
    expected = np.stack(margins, axis=1)
    ours = model.decision_function(X).reshape(expected.shape)
    assert_allclose(ours, expected, atol=2e-3)


def test_interpolation_ends_at_naive_bayes(rng):
    X, y = documents(rng)
    model = NBSVM(beta=0.0, rows="indicators").fit(X, y)
    ratio = model.log_ratio_[0]
    constant = model.weights_[0] / ratio
    assert_allclose(constant, constant[0], rtol=1e-10)
    assert constant[0] > 0
    halfway = NBSVM(beta=0.5, rows="indicators").fit(X, y).weights_
    full = NBSVM(beta=1.0, rows="indicators").fit(X, y).weights_
    assert_allclose(halfway, (full + model.weights_) / 2, rtol=1e-10)


def test_coefficients_are_the_weights_on_what_is_made_of_x(rng):
    X, y = documents(rng)
    given = NBSVM(rows="given").fit(X, y)
    margin = X @ given.coef_[0] + given.intercept_[0]
    assert_allclose(given.decision_function(X), margin, rtol=1e-10)
    unit = NBSVM().fit(X, y)
    rows = (X > 0) / np.sqrt((X > 0).sum(axis=1))[:, None]
    margin = rows @ unit.coef_[0] + unit.intercept_[0]
    assert_allclose(unit.decision_function(X), margin, rtol=1e-10)


def test_counts_matter_only_as_present_or_absent(rng):
    X, y = documents(rng)
    assert_array_equal(
        NBSVM().fit(X, y).decision_function(X),
        NBSVM().fit(3 * X, y).decision_function(X > 0),
    )


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_order_of_rows_has_no_influence_on_a_single_bit(rng, loss):
    X, y = documents(rng, n_classes=3)
    shuffled = rng.permutation(len(y))
    here = NBSVM(loss=loss).fit(X, y)
    there = NBSVM(loss=loss).fit(X[shuffled], y[shuffled])
    assert_array_equal(here.weights_, there.weights_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_add_up_to_the_scores(rng, n_classes):
    X, y = documents(rng, n_classes=n_classes)
    model = NBSVM().fit(X, y)
    for part, row in zip(model.score_parts(X), model.class_scores(X), strict=True):
        total = part.terms.sum(axis=0) + sum(part.constants.values())
        assert_allclose(total, row, rtol=1e-12, atol=1e-12)


def test_class_weight_multiplies_the_documents_of_a_class(rng):
    X, y = documents(rng)
    by_class = NBSVM(class_weight={"a": 3.0}).fit(X, y)
    by_weight = NBSVM().fit(X, y, np.where(y == "a", 3.0, 1.0))
    assert_array_equal(by_class.weights_, by_weight.weights_)


def test_too_few_passes_are_told(rng):
    X, y = documents(rng)
    with pytest.warns(ConvergenceWarning, match="NBSVM has not converged after 1 pass"):
        NBSVM(max_iter=1, C=100.0).fit(X, y)


def test_parameters_that_make_no_sense_are_named(rng):
    X, y = documents(rng, n_samples=20)
    with pytest.raises(ValueError, match=r"beta must be in \[0.0, 1.0\], got 2"):
        NBSVM(beta=2).fit(X, y)
    with pytest.raises(ValueError, match="rows must be one of 'unit'"):
        NBSVM(rows="tf-idf").fit(X, y)
    with pytest.raises(ValueError, match="needs at least 2 classes in y, got 1 class"):
        NBSVM().fit(X, ["a"] * 20)
