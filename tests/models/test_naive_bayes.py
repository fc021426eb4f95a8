"""The naive Bayes family: scikit-learn, refits and hand calculation as oracles."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

from earmark.exceptions import DataError, EarmarkWarning
from earmark.models import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianNaiveBayes,
    HigherOrderNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.models.shared import naive_bayes as count_model

COUNT_MODELS = [MultinomialNaiveBayes, BernoulliNaiveBayes, ComplementNaiveBayes]
ALL_MODELS = [*COUNT_MODELS, GaussianNaiveBayes]
TWINS = [
    (MultinomialNaiveBayes(alpha=0.3), MultinomialNB(alpha=0.3)),
    (
        MultinomialNaiveBayes(class_prior="uniform"),
        MultinomialNB(fit_prior=False),
    ),
    (
        MultinomialNaiveBayes(class_prior=[0.5, 0.2, 0.3]),
        MultinomialNB(class_prior=[0.5, 0.2, 0.3]),
    ),
    (BernoulliNaiveBayes(alpha=0.3), BernoulliNB(alpha=0.3)),
    (ComplementNaiveBayes(alpha=0.3), ComplementNB(alpha=0.3)),
    (ComplementNaiveBayes(norm=True), ComplementNB(norm=True)),
    (GaussianNaiveBayes(), GaussianNB()),
]


def counts(rng, n_samples=60, n_features=40, n_classes=3):
    centre = rng.gamma(0.3, 2.0, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return rng.poisson(centre[y]).astype(float), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(("ours", "theirs"), TWINS)
@pytest.mark.parametrize("weighted", [False, True])
def test_log_probabilities_equal_scikit_learn(ours, theirs, weighted, rng):
    X, y = counts(rng)
    # GaussianNB smooths by an unweighted variance: whole weights of 1 keep it equal.
    high = 2 if isinstance(theirs, GaussianNB) else 5
    weight = rng.integers(1, high, len(y)) if weighted else None
    test = counts(rng)[0]
    if isinstance(theirs, GaussianNB):  # no feature is constant within a class
        X, test = X + rng.normal(size=X.shape), test + rng.normal(size=test.shape)
    expected = theirs.fit(X, y, weight).predict_log_proba(test)
    for container in (np.asarray, sparse.csr_matrix, sparse.csc_array):
        got = (
            clone(ours).fit(container(X), y, weight).predict_log_proba(container(test))
        )
        assert_allclose(got, expected, atol=1e-10, rtol=1e-10)


def test_gaussian_answers_do_not_depend_on_the_unit_of_the_features(rng):
    X, y = counts(rng)
    unit = 1e-6
    model = GaussianNaiveBayes(var_smoothing=0.1)
    expected = clone(model).fit(X, y)
    got = clone(model).fit(X * unit, y)
    assert_allclose(
        got.predict_log_proba(X * unit), expected.predict_log_proba(X), atol=1e-12
    )
    assert_allclose(
        got.leave_one_out(X * unit, y), expected.leave_one_out(X, y), atol=1e-12
    )


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNaiveBayes(alpha=0.5),
        MultinomialNaiveBayes(alpha=0),
        BernoulliNaiveBayes(alpha=0.5),
        BernoulliNaiveBayes(alpha=0),
        BernoulliNaiveBayes(alpha=0.5, alpha_by_size=True),
        ComplementNaiveBayes(alpha=0.5),
        ComplementNaiveBayes(alpha=0),
        ComplementNaiveBayes(norm=True),
        GaussianNaiveBayes(),
        GaussianNaiveBayes(var_smoothing=0.1),
        MultinomialNaiveBayes(class_prior="uniform"),
    ],
)
def test_leave_one_out_equals_refitting_without_the_document(model, rng):
    X, y = counts(rng, n_samples=300)
    X[:, 0] += 1  # a term that every document holds
    left_out = clone(model).fit(X, y).leave_one_out(sparse.csr_matrix(X), y)
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EarmarkWarning)
            refit = clone(model).fit(X[rest], y[rest])
            expected = refit.predict_log_proba(X[[d]])[0]
        assert_allclose(left_out[d], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", [m() for m in COUNT_MODELS])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_leave_one_out_with_weights_equals_refitting(model, n_classes, rng):
    X, y = counts(rng, n_samples=40, n_classes=n_classes)
    weight = rng.choice([0.5, 1.0, 3.0], len(y))
    left_out = model.fit(X, y, weight).leave_one_out(X, y, weight)
    for d in range(len(y)):
        rest = np.arange(len(y)) != d
        expected = clone(model).fit(X[rest], y[rest], weight[rest])
        assert_allclose(
            left_out[d], expected.predict_log_proba(X[[d]])[0], rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("model_class", ALL_MODELS)
def test_a_class_of_one_document_is_impossible_without_it(model_class):
    X, y = np.array([[1.0, 0], [1, 1], [0, 2]]), np.array(["a", "a", "b"])
    left_out = model_class().fit(X, y).leave_one_out(X, y)
    if model_class is not ComplementNaiveBayes:  # which has no prior
        assert left_out[2, 1] == -np.inf
    assert not np.isnan(left_out).any()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_batches=st.integers(1, 50))
def test_batches_in_any_order_equal_one_fit(seed, n_batches):
    rng = np.random.default_rng(seed)
    X, y = counts(rng)
    for model_class in COUNT_MODELS:
        whole = model_class().fit(X, y)
        grown = model_class()
        for part in np.array_split(rng.permutation(len(y)), n_batches):
            if len(part):
                grown.partial_fit(X[part], y[part], classes=["a", "b", "c"])
        assert grown.statistics_ == whole.statistics_
        assert_array_equal(grown.predict_log_proba(X), whole.predict_log_proba(X))


@pytest.mark.parametrize("model_class", COUNT_MODELS)
def test_forgetting_gives_the_model_without_the_documents(model_class, rng):
    X, y = counts(rng)
    kept = model_class().fit(X[:40], y[:40])
    model = model_class().fit(X, y).forget(X[40:], y[40:])
    assert model.statistics_ == kept.statistics_
    assert_array_equal(model.predict_log_proba(X), kept.predict_log_proba(X))


@pytest.mark.parametrize("model_class", ALL_MODELS)
@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_unseen_label_in_partial_fit_is_an_error_and_changes_nothing(
    model_class, labels, rng
):
    X, _ = counts(rng, n_samples=6)
    y = np.array(labels * 3)[:6]
    model = model_class().partial_fit(X, y, classes=labels)
    before = model.predict_log_proba(X)
    with pytest.raises(DataError, match="'z' in row 0"):
        model.partial_fit(X[:1], ["z"])
    assert_array_equal(model.predict_log_proba(X), before)


def test_multinomial_matches_hand_calculation():
    # 3 terms, alpha = 1: class a has tokens (2, 1, 0), class b (0, 0, 1).
    model = MultinomialNaiveBayes().fit([[2, 1, 0], [0, 0, 1]], ["a", "b"])
    expected = np.log([[3 / 6, 2 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    assert_allclose(model.feature_log_prob_, expected, rtol=1e-14)


@pytest.mark.parametrize("model_class", COUNT_MODELS)
def test_linear_form_gives_the_scores(model_class, rng):
    X, y = counts(rng)
    model = model_class().fit(X, y)
    seen = X if model_class is not BernoulliNaiveBayes else (X > 0).astype(float)
    scores = model.predict_joint_log_proba(X)
    assert_allclose(seen @ model.coef_.T + model.intercept_, scores, rtol=1e-10)
    two = y != "c"
    model.fit(X[two], y[two])
    scores = model.predict_joint_log_proba(X)
    odds = (seen @ model.coef_.T + model.intercept_).ravel()
    assert_allclose(odds, scores[:, 1] - scores[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model_class", COUNT_MODELS)
def test_score_parts_add_up_to_the_scores(model_class, rng):
    X, y = counts(rng)
    model = model_class().fit(X, y)
    scores = model.predict_joint_log_proba(X)
    for row, parts in zip(scores, model.score_parts(X), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-11)


@pytest.mark.parametrize("model_class", [MultinomialNaiveBayes, BernoulliNaiveBayes])
def test_impossible_document_gets_the_prior_with_one_warning(model_class):
    model = model_class(alpha=0).fit([[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 0, 1])
    with pytest.warns(EarmarkWarning, match="1 document") as record:
        proba = model.predict_proba([[0, 0, 1]])
    assert len(record) == 1
    assert_allclose(proba, [[2 / 3, 1 / 3]], rtol=1e-14)


@pytest.mark.parametrize("model_class", COUNT_MODELS)
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e300])
def test_extreme_smoothing_never_gives_nan(model_class, alpha, rng):
    X, y = counts(rng)
    model = model_class(alpha=alpha).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarmarkWarning)
        proba = model.predict_proba(counts(rng)[0])
    assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)


def test_document_without_known_terms_gets_the_multinomial_prior():
    X = sparse.csr_matrix([[1.0, 2], [1, 0], [0, 1]])
    model = MultinomialNaiveBayes().fit(X, [1, 1, 0])
    empty = model.predict_proba(sparse.csr_matrix((1, 2)))
    assert_allclose(empty, [[1 / 3, 2 / 3]], rtol=1e-12)


def test_absent_terms_are_evidence_to_bernoulli_naive_bayes():
    X = sparse.csr_matrix([[1.0, 2], [1, 0], [0, 1]])
    model = BernoulliNaiveBayes().fit(X, [1, 1, 0])
    empty = model.predict_proba(sparse.csr_matrix((1, 2)))
    # Class 0 has one document, with term 1 only; class 1 has two, both with term 0
    # and one with term 1. Laplace: 1/3 * 2/3 * 1/3 against 2/3 * 1/4 * 2/4.
    first, second = 1 / 3 * (1 - 1 / 3) * (1 - 2 / 3), 2 / 3 * (1 - 3 / 4) * (1 - 2 / 4)
    assert_allclose(empty[0, 0] / empty[0, 1], first / second, rtol=1e-12)
    assert model.predict(sparse.csr_matrix((1, 2))).tolist() == [1]


@pytest.mark.parametrize("model_class", ALL_MODELS)
def test_one_class_answers_with_certainty(model_class):
    model = model_class().fit([[1.0, 2], [0, 1]], ["only", "only"])
    assert model.predict([[5.0, 5]]).tolist() == ["only"]
    assert_allclose(model.predict_proba([[5.0, 5]]), [[1.0]])


def test_very_long_documents_keep_probabilities_normalised(rng):
    X = sparse.csr_matrix(rng.integers(0, 10**7, (4, 1000)).astype(float))
    model = MultinomialNaiveBayes().fit(X, [0, 1, 2, 3])
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("labels", [[True, False], [-1, 7], ["é", "z"]])
def test_labels_keep_their_type(labels):
    model = MultinomialNaiveBayes().fit([[1, 0], [0, 1]], labels)
    got = model.predict([[1, 0], [0, 1]])
    assert got.tolist() == labels
    assert got.dtype == np.asarray(labels).dtype


@pytest.mark.parametrize("model_class", ALL_MODELS)
def test_inputs_are_left_as_they_were(model_class, rng):
    X, y = counts(rng)
    matrix = sparse.csr_matrix(X)
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    model = model_class().fit(matrix, y)
    model.predict(matrix)
    model.leave_one_out(matrix, y)
    assert_array_equal(matrix.toarray(), X)


def test_bad_parameters_say_what_is_wanted():
    with pytest.raises(ValueError, match=r"alpha must be in \[0.0, inf\), got -1"):
        MultinomialNaiveBayes(alpha=-1).fit([[1]], [0])
    with pytest.raises(TypeError, match="alpha must be a number"):
        BernoulliNaiveBayes(alpha="x").fit([[1]], [0])
    with pytest.raises(ValueError, match="class_prior must hold 2 probabilities"):
        MultinomialNaiveBayes(class_prior=[0.5, 0.6]).fit([[1], [2]], [0, 1])


def test_many_classes_are_handled(rng):
    X = sparse.random(3000, 50, 0.1, random_state=1, format="csr")
    y = np.arange(3000) % 1000
    model = MultinomialNaiveBayes().fit(X, y)
    assert model.predict_proba(X[:5]).shape == (5, 1000)


def test_a_uniform_prior_is_one_share_a_class():
    model = MultinomialNaiveBayes(class_prior="uniform")
    model.fit(np.eye(4, dtype=np.int64)[[0, 1, 1, 2]], ["a", "b", "b", "c"])
    assert_allclose(np.exp(model.class_log_prior_), 1 / 3)


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNaiveBayes(alpha=0.3),
        ComplementNaiveBayes(alpha=0.3),
        ComplementNaiveBayes(norm=True),
    ],
)
def test_weights_kept_sparse_say_what_dense_ones_say(model, rng, monkeypatch):
    X = sparse.random_array((90, 200), density=0.03, rng=rng, format="csr")
    X.data = rng.integers(1, 5, X.nnz).astype(float)
    y = np.arange(90) % 30
    dense = clone(model).fit(X, y)
    monkeypatch.setattr(count_model, "DENSE_CELLS", 100)
    few = clone(model).fit(X, y)
    assert dense.linear_rule() is not None
    assert few.linear_rule() is None
    for name in ("predict_log_proba", "predict_joint_log_proba", "class_scores"):
        assert_allclose(getattr(few, name)(X), getattr(dense, name)(X), atol=1e-10)
    assert_allclose(few.leave_one_out(X, y), dense.leave_one_out(X, y), atol=1e-10)
    assert_allclose(few.coef_, dense.coef_, atol=1e-12)
    assert_allclose(few.term_weights(), dense.term_weights(), atol=1e-12)
    for ours, theirs in zip(few.score_parts(X), dense.score_parts(X), strict=True):
        assert_allclose(ours.terms, theirs.terms, atol=1e-12)
    few.partial_fit(X[:5], y[:5])
    dense = clone(model).fit(sparse.vstack([X, X[:5]]), np.r_[y, y[:5]])
    assert_allclose(few.predict_proba(X), dense.predict_proba(X), atol=1e-10)


def test_smoothed_by_size_an_unseen_term_speaks_for_no_class(rng):
    X = (rng.random((60, 8)) < 0.4).astype(float)
    X[:, 7] = 0  # nobody has it
    y = np.array(["few"] * 10 + ["many"] * 50)
    plain = BernoulliNaiveBayes(alpha=0.7).fit(X, y)
    fair = BernoulliNaiveBayes(alpha=0.7, alpha_by_size=True).fit(X, y)
    few, many = np.exp(plain.feature_log_prob_[:, 7])
    assert few > 3 * many
    assert_allclose(*fair.feature_log_prob_[:, 7])
    # By hand (NB9): alpha_c = .7 N_c / 30.
    alpha = 0.7 * 10 / 30
    counted = (X[:10].sum(axis=0) + alpha) / (10 + 2 * alpha)
    assert_allclose(np.exp(fair.feature_log_prob_[0]), counted)
    even = np.array(["a", "b"] * 30)
    assert_array_equal(
        BernoulliNaiveBayes(alpha_by_size=True).fit(X, even).predict_proba(X),
        BernoulliNaiveBayes().fit(X, even).predict_proba(X),
    )


def test_paths_smoothed_by_size_have_equal_floors(rng):
    X = (rng.random((60, 8)) < 0.4).astype(float)
    X[:10, 7] = X[30:, 7] = 0
    y = np.array(["few"] * 10 + ["some"] * 20 + ["many"] * 30)
    fair = HigherOrderNaiveBayes(alpha_by_size=True).fit(X, y)
    floor = fair.feature_log_prob_[:, 7]
    assert_allclose(floor[0], floor[1])  # "few" and "many": no path has the term
    plain = HigherOrderNaiveBayes().fit(X, y).feature_log_prob_[:, 7]
    assert abs(plain[0] - plain[1]) > 1
