"""SoftmaxRegression: scikit-learn's optimum, order of rows, early stopping."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from earmark.exceptions import DataError, DivergenceError, NotSupportedError
from earmark.models import SoftmaxRegression
from earmark.persistence import load_model, save_model
from earmark.pipeline.files import class_table

NAMES = np.array(["a", "b", "c", "d", "e"])


def documents(rng, n_samples=200, n_features=30, n_classes=3, tilt=0.4):
    X = rng.random((n_samples, n_features)) * rng.poisson(0.4, (n_samples, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X[np.arange(n_samples), y] += tilt
    return sparse.csr_array(X), NAMES[y]


def objective(model, X, y, C, weight):
    """scikit-learn's objective, from public attributes."""
    scores = X @ model.coef_.T + model.intercept_
    if len(model.classes_) == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    own = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    loss = np.logaddexp.reduce(scores, axis=1) - own
    return C * weight @ loss + 0.5 * (model.coef_**2).sum()


@pytest.mark.compiled
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("solver", ["dual", "plain"])
def test_optimum_is_that_of_scikit_learn(rng, n_classes, C, solver):
    X, y = documents(rng, n_classes=n_classes)
    weight = rng.integers(0, 4, len(y)).astype(float)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=5000).fit(X, y, weight)
    settings = (
        {"tol": 1e-8}
        if solver == "dual"
        else {"eta": 1.0, "batch_size": len(y), "max_iter": 4000}
    )
    ours = SoftmaxRegression(solver=solver, C=C, **settings).fit(X, y, weight)
    best = objective(theirs, X, y, C, weight)
    assert_allclose(objective(ours, X, y, C, weight), best, rtol=1e-6)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)


def test_objective_is_told_in_units_of_the_mean_loss(rng):
    X, y = documents(rng)
    weight = rng.random(len(y))
    model = SoftmaxRegression(solver="dual", C=2.0).fit(X, y, weight)
    expected = objective(model, X, y, 2.0, weight) / (2.0 * weight.sum())
    assert_allclose(model.objective_, expected, rtol=1e-10)


@pytest.mark.parametrize("solver", ["adaptive", "plain", "dual"])
def test_order_of_rows_has_no_influence_on_a_single_bit(rng, solver):
    X, y = documents(rng)
    shuffled = rng.permutation(len(y))
    model = SoftmaxRegression(solver=solver, C=10.0, random_state=4)
    here = clone(model).fit(X, y)
    there = clone(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(here.coef_, there.coef_)
    assert_array_equal(here.intercept_, there.intercept_)
    other = clone(model).set_params(random_state=5).fit(X, y)
    assert (other.coef_ != here.coef_).any()


@pytest.mark.parametrize("solver", ["adaptive", "plain", "dual"])
def test_a_weight_is_a_number_of_equal_documents(rng, solver):
    X, y = documents(rng)
    weight = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    model = SoftmaxRegression(solver=solver, C=5.0)
    weighted = clone(model).fit(X, y, weight)
    repeated = clone(model).fit(X[rows], y[rows])
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12, atol=1e-14)


def test_class_weight_multiplies_the_documents_of_a_class(rng):
    X, y = documents(rng)
    by_class = SoftmaxRegression(class_weight={"a": 3.0}).fit(X, y)
    by_weight = SoftmaxRegression().fit(X, y, np.where(y == "a", 3.0, 1.0))
    assert_array_equal(by_class.coef_, by_weight.coef_)


def test_units_of_x_do_not_matter_to_the_optimum(rng):
    X, y = documents(rng)
    plain = SoftmaxRegression(solver="dual", C=10.0, tol=1e-10).fit(X, y)
    stretched = SoftmaxRegression(solver="dual", C=10.0 / 49, tol=1e-10)
    stretched.fit(7.0 * X, y)
    assert_allclose(plain.predict_proba(X), stretched.predict_proba(7.0 * X), atol=1e-4)


def test_more_passes_fit_the_training_set_better(rng):
    X, y = documents(rng)
    losses = [
        -SoftmaxRegression(max_iter=n).fit(X, y).predict_log_proba(X).max(axis=1).mean()
        for n in (1, 5, 50)
    ]
    assert losses == sorted(losses, reverse=True)
    assert len(SoftmaxRegression(max_iter=7).fit(X, y).trace_["loss"]) == 7


def test_small_collections_get_more_passes_than_large_ones(rng):
    X, y = documents(rng, n_samples=60)
    assert SoftmaxRegression().fit(X, y).n_iter_ == 20
    X = sparse.csr_array(rng.poisson(0.2, (12_000, 40)) * rng.random((12_000, 40)))
    y = rng.integers(0, 2, 12_000)
    assert SoftmaxRegression().fit(X, y).n_iter_ == 5


def test_batches_are_steps_along_one_path(rng):
    # Twelve steps are the first five and seven more: prefix of the same path.
    X, y = documents(rng, n_samples=50)
    model = SoftmaxRegression(solver="plain", eta=0.3, batch_size=8)
    trace = [clone(model).set_params(n_batches=n).fit(X, y) for n in (5, 12)]
    assert trace[0].n_iter_ == 1
    assert trace[1].n_iter_ == 2  # seven batches make a pass
    seven = clone(model).set_params(n_batches=7).fit(X, y)
    one_pass = clone(model).set_params(max_iter=1).fit(X, y)
    assert_array_equal(seven.coef_, one_pass.coef_)


def test_partial_fit_learns_more_documents(rng):
    X, y = documents(rng, n_samples=600, tilt=1.5)
    model = SoftmaxRegression()
    for start in range(0, 600, 100):
        part = slice(start, start + 100)
        model.partial_fit(X[part], y[part], classes=["a", "b", "c"])
    assert model.n_iter_ == 6
    assert model.score(X, y) > 0.8
    with pytest.raises(DataError, match="label 'x' in row 0"):
        model.partial_fit(X[:1], ["x"])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X[:2], y[:2], classes=["a", "b"])
    with pytest.raises(ValueError, match="at least 2 classes"):
        SoftmaxRegression().partial_fit(X[:1], y[:1])


def test_early_stopping_keeps_the_best_pass(rng):
    X, y = documents(rng, n_samples=400, tilt=0.2)
    model = SoftmaxRegression(early_stopping=True, max_iter=60, eta=3.0).fit(X, y)
    accuracy = model.trace_["validation_accuracy"]
    assert model.n_iter_ == len(accuracy) < 60
    held_out = documents(rng, n_samples=100, tilt=0.2)
    given = SoftmaxRegression(max_iter=40, eta=3.0).fit(X, y, validation=held_out)
    assert given.score(*held_out) == max(given.trace_["validation_accuracy"])


@pytest.mark.parametrize("patience", [1, 2, 4])
def test_training_stops_after_so_many_passes_without_improvement(rng, patience):
    X, y = documents(rng, n_samples=400, tilt=0.2)
    model = SoftmaxRegression(max_iter=80, eta=3.0, patience=patience)
    trace = model.fit(X, y, validation=documents(rng, n_samples=100, tilt=0.2)).trace_
    loss = np.negative(trace["validation_loss"])
    quality = list(zip(trace["validation_accuracy"], loss, strict=True))
    assert model.n_iter_ < 80
    assert model.n_iter_ - 1 - quality.index(max(quality)) == patience


def test_loss_of_validation_documents_is_the_log_loss(rng):
    (X, y), held_out = documents(rng), documents(rng)
    model = SoftmaxRegression(max_iter=1).fit(X, y, validation=held_out)
    expected = log_loss(held_out[1], model.predict_proba(held_out[0]))
    assert_allclose(model.trace_["validation_loss"], [expected])


def test_warm_start_goes_on_where_it_was(rng):
    X, y = documents(rng)
    dual = SoftmaxRegression(solver="dual", C=10.0, tol=1e-8, warm_start=True)
    first = dual.fit(X, y).n_iter_
    weight = np.where(rng.random(len(y)) < 0.1, 1.5, 1.0)  # nearly the same problem
    assert dual.fit(X, y, weight).n_iter_ < first
    cold = SoftmaxRegression(solver="dual", C=10.0, tol=1e-8).fit(X, y, weight)
    assert_allclose(dual.predict_proba(X), cold.predict_proba(X), atol=1e-3)
    descent = SoftmaxRegression(max_iter=2, warm_start=True).fit(X, y)
    before = descent.trace_["loss"][0]
    assert descent.fit(X, y).trace_["loss"][0] < before


@pytest.mark.parametrize("solver", ["adaptive", "plain"])
def test_a_huge_step_is_an_error_that_names_it(rng, solver):
    X, y = documents(rng)
    with pytest.raises(
        DivergenceError, match=r"step size eta = 1e\+09; give a smaller"
    ):
        SoftmaxRegression(solver=solver, eta=1e9, max_iter=3).fit(X, y)


def test_contributions_add_up_to_the_scores(rng):
    for n_classes in (2, 4):
        X, y = documents(rng, n_classes=n_classes)
        model = SoftmaxRegression().fit(X, y)
        scores = model.class_scores(X)
        for part, row in zip(model.score_parts(X), scores, strict=True):
            total = part.terms.sum(axis=0) + sum(part.constants.values())
            assert_allclose(total, row, rtol=1e-12, atol=1e-12)


def test_without_intercept_the_offsets_stay_zero(rng):
    X, y = documents(rng)
    for solver in ("adaptive", "plain", "dual"):
        model = SoftmaxRegression(solver=solver, fit_intercept=False, C=5.0).fit(X, y)
        assert_array_equal(model.intercept_, 0.0)


def test_saved_models_answer_alike_and_learn_on(rng, tmp_path):
    X, y = documents(rng)
    model = SoftmaxRegression().fit(X, y)
    path = tmp_path / "m.earmark"
    save_model(model, path, class_table())
    again = load_model(path, class_table())
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for each in (model, again):
        each.partial_fit(X[:20], y[:20])
    assert_array_equal(again.coef_, model.coef_)


@pytest.mark.compiled
def test_memory_does_not_grow_with_documents_times_vocabulary(rng):
    indices = np.sort(rng.integers(0, 50_000, (2000, 50)), axis=1).ravel()
    parts = (rng.random(len(indices)), indices, np.arange(2001) * 50)
    X, y = sparse.csr_array(parts, shape=(2000, 50_000)), rng.integers(0, 2, 2000)
    X.sum_duplicates()
    for solver in ("adaptive", "dual"):
        tracemalloc.start()
        SoftmaxRegression(solver=solver, max_iter=2, C=0.01, tol=0.5).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6  # dense documents would be 800 MB


def test_parameters_that_make_no_sense_are_named(rng):
    X, y = documents(rng, n_samples=20)
    with pytest.raises(ValueError, match="solver must be one of 'adaptive'"):
        SoftmaxRegression(solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="n_batches is for solver='plain'"):
        SoftmaxRegression(n_batches=3).fit(X, y)
    with pytest.raises(ValueError, match="wants a finite C and no early_stopping"):
        SoftmaxRegression(solver="dual", early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="needs at least 2 classes in y, got 1 class"):
        SoftmaxRegression().fit(X, ["a"] * 20)
    assert not hasattr(SoftmaxRegression(solver="dual"), "partial_fit")
    with pytest.raises(AttributeError) as refused:
        SoftmaxRegression(solver="dual").partial_fit(X, y)
    assert isinstance(refused.value.__cause__, NotSupportedError)
    assert "cannot learn more of them" in str(refused.value.__cause__)
    with pytest.raises(ValueError, match="must be None or a dict for partial_fit"):
        SoftmaxRegression(class_weight="balanced").partial_fit(X, y)
    with pytest.warns(ConvergenceWarning, match="has not converged after 1 passes"):
        SoftmaxRegression(solver="dual", max_iter=1).fit(X, y)


def test_the_penalty_of_the_dual_is_ten_unless_told(rng):
    X, y = documents(rng)
    plain = SoftmaxRegression(solver="dual").fit(X, y)
    told = SoftmaxRegression(solver="dual", C=10.0).fit(X, y)
    assert_array_equal(plain.coef_, told.coef_)
