"""What ``model="auto"`` is: the linear machine, or learning from a pool too."""

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.decision import left_out
from earmark.pipeline import choose


def many_words(n_documents, n_classes):
    rng = np.random.default_rng(0)
    labels = np.arange(n_documents) % n_classes
    words = rng.integers(0, 400, (n_documents, 12))
    words[:, :2] += 400 + 20 * labels[:, None]
    return [" ".join(f"w{w}" for w in row) for row in words], labels


def test_without_a_pool_it_is_the_linear_machine():
    texts, labels = many_words(60, 3)
    fitted = TextClassifier(random_state=0).fit(texts, labels)
    named = TextClassifier("linear", random_state=0).fit(texts, labels)
    assert fitted.model_name_ == "linear"
    assert fitted.predict_proba(texts).tolist() == named.predict_proba(texts).tolist()


@pytest.mark.parametrize("n_labels", [20, 90])
def test_below_fifty_labels_a_class_the_pool_is_used_unasked(n_labels):
    texts, labels = many_words(1500, 2)
    fitted = TextClassifier(random_state=0).fit(
        texts[:n_labels], labels[:n_labels], unlabelled=texts[n_labels:]
    )
    assert fitted.model_name_ == "semi-supervised"
    assert "left out:" not in fitted.summary()


@pytest.mark.parametrize("better", ["semi-supervised", "linear"])
def test_many_labels_say_whether_the_pool_helps(better, monkeypatch):
    texts, labels = many_words(1500, 2)

    def right(plan, fitted, data):
        share = 9 if plan.name == better else 8
        return (np.arange(len(data.labels)) % 10 < share).astype(float)

    monkeypatch.setattr(choose, "_right", right)
    fitted = TextClassifier(random_state=0).fit(
        texts[:300], labels[:300], unlabelled=texts[300:]
    )
    assert fitted.model_name_ == better
    assert "on 300 labelled documents, left out: semi-supervised" in fitted.summary()


def test_linear_must_lead_by_more_than_its_error(monkeypatch):
    texts, labels = many_words(1500, 2)

    def right(plan, fitted, data):
        # Each is right where the other is wrong, linear once more.
        own = np.arange(len(data.labels)) % 2 == (plan.name == "linear")
        own[0] |= plan.name == "linear"
        return own.astype(float)

    monkeypatch.setattr(choose, "_right", right)
    fitted = TextClassifier(random_state=0).fit(
        texts[:300], labels[:300], unlabelled=texts[300:]
    )
    assert fitted.model_name_ == "semi-supervised"


def test_a_pool_that_takes_longer_than_the_budget_is_not_used(monkeypatch):
    texts, labels = many_words(1500, 2)
    monkeypatch.setattr(choose, "_WORTH_MEASURING", 0)
    fit = TextClassifier(random_state=0, budget=1e-6).fit
    hurried = fit(texts[:200], labels[:200], unlabelled=texts[200:])
    assert "1,300 unlabelled documents were not used" in hurried.summary()
    assert "the budget is 1e-06 s" in hurried.summary()


def languages(n_languages, n_each, seed=0):
    """Texts in languages with sounds of their own and words that hardly recur."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for language in range(n_languages):
        own = np.random.default_rng(language)
        letters = own.permutation(list("abcdefghijklmnopqrstuvwxyz"))[:12]
        syllables = [a + b for a in letters[:6] for b in letters[6:]]
        for _ in range(n_each):
            sizes = rng.integers(2, 5, 8)
            words = ["".join(rng.choice(syllables, size)) for size in sizes]
            texts.append(" ".join(words))
            labels.append(f"language {language}")
    return texts, labels


def test_languages_that_mix_need_no_choice_of_characters():
    texts, labels = languages(12, 30)
    fitted = TextClassifier(random_state=0).fit(texts, labels)
    new, truth = languages(12, 10, seed=1)
    assert fitted.score(new, truth) > 0.95
    by_words = TextClassifier("softmax", random_state=0)
    assert by_words.fit(texts, labels).score(new, truth) < 0.6
    assert "the encoder static was not used" in fitted.summary()
    # What is measured later is the model in hand, not one on words.
    assert fitted.measure_confidence(texts, labels).evidence_.accuracy > 0.9


def test_the_estimate_does_not_depend_on_how_many_are_judged_at_a_time(monkeypatch):
    texts = ["good film", "good day", "bad film", "so bad"] * 5
    labels = ["pos", "pos", "neg", "neg"] * 5
    weight = np.arange(20) % 3 + 1.0
    whole, parts = (
        TextClassifier("multinomial").fit(texts, labels, sample_weight=weight)
        for _ in range(2)
    )
    whole.measure_confidence(texts, labels, weight)
    monkeypatch.setattr(left_out, "_MOST_SCORES", 6)
    parts.measure_confidence(texts, labels, weight)
    assert whole.evidence_.certainty.tobytes() == parts.evidence_.certainty.tobytes()
    assert whole.evidence_.correct.tobytes() == parts.evidence_.correct.tobytes()


def test_weights_are_bounded_by_the_most_frequent_columns(rng, monkeypatch):
    monkeypatch.setattr("earmark.features.columns._MOST_WEIGHTS", 800)
    monkeypatch.setattr("earmark.features.columns._LEAST_COLUMNS", 10)
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(["often", *rng.choice(words, 12)]) for _ in range(80)]
    for y in ([str(i % 4) for i in range(80)], [[str(i % 4), "e"] for i in range(80)]):
        model = TextClassifier(encoder=None).fit(texts, y)
        n_labels = len(model.classes_)
        assert [b.width for b in model.columns_.blocks] == [800 // (2 * n_labels)] * 2
        assert "often" in model.columns_.blocks[0].terms


def test_a_pool_that_differs_in_numbers_only_is_not_used_and_that_is_said():
    texts, labels = many_words(60, 2)
    more, _ = many_words(70, 2)
    pool = [f"{text} {i}x{k}" for i in range(9) for k, text in enumerate(more)]
    fitted = TextClassifier(random_state=0).fit(texts, labels, unlabelled=pool)
    alone = TextClassifier(random_state=0).fit(texts, labels)
    assert fitted.model_name_ == "linear"
    assert "630 unlabelled documents were not used: too few" in fitted.summary()
    assert (fitted.predict_proba(texts) == alone.predict_proba(texts)).all()


def test_documents_without_weight_are_not_judged():
    texts, labels = many_words(120, 2)
    labels = labels.copy()
    labels[60:] = 0
    weight = np.repeat([1.0, 0.0], 60)
    for model in ("auto", "multinomial", "softmax"):
        fitted = TextClassifier(model, max_error=0.3, random_state=0)
        fitted.fit(texts, labels, sample_weight=weight)
        assert len(fitted.evidence_) == 60
