"""compare_classifiers: verdicts, reproducibility, kinds of input, messages."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks._memory import PeakMemory
from earmark.evaluation import compare_classifiers, learning_curve
from earmark.exceptions import DataError


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    rate = np.full((3, 12), 0.3)
    rate[[0, 1, 2], [0, 1, 2]] = 1.5
    return sparse.csr_array(rng.poisson(rate[y])), np.array(["a", "b", "c"])[y]


def models():
    return {
        "nb": MultinomialNB(),
        "svm": LinearSVC(),
        "guess": DummyClassifier(strategy="uniform"),
    }


def test_clear_difference_is_shown_and_none_is_said_in_words(counts):
    found = compare_classifiers(
        {**models(), "again": MultinomialNB(alpha=1.001)}, *counts, n_repeats=5
    )
    assert found.classifiers[-1].name == "guess"
    assert found.pair("nb", "guess").shown
    assert not found.pair("nb", "again").shown
    text = str(found)
    assert "no difference shown" in text.lower()
    assert "is better than guess by" in text
    assert "Holm's correction over 6 pairs" in text.replace("\n", " ")


def test_figures_depend_on_the_seed_alone(counts):
    one = compare_classifiers(models(), *counts, n_repeats=2, random_state=4)
    with parallel_config(backend="threading"):
        two = compare_classifiers(
            models(), *counts, n_repeats=2, random_state=4, n_jobs=2
        )
    other = compare_classifiers(models(), *counts, n_repeats=2, random_state=5)
    assert one.to_dict(costs=False) == two.to_dict(costs=False)
    assert one.to_dict(costs=False) != other.to_dict(costs=False)


def test_unset_random_states_are_set_and_originals_stay_unfitted(counts):
    model = SGDClassifier(max_iter=5, tol=None)
    found = [
        compare_classifiers({"sgd": model}, *counts, n_repeats=2).best.scores
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert not hasattr(model, "coef_")
    assert model.random_state is None


def test_fixed_test_set_is_judged_by_mcnemar(counts):
    X, y = counts
    found = compare_classifiers(models(), X[:200], y[:200], test=(X[200:], y[200:]))
    assert found.test == "McNemar's exact"
    assert (found.n_train, found.n_test, found.n_repeats) == (200, 100, 1)
    expected = MultinomialNB().fit(X[:200], y[:200]).score(X[200:], y[200:])
    nb = next(c for c in found.classifiers if c.name == "nb")
    assert_allclose(nb.accuracy, expected)
    assert nb.low < expected < nb.high


def test_log_loss_only_where_there_are_probabilities(counts):
    rows = compare_classifiers(models(), *counts, n_repeats=2).classifiers
    known = {row.name: row.log_loss is not None for row in rows}
    assert known == {"nb": True, "svm": False, "guess": True}
    assert all(row.coverage is not None for row in rows)


def test_raw_text_and_memory_are_taken(counts):
    texts = [f"word{c} other{n % 7}" for n, c in enumerate(counts[1])]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    seen = []
    found = compare_classifiers(
        {"nb": model}, texts, counts[1].tolist(), n_repeats=2,
        measure_memory=PeakMemory,
        progress=lambda done, total, name: seen.append((done, total, name)),
    )  # fmt: skip
    assert found.best.accuracy == 1.0
    assert found.best.extra_mb is None or found.best.extra_mb >= 0
    assert seen == [(1, 2, "nb"), (2, 2, "nb")]


def test_rare_classes_stay_in_the_training_part():
    X = np.eye(12)
    y = ["a"] * 6 + ["b"] * 5 + ["rare"]
    found = compare_classifiers({"nb": MultinomialNB()}, X, y, n_repeats=3)
    assert found.n_train + found.n_test == 12


def test_near_duplicates_stand_on_one_side(rng):
    words = np.array([f"w{i}" for i in range(200)])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(40)] * 2
    y = rng.integers(0, 2, 40).tolist() * 2  # at random: only a copy tells the label
    neighbor = make_pipeline(CountVectorizer(), KNeighborsClassifier(1))
    found = compare_classifiers({"nearest": neighbor}, texts, y, n_repeats=3)
    assert found.best.accuracy < 0.8
    curve = learning_curve(neighbor, texts, y, n_repeats=3)
    assert curve.mean[-1] < 0.8


def test_splits_keep_the_class_shares(counts):
    found = compare_classifiers({"g": DummyClassifier()}, *counts, n_repeats=4)
    _, sizes = np.unique(counts[1], return_counts=True)
    assert_allclose(found.best.accuracy, sizes.max() / 300, atol=0.02)


def test_failing_classifier_is_named(counts):
    with pytest.raises(ValueError, match="Negative values") as caught:
        compare_classifiers({"bad": MultinomialNB()}, -counts[0], counts[1])
    assert "'bad', repeat 1" in caught.value.__notes__[0]


def test_unusable_input_is_refused(counts):
    with pytest.raises(DataError, match="at least one classifier"):
        compare_classifiers({}, *counts)
    with pytest.raises(ValueError, match="n_repeats must be >= 2"):
        compare_classifiers(models(), *counts, n_repeats=1)
    with pytest.raises(ValueError, match=r"test_size must be in \(0, 1\)"):
        compare_classifiers(models(), *counts, test_size=1.5)
    with pytest.raises(DataError, match="no document is left for testing"):
        compare_classifiers(models(), np.eye(2), ["a", "b"])


def test_equal_classifiers_share_the_first_place_and_need_no_interval():
    X = np.array([[3, 0], [4, 1], [0, 3], [1, 5]] * 10)
    models = {"one": MultinomialNB(), "two": MultinomialNB(), "bad": DummyClassifier()}
    found = compare_classifiers(models, X, ["a", "a", "b", "b"] * 10)
    first, *rest = found.sentences
    assert first.startswith("one and two have the highest accuracy: 1.000 (on every")
    assert len(rest) == 1
    assert found.pair("one", "two").words == "one and two have the same accuracy"
