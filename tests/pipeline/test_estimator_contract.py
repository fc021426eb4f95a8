"""scikit-learn's contract, kept by TextClassifier for every registered model."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from earmark import TextClassifier, load
from earmark.decision import AbstainingClassifier, AnyOfClassifier
from earmark.exceptions import NotSupportedError
from earmark.models.base.declaration import MODELS
from earmark.parameters import offers

NAMES = ["auto", *MODELS.names()]
COUNT_MODELS = {"auto"} | {m.name for m in MODELS if getattr(m.make, "by_term", 0)}
LEAVE_ONE_OUT = {m.name for m in MODELS if offers(m.make, "leave_one_out")}
assert {"multinomial", "bernoulli", "complement"} <= COUNT_MODELS
assert COUNT_MODELS - {"auto"} | {"hybrid", "rocchio"} <= LEAVE_ONE_OUT
CHAIN = ["pickle", "deepcopy", "joblib"]


def corpus(rng, n=60, n_classes=2, length=10):
    y = np.arange(n) % n_classes
    words = np.array([f"w{i}" for i in range(40)])
    own = np.arange(40) % n_classes
    texts = [
        " ".join(rng.choice(words, length, p=np.where(own == c, 3, 1) / w))
        for c in y
        for w in [np.where(own == c, 3, 1).sum()]
    ]
    return texts, np.array([f"class {c}" for c in y])


def copied(model, how):
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    if how == "deepcopy":
        return copy.deepcopy(model)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_survives_copying_before_and_after_use(name, rng):
    texts, y = corpus(rng)
    unfitted = TextClassifier(name, random_state=0, max_error=0.3)
    for how in CHAIN:
        assert copied(unfitted, how).get_params() == unfitted.get_params()
    model = unfitted.fit(texts, y)
    fresh = copied(model, "pickle")
    expected = model.predict_proba(texts)
    model.predict(texts), model.decision_function(texts)
    for how in CHAIN:
        twin = copied(model, how)
        assert_array_equal(twin.predict_proba(texts), expected)
        assert twin.predict(texts).tolist() == model.predict(texts).tolist()
    assert_array_equal(fresh.predict_proba(texts), expected)
    bare = clone(model)
    assert bare.text_model_ is None
    assert bare.get_params() == model.get_params()
    assert_array_equal(bare.fit(texts, y).predict_proba(texts), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::earmark.exceptions.EarmarkWarning")
def test_what_one_document_per_class_teaches_can_be_saved(name, tmp_path):
    for n in (1, 3):
        texts, y = ["cheap pills now", *["meeting at noon"] * n], ["spam", *["ham"] * n]
        model = TextClassifier(name, random_state=0).fit(texts, y)
        proba = model.predict_proba(["pills", "noon", ""])
        assert_allclose(proba.sum(axis=1), 1)
        model.save(tmp_path / "m.earmark")
        again = load(tmp_path / "m.earmark").predict_proba(["pills", "noon", ""])
        assert_array_equal(again, proba)


@pytest.mark.parametrize("name", sorted(COUNT_MODELS - {"auto"}))
def test_weights_of_one_change_nothing_with_a_vocabulary_either(name):
    texts, y = ["aa bb", "cc dd", "aa cc"], ["x", "y", "x"]
    model = TextClassifier(name, features={"vocabulary": [*"ab", "aa", "cc", "dd"]})
    plain = model.fit(texts, y).predict_proba(["aa dd"])
    weighted = model.fit(texts, y, sample_weight=np.ones(3)).predict_proba(["aa dd"])
    assert_allclose(plain, weighted, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_hasattr_tells_the_truth(name, rng):
    texts, y = corpus(rng)
    model = TextClassifier(name, random_state=0)
    assert hasattr(model, "partial_fit") == (name in COUNT_MODELS)
    assert hasattr(model, "forget") == (name in COUNT_MODELS)
    model.fit(texts, y)
    assert hasattr(model, "leave_one_out") == hasattr(model.model_, "leave_one_out")
    updates = model.model_name_ in COUNT_MODELS
    assert hasattr(model, "partial_fit") == updates
    if not updates:
        with pytest.raises(NotSupportedError, match="cannot learn documents one by"):
            model.partial_fit(texts, y)
        with pytest.raises(AttributeError, match="cannot forget documents exactly"):
            model.forget(texts, y)


@pytest.mark.parametrize("name", NAMES)
def test_cross_validation_in_processes_returns_fitted_models(name, rng):
    texts, y = corpus(rng)
    found = cross_validate(
        TextClassifier(name, random_state=0),
        np.array(texts, dtype=object),
        y,
        cv=2,
        n_jobs=2,
        return_estimator=True,
    )
    for model in found["estimator"]:
        assert set(model.predict(texts)) <= {"class 0", "class 1"}


@pytest.mark.parametrize("name", NAMES)
def test_calibration_by_scikit_learn_keeps_the_accuracy(name, rng):
    """Each of its models learns from two thirds; that much may be lost, no more."""
    texts, y = corpus(rng, 120, n_classes=4, length=40)
    test, truth = corpus(rng, 300, n_classes=4, length=40)
    model = TextClassifier(name, random_state=0)
    plain = clone(model).fit(texts, y).score(test, truth)
    of_two_thirds = clone(model).fit(texts[:80], y[:80]).score(test, truth)
    calibrated = CalibratedClassifierCV(model, cv=3).fit(np.array(texts, object), y)
    assert plain > 0.8
    lost = min(plain, of_two_thirds) - calibrated.score(np.array(test, object), truth)
    assert lost < 0.03


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_count_models_are_log_odds(n_classes, rng):
    texts, y = corpus(rng, 60, n_classes)
    model = TextClassifier("multinomial").fit(texts, y)
    proba = model.predict_proba(texts)
    odds = np.log(proba) - np.log1p(-proba)
    expected = odds[:, 1] if n_classes == 2 else odds
    assert_allclose(model.decision_function(texts), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_the_features_can_be_searched(name, rng):
    texts, y = corpus(rng)
    grid = {"features__ngram_range": [(1, 1), (1, 2)]}
    search = GridSearchCV(TextClassifier(name, random_state=0), grid, cv=2)
    search.fit(np.array(texts, dtype=object), y)
    assert search.best_score_ > 0.5
    assert search.best_estimator_.features == {
        name.removeprefix("features__"): value
        for name, value in search.best_params_.items()
    }


def test_parameters_of_the_features_join_those_that_are_set():
    given = {"lowercase": False}
    model = TextClassifier(features=given).set_params(features__min_df=3)
    assert model.features == {"lowercase": False, "min_df": 3}
    assert given == {"lowercase": False}


def test_a_matrix_of_labels_is_taken_and_given_back(rng):
    texts = ["apple bread", "apple", "bread", "cheese apple", "cheese", "bread cheese"]
    lists = [["a", "b"], ["a"], ["b"], ["a", "c"], ["c"], ["b", "c"]]
    Y = MultiLabelBinarizer().fit_transform(lists * 4)
    model = TextClassifier(LinearSVC(random_state=0), random_state=0).fit(texts * 4, Y)
    assert_array_equal(model.predict(texts), Y[:6])
    assert model.score(texts, Y[:6]) == 1.0
    by_lists = TextClassifier(LinearSVC(random_state=0), random_state=0).fit(
        texts * 4, lists * 4
    )
    assert_array_equal(model.predict_proba(texts), by_lists.predict_proba(texts))
    strict = TextClassifier(LinearSVC(random_state=0), random_state=0, max_error=0.01)
    answers = strict.fit(texts * 4, Y).predict(texts)
    assert answers.shape == (6, 3)


@pytest.mark.parametrize(
    "random_state", [np.random.RandomState(3), np.random.default_rng(3), 3, None]
)
@pytest.mark.parametrize("name", ["softmax", "semi-supervised", "knn"])
def test_any_kind_of_random_state_is_taken(name, random_state, rng):
    texts, y = corpus(rng)
    model = TextClassifier(name, random_state=random_state).fit(texts, y)
    assert len(model.predict(texts)) == 60
    assert model.seed_ is None or isinstance(model.seed_, int)


def test_any_of_takes_a_text_classifier_without_leave_one_out(rng):
    texts, y = corpus(rng)
    labels = [[label] for label in y]
    model = AnyOfClassifier(
        TextClassifier(LinearSVC(random_state=0), random_state=0)
    ).fit(texts, labels)
    assert (
        np.mean(
            [answer == (c,) for answer, c in zip(model.predict(texts), y, strict=True)]
        )
        > 0.8
    )


@pytest.mark.parametrize("wrapper", [AbstainingClassifier, AnyOfClassifier])
def test_weights_reach_the_estimator_and_are_cut_to_its_rows(wrapper, rng):
    X = rng.poisson(1.0, (200, 30))
    y = rng.integers(0, 2, 200)
    weight = np.where(y == 1, 5.0, 1.0)
    plain = wrapper(MultinomialNB()).fit(X, y)
    weighted = wrapper(MultinomialNB()).fit(X, y, sample_weight=weight)
    assert not np.allclose(plain.predict_proba(X), weighted.predict_proba(X))
    ones = wrapper(MultinomialNB()).fit(X, y, sample_weight=np.ones(200))
    assert_allclose(plain.predict_proba(X), ones.predict_proba(X))


@pytest.mark.parametrize("wrapper", [AbstainingClassifier, AnyOfClassifier])
def test_metadata_is_routed_as_it_was_asked_for(wrapper, rng):
    X, y = rng.poisson(1.0, (200, 30)), rng.integers(0, 2, 200)
    weight = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = wrapper(MultinomialNB().set_fit_request(sample_weight=True))
        asks.fit(X, y, sample_weight=weight)
        silent = wrapper(LinearSVC())
        with pytest.raises(ValueError, match="sample_weight"):
            silent.fit(X, y, sample_weight=weight)
    expected = wrapper(MultinomialNB()).fit(X, y, sample_weight=weight)
    assert_array_equal(asks.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("method", ["split", "cross_validated"])
def test_keywords_of_fit_reach_a_text_classifier(method, rng):
    texts, y = corpus(rng, 120)
    weight = rng.random(120) + 0.5
    model = AbstainingClassifier(
        TextClassifier("multinomial"), max_error=0.4, method=method
    )
    model.fit(texts, y, sample_weight=weight, unlabelled=["w1 w2", "w3"])
    assert "2 unlabelled documents were not used" in model.estimator_.summary()
