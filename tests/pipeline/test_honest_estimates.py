"""Estimates that copies cannot fool, and words that say what was measured."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from earmark import TextClassifier
from earmark.models.registry import MODELS

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
    "name", ["multinomial", "svm", "softmax", "rocchio", "hybrid", "knn", "auto"]
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
    rows, log_proba = model.engine_.model_.left_out_
    right = np.mean(model.classes_[log_proba.argmax(axis=1)] == y[rows])
    assert model.evidence_.accuracy == pytest.approx(right)


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


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_says_what_it_scores_on_documents_left_out(name, rng):
    texts, y = documents(rng, 40, n_classes=2)
    model = TextClassifier(name, random_state=0).fit(texts, y)
    model.measure_confidence(texts, y)
    assert f"accuracy {model.evidence_.accuracy:.3f} on 40" in model.summary()


@pytest.mark.parametrize("model", ["multinomial", "svm"])
def test_arrow_columns_are_judged_as_lists_are(model, rng):
    texts, y = documents(rng, 200)
    texts[3], y[3] = texts[5], y[5]
    settings = {"max_error": 0.3, "learn_confidence": True}
    listed = TextClassifier(model, **settings).fit(texts, y)
    arrow = TextClassifier(model, **settings).fit(pa.array(texts), y)
    assert_array_equal(arrow.evidence_.certainty, listed.evidence_.certainty)
    assert arrow.summary() == listed.summary()


@pytest.mark.parametrize("model", ["svm", "nbsvm", "blended-svm", "softmax"])
def test_answers_that_were_all_right_are_not_certainty(model):
    rng = np.random.default_rng(0)
    words = {"sea": ["wave", "salt", "reef", "tide"], "sky": ["cloud", "bird", "sun"]}
    y = ["sea", "sky"] * 20
    texts = [" ".join(rng.choice(words[label], 4)) for label in y]
    classifier = TextClassifier(model).fit(texts, y)
    assert (classifier.predict(texts) == y).all()
    assert classifier.predict_proba(texts).max() < 0.9999
    assert classifier.predict_proba([""]).max() < 0.9
