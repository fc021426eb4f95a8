"""MultilayerPerceptron: the worked example, what it can learn, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier

from earmark.exceptions import DataError, DivergenceError
from earmark.models import MultilayerPerceptron
from earmark.persistence import load_model, save_model
from earmark.pipeline.files import class_table

# The exercise on backpropagation of the sheet on Bishop (2006), section 2.4.
W1 = np.array([[0.4, 0.87], [0.58, 0.34]])
W2 = np.array([[0.12, 0.87], [0.82, 0.31], [0.77, 0.9]])
POINT, TARGET = np.array([[0.3, 0.7]]), [3]


def worked_example(eta=0.05):
    return MultilayerPerceptron(
        hidden=(2,),
        solver="sgd",
        eta=eta,
        fit_intercept=False,
    ).partial_fit(POINT, TARGET, classes=[1, 2, 3], start_weights=[W1.T, W2.T])


def documents(rng, n_samples=200, n_features=30, n_classes=3, tilt=0.6):
    X = rng.random((n_samples, n_features)) * rng.poisson(0.4, (n_samples, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X[np.arange(n_samples), y] += tilt
    return sparse.csr_array(X), np.array(["a", "b", "c", "d"])[y]


def test_worked_example_to_its_printed_digits():
    still = worked_example(eta=1e-300)
    assert_allclose(still.predict_proba(POINT)[0], [0.266, 0.331, 0.403], atol=5e-4)
    assert_allclose(still.trace_["loss"][0], 0.9078, atol=5e-5)

    model = worked_example()
    first, second = (weights.T for weights in model.coefs_)
    assert_allclose((W2[0, 0] - second[0, 0]) / 0.05, 0.1656, atol=5e-5)  # dE/dw5
    assert_allclose(first, [[0.401, 0.873], [0.583, 0.346]], atol=5.1e-4)
    assert_allclose(second, [[0.112, 0.865], [0.81, 0.304], [0.789, 0.912]], atol=5e-4)
    proba = model.predict_proba(POINT)[0]
    assert_allclose(proba, [0.264, 0.327, 0.41], atol=6e-4)
    assert_allclose(-np.log(proba[2]), 0.8923, atol=5e-5)


@pytest.mark.parametrize("solver", ["adaptive", "adam", "sgd"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_exclusive_or_is_learned(rng, solver, activation):
    corner = rng.integers(0, 2, (300, 2))
    X = corner + rng.normal(0, 0.05, (300, 2))
    y = corner[:, 0] ^ corner[:, 1]
    model = MultilayerPerceptron(
        hidden=(16,),
        solver=solver,
        activation=activation,
        max_iter=200,
        eta=0.01 if solver == "adam" else None,
        random_state=1,
    )
    assert model.fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize(
    ("solver", "size"), [("adaptive", 1), ("adam", 32), ("sgd", 1)]
)
def test_a_step_takes_one_document_and_32_with_adam(rng, solver, size):
    X, y = documents(rng)
    usual, given = (
        MultilayerPerceptron(hidden=(4,), solver=solver, batch_size=n, max_iter=2)
        for n in (None, size)
    )
    expected = given.fit(X, y).coefs_
    for ours, theirs in zip(usual.fit(X, y).coefs_, expected, strict=True):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("solver", ["adaptive", "adam", "sgd"])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_order_of_rows_has_no_influence_on_a_single_bit(rng, solver, dropout):
    X, y = documents(rng)
    shuffled = rng.permutation(len(y))
    model = MultilayerPerceptron(
        hidden=(8,), solver=solver, dropout=dropout, max_iter=3
    )
    here = clone(model).fit(X, y)
    there = clone(model).fit(X[shuffled], y[shuffled])
    for mine, theirs in zip(here.coefs_, there.coefs_, strict=True):
        assert_array_equal(mine, theirs)
    other = clone(model).set_params(random_state=8).fit(X, y)
    assert (other.coefs_[0] != here.coefs_[0]).any()


def test_as_accurate_as_scikit_learn_after_the_same_passes(rng):
    X, y = documents(rng, n_samples=1500, n_classes=4)
    test, expected = documents(rng, n_samples=1000, n_classes=4)
    theirs = MLPClassifier((30,), max_iter=10, random_state=0)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        theirs.fit(X, y)
    for solver in ("adaptive", "adam"):
        ours = MultilayerPerceptron(hidden=(30,), solver=solver, max_iter=10).fit(X, y)
        assert ours.score(test, expected) >= theirs.score(test, expected) - 0.01


def test_hidden_layers_of_all_depths_learn(rng):
    X, y = documents(rng, n_samples=400, tilt=1.5)
    for hidden in ((20,), (20, 10), (20, 10, 5)):
        model = MultilayerPerceptron(hidden=hidden, max_iter=20).fit(X, y)
        assert model.score(X, y) > 0.9
        assert [w.shape for w in model.coefs_] == list(
            zip((30, *hidden), (*hidden, 3), strict=True)
        )
        assert [b.shape for b in model.intercepts_] == [(n,) for n in (*hidden, 3)]


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(7,), (6, 5)])
def test_contributions_add_up_to_the_scores(rng, activation, hidden):
    X, y = documents(rng)
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array((1, 30))]))
    y = np.append(y, "a")
    model = MultilayerPerceptron(hidden=hidden, activation=activation, max_iter=5)
    model.fit(X, y)
    for part, row in zip(model.score_parts(X), model.class_scores(X), strict=True):
        total = part.terms.sum(axis=0) + sum(part.constants.values())
        assert_allclose(total, row, rtol=1e-10, atol=1e-10)
    assert len(part.columns) == 0  # the empty document has no terms
    assert "empty document" in part.note


def test_contributions_of_rectified_units_are_the_gradient_without_bias(rng):
    # Piecewise linear: with no bias, slope times input is the gradient times input.
    X, y = documents(rng)
    model = MultilayerPerceptron(hidden=(9,), activation="relu", fit_intercept=False)
    first, last = model.fit(X, y).coefs_
    dense = X.toarray()
    for d, part in enumerate(model.score_parts(X)[:20]):
        active = (dense[d] @ first) > 0
        gradient = (first * active) @ last
        expected = dense[d][part.columns, None] * gradient[part.columns]
        assert_allclose(part.terms, expected, rtol=1e-9, atol=1e-12)


def test_early_stopping_keeps_the_best_pass(rng):
    X, y = documents(rng, n_samples=300)
    held_out = documents(rng, n_samples=100)
    model = MultilayerPerceptron(hidden=(8,), max_iter=60)
    model.fit(X, y, validation=held_out)
    assert model.n_iter_ < 60
    assert model.score(*held_out) == max(model.trace_["validation_accuracy"])


def test_dropout_changes_training_but_not_the_answers(rng):
    X, y = documents(rng)
    model = MultilayerPerceptron(hidden=(20,), dropout=0.5, max_iter=5).fit(X, y)
    whole = MultilayerPerceptron(hidden=(20,), max_iter=5).fit(X, y)
    assert model.trace_["loss"][0] > whole.trace_["loss"][0]
    assert_array_equal(model.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("solver", ["adaptive", "adam"])
def test_partial_fit_learns_more_documents_also_after_loading(rng, tmp_path, solver):
    X, y = documents(rng, n_samples=600, tilt=1.5)
    model = MultilayerPerceptron(hidden=(10,), solver=solver)
    for start in range(0, 600, 100):
        part = slice(start, start + 100)
        model.partial_fit(X[part], y[part], classes=["a", "b", "c"])
    for _ in range(10):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85
    save_model(model, tmp_path / "m.earmark", class_table())
    again = load_model(tmp_path / "m.earmark", class_table())
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again.partial_fit(X, y)
    assert again.score(X, y) > 0.85


def test_a_huge_step_is_an_error_that_names_it(rng):
    X, y = documents(rng)
    for solver in ("adaptive", "adam", "sgd"):
        model = MultilayerPerceptron(hidden=(5,), solver=solver, eta=1e200, max_iter=3)
        with pytest.raises(DivergenceError, match=r"step size eta = 1e\+200; give a"):
            model.fit(X, y)


def test_parameters_that_make_no_sense_are_named(rng):
    X, y = documents(rng, n_samples=20)
    with pytest.raises(ValueError, match=r"hidden must be one or several widths >= 1"):
        MultilayerPerceptron(hidden=(0,)).fit(X, y)
    with pytest.raises(ValueError, match=r"hidden must be .* got 100"):
        MultilayerPerceptron(hidden=100).fit(X, y)
    with pytest.raises(ValueError, match=r"activation must be one of 'tanh', 'relu'"):
        MultilayerPerceptron(activation="sine").fit(X, y)
    with pytest.raises(ValueError, match=r"dropout must be in \[0.0, 0.99\]"):
        MultilayerPerceptron(dropout=1.0).fit(X, y)
    with pytest.raises(DataError, match="one matrix for each of the 2 layers, got 1"):
        MultilayerPerceptron(hidden=(2,)).fit(X, y, start_weights=[W1])
    with pytest.raises(
        DataError, match=r"start_weights\[0\] must have shape \(30, 2\)"
    ):
        MultilayerPerceptron(hidden=(2,)).fit(X, y, start_weights=[W1, W2])
