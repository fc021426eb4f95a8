"""AbstainingClassifier: the promise, its limits, costs, any-of, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.decision import AbstainingClassifier
from earmark.exceptions import DataError, NotSupportedError
from earmark.models import MultinomialNaiveBayes


@parametrize_with_checks([AbstainingClassifier(GaussianNB(), max_error=None)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def blobs(rng, n, apart=2.0):
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3))
    X[np.arange(n), y] += apart
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture
def train(rng):
    return blobs(rng, 300)


def test_answers_keep_the_promise_on_new_documents(rng, train):
    model = AbstainingClassifier(GaussianNB(), max_error=0.1)
    model.fit(*train, calibration=blobs(rng, 1000))
    X, y = blobs(rng, 20_000)
    answers = model.predict(X)
    given = np.array([answer is not None for answer in answers])
    assert np.mean(answers[given] != y[given]) <= 0.1
    assert 0.3 < given.mean() < 1
    assert_allclose(model.coverage_, given.mean(), atol=0.05)
    assert model.guaranteed_error_ == 0.1
    assert model.estimated_error_ is None
    assert "with 95 % confidence" in model.summary()


def test_another_error_rate_needs_no_other_fit(rng, train):
    unseen = blobs(rng, 1000)
    model = AbstainingClassifier(GaussianNB(), max_error=0.1)
    model.fit(*train, calibration=unseen).set_params(max_error=0.05)
    again = AbstainingClassifier(GaussianNB(), max_error=0.05)
    again.fit(*train, calibration=unseen)
    assert model.thresholds_ == again.thresholds_
    assert model.coverage_ == again.coverage_ < 1
    never = AbstainingClassifier(GaussianNB(), max_error=None).fit(*train)
    with pytest.raises(DataError, match="needs to know how accurate"):
        never.set_params(max_error=0.05).predict(train[0])


def test_calibration_documents_take_no_part_in_fitting(rng, train):
    X, y = train
    given = AbstainingClassifier(GaussianNB()).fit(X, y, calibration=blobs(rng, 100))
    assert_array_equal(given.estimator_.theta_, GaussianNB().fit(X, y).theta_)
    split = AbstainingClassifier(GaussianNB(), calibration_size=0.25).fit(X, y)
    assert split.estimator_.class_count_.sum() == pytest.approx(225, abs=3)
    assert split.thresholds_[0].n_documents == pytest.approx(75, abs=3)


def test_threshold_cuts_the_stated_probability(rng, train):
    model = AbstainingClassifier(GaussianNB(), max_error=0.1)
    model.fit(*train, calibration=blobs(rng, 1000))
    X, _ = blobs(rng, 500)
    answered = np.array([answer is not None for answer in model.predict(X)])
    assert_array_equal(
        answered, model.predict_proba(X).max(axis=1) >= model.min_confidence_
    )


def test_too_few_labels_mean_abstaining_and_saying_how_many_are_missing(train):
    X, y = train
    model = AbstainingClassifier(GaussianNB()).fit(X[:60], y[:60])
    assert set(model.predict(X)) == {None}
    assert model.coverage_ == 0.0
    assert model.guaranteed_error_ is None
    assert model.min_confidence_ == np.inf
    n_calibration = model.thresholds_[0].n_documents
    assert model.n_missing_ == 59 - n_calibration
    assert f"at least {59 - n_calibration} more labelled documents" in model.summary()
    assert model.score(X, y) == 0.0


def test_documents_that_repeat_others_are_judged_in_both_ways(rng, train):
    X, y = train
    Xc, yc = blobs(rng, 50)
    repeated = np.repeat(Xc, 4, axis=0), np.repeat(yc, 4)
    model = AbstainingClassifier(GaussianNB()).fit(X, y, calibration=repeated)
    (threshold,) = model.thresholds_
    assert threshold.n_documents == 200
    assert threshold.distinct[0] == 50
    assert "Calibration documents that repeat others: 150." in model.summary()
    leaked = np.vstack([X[:200], Xc]), np.r_[y[:200], yc]
    (threshold,) = model.fit(X, y, calibration=leaked).thresholds_
    assert (threshold.n_documents, threshold.distinct[0]) == (250, 50)
    # The fifty alone are too few, whatever their copies say.
    assert threshold.n_answered == 0


def test_what_is_split_off_may_repeat_training_documents():
    words = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta"]
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for number in range(80):
        body = " ".join(rng.choice(words, 20))
        for tail in ("now", "then"):
            texts.append(f"{body} {number} {tail}")
            labels.append("even" if number % 2 == 0 else "odd")
    base = make_pipeline(CountVectorizer(), MultinomialNB())
    model = AbstainingClassifier(base).fit(texts, labels)
    n_fit = int(model.estimator_[-1].class_count_.sum())
    (threshold,) = model.thresholds_
    assert n_fit + threshold.n_documents == 160
    assert threshold.distinct[0] < threshold.n_documents


@pytest.mark.parametrize("method", ["leave_one_out", "cross_validated"])
def test_scores_of_fitted_documents_give_an_estimate_only(method):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    rates = np.where(y[:, None] == [0, 1, 0, 1], 3.0, 1.0)
    X = sparse.csr_array(rng.poisson(rates))
    model = AbstainingClassifier(MultinomialNaiveBayes(), method=method).fit(X, y)
    assert model.guaranteed_error_ is None
    assert 0 < model.estimated_error_ <= 0.05
    assert 0.3 < model.coverage_ <= 1
    assert "not a guarantee" in model.summary()
    whole = MultinomialNaiveBayes().fit(X, y)
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_two_classes_share_a_margin_evenly(rng):
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 2)) + y[:, None]
    made = AbstainingClassifier(LinearSVC(), max_error=0.2).fit(X, y).decide(X)
    margin = made.scores[:, 1] - made.scores[:, 0]
    assert_allclose(made.scores.sum(axis=1), 0, atol=1e-12)
    assert_allclose(made.confidence, np.abs(margin))


def test_leave_one_out_is_refused_by_name_where_there_is_none(train):
    with pytest.raises(NotSupportedError, match="GaussianNB has no leave_one_out"):
        AbstainingClassifier(GaussianNB(), method="leave_one_out").fit(*train)


def test_one_threshold_per_class_protects_every_class(rng):
    # Class "c" is hard: its documents overlap with those of "b".
    def sample(n):
        X, y = blobs(rng, n, apart=3.0)
        X[y == "c"] = rng.normal([0, 2.0, 1.0], size=(np.sum(y == "c"), 3))
        return X, y

    model = AbstainingClassifier(GaussianNB(), max_error=0.1, per_class=True)
    model.fit(*sample(400), calibration=sample(3000))
    assert model.min_confidence_.shape == (3,)
    assert model.min_confidence_[2] > model.min_confidence_[0]
    X, y = sample(20_000)
    answers = model.predict(X)
    for label in "abc":
        said = answers == label
        assert not said.any() or np.mean(y[said] != label) <= 0.1
    assert "for every label" in model.summary()


def test_margins_serve_where_there_are_no_probabilities(rng, train):
    model = AbstainingClassifier(LinearSVC(), max_error=0.1)
    model.fit(*train, calibration=blobs(rng, 1000))
    made = model.decide(blobs(rng, 100)[0])
    assert not hasattr(model, "predict_proba")
    assert 0 < made.coverage < 1
    assert_array_equal(made.abstained, made.confidence < model.min_confidence_)


def test_no_limit_on_errors_answers_everything(train):
    model = AbstainingClassifier(GaussianNB(), max_error=None).fit(*train)
    assert_array_equal(
        model.predict(train[0]), GaussianNB().fit(*train).predict(train[0])
    )
    assert model.summary().startswith("Answers every document")
    assert model.decide(train[0]).coverage == 1.0


def test_costs_choose_the_cheapest_answer(train):
    X, y = train
    cost = [[0, 1, 1, 0.2], [1, 0, 1, 0.2], [9, 9, 0, 0.2]]
    model = AbstainingClassifier(GaussianNB(), cost=cost).fit(X, y)
    expected = (model.predict_proba(X) @ np.array(cost)).argmin(axis=1)
    names = np.array(["a", "b", "c", None], dtype=object)
    assert_array_equal(model.predict(X), names[expected])
    assert None in set(model.predict(X))
    plain = AbstainingClassifier(GaussianNB(), cost=1 - np.eye(3)).fit(X, y)
    assert_array_equal(plain.predict(X), GaussianNB().fit(X, y).predict(X))


def test_costs_that_cannot_be_used_are_refused(train):
    with pytest.raises(DataError, match=r"cost must be of shape \(3, 3\)"):
        AbstainingClassifier(GaussianNB(), cost=np.eye(2)).fit(*train)
    with pytest.raises(DataError, match="finite"):
        AbstainingClassifier(GaussianNB(), cost=np.eye(3) * np.nan).fit(*train)
    model = AbstainingClassifier(LinearSVC(), cost=1 - np.eye(3)).fit(*train)
    with pytest.raises(NotSupportedError, match="LinearSVC has no predict_proba"):
        model.predict(train[0])
    with pytest.raises(NotSupportedError, match="one label per document"):
        AbstainingClassifier(GaussianNB(), cost=np.eye(2)).fit(
            [[1], [2]], [["a"], ["b"]]
        )


def many_labels(rng, n):
    Y = rng.random((n, 3)) < 0.4
    X = rng.normal(size=(n, 3)) + 2.5 * Y
    return X, [[c for c, has in zip("abc", row, strict=True) if has] for row in Y]


def test_any_of_keeps_the_promise_per_label_decision(rng):
    model = AbstainingClassifier(GaussianNB(), max_error=0.05)
    model.fit(*many_labels(rng, 300), calibration=many_labels(rng, 1500))
    assert model.min_confidence_.shape == (3,)
    X, y = many_labels(rng, 10_000)
    made = model.decide(X)
    assert made.any_of
    assert 0.3 < made.coverage < 1
    truth = np.array([[c in labels for c in "abc"] for labels in y])
    given = np.array([[c in (ls or ()) for c in "abc"] for ls in made.labels])
    wrong = (given != truth) & ~made.abstained
    assert np.all(wrong.sum(axis=0) / (~made.abstained).sum(axis=0) <= 0.05)
    assert_array_equal(model.predict(X)[:5], made.labels[:5])


def test_any_of_answers_a_matrix_with_gaps_for_a_matrix(rng):
    X, y = many_labels(rng, 900)
    Y = np.array([[c in labels for c in "abc"] for labels in y]).astype(int)
    model = AbstainingClassifier(GaussianNB(), max_error=0.1).fit(X, Y)
    answers = model.predict(X)
    assert answers.shape == (900, 3)
    assert np.isnan(answers).any()
    assert set(np.unique(answers[~np.isnan(answers)])) == {0.0, 1.0}


def test_any_of_can_be_estimated_by_cross_validation(rng):
    X, y = many_labels(rng, 300)
    model = AbstainingClassifier(GaussianNB(), method="cross_validated")
    model.fit(X, y)
    assert model.estimated_error_ <= 0.05
    with pytest.raises(NotSupportedError, match="no leave_one_out"):
        model.set_params(method="leave_one_out").fit(X, y)


def test_score_is_the_accuracy_over_all_documents(rng, train):
    model = AbstainingClassifier(GaussianNB(), max_error=0.1)
    model.fit(*train, calibration=blobs(rng, 1000))
    X, y = blobs(rng, 500)
    answers = model.predict(X)
    assert None in set(answers)
    assert_allclose(model.score(X, y), np.mean(answers == y))
    weight = rng.random(500)
    assert_allclose(model.score(X, y, weight), weight @ (answers == y) / weight.sum())


def test_wrong_parameters_say_what_and_got(train):
    with pytest.raises(ValueError, match=r"max_error must be in .* got 1\.5"):
        AbstainingClassifier(GaussianNB(), max_error=1.5).fit(*train)
    with pytest.raises(ValueError, match="method must be one of 'split'"):
        AbstainingClassifier(GaussianNB(), method="guess").fit(*train)
    with pytest.raises(NotFittedError):
        AbstainingClassifier(GaussianNB()).predict(train[0])
    with pytest.raises(DataError, match="no document is left for calibration"):
        AbstainingClassifier(GaussianNB()).fit(np.ones((4, 1)), ["a", "a", "b", "b"])


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("max_error", 0.0, 1e-9),
        ("max_error", 1.0, 0.999),
        ("level", 0.0, 1e-9),
        ("level", 1.0, 0.999999),
        ("calibration_size", 0.0, 0.01),
        ("calibration_size", 1.0, 0.9),
        ("min_coverage", -0.01, 0.0),
        ("min_coverage", 1.01, 1.0),
        ("cv", 1, 2),
    ],
)
def test_limits_of_parameters(train, name, bad, good):
    with pytest.raises(ValueError, match=f"AbstainingClassifier.{name} must be"):
        AbstainingClassifier(GaussianNB(), **{name: bad}).fit(*train)
    model = AbstainingClassifier(GaussianNB(), **{name: good}).fit(*train)
    assert len(model.predict(train[0])) == len(train[0])


def test_without_a_promise_every_document_is_answered(train):
    X, y = train
    model = AbstainingClassifier(GaussianNB(), max_error=None).fit(X, y)
    assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))
    assert (model.coverage_, model.min_confidence_, model.n_missing_) == (1.0, 0.0, 0)
    assert model.guaranteed_error_ is None
    assert model.estimated_error_ is None
    assert model.thresholds_ == []


def test_same_seed_gives_the_same_thresholds(train):
    found = [
        AbstainingClassifier(GaussianNB(), max_error=0.2).fit(*train) for _ in "ab"
    ]
    assert found[0].min_confidence_ == found[1].min_confidence_


@pytest.mark.parametrize("value", ["x", [0.1], np.array(0.3), 2.0])
def test_what_is_set_after_fitting_is_checked(train, value):
    model = AbstainingClassifier(GaussianNB(), max_error=0.2).fit(*train)
    with pytest.raises((TypeError, ValueError), match=r"Classifier.max_error must be"):
        model.set_params(max_error=value).predict(train[0])


def test_costs_may_be_set_after_fitting(train):
    X, y = train
    costs = 1.0 - np.eye(len(np.unique(y)))
    model = AbstainingClassifier(GaussianNB(), max_error=None).fit(X, y)
    fitted_with = AbstainingClassifier(GaussianNB(), max_error=None, cost=costs)
    assert_array_equal(
        model.set_params(cost=costs).predict(X), fitted_with.fit(X, y).predict(X)
    )


def test_a_promise_asked_for_too_late_says_what_to_do(train):
    model = AbstainingClassifier(GaussianNB(), max_error=None).fit(*train)
    with pytest.raises(DataError, match=r"accurate the answers are: fit with max_err"):
        model.set_params(max_error=0.1).predict(train[0])
