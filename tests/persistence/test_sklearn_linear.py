"""The linear scikit-learn models are saved as plain arrays and work when loaded."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from earmark.exceptions import NotSupportedError
from earmark.persistence import load_model, save_model, sklearn_linear

MODELS = [
    LogisticRegression(C=3.0),
    LinearSVC(random_state=0),
    SGDClassifier(random_state=0),
    SGDClassifier(loss="log_loss", average=True, random_state=0),
    RidgeClassifier(class_weight={"a": 2.0, "b": 1.0, "c": 1.0}),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 5)), np.array(list("abc"))[rng.integers(3, size=60)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_loaded_model_scores_as_before(model, data, path):
    X, y = data
    model.fit(X, y)
    save_model(model, path, {})
    loaded = load_model(path, {})
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(
        loaded.decision_function(X), model.decision_function(X)
    )
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    first = path.read_bytes()
    save_model(loaded, path, {})
    assert path.read_bytes() == first


def test_a_loaded_sgd_model_goes_on_learning(data, path):
    X, y = data
    model = SGDClassifier(random_state=0).partial_fit(X, y, classes=["a", "b", "c"])
    save_model(model, path, {})
    loaded = load_model(path, {})
    loaded.partial_fit(X, y)
    model.partial_fit(X, y)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_a_pipeline_is_not_in_the_table(path):
    with pytest.raises(NotSupportedError, match="a Pipeline cannot be saved"):
        save_model(make_pipeline(LinearSVC()), path, {})


def test_the_table_has_each_class_under_its_name():
    assert all(name == f"sklearn.{c.__name__}" for name, c in sklearn_linear().items())
    assert len(sklearn_linear()) == len(set(sklearn_linear()))
    with pytest.raises(KeyError, match="Pipeline"):
        sklearn_linear()["sklearn.Pipeline"]
