"""The choice among supervised models: who is tried, who wins."""

import numpy as np

from earmark import TextClassifier
from earmark.pipeline import choice, estimates
from earmark.pipeline.choice import Trial, best_trial, candidates


def trial(name, n_right, n=1000):
    return Trial(name, np.arange(n) < n_right)


def test_few_labels_choose_among_linear_models_only():
    assert candidates(2, np.repeat(["a", "b"], 9)) == ["softmax", "svm"]
    more = candidates(2, np.repeat(["a", "b"], 10))
    assert more == ["softmax", "svm", "blended-svm", "complement", "hybrid"]


def test_hybrid_bayes_needs_regions():
    assert "hybrid" not in candidates(1, np.repeat(["a", "b"], 50))


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
    assert best_trial([*linear, Trial("blended-svm", right)]).name == "svm"
    assert best_trial([*linear, trial("blended-svm", 805)]).name == "blended-svm"


def test_the_best_of_several_challengers_is_taken():
    trials = [trial("softmax", 700), trial("svm", 600)]
    trials += [trial("blended-svm", 760), trial("complement", 750)]
    assert best_trial(trials).name == "blended-svm"


def test_with_very_many_classes_only_what_is_quick_is_fitted(monkeypatch):
    texts = [f"word{i} and more" for i in range(30)]
    labels = [f"class {i // 2}" for i in range(30)]
    monkeypatch.setattr(choice, "_MOST_SCORES", 400)
    fitted = TextClassifier(random_state=0).fit(texts, labels)
    assert fitted.model_name_ == "complement"
    assert "so many classes" in fitted.summary()


def test_the_estimate_does_not_depend_on_how_many_are_judged_at_a_time(monkeypatch):
    texts = ["good film", "good day", "bad film", "so bad"] * 5
    labels = ["pos", "pos", "neg", "neg"] * 5
    weight = np.arange(20) % 3 + 1.0
    whole, parts = (
        TextClassifier("multinomial").fit(texts, labels, sample_weight=weight)
        for _ in range(2)
    )
    whole.measure_confidence(texts, labels, weight)
    monkeypatch.setattr(estimates, "_MOST_SCORES", 6)
    parts.measure_confidence(texts, labels, weight)
    assert whole.evidence_.certainty.tobytes() == parts.evidence_.certainty.tobytes()
    assert whole.evidence_.correct.tobytes() == parts.evidence_.correct.tobytes()
