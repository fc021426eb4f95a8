"""Learning curves: nested sets, recovered power laws, advice, messages."""

from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from earmark import TextClassifier
from earmark.documents import support_corpus
from earmark.evaluation import Report, learning_curve
from earmark.evaluation.learning_curve import PowerLaw, fit_power_laws
from earmark.exceptions import DataError
from earmark.folds import nested_order, stratified_split
from earmark.models import linear
from earmark.models.shared import machines

SIZES = np.array([20, 40, 80, 160, 320, 640])


def sample(rng, n=400):
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 30)) + 0.4 * y[:, None], np.array(["a", "b"])[y]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows of every training set; answers the first label."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        Recorder.seen.append(frozenset(X[:, 0].tolist()))
        self.label_ = y[0]
        return self

    def predict(self, X):
        return [self.label_] * len(X)


@pytest.mark.parametrize("floor", [0.0, 0.1])
@pytest.mark.parametrize("exponent", [0.3, 0.5, 1.0])
def test_power_law_is_recovered(floor, exponent):
    true = PowerLaw(floor, 1.5, exponent)
    found = fit_power_laws(SIZES, true.error(SIZES)[None], np.ones(6))[0]
    assert_allclose(
        found.error([10, 1000, 5000]), true.error([10, 1000, 5000]), atol=0.01
    )
    assert_allclose(true.size_for(true.error(777.0)), 777.0)


def test_out_of_reach_is_said():
    assert PowerLaw(0.1, 1.0, 0.5).size_for(0.1) is None
    assert PowerLaw(0.1, 0.0, 0.5).size_for(0.2) is None


def test_flat_and_rising_errors_give_a_flat_law():
    flat, rising = fit_power_laws(
        SIZES, np.array([[0.2] * 6, SIZES / 1000]), np.ones(6)
    )
    assert_allclose(flat.error(5000), 0.2, atol=1e-6)
    assert rising.scale == 0.0


def test_three_sizes_fit_without_a_floor():
    law = fit_power_laws([10, 100, 1000], np.array([[0.4, 0.2, 0.1]]), np.ones(3))[0]
    assert law.floor == 0.0
    assert_allclose(law.exponent, 0.3, atol=0.02)


def test_training_sets_are_nested(rng):
    Recorder.seen.clear()
    X = np.arange(200.0).reshape(-1, 1)
    learning_curve(
        Recorder(), X, rng.integers(0, 2, 200), n_repeats=3, sizes=[10, 30, 90]
    )
    for start in (0, 3, 6):
        small, middle, large = Recorder.seen[start : start + 3]
        assert small < middle < large
        assert [len(rows) for rows in (small, middle, large)] == [10, 30, 90]


def test_every_beginning_keeps_the_class_shares(rng):
    y = np.repeat([0, 1, 2], [700, 250, 50])
    order = nested_order(y, rng)
    assert_array_equal(np.sort(order), np.arange(1000))
    for size in (20, 100, 777):
        counts = np.bincount(y[order[:size]], minlength=3)
        assert np.all(np.abs(counts - size * np.array([0.7, 0.25, 0.05])) <= 2)


def test_split_keeps_a_training_document_of_every_class(rng):
    y = np.array([0] * 50 + [1] + [2] * 2)
    for _ in range(20):
        train, held = stratified_split(y, 0.5, rng)
        assert set(y[train]) == {0, 1, 2}
        assert sorted([*train, *held]) == list(range(53))


def test_curve_rises_and_advice_gives_an_interval(rng):
    curve = learning_curve(GaussianNB(), *sample(rng, 600), n_repeats=4)
    assert curve.mean[-1] > curve.mean[0] + 0.05
    assert np.all(curve.low <= curve.mean)
    assert np.all(curve.mean <= curve.high)
    gain, low, high = curve.gain(600)
    assert low <= gain <= high
    assert "about 600 more" in curve.advice.lower()
    assert "95 % interval" in curve.advice
    assert curve.predict(1200) >= curve.predict(600)
    assert curve.labels_for(curve.predict(900)) == pytest.approx(900, abs=2)
    assert curve.advice in str(curve)


def test_saturated_curve_says_that_labels_will_hardly_help(rng):
    X, y = sample(rng, 500)
    X[:, 0] += 20.0 * (y == "b")
    curve = learning_curve(GaussianNB(), X, y, n_repeats=2)
    assert curve.advice.startswith("More labels of this kind will hardly help")
    assert curve.labels_for(1.5) is None


def test_same_seed_gives_the_same_curve_whatever_n_jobs(rng):
    X, y = sample(rng, 120)
    seen: ClassVar[list] = []
    one = learning_curve(
        GaussianNB(), X, y, n_repeats=2, sizes=[20, 40, 80],
        progress=lambda done, total, name: seen.append((done, total, name)),
    )  # fmt: skip
    with parallel_config(backend="threading"):
        two = learning_curve(
            GaussianNB(), X, y, n_repeats=2, sizes=[20, 40, 80], n_jobs=2
        )
    assert one.to_dict() == two.to_dict()
    assert seen[-1] == (6, 6, "80 labels")


def test_report_carries_the_curve_and_the_advice(rng):
    X, y = sample(rng, 200)
    curve = learning_curve(GaussianNB(), X, y, n_repeats=2)
    report = Report.from_predictions(y, y, learning_curve=curve)
    assert curve.advice in report.sentences
    assert 'id="learning"' in report.to_html()
    assert report.to_dict()["learning_curve"]["n_labels"] == 200


def test_unusable_input_is_refused():
    with pytest.raises(DataError, match="at least 2 classes"):
        learning_curve(GaussianNB(), np.eye(4), ["a"] * 4)
    with pytest.raises(DataError, match="sizes must lie between 2 and"):
        learning_curve(GaussianNB(), np.eye(40), ["a", "b"] * 20, sizes=[1000])
    with pytest.raises(DataError, match="y 3, X 4"):
        learning_curve(GaussianNB(), np.eye(4), ["a", "b", "a"])


def test_too_few_documents_for_a_curve_are_counted_in_the_message():
    with pytest.raises(DataError, match="got 3 in 2 classes; label more"):
        learning_curve(GaussianNB(), np.eye(3), ["a", "b", "a"])


def test_a_missing_text_is_named_by_its_own_row():
    texts = ["good film", "bad film"] * 20
    texts[33] = None
    with pytest.raises(DataError, match="33"):
        learning_curve(TextClassifier("multinomial"), texts, ["a", "b"] * 20)


def test_settings_are_chosen_in_the_first_repetition_only(monkeypatch):
    asked = []
    real = machines.choose

    def choose(task, strata, group, fixed, *more):
        asked.append(dict(fixed))
        return real(task, strata, group, fixed, *more)

    monkeypatch.setattr(linear, "choose", choose)
    corpus = support_corpus()
    texts, labels = corpus.texts, corpus.labels
    classifier = TextClassifier(encoder=None)
    curve = learning_curve(classifier, texts, labels, sizes=[40, 90], n_repeats=3)
    assert curve.scores.shape == (3, 2)
    assert [bool(fixed) for fixed in asked] == [False] * 2 + [True] * 4
    # Each size keeps its own.
    assert asked[2] == asked[4]
    assert asked[3] == asked[5]
