"""The learner of the label page: a full fit, and what was learned since."""

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.pipeline.labelling import LabellingLoop
from earmark.pipeline.labelling.learners import Collection

TOPICS = {
    "cat": "cat purrs sleeps warm mat paws whiskers fur claws kitten meow",
    "car": "car needs fuel engine wheel road brakes gear tyre garage motor",
    "tea": "tea cup honey lemon green leaf kettle pot steam mug sugar",
}


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(3)
    names, everything = list(TOPICS), " ".join(TOPICS.values()).split()
    labels = [names[i] for i in rng.integers(0, 3, 700)]
    texts = [
        " ".join([*rng.choice(TOPICS[y].split(), 3), *rng.choice(everything, 5)])
        for y in labels
    ]
    return texts, labels


def answered(made, n, **settings):
    texts, labels = made
    loop = LabellingLoop(texts, **settings)
    for document in loop.learn_order[:n].tolist():
        loop.answer(document, [labels[document]])
    return loop


def test_after_a_full_fit_the_page_says_what_the_product_says(made):
    texts, _ = made
    loop = answered(made, 20)
    loop.refit()
    lessons = loop.lessons()
    rest = [texts[d] for d in range(len(texts)) if d not in lessons]
    model = TextClassifier(random_state=0).fit(
        [texts[d] for d in lessons],
        [answer[0] for answer in lessons.values()],
        unlabelled=rest,
    )
    expected = model.predict(texts).tolist()
    guesses = [guess[0] for guess in loop.view.guesses(np.arange(len(texts)))]
    assert guesses == expected
    assert loop.view.fitted.full.n_answers == 20
    assert loop.view.fitted.full.n_pool == len(texts) - 20


def test_the_pool_is_drawn_by_lot_where_it_is_large(made, monkeypatch):
    monkeypatch.setattr("earmark.pipeline.labelling.learners._MOST_POOL", 100)
    loop = answered(made, 20)
    loop.refit()
    assert loop.view.fitted.full.n_pool == 100


def test_full_fits_come_as_the_answers_grow_and_with_a_new_label(made):
    texts, labels = made
    loop = LabellingLoop(texts)
    fitted_at = []
    for n, document in enumerate(loop.learn_order[:36].tolist(), 1):
        loop.answer(document, [labels[document]])
        if loop.full_fit_due(loop.lessons()):
            fitted_at.append(n)
        loop.refit()
    assert fitted_at == [10, 13, 17, 22, 28, 35]
    new = loop.learn_order[36:39].tolist()
    due = []
    for document in new:
        loop.answer(document, ["odd"])
        due.append(loop.full_fit_due(loop.lessons()))
    assert due == [False, False, True]  # not at once, but before 44 answers


def test_between_full_fits_a_new_answer_counts_at_once_and_can_be_taken_back(made):
    loop = answered(made, 20)
    before = loop.refit().fitted.log_proba.copy()
    _, labels = made
    for document in loop.learn_order[20:22].tolist():
        loop.answer(document, [labels[document]])
    after = loop.refit()
    assert after.fitted.full.n_answers == 20
    assert not np.allclose(after.fitted.log_proba, before)
    for document in loop.learn_order[20:22].tolist():
        loop.retract(document)
    np.testing.assert_allclose(loop.refit().fitted.log_proba, before)


def test_a_label_that_the_full_fit_does_not_know_can_be_guessed_at_once(made):
    loop = answered(made, 40)
    loop.refit()
    new = loop.learn_order[40:43].tolist()
    for document in new:
        loop.answer(document, ["odd"])
    view = loop.refit()
    assert view.fitted.full.n_answers == 40
    assert "odd" in view.fitted.classes
    odd = view.fitted.classes.index("odd")
    usual = np.exp(view.fitted.log_proba[loop.learn_order[50:], odd]).mean()
    assert np.exp(view.fitted.log_proba[new, odd]).mean() > usual


def test_words_of_the_full_fit_are_marked(made):
    texts, _ = made
    loop = answered(made, 40)
    view = loop.refit()
    document = int(loop.learn_order[-1])
    ((guess,),) = view.guesses(np.asarray([document]))
    weights = loop.word_weights(document, view)
    assert set(weights) & set(texts[document].split())
    own = [w for word, w in weights.items() if word in TOPICS[guess].split()]
    assert sum(own) > 0


def test_left_out_judgements_are_those_of_the_full_fit(made):
    loop = answered(made, 60)
    loop.refit()
    documents, classes, log_proba = loop.left_out(loop.lessons())
    full = loop.view.fitted.full
    judged = full.left_out()
    assert len(judged) > 30
    for document, row in judged.items():
        places = [classes.index(name) for name in full.classes]
        mine = log_proba[documents.index(document)][places]
        np.testing.assert_allclose(mine, row, atol=1e-9)


def test_a_full_fit_that_fails_is_not_tried_again_and_again(made):
    loop = answered(made, 20)
    assert loop.full_fit_due(loop.lessons())
    loop._full.fit = lambda lessons: 1 / 0
    with pytest.raises(ZeroDivisionError):
        loop.full_fit(loop.lessons())
    assert not loop.full_fit_due(loop.lessons())


MEDICINE = [
    "the doctor treated the patient in hospital",
    "a nurse gave the patient an injection",
    "surgery on the heart went well",
]
SPORT = [
    "the striker scored a goal in the match",
    "the team won the league title",
    "a tennis player won the final set",
]


@pytest.mark.parametrize(("query", "meant"), [("physician", 0), ("soccer", 1)])
def test_a_search_by_meaning_finds_texts_without_the_word(query, meant):
    collection = Collection([*MEDICINE, *SPORT] * 3)
    best = np.argsort(-collection.likeness(query), kind="stable")[:3]
    assert {int(d) % 6 // 3 for d in best} == {meant}


def test_texts_whose_words_an_encoder_does_not_know_are_like_by_their_company(rng):
    words = [[f"qx{k}{a}z" for a in "bcdfghjklm"] for k in range(2)]
    texts = [" ".join(rng.choice(words[i % 2], 5)) for i in range(60)]
    collection = Collection(texts)
    assert collection.vectors.shape[0] == 60
    order = np.argsort(-collection.likeness(texts[0]), kind="stable")[:25]
    assert all(d % 2 == 0 for d in order)
    plain = Collection(texts, encoder=None)
    np.testing.assert_array_equal(plain.vectors, collection.vectors)
