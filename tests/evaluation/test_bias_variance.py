"""Bias and variance: the identity, known cases, the direction of capacity (VS6)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from earmark.evaluation import bias_variance
from earmark.exceptions import DataError


def proba(X):
    p = expit(3 * X[:, 0])
    return np.column_stack([1 - p, p])


def draw(rng, n=60):
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < proba(X)[:, 1]).astype(int)


class Constant(ClassifierMixin, BaseEstimator):
    """Answers P(1) = share of ones in the training set."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.share_ = np.mean(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))

    def predict(self, X):
        return np.full(len(X), int(self.share_ > 0.5))


@pytest.mark.parametrize("output", ["auto", "label"])
@pytest.mark.parametrize("model", [GaussianNB(), KNeighborsClassifier(1), LinearSVC()])
def test_bias_and_variance_add_up_to_the_learning_error(rng, model, output):
    X_test = rng.normal(size=(50, 2))
    found = bias_variance(
        model, draw, None, X_test, proba_test=proba(X_test), classes=[0, 1],
        n_sets=15, output=output,
    )  # fmt: skip
    assert abs(found.bias + found.variance - found.learning_error) < 1e-10
    total = found.zero_one_bias + found.zero_one_variance + found.noise
    assert abs(total - found.zero_one_error) < 1e-10
    assert found.proba_known


def test_figures_of_a_constant_classifier_are_known(rng):
    # G_D is the share of ones among n fair coins: variance 1/(4n), bias 0 at P = 1/2.
    def coins(generator):
        return np.zeros((40, 1)), generator.integers(0, 2, 40)

    X_test = np.zeros((3, 1))
    found = bias_variance(
        Constant(), coins, None, X_test, proba_test=np.full((3, 2), 0.5),
        classes=[0, 1], n_sets=800,
    )  # fmt: skip
    assert_allclose(found.variance, 1 / 160, rtol=0.15)
    assert found.bias < 1e-4
    assert_allclose(found.noise, 0.25)
    assert found.set_size == 40


def test_always_the_same_answer_has_no_variance(rng):
    X, y = draw(rng, 100)
    model = DummyClassifier(strategy="constant", constant=1)
    found = bias_variance(model, X, y, X, y, n_sets=5)
    assert found.variance == 0.0
    assert found.zero_one_variance == 0.0
    assert_allclose(found.zero_one_bias, np.mean(y == 0))
    assert_allclose(found.bias, np.mean(y == 0))


def test_fewer_neighbours_mean_less_bias_and_more_variance():
    rng = np.random.default_rng(0)
    X_test = rng.normal(size=(200, 2))
    truth = {"proba_test": proba(X_test), "classes": [0, 1], "n_sets": 30}
    found = [
        bias_variance(KNeighborsClassifier(k), draw, None, X_test, **truth)
        for k in (1, 9, 45)
    ]
    assert found[0].variance > found[1].variance > found[2].variance
    assert found[0].bias < found[2].bias


def test_linear_model_on_an_enclave_has_more_bias_and_less_variance_than_1nn(rng):
    def enclave(generator, n=150):
        X = generator.uniform(-1, 1, size=(n, 2))
        return X, (np.hypot(*X.T) < 0.5).astype(int)

    for seed in range(3):
        X_test, y_test = enclave(np.random.default_rng(100 + seed), 300)
        linear, nearest = (
            bias_variance(model, enclave, None, X_test, y_test, n_sets=20,
                          output="label", random_state=seed)
            for model in (LinearSVC(), KNeighborsClassifier(1))
        )  # fmt: skip
        assert linear.bias > nearest.bias
        assert linear.variance < nearest.variance


def test_labels_stand_for_unknown_probabilities_and_it_is_said(rng):
    X, y = draw(rng, 200)
    found = bias_variance(GaussianNB(), X[:100], y[:100], X[100:], y[100:], n_sets=5)
    assert not found.proba_known
    assert found.noise == 0.0
    assert found.set_size == 50
    assert "includes the noise of the labels" in str(found)


def test_same_seed_gives_the_same_figures(rng):
    X, y = draw(rng, 100)
    found = [bias_variance(GaussianNB(), X, y, X, y, n_sets=4) for _ in range(2)]
    assert found[0] == found[1]


def test_class_missing_from_a_training_set_has_probability_zero():
    X = np.arange(20.0).reshape(-1, 1)
    y = ["a"] * 10 + ["b"] * 9 + ["rare"]
    found = bias_variance(GaussianNB(), X, y, X, y, n_sets=6, set_size=6)
    assert abs(found.bias + found.variance - found.learning_error) < 1e-10


def test_unusable_input_is_refused(rng):
    X, y = draw(rng, 20)
    with pytest.raises(ValueError, match="output must be 'auto'"):
        bias_variance(GaussianNB(), X, y, X, y, output="odds")
    with pytest.raises(ValueError, match="n_sets must be >= 2"):
        bias_variance(GaussianNB(), X, y, X, y, n_sets=1)
    with pytest.raises(DataError, match="proba_test needs classes"):
        bias_variance(GaussianNB(), X, y, X, proba_test=proba(X))
    with pytest.raises(DataError, match="give y_test"):
        bias_variance(GaussianNB(), X, y, X)
    with pytest.raises(DataError, match="set_size must lie between 1 and 20"):
        bias_variance(GaussianNB(), X, y, X, y, set_size=21)
    with pytest.raises(DataError, match="y is needed"):
        bias_variance(GaussianNB(), X, None, X, y)
    with pytest.raises(DataError, match="LinearSVC has not"):
        bias_variance(LinearSVC(), X, y, X, y, output="probability")
