"""AnyOfClassifier: tuned thresholds, the three forms of labels, odd cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.decision import AnyOfClassifier
from earmark.decision.any_of import best_cut
from earmark.exceptions import DataError
from earmark.models import MultinomialNaiveBayes


@parametrize_with_checks([AnyOfClassifier(GaussianNB())])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def sample(rng, n, shares=(0.4, 0.2, 0.05)):
    Y = rng.random((n, 3)) < shares
    X = rng.poisson(0.5 + 2.0 * Y)
    return X, [[c for c, has in zip("abc", row, strict=True) if has] for row in Y]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30))
def test_cut_has_the_best_f1_of_all_cuts(pairs):
    scores = np.array([float(score) for score, _ in pairs])
    positive = np.array([has for _, has in pairs])

    def f1(cut):
        said = scores >= cut
        return 2 * np.sum(said & positive) / (said.sum() + positive.sum())

    cut, best = best_cut(scores, positive), max(map(f1, set(scores)))
    if best >= 0.3:
        assert_allclose(f1(cut), best)
    else:
        assert cut >= 0


def test_a_rare_label_that_cannot_be_told_is_not_handed_out(rng):
    X = rng.poisson(0.5, (400, 30))
    common = X[:, 0] > 0
    rare = np.zeros(400, dtype=bool)
    rare[:3] = True
    y = [[c for c, has in (("common", a), ("rare", b)) if has]
         for a, b in zip(common, rare, strict=True)]  # fmt: skip
    for model in (LinearSVC(), MultinomialNaiveBayes()):
        answers = AnyOfClassifier(model).fit(X[:300], y[:300]).predict(X[300:])
        assert sum("rare" in labels for labels in answers) <= 2
        right = [
            ("common" in a) == c for a, c in zip(answers, common[300:], strict=True)
        ]
        assert np.mean(right) > 0.7


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30))
def test_cut_keeps_the_precision_floor_or_never_answers(pairs):
    scores = np.array([float(score) for score, _ in pairs])
    positive = np.array([has for _, has in pairs])
    said = scores >= best_cut(scores, positive, 0.8)
    if said.any():
        assert positive[said].mean() >= 0.8 - 1e-9


def test_cut_between_infinite_scores_is_defined():
    inf = np.inf
    for scores in ([inf, 1.0], [1.0, -inf], [inf, -inf], [inf, inf]):
        cut = best_cut(np.array(scores), np.array([True, False]))
        assert np.array(scores)[0] >= cut


def test_labels_come_back_in_the_form_they_were_given(rng):
    X, y = sample(rng, 200)
    Y = np.array([[c in labels for c in "abc"] for labels in y]).astype(int)
    as_sets = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, y)
    as_matrix = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, Y)
    as_sparse = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, sparse.csr_array(Y))
    as_lists = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, Y.tolist())
    tuples = as_sets.predict(X)
    assert as_sets.classes_.tolist() == ["a", "b", "c"]
    expected = [[c in labels for c in "abc"] for labels in tuples]
    for other in (as_matrix, as_sparse, as_lists):
        assert_array_equal(other.predict(X), expected)
    one = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, Y[:, 0])
    assert one.predict(X).shape == (200,)


def test_tuned_thresholds_raise_the_f1_of_rare_labels(rng):
    X, y = sample(rng, 800)
    X_test, y_test = sample(rng, 3000)
    truth = [["c" in labels] for labels in y_test]
    found = {}
    for way in ("none", "auto"):
        model = AnyOfClassifier(LogisticRegression(C=0.01), scores=way).fit(X, y)
        said = [["c" in labels] for labels in model.predict(X_test)]
        found[way] = f1_score(np.ravel(truth), np.ravel(said))
    assert found["auto"] > found["none"]


def test_precision_floor_is_kept_out_of_sample(rng):
    X, y = sample(rng, 3000)
    X_test, y_test = sample(rng, 3000)
    model = AnyOfClassifier(
        LogisticRegression(), metric="precision", precision_floor=0.9
    ).fit(X, y)
    answers = model.predict(X_test)
    for c in "ab":
        right = [
            c in truth for truth, said in zip(y_test, answers, strict=True) if c in said
        ]
        assert np.mean(right) > 0.85


def test_leave_one_out_and_cross_validation_tune_alike(rng):
    X, y = sample(rng, 600)
    X = np.hstack([X, rng.poisson(0.5, (600, 20))])  # no row is another's copy
    thresholds = [
        AnyOfClassifier(MultinomialNaiveBayes(), scores=way).fit(X, y).cuts_
        for way in ("leave_one_out", "cross_validated")
    ]
    assert_allclose(thresholds[0], thresholds[1], atol=1.5)
    auto = AnyOfClassifier(MultinomialNaiveBayes()).fit(X, y)
    assert_array_equal(auto.cuts_, thresholds[0])


def test_margins_serve_where_there_are_no_probabilities(rng):
    X, y = sample(rng, 200)
    model = AnyOfClassifier(LinearSVC()).fit(X, y)
    margins = model.decision_function(X)
    given = [tuple(np.array(list("abc"))[row >= 0]) for row in margins]
    assert [tuple(labels) for labels in model.predict(X)] == given


def test_columns_are_independent_probabilities(rng):
    X, y = sample(rng, 300, shares=(0.9, 0.9, 0.1))
    proba = AnyOfClassifier(LogisticRegression()).fit(X, y).predict_proba(X)
    assert proba.sum(axis=1).max() > 1.2


def test_empty_rare_and_universal_labels_are_defined():
    X = [[1, 0], [2, 0], [0, 1], [0, 2], [1, 1]]
    y = [["all", "x"], ["all", "x"], ["all"], ["all"], ["all", "once"]]
    model = AnyOfClassifier(LogisticRegression()).fit(X, y)
    assert all("all" in labels for labels in model.predict(X))
    assert model.estimators_[0] is None
    empty = AnyOfClassifier(LogisticRegression()).fit(X, [["x"], ["x"], [], [], []])
    assert empty.predict([[0, 9]]).tolist() == [()]
    assert empty.decide(X).coverage == 1.0
    lone = AnyOfClassifier(LogisticRegression()).fit([[1.0], [2.0]], [["all"], ["all"]])
    assert lone.predict([[3.0]]).tolist() == [("all",)]


def test_labels_of_several_types_stay_what_they_are():
    model = AnyOfClassifier(LogisticRegression(), scores="none")
    model.fit([[0.0], [9.0]], [[1], ["a"]])
    assert model.predict([[0.0], [9.0]]).tolist() == [(1,), ("a",)]


def test_no_labels_and_one_class_are_refused():
    with pytest.raises(DataError, match="no training document carries a label"):
        AnyOfClassifier(LogisticRegression()).fit([[1], [2]], [[], []])
    with pytest.raises(DataError, match=r"at least 2 classes in y, got 1 class"):
        AnyOfClassifier(LogisticRegression()).fit([[1], [2]], ["a", "a"])
    with pytest.raises(ValueError, match="metric must be one of 'f1', 'precision'"):
        AnyOfClassifier(LogisticRegression(), metric="f2").fit([[1]], [["a"]])


def test_a_label_is_never_given_where_its_probability_is_zero():
    scores = np.array([3.0, 1.0, -np.inf, -np.inf, -np.inf])
    positive = np.array([False, False, True, True, True])
    assert best_cut(scores, positive) > -np.inf
    assert best_cut(np.full(5, -np.inf), positive) > 1e300


def test_copies_of_one_document_leave_nothing_to_tune_on():
    y = [["a"], ["a", "b"], ["b"]] * 4
    model = AnyOfClassifier(LinearSVC()).fit([[1.0, 2.0]] * 12, y)
    assert len(model.cuts_) == 2


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (80, 12))
    Y = (X[:, :3] + rng.poisson(0.5, (80, 3)) > 1).astype(int)
    one, two = (AnyOfClassifier(LinearSVC(), n_jobs=n).fit(X, Y) for n in (1, 2))
    assert np.array_equal(one.cuts_, two.cuts_)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
