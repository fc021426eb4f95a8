"""The labelling loop: picks, checks, learners, the honest estimate."""

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.exceptions import DataError
from earmark.pipeline.labelling import LabellingLoop

TOPICS = {
    "cat": "cat purrs sleeps warm mat paws whiskers",
    "car": "car needs fuel engine wheel road brakes",
    "tea": "tea cup honey lemon green leaf kettle",
}


@pytest.fixture
def made(rng):
    names, everything = list(TOPICS), " ".join(TOPICS.values()).split()
    labels = [names[i] for i in rng.integers(0, 3, 150)]
    texts = [
        " ".join([*rng.choice(TOPICS[y].split(), 4), *rng.choice(everything, 3)])
        for y in labels
    ]
    return texts, labels


def run(loop, labels, n):
    picks = []
    for _ in range(n):
        pick = loop.next_pick()
        loop.answer(pick.document, [labels[pick.document]])
        loop.refit()
        picks.append(pick)
    return picks


def test_a_fixed_share_of_the_questions_are_random_checks(made):
    texts, labels = made
    loop = LabellingLoop(texts, check_share=0.25)
    picks = run(loop, labels, 80)
    checks = [pick.document for pick in picks if pick.why == "check"]
    assert 15 <= len(checks) <= 20
    assert checks == loop.check_order[: len(checks)].tolist()
    assert loop.view.estimate.n_documents == len(checks)
    assert loop.view.n_learned == 80 - len(checks)


def test_the_checks_do_not_depend_on_the_answers(made):
    texts, labels = made
    found = []
    for answers in (labels, labels[::-1]):
        picks = run(LabellingLoop(texts), answers, 50)
        found.append([p.document for p in picks if p.why == "check"])
    assert found[0] == found[1]


def test_nothing_is_learned_from_checks(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    run(loop, labels, 60)
    before = loop.view.fitted.log_proba.copy()
    for document in loop.check_order.tolist():
        loop.answer(document, ["cat"])
    np.testing.assert_array_equal(loop.refit().fitted.log_proba, before)


def test_the_estimate_uses_the_beginning_of_the_order_only(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    run(loop, labels, 20)
    n_before = loop.view.estimate.n_documents
    late = int(loop.check_order[-1])
    loop.answer(late, [labels[late]])  # chosen by a person: not random
    assert loop.refit().estimate.n_documents == n_before
    for document in loop.check_order[:-1].tolist():
        loop.answer(document, [labels[document]])
    assert loop.refit().estimate.n_documents == len(loop.check_order)


def test_a_skipped_check_is_passed_over(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    first, second = loop.check_order[:2].tolist()
    loop.skip(first)
    loop.answer(second, [labels[second]])
    assert list(loop.checks()) == [second]
    loop.retract(first)
    assert list(loop.checks()) == []


def test_uncertain_picks_have_the_smallest_gap(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    run(loop, labels, 30)
    while (pick := loop.next_pick()).why != "uncertain":
        loop.answer(pick.document, [labels[pick.document]])
        loop.refit()
    left = [d for d in loop.learn_order.tolist() if d not in loop.answers]
    top = np.sort(loop.view.fitted.log_proba[left], axis=1)
    gaps = dict(zip(left, top[:, -1] - top[:, -2], strict=True))
    assert gaps[pick.document] == min(gaps.values())


def test_busy_documents_are_passed_over_and_all_come_once(made):
    texts, labels = made
    loop = LabellingLoop(texts[:30])
    first = loop.next_pick()
    assert loop.next_pick(busy={first.document}).document != first.document
    picks = run(loop, labels, 30)
    assert sorted(p.document for p in picks) == list(range(30))
    assert loop.next_pick() is None


@pytest.mark.parametrize("name", ["auto", "complement", "linear"])
def test_every_model_learns(made, name):
    texts, labels = made
    loop = LabellingLoop(texts, model=name)
    run(loop, labels, 60)
    guesses = loop.view.guesses(np.arange(len(texts)))
    right = np.mean([g == (y,) for g, y in zip(guesses, labels, strict=True)])
    assert right > 0.8
    assert loop.view.estimate.low <= right <= 1
    proba = np.exp(loop.view.fitted.log_proba)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_left_out_judgements_find_a_wrong_answer(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    lessons = {d: (labels[d],) for d in range(60)}
    wrong = next(d for d in lessons if labels[d] == "tea")
    lessons[wrong] = ("car",)
    documents, classes, log_proba = loop.left_out(lessons)
    judged = classes[log_proba[documents.index(wrong)].argmax()]
    assert judged == "tea"


def test_any_of_gives_each_label_by_itself(made):
    texts, labels = made
    loop = LabellingLoop(texts, any_of=True)
    for d in range(100):
        given = [labels[d]] if d % 5 else []
        loop.answer(d, given + (["long"] if "engine" in texts[d] else []))
    view = loop.refit()
    assert set(view.fitted.classes) == {*TOPICS, "long"}
    guesses = view.guesses(np.arange(100, 150))
    assert {len(guess) for guess in guesses} != {1}
    assert view.estimate.n_documents > 0


def test_word_weights_add_up_to_the_gap(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    for document in loop.learn_order[:8].tolist():  # the quick model alone
        loop.answer(document, [labels[document]])
    loop.refit()
    fitted, document = loop.view.fitted, int(loop.learn_order[-1])
    total = sum(loop.word_weights(document, loop.view).values())
    order = np.argsort(-fitted.log_proba[document])
    gap = fitted.log_proba[document, order[0]] - fitted.log_proba[document, order[1]]
    offset = fitted.offset[order[0]] - fitted.offset[order[1]]
    assert total + offset == pytest.approx(gap)


def test_collections_without_documents_or_words_are_refused():
    with pytest.raises(DataError, match="no document"):
        LabellingLoop([])
    with pytest.raises(DataError, match="no words"):
        LabellingLoop(["", "  "])


def test_one_label_alone_gives_no_guess(made):
    texts, _ = made
    loop = LabellingLoop(texts)
    loop.answer(0, ["cat"])
    assert loop.refit().fitted is None
    assert loop.view.guesses(np.arange(2)) == [(), ()]
    assert not loop.guaranteed().any()
    assert loop.begin_audit() is None


def test_a_model_of_before_may_know_classes_that_no_answer_has(made):
    texts, labels = made
    start = TextClassifier("multinomial").fit(
        [*texts[:60], "never at all", "never again"], [*labels[:60], "never", "never"]
    )
    loop = LabellingLoop(texts, start=start)
    assert loop.refit().fitted.classes == sorted([*TOPICS, "never"])
    run(loop, labels, 40)
    documents, classes, log_proba = loop.left_out(loop.lessons())
    assert classes == sorted(TOPICS)
    guesses = [classes[c] for c in log_proba.argmax(axis=1)]
    right = [g == labels[d] for g, d in zip(guesses, documents, strict=True)]
    assert np.mean(right) > 0.5
