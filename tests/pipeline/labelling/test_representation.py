"""What an answer speaks for: many, and others than the answers before."""

import numpy as np
import pytest

from earmark.pipeline.labelling import LabellingLoop
from earmark.pipeline.labelling.representation import Representation

TOPICS = {
    "cat": "cat purrs sleeps warm mat paws whiskers",
    "car": "car needs fuel engine wheel road brakes",
    "tea": "tea cup honey lemon green leaf kettle",
}


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def groups(rng):
    """Four groups of 60, 30, 20 and 10 documents, far from each other."""
    kind = np.repeat([0, 1, 2, 3], [60, 30, 20, 10])
    return unit(np.eye(6)[kind] + 0.1 * rng.normal(size=(120, 6))), kind


def test_gains_are_those_of_the_definition(rng):
    vectors = unit(rng.normal(size=(40, 5)))
    weights = rng.random(40)
    likeness = np.maximum(vectors @ vectors.T, 0) ** 2
    known = [3, 17, 20]
    expected = [
        sum(
            weights[j] * max(0.0, likeness[i, j] - max(likeness[k, j] for k in known))
            for j in range(40)
        )
        for i in (5, 9, 31)
    ]
    gains = Representation(vectors).gains(np.array([5, 9, 31]), known, weights)
    np.testing.assert_allclose(gains, expected, rtol=1e-4)


def test_the_largest_groups_come_first_and_each_once(groups):
    vectors, kind = groups
    one, known = Representation(vectors), []
    for _ in range(4):
        gains = one.gains(np.arange(120), known)
        known.append(int(gains.argmax()))
    assert [int(kind[d]) for d in known] == [0, 1, 2, 3]


def test_an_answer_taken_back_speaks_for_nothing(groups):
    vectors, _ = groups
    one, rows = Representation(vectors), np.arange(120)
    before = one.gains(rows, [5])
    one.gains(rows, [5, 70, 100])
    np.testing.assert_array_equal(one.gains(rows, [5]), before)
    assert (one.gains(rows, [5, 70]) <= before + 1e-6).all()


def test_of_many_documents_some_by_lot_stand_for_all(rng):
    one = Representation(unit(rng.normal(size=(3000, 4))))
    assert len(one.documents) == 1000
    assert len(one.gains(np.arange(50), [])) == 50


def test_the_first_questions_are_about_typical_documents_of_every_topic(rng):
    names = list(TOPICS)
    labels = [names[i] for i in rng.choice(3, 200, p=[0.8, 0.1, 0.1])]
    texts = [" ".join(rng.choice(TOPICS[y].split(), 4)) for y in labels]
    loop = LabellingLoop(texts, check_share=0.0)
    asked = []
    for _ in range(7):
        pick = loop.next_pick()
        assert pick.why == "typical"
        loop.answer(pick.document, [labels[pick.document]])
        asked.append(labels[pick.document])
    assert set(asked) == set(names)  # by lot in one of three draws


def test_every_second_doubtful_document_is_one_that_stands_for_others(rng):
    names, everything = list(TOPICS), " ".join(TOPICS.values()).split()
    labels = [names[i] for i in rng.integers(0, 3, 150)]
    texts = [
        " ".join([*rng.choice(TOPICS[y].split(), 3), *rng.choice(everything, 3)])
        for y in labels
    ]
    loop = LabellingLoop(texts, check_share=0.0)
    is_most_doubtful = {0: [], 1: []}  # by whether the number of answers is odd
    for number in range(30):
        pick = loop.next_pick()
        left = [d for d in range(150) if d not in loop.answers]
        if pick.why == "uncertain":
            doubt = loop.view.doubt
            most = doubt[pick.document] == doubt[left].max()
            is_most_doubtful[number % 2].append(bool(most))
        loop.answer(pick.document, [labels[pick.document]])
        loop.refit()
    assert all(is_most_doubtful[1])
    assert not all(is_most_doubtful[0])


def test_a_question_at_once_does_without_vectors(rng):
    texts = [" ".join(rng.choice(TOPICS["cat"].split(), 4)) for _ in range(50)]
    loop = LabellingLoop(texts, check_share=0.0)
    first = loop.next_pick(at_once=True)
    assert first.why == "random"
    assert first.document == loop.learn_order[0]
    assert not loop.collection.has_vectors
    assert loop.next_pick().why == "typical"
    assert loop.collection.has_vectors
    assert loop.next_pick(at_once=True).why == "typical"


def test_what_another_tab_is_asked_is_not_asked_of_like_documents(groups):
    vectors, kind = groups
    one = Representation(vectors)
    gains = one.gains(np.arange(120), [0])  # a document of the largest group is out
    assert kind[gains.argmax()] == 1
