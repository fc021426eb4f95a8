"""What is a copy: one answer for the check, for training and for calibration."""

import re
import time

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.decision import AbstainingClassifier
from earmark.evaluation import check_documents, group_near_duplicates

_WORDS = np.array([f"word{k}" for k in range(5000)])


def twice(n, rng):
    """n texts of 25 words, each next to one with a word changed; labels by lot."""
    rows = rng.choice(_WORDS, (n // 2, 25))
    texts = []
    for row in rows:
        texts.append(" ".join(row))
        changed = [*row[:-1], "changed"]
        texts.append(" ".join(changed))
    labels = np.repeat(rng.choice(["heads", "tails"], n // 2), 2)
    return texts, labels.tolist()


def copies_in_summary(classifier):
    """How many documents the summary says are copies."""
    words = r"(?:without |; )([\d,]+) (?:near-duplicates|repeat others)"
    found = re.search(words, classifier.summary())
    return 0 if found is None else int(found[1].replace(",", ""))


@pytest.mark.parametrize("n", [600, 20_200])
def test_training_leaves_out_as_many_copies_as_the_check_finds(n, rng):
    texts, labels = twice(n, rng)
    classifier = TextClassifier("multinomial", max_error=0.3).fit(texts, labels)
    assert copies_in_summary(classifier) == n // 2
    found = {one.kind: one for one in check_documents(texts, labels)}
    assert f"{n // 2:,} documents" in str(found["near_duplicates"])
    assert group_near_duplicates(texts).n_groups == n // 2


def test_labels_by_lot_are_guessed_half_the_time_however_many_texts(rng):
    texts, labels = twice(20_200, rng)
    classifier = TextClassifier("multinomial").fit(texts, labels)
    classifier.measure_confidence(texts, labels)
    assert classifier.evidence_.accuracy == pytest.approx(0.5, abs=0.02)


def test_calibration_documents_repeat_no_training_document_at_any_size(rng):
    texts, labels = twice(20_200, rng)
    training = texts[::2], labels[::2]
    fresh, more = twice(200, rng)
    calibration = texts[1::200] + fresh[::2], labels[1::200] + more[::2]
    classifier = TextClassifier("multinomial", max_error=0.3)
    classifier.fit(*training, calibration=calibration)
    assert copies_in_summary(classifier) == 101


def test_both_classifiers_that_abstain_know_the_same_copies(rng):
    texts, labels = twice(20_200, rng)
    own = TextClassifier("multinomial", max_error=0.3).fit(texts, labels)
    wrapped = AbstainingClassifier(
        TextClassifier("multinomial"), max_error=0.3, method="leave_one_out"
    ).fit(texts, labels)
    assert wrapped.evidence_.n_copies == own.evidence_.n_copies == 10_100
    assert wrapped.evidence_.accuracy == own.evidence_.accuracy


@pytest.mark.parametrize("model", [LinearSVC(random_state=0), "softmax"])
def test_probabilities_are_scaled_on_documents_without_a_copy_in_training(model, rng):
    # A copy in training would make answers to labels by lot look sure.
    texts, labels = twice(400, rng)
    classifier = TextClassifier(model, random_state=0).fit(texts, labels)
    fresh, _ = twice(200, rng)
    assert classifier.decide(fresh).confidence.mean() < 0.6


def test_texts_that_share_a_frame_are_compared_in_time(rng):
    frame = " ".join(f"frame{k}" for k in range(15))
    words = rng.choice(_WORDS, (20_000, 8))
    texts = [f"{frame} {' '.join(row)}" for row in words]
    start = time.process_time()
    assert group_near_duplicates(texts).n_groups == 20_000
    assert time.process_time() - start < 8
