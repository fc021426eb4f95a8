"""What every model of earmark.models keeps to, beside scikit-learn's own checks."""

import copy
import inspect
import io
import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

import earmark.models
from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
    NeighborsClassifier,
    SemiSupervisedNaiveBayes,
)
from earmark.models.base.classifier import LinearModel, ScoringClassifier

MODELS = [
    cls
    for name in sorted(earmark.models.__all__)
    if inspect.isclass(cls := getattr(earmark.models, name))
    and issubclass(cls, BaseEstimator)
]
CLASSIFIERS = [cls for cls in MODELS if is_classifier(cls())]
RANDOM = [cls for cls in MODELS if "random_state" in cls().get_params()]


@pytest.fixture
def data(rng):
    """Counts of three classes; every class has its own frequent terms."""
    y = np.repeat(["a", "b", "c"], 20)
    rates = np.full((60, 12), 0.4)
    for c in range(3):
        rates[20 * c : 20 * (c + 1), 4 * c : 4 * c + 4] = 1.5
    return sparse.csr_array(rng.poisson(rates).astype(float)), y


def answers(model, X):
    if not is_classifier(model):
        return model.transform(X).toarray()
    return np.column_stack([model.class_scores(X), model.predict(X) == "a"])


def copies(model):
    """The same model by every way that a user copies one."""
    yield pickle.loads(pickle.dumps(model))
    yield copy.deepcopy(model)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    yield joblib.load(file)


@pytest.mark.parametrize("cls", MODELS)
def test_a_copy_of_a_fitted_model_answers_the_same_before_and_after_use(cls, data):
    X, y = data
    model = cls().fit(X, y)
    unused = list(copies(model))
    expected = answers(model, X)
    for same in [*unused, *copies(model)]:
        assert_array_equal(answers(same, X), expected)
        assert same.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("cls", MODELS)
def test_documented_attributes_are_there_after_fit_and_clone_forgets_them(cls, data):
    X, y = data
    model = cls().fit(X, y)
    doc = inspect.getdoc(cls)
    listed = doc[doc.index("Attributes\n---") :].split("\n\n")[0].splitlines()[2:]
    named = [line.split(" : ")[0] for line in listed if line[:1].strip()]
    missing = [
        name.strip()
        for names in named
        for name in names.split(",")
        if not hasattr(model, name.strip())
    ]
    # Of two event models or solvers only one is fitted here.
    only = {"theta_", "var_", "objective_"} if cls is not GaussianNaiveBayes else set()
    assert set(missing) <= only
    fresh = clone(model)
    assert not [name for name in vars(fresh) if name.endswith("_")]


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_scores_parts_and_linear_rule_agree(cls, data):
    X, y = data
    model = cls().fit(X, y)
    assert isinstance(model, LinearModel)
    assert isinstance(model, ScoringClassifier)
    scores = model.class_scores(X)
    for row, parts in zip(scores, model.score_parts(X), strict=True):
        total = parts.terms.sum(axis=0) + sum(parts.constants.values())
        assert_allclose(total, row, rtol=1e-9, atol=1e-9)
    rule = model.linear_rule()
    if rule is None:
        return
    rows = (X > 0).astype(float) if rule.binary else X
    if rule.unit:
        rows = rows / np.sqrt(rows.multiply(rows).sum(axis=1))[:, None]
    assert_allclose(rows @ rule.weights + rule.offset, scores, rtol=1e-9, atol=1e-9)
    assert model.term_weights().shape == (12, 3)
    if rule.log_posteriors is not None:
        expected = model.predict_log_proba(X)
        assert_allclose(rule.log_posteriors(scores), expected, atol=1e-12)


@pytest.mark.parametrize("cls", RANDOM)
def test_no_random_state_is_the_seed_zero(cls, data):
    X, y = data
    expected = answers(cls(random_state=0).fit(X, y), X)
    assert_array_equal(answers(cls().fit(X, y), X), expected)


@pytest.mark.parametrize("cls", RANDOM)
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_generators_are_accepted_and_repeat(cls, make, data):
    X, y = data
    first, second = (answers(cls(random_state=make(7)).fit(X, y), X) for _ in range(2))
    assert_array_equal(first, second)


def test_a_generator_gives_another_model_every_time(data):
    X, y = data
    state = np.random.RandomState(0)
    model = HierarchicalBayes(n_restarts=1, max_iter=1, random_state=state)
    assert np.any(answers(model.fit(X, y), X) != answers(model.fit(X, y), X))


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_whole_weights_count_documents(cls, data, rng):
    X, y = data
    if not has_fit_parameter(cls(), "sample_weight"):
        assert cls in (NeighborsClassifier, SemiSupervisedNaiveBayes)
        return
    weight = rng.integers(0, 3, len(y))
    weight[[0, 1, 20, 21, 40, 41]] = 1
    often = np.repeat(np.arange(len(y)), weight)
    weighted = cls().fit(X, y, sample_weight=weight)
    repeated = cls().fit(X[often], y[often])
    assert_allclose(weighted.class_scores(X), repeated.class_scores(X), rtol=1e-7)


def test_models_that_count_documents_refuse_fractions(data):
    X, y = data
    for cls in (HigherOrderNaiveBayes, HigherOrderClassifier):
        with pytest.raises(TypeError, match="sample_weight must hold whole numbers"):
            cls().fit(X, y, sample_weight=np.full(len(y), 0.5))
