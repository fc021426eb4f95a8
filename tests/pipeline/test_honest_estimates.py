"""Estimates that copies cannot fool, and words that say what was measured."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from earmark import TextClassifier
from earmark.decision import AbstainingClassifier
from earmark.features import WordCounter
from earmark.models import MultinomialNaiveBayes
from earmark.models.base.declaration import MODELS

WORDS = np.array([f"word{i}" for i in range(400)])


def documents(rng, n, n_classes=4):
    """Hard enough that an honest accuracy is far from 1."""
    y = rng.integers(0, n_classes, n)
    own = np.arange(400) % n_classes
    texts = []
    for label in y:
        weight = np.where(own == label, 1.6, 1.0)
        texts.append(" ".join(rng.choice(WORDS, 12, p=weight / weight.sum())))
    return texts, np.array([f"class {c}" for c in y])


def signed(text):
    return f"{text} thanks ann"


@pytest.mark.parametrize("copy", [str, signed], ids=["copies", "near copies"])
@pytest.mark.parametrize(
    "name",
    [
        "multinomial",
        LinearSVC(random_state=0),
        "softmax",
        "rocchio",
        "hybrid",
        "knn",
        "auto",
    ],
)
def test_rows_written_twice_do_not_raise_the_estimate(name, copy):
    gaps, errors = [], []
    for draw in range(4):
        rng = np.random.default_rng(draw)
        texts, y = documents(rng, 240)
        test, truth = documents(rng, 1500)
        twice = [*texts, *map(copy, texts)]
        model = TextClassifier(name, random_state=0).fit(twice, [*y, *y])
        model.measure_confidence(twice, [*y, *y])
        assert len(model.evidence_) == 240
        assert model.evidence_.n_copies == 240
        accuracy = model.score(test, truth)
        gaps.append(model.evidence_.accuracy - accuracy)
        errors.append(np.sqrt(accuracy * (1 - accuracy) * (1 / 240 + 1 / 1500)))
    # Within two standard errors of one estimate, in the mean of four: what is chosen
    # on the same documents, or learned from four fifths of them, is off by less.
    assert abs(np.mean(gaps)) < 2 * np.mean(errors)


def test_a_model_with_a_pool_is_judged_with_the_pool_(rng):
    texts, y = documents(rng, 60)
    pool, _ = documents(rng, 1200)
    model = TextClassifier("auto", random_state=0).fit(texts, y, unlabelled=pool)
    told = model.summary()
    assert model.model_name_ == "semi-supervised"
    assert "1,200 unlabelled documents are used" in told
    assert "help" not in told
    assert "cross-validated with the pool: semi-supervised 0." in told
    model.measure_confidence(texts, y, unlabelled=pool)
    rows, log_proba = model.model_.left_out_
    right = np.mean(model.classes_[log_proba.argmax(axis=1)] == y[rows])
    assert model.evidence_.correct.mean() == pytest.approx(right)


def test_labelled_copies_are_held_out_together_beside_a_pool(rng):
    texts, y = documents(rng, 60)
    pool, _ = documents(rng, 1200)
    test, truth = documents(rng, 1500)
    model = TextClassifier("semi-supervised", random_state=0)
    model.fit(texts * 2, [*y, *y], unlabelled=pool)
    model.measure_confidence(texts * 2, [*y, *y], unlabelled=pool)
    accuracy = model.score(test, truth)
    error = np.sqrt(accuracy * (1 - accuracy) * (1 / 60 + 1 / 1500))
    assert len(model.evidence_) == 60
    assert model.evidence_.accuracy < accuracy + 2 * error


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_says_what_it_scores_on_documents_left_out(name, rng):
    texts, y = documents(rng, 40, n_classes=2)
    model = TextClassifier(name, random_state=0).fit(texts, y)
    model.measure_confidence(texts, y)
    n_right = int(model.evidence_.correct.sum())
    assert f"{n_right} of 40 left-out training documents right" in model.summary()


@pytest.mark.parametrize("model", ["multinomial", LinearSVC(random_state=0)])
def test_arrow_columns_are_judged_as_lists_are(model, rng):
    texts, y = documents(rng, 200)
    texts[3], y[3] = texts[5], y[5]
    settings = {"max_error": 0.3, "learn_confidence": True}
    listed = TextClassifier(model, **settings).fit(texts, y)
    arrow = TextClassifier(model, **settings).fit(pa.array(texts), y)
    assert_array_equal(arrow.evidence_.certainty, listed.evidence_.certainty)
    assert arrow.summary() == listed.summary()


@pytest.mark.parametrize("model", [LinearSVC(random_state=0), "linear", "softmax"])
def test_answers_that_were_all_right_are_not_certainty(model):
    rng = np.random.default_rng(0)
    words = {"sea": ["wave", "salt", "reef", "tide"], "sky": ["cloud", "bird", "sun"]}
    y = ["sea", "sky"] * 20
    texts = [" ".join(rng.choice(words[label], 4)) for label in y]
    classifier = TextClassifier(model).fit(texts, y)
    assert (classifier.predict(texts) == y).all()
    assert classifier.predict_proba(texts).max() < 0.9999
    assert classifier.predict_proba([""]).max() < 0.9


# -- what is judged without itself, is judged by one rule for every use ---------------


def test_a_learned_confidence_does_not_see_copies_either(rng, monkeypatch):
    texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(60)] * 3
    y = rng.choice(["a", "b"], 60).tolist() * 3
    shares = []

    def noted(features, certainty, correct, seed):
        shares.append((len(correct), correct.mean()))

    monkeypatch.setattr("earmark.decision.left_out.learn_confidence", noted)
    model = TextClassifier("multinomial", max_error=0.4, learn_confidence=True)
    model.fit(texts, y)
    assert shares == [(60, model.evidence_.accuracy)]
    assert model.evidence_.accuracy < 0.75


def one_class_of_copies(rng):
    texts, y = documents(rng, 20, 1)
    return [*texts, *["alpha beta gamma delta"] * 6], [*y, *["copies"] * 6]


def test_a_class_of_copies_does_not_stop_a_learned_confidence(rng):
    texts, y = one_class_of_copies(rng)
    settings = {"max_error": 0.3, "learn_confidence": True}
    model = TextClassifier(LinearSVC(random_state=0), random_state=0, **settings).fit(
        texts, y
    )
    assert model.learned_confidence_ is None
    X = WordCounter().fit_transform(texts)
    model = AbstainingClassifier(
        LogisticRegression(), method="cross_validated", **settings
    ).fit(X, y)
    assert model.learned_confidence_ is None


def test_weights_count_for_leave_one_out_in_both_classifiers(rng):
    texts, y = documents(rng, 60)
    weight = np.full(60, 0.25)
    X = WordCounter().fit_transform(texts)
    inner = AbstainingClassifier(
        MultinomialNaiveBayes(), method="leave_one_out", max_error=0.5
    ).fit(X, y, sample_weight=weight)
    outer = TextClassifier("multinomial", max_error=0.5)
    outer.fit(texts, y, sample_weight=weight)
    assert_array_equal(inner.evidence_.correct, outer.evidence_.correct)
    assert_allclose(inner.evidence_.certainty, outer.evidence_.certainty)


def test_a_class_with_one_document_of_weight_is_judged_in_both_classifiers(rng):
    texts, y = documents(rng, 40, 2)
    weight = np.where(y == y[0], 1.0, 0.0)
    weight[np.flatnonzero(weight == 0)[0]] = 1.0
    outer = TextClassifier(LinearSVC(random_state=0), max_error=0.5, random_state=0)
    outer.fit(texts, y, sample_weight=weight)
    inner = AbstainingClassifier(
        SVC(kernel="linear"), method="cross_validated", max_error=0.5
    ).fit(WordCounter().fit_transform(texts), y, sample_weight=weight)
    assert len(outer.evidence_) == len(inner.evidence_) == np.sum(weight > 0)


def test_blocks_that_fit_in_memory_change_no_answer(rng, monkeypatch):
    texts, y = documents(rng, 60)
    whole = TextClassifier("multinomial", max_error=0.5).fit(texts, y)
    monkeypatch.setattr("earmark.decision.left_out._MOST_SCORES", 28)
    some = TextClassifier("multinomial", max_error=0.5).fit(texts, y)
    assert_array_equal(some.evidence_.certainty, whole.evidence_.certainty)
