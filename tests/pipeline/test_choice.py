"""The choice among supervised models: who is tried, who wins."""

import numpy as np

from earmark import TextClassifier
from earmark.decision import left_out
from earmark.features.tokens import mixes_languages
from earmark.models.base.declaration import MODELS
from earmark.pipeline import choose
from earmark.pipeline.choose import Trial, best_trial, candidates


def trial(name, n_right, n=1000):
    return Trial(MODELS[name], np.arange(n) < n_right)


def tried(n_regions, y):
    return [model.name for model in candidates(n_regions, y)]


def test_few_labels_choose_among_linear_models_only():
    assert tried(2, np.repeat(["a", "b"], 9)) == ["softmax", "svm"]
    more = tried(2, np.repeat(["a", "b"], 10))
    assert more == ["softmax", "svm", "blended-svm", "complement", "hybrid"]


def test_hybrid_bayes_needs_regions():
    assert "hybrid" not in tried(1, np.repeat(["a", "b"], 50))


def test_the_better_linear_model_is_taken_by_however_little():
    assert best_trial([trial("softmax", 800), trial("svm", 801)]).name == "svm"
    assert best_trial([trial("softmax", 800), trial("svm", 800)]).name == "softmax"


def test_a_challenger_must_lead_by_more_than_its_error():
    linear = [trial("softmax", 700), trial("svm", 800)]
    rng = np.random.default_rng(0)
    # As many differences as a lead of 5 makes unsure: 100 gained, 95 lost.
    right = linear[1].right.copy()
    right[rng.choice(800, 95, replace=False)] = False
    right[800:900] = True
    assert best_trial([*linear, Trial(MODELS["blended-svm"], right)]).name == "svm"
    assert best_trial([*linear, trial("blended-svm", 805)]).name == "blended-svm"


def test_the_best_of_several_challengers_is_taken():
    trials = [trial("softmax", 700), trial("svm", 600)]
    trials += [trial("blended-svm", 760), trial("complement", 750)]
    assert best_trial(trials).name == "blended-svm"


def many_words(n_documents, n_classes):
    rng = np.random.default_rng(0)
    labels = np.arange(n_documents) % n_classes
    words = rng.integers(0, 400, (n_documents, 12))
    words[:, :2] += 400 + 20 * labels[:, None]
    return [" ".join(f"w{w}" for w in row) for row in words], labels


def test_what_takes_longer_than_the_budget_is_left_out_and_named(monkeypatch):
    texts, labels = many_words(900, 60)
    monkeypatch.setattr(choose, "_WORTH_MEASURING", 0)
    hurried = TextClassifier(random_state=0, budget=1e-6).fit(texts, labels)
    assert hurried.model_name_ == "complement"
    assert "left out to stay within the budget of 1e-06 s" in hurried.summary()
    for name in ("softmax", "svm", "blended-svm", "complement"):
        assert f"{name} " in hurried.summary()
    patient = TextClassifier(random_state=0, budget=600).fit(texts, labels)
    assert "left out" not in patient.summary()


def test_a_model_that_is_slow_on_a_part_is_not_tried_on_the_rest(monkeypatch):
    texts, labels = many_words(800, 60)
    monkeypatch.setattr(choose, "_WORTH_MEASURING", 0)
    monkeypatch.setattr(
        choose.Trials,
        "_final",
        lambda self, task, one_fit: 1e9 * hasattr(task.estimator, "loss"),
    )
    fitted = TextClassifier(random_state=0).fit(texts, labels)
    assert fitted.model_name_ != "svm"
    assert "svm (about 1,000,000,000 s)" in fitted.summary()


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


def test_characters_are_counted_where_languages_mix_and_it_is_better():
    texts, labels = languages(12, 30)
    fitted = TextClassifier(random_state=0).fit(texts, labels)
    assert "several languages" in fitted.summary()
    assert "by words, cross-validated" in fitted.summary()
    new, truth = languages(12, 10, seed=1)
    assert fitted.score(new, truth) > 0.95
    by_words = TextClassifier(random_state=0, features={"analyzer": "word"})
    assert by_words.fit(texts, labels).score(new, truth) < 0.6
    # What is measured later is the model in hand, not one on words.
    assert fitted.measure_confidence(texts, labels).evidence_.accuracy > 0.9


def test_words_stay_where_one_language_is_spoken():
    assert not mixes_languages([f"the cat sat on mat number {n}" for n in range(99)])
    mixed = ["the cat sat on the mat"] * 50 + ["кот сидел на этом коврике"] * 50
    assert mixes_languages(mixed)
    assert not mixes_languages(["short", "texts"] * 100)


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
