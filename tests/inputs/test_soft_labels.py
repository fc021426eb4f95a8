"""Shares of labels count as weighted copies do."""

import numpy as np
import pytest

from earmark.exceptions import DataError, NotSupportedError
from earmark.inputs.soft_labels import soft_copies
from earmark.pipeline import TextClassifier

TEXTS = ["good film", "bad film", "a film", "good plot", "bad plot", "dull"]
SHARES = [{"pos": 1}, {"neg": 2}, {"pos": 3, "neg": 1}, "pos", {"neg": 1.0}, None]
MATRIX = np.array([[0, 1], [1, 0], [0.25, 0.75], [0, 1], [1, 0], [np.nan, np.nan]])
COPIED = [*TEXTS[:3], "a film", *TEXTS[3:]]
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg", None]
WEIGHTS = [1, 1, 0.75, 0.25, 1, 1, 1]


@pytest.mark.parametrize("model", ["multinomial", "softmax", "linear"])
def test_shares_are_weighted_copies(model):
    by_hand = TextClassifier(model, random_state=0)
    by_hand.fit(COPIED, LABELS, sample_weight=WEIGHTS)
    answer = by_hand.predict_proba(TEXTS)
    votes = TextClassifier(model, random_state=0).fit(TEXTS, SHARES)
    assert np.allclose(votes.predict_proba(TEXTS), answer, atol=1e-12)
    rows = TextClassifier(model, random_state=0)
    rows.fit(TEXTS, MATRIX, classes=["neg", "pos"])
    assert np.allclose(rows.predict_proba(TEXTS), answer, atol=1e-12)
    lists = TextClassifier(model, random_state=0)
    lists.fit(TEXTS, MATRIX.tolist(), classes=["neg", "pos"])
    assert np.allclose(lists.predict_proba(TEXTS), answer, atol=1e-12)


def test_own_weights_multiply_the_shares():
    own = [2, 1, 4, 1, 1, 1]
    by_hand = TextClassifier("multinomial")
    by_hand.fit(COPIED, LABELS, sample_weight=[2, 1, 3, 1, 1, 1, 1])
    shared = TextClassifier("multinomial").fit(TEXTS, SHARES, sample_weight=own)
    answer = by_hand.predict_proba(TEXTS)
    assert np.allclose(shared.predict_proba(TEXTS), answer, atol=1e-12)


def test_a_share_decides_by_its_size():
    texts = ["one thing", "another"] * 4
    for share in (0.9, 0.1):
        rows = [[share, 1 - share], [1 - share, share]] * 4
        model = TextClassifier("multinomial").fit(texts, rows, classes=["a", "b"])
        assert model.predict(["thing"])[0] == ("a" if share > 0.5 else "b")


def test_nobody_is_no_label():
    copies = soft_copies([{"a": 1, "b": 0}, {}, {"b": 0}, None], None, 4)
    assert copies.labels == ["a", None, None, None]
    assert copies.rows.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["a", "b"], None),
        ([["a"], ["b", "c"]], None),
        (np.array([[0, 1], [1, 0]]), ["a", "b"]),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), ["a", "b"]),
        (None, ["a", "b"]),
        ([["a", "b"], ["a"]], ["a", "b"]),
    ],
)
def test_plain_labels_are_left_alone(y, classes):
    assert soft_copies(y, classes, 2) is None


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([{"a": -1}, {"a": 1}], "row 0: expected a share >= 0 for the label 'a'"),
        ([{"a": "x"}, {"a": 1}], "row 0: expected a share >= 0 .* got 'x'"),
        ([{"a": 1}], "shares of each of the 2 documents, got 1"),
        ([[0.5, 0.2], [0.5, 0.5]], "row 0: expected shares that add up to 1"),
        ([[0.5, 0.2, 0.3]] * 2, "one column of shares for each of the 2 classes"),
    ],
)
def test_what_are_no_shares_is_refused(y, message):
    with pytest.raises(DataError, match=message):
        soft_copies(y, ["a", "b"], 2)


def test_a_model_without_weights_takes_no_shares():
    with pytest.raises(NotSupportedError, match="cannot weight documents"):
        TextClassifier("knn").fit(TEXTS[:5], SHARES[:5])


def test_a_promise_is_learned_from_shares_as_well():
    texts = [f"{text} {n}" for n, text in enumerate(TEXTS[:5] * 12)]
    model = TextClassifier("multinomial", max_error=0.2, min_coverage=0.1)
    model.fit(texts, SHARES[:5] * 12)
    assert model.evidence_ is not None
    assert set(model.predict(["good film"])) <= {"pos", None}


def test_the_likeliest_label_of_a_document_is_the_one_that_is_judged():
    rng = np.random.default_rng(0)
    words = [["rose", "tulip", "soil", "leaf"], ["oven", "butter", "salt", "pan"]]
    more = [f"word{i}" for i in range(400)]
    texts = [
        " ".join([*rng.choice(words[i % 2], 3), *rng.choice(more, 8)])
        for i in range(60)
    ]
    first, second = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    answers = []
    for share in (first, second):
        y = [share if i % 2 else "a" for i in range(60)]
        model = TextClassifier("multinomial", max_error=0.4).fit(texts, y)
        answers.append(model.evidence_.accuracy)
    assert answers[0] == answers[1] > 0.9


def test_rows_of_shares_need_classes_that_differ():
    y = np.array([[0.3, 0.7], [0.6, 0.4]])
    with pytest.raises(DataError, match="give the class of each column"):
        TextClassifier().fit(["a b", "c d"], y)
    with pytest.raises(DataError, match="classes must differ"):
        TextClassifier().fit(["a b", "c d"], y, classes=["x", "x"])


def test_a_model_that_judges_documents_while_it_learns_refuses_shares():
    y = [{"a": 0.7, "b": 0.3}, {"a": 0.2, "b": 0.8}] * 4
    with pytest.raises(NotSupportedError, match="likeliest label, or take another"):
        TextClassifier("hybrid").fit(["rose tulip", "oven butter"] * 4, y)
