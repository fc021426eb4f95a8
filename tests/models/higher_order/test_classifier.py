"""HigherOrderClassifier: dense transforms, scikit-learn's own one-against-one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from earmark.exceptions import DataError, NotSupportedError
from earmark.folds import stratified_folds
from earmark.kernels.keys import fingerprints
from earmark.kernels.rows import canonical_rows, presence
from earmark.models import HigherOrderClassifier, HigherOrderTransformer
from earmark.models.higher_order_svm import COSTS, OneAgainstOne


def corpus(rng, n_samples=60, n_features=25, n_classes=3):
    rate = rng.beta(0.5, 2, (n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return (rng.random((n_samples, n_features)) < rate[y]).astype(float), y


def dense_votes(base, X, y, test, **settings):
    """Majority vote of base classifiers trained on dense eq. 12, as [1] says it."""
    labels = np.unique(y)
    votes, sums = np.zeros((2, len(test), len(labels)))
    for j in range(len(labels)):
        for k in range(j + 1, len(labels)):
            mine = np.isin(y, labels[[j, k]])
            pair = tuple(labels[[j, k]])
            transformer = HigherOrderTransformer(pair=pair, **settings).fit(X, y)
            dense, unseen = (
                transformer.transform(Z).toarray() + transformer.constant_
                for Z in (X[mine], test)
            )
            used = X[mine].any(axis=0)  # terms of the two classes
            model = clone(base).fit(dense[:, used], y[mine])
            margin = model.decision_function(unseen[:, used])
            votes[:, k] += margin > 0
            votes[:, j] += margin <= 0
            sums[:, k] += margin
            sums[:, j] -= margin
    return votes, sums


@pytest.mark.parametrize(
    "base",
    [
        LinearSVC(C=0.3, tol=1e-9, max_iter=10**6, dual=True, random_state=0),
        LinearSVC(
            C=0.1, tol=1e-9, max_iter=10**6, loss="hinge", intercept_scaling=3,
            class_weight={0: 2.0, 1: 1.0, 2: 0.5}, random_state=0,
        ),
        SVC(C=0.5, kernel="linear", tol=1e-9),
        SVC(C=2.0, kernel="rbf", gamma=0.05, tol=1e-9),
        LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000),
    ],
    ids=["svm", "hinge", "libsvm", "rbf", "logistic"],
)  # fmt: skip
@pytest.mark.parametrize("settings", [{}, {"source": "first_order"}])
def test_sparse_training_equals_training_on_the_dense_transform(base, settings, rng):
    X, y = corpus(rng)
    test = corpus(rng)[0]
    model = HigherOrderClassifier(base, C=None, **settings).fit(X, y)
    votes, sums = dense_votes(base, X, y, test, **settings)
    expected = votes + sums / (3 * (1 + np.abs(sums)))
    assert_allclose(model.decision_function(test), expected, atol=1e-5)


def test_two_classes_have_one_margin(rng):
    X, y = corpus(rng, n_classes=2)
    model = HigherOrderClassifier(C=1.0).fit(X, y)
    margin = model.decision_function(X)
    assert margin.shape == (len(X),)
    problem = model._fitted_task().problem(0, 1)
    expected = model.estimators_[0].decision_function(
        problem.features(model._validated(X))
    )
    assert_allclose(margin, expected)
    assert_array_equal(model.predict(X), (margin > 0).astype(int))


def test_summed_margins_decide_equal_votes():
    task = OneAgainstOne(np.zeros((3, 1)), np.zeros((3, 1)), np.ones((3, 1)), True)
    # Class 1 beats 0, 0 beats 2, 2 beats 1: one vote each; class 2's margin is largest.
    scores = task._vote(np.array([[0.5, -0.1, 9.0], [0.5, 1.0, 9.0]]))
    assert scores[0].argmax() == 2
    assert_allclose(scores[0].round(), [1, 1, 1])
    assert_array_equal(scores[1].round(), [0, 1, 2])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cost_by_training_accuracy_is_the_smallest_of_the_best(rng):
    X, y = corpus(rng)
    y = np.where(rng.random(len(y)) < 0.3, 0, y)  # labels that cannot all be learned
    model = HigherOrderClassifier(random_state=0).fit(X, y)
    accuracy = {}
    for cost in COSTS:
        fitted = HigherOrderClassifier(C=cost, random_state=0).fit(X, y)
        accuracy[cost] = fitted.score(X, y)
    best = max(accuracy.values())
    assert model.score(X, y) == best
    assert min(c for c in COSTS if accuracy[c] == best) == model.C_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cost_by_cross_validation_counts_paths_without_the_held_out_part(rng):
    X, y = corpus(rng)
    rows = presence(canonical_rows(X), dtype=np.float64)
    order = np.lexsort((fingerprints(rows), y))  # what the folds are made of
    X, y = X[order], y[order]
    model = HigherOrderClassifier(C="cross_validation", cv=3, random_state=4).fit(X, y)
    seed = np.random.RandomState(4).randint(2**31 - 1)
    folds = list(stratified_folds(y, 3, seed))
    search = GridSearchCV(HigherOrderClassifier(random_state=4), {"C": COSTS}, cv=folds)
    results = search.fit(X, y).cv_results_
    correct = sum(
        np.rint(results[f"split{k}_test_score"] * len(test))
        for k, (_, test) in enumerate(folds)
    )
    assert COSTS[correct.argmax()] == model.C_


@pytest.mark.parametrize(
    "base",
    [RandomForestClassifier(n_estimators=20), KNeighborsClassifier(), Perceptron()],
)
def test_any_classifier_may_take_the_place_of_the_svm(base, rng):
    X, y = corpus(rng)
    labels = np.array(["x", "y", "z"])[y]
    model = HigherOrderClassifier(base, random_state=0).fit(X, labels)
    assert model.C_ is None
    assert model.score(X, labels) > 0.7


def test_a_classifier_that_only_predicts_votes_by_its_answer(rng):
    class Answers(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.neighbor_ = KNeighborsClassifier(1).fit(X, y)
            self.classes_ = self.neighbor_.classes_
            return self

        def predict(self, X):
            return self.neighbor_.predict(X)

    X, y = corpus(rng)
    model = HigherOrderClassifier(Answers(), C=None).fit(X, y)
    assert model.score(X, y) > 0.9


def test_score_parts_add_up_to_the_scores(rng):
    for n_classes in (2, 3):
        X, y = corpus(rng, n_classes=n_classes)
        model = HigherOrderClassifier().fit(X, y)
        scores = model._class_scores(model._validated(X))
        for part, score in zip(model.score_parts(X), scores, strict=True):
            total = part.terms.sum(axis=0) + sum(part.constants.values())
            assert_allclose(total, score, atol=1e-10)
    forest = HigherOrderClassifier(RandomForestClassifier(5), random_state=0).fit(X, y)
    with pytest.raises(NotSupportedError, match="RandomForestClassifier is not linear"):
        forest.score_parts(X)


def test_threads_do_not_change_the_answer(rng):
    X, y = corpus(rng)
    one, two = (
        HigherOrderClassifier(n_jobs=n, random_state=0).fit(X, y) for n in (1, 2)
    )
    for left, right in zip(one.estimators_, two.estimators_, strict=True):
        assert_array_equal(left.coef_, right.coef_)


def test_messages_say_what_to_do(rng):
    X, y = corpus(rng)
    with pytest.raises(DataError, match="needs at least 2 classes in y, got 1 class"):
        HigherOrderClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="C must be one of 'training'"):
        HigherOrderClassifier(C="best").fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsClassifier has no parameter C"):
        HigherOrderClassifier(KNeighborsClassifier(), C=1.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 passes"):
        HigherOrderClassifier(LinearSVC(max_iter=1), C=100.0).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*have no second-order path")
def test_cross_validation_needs_two_documents_in_every_class(rng):
    X, y = corpus(rng)
    with pytest.raises(DataError, match="needs at least 2 documents in every class"):
        HigherOrderClassifier(C="cross_validation").fit(X, [9, *y[1:]])


def test_costs_are_the_powers_of_ten_of_the_paper():
    assert COSTS == (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
