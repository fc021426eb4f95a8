"""One decision core: TextClassifier, AbstainingClassifier and the service agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.svm import LinearSVC

from earmark import TextClassifier, load
from earmark.apps.serve.model import ServedModel
from earmark.apps.serve.schemas import Job
from earmark.decision import AbstainingClassifier, Decision, guaranteed_threshold
from earmark.decision.decision import Scores, log_odds
from earmark.models.base.declaration import MODELS

WORDS = np.array([f"word{i}" for i in range(60)])


def documents(rng, n, *, n_classes=2, length=12, spread=0.35):
    """Texts whose words lean to their class; a lean of 0 would be noise."""
    y = rng.integers(0, n_classes, n)
    own = np.arange(60) % n_classes
    texts = []
    for label in y:
        weight = np.where(own == label, 1.0 + spread, 1.0)
        texts.append(" ".join(rng.choice(WORDS, length, p=weight / weight.sum())))
    return texts, np.array([f"class {c}" for c in y])


SETTINGS = {
    "two classes": {},
    "five classes": {"n_classes": 5, "spread": 2.0},
    "long": {"length": 80, "spread": 0.3},
    "short": {"length": 4, "spread": 3.0},
    "hard": {"spread": 0.05},
}
SLOW = {"hierarchical", "higher-order", "higher-order-svm", "mlp"}


def answers(model, name, train, calibration, test):
    """The labels by the three ways, abstentions as None."""
    fitted = TextClassifier(model, max_error=0.2, random_state=0)
    fitted.fit(*train, calibration=calibration)
    wrapped = AbstainingClassifier(
        TextClassifier(model, random_state=0), max_error=0.2
    ).fit(*train, calibration=calibration)
    served = ServedModel(fitted, {}).classify([Job({"text": test})])[0]
    return (
        fitted.predict(test).tolist(),
        wrapped.predict(test).tolist(),
        [answer["label"] for answer in served],
    )


CASES = [
    pytest.param(
        model,
        setting,
        marks=pytest.mark.slow
        if model in SLOW and setting not in ("two classes", "short")
        else (),
    )
    for model in MODELS.names()
    for setting in SETTINGS
]


@pytest.mark.parametrize(("model", "setting"), CASES)
def test_the_three_ways_to_abstain_answer_alike(model, setting, rng):
    options = SETTINGS[setting]
    train = documents(rng, 80, **options)
    calibration = documents(rng, 150, **options)
    test, _ = documents(rng, 60, **options)
    own, wrapped, served = answers(model, model, train, calibration, test)
    assert own == wrapped
    assert own == served


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["20newsgroups", "r8", "sms", "ag-news"])
@pytest.mark.parametrize("model", MODELS.names())
def test_the_three_ways_answer_alike_on_real_documents(model, name):
    from earmark.documents import load_corpus

    corpus = load_corpus(name)
    rows = np.random.default_rng(0).permutation(len(corpus.texts))[:1500]
    texts = [corpus.texts[i] for i in rows]
    labels = np.asarray([corpus.labels[i] for i in rows])
    own, wrapped, served = answers(
        model,
        model,
        (texts[:400], labels[:400]),
        (texts[400:1000], labels[400:1000]),
        texts[1000:],
    )
    assert own == wrapped == served


def test_probabilities_that_round_to_one_are_still_told_apart(rng):
    def bursty(n):
        """300 words, of which one document repeats a few again and again."""
        texts, y = documents(rng, n, length=20, spread=1.0)
        return [" ".join([text] * 15) for text in texts], y

    train, calibration, (test, truth) = bursty(400), bursty(600), bursty(1000)
    model = TextClassifier("multinomial", max_error=0.05)
    model.fit(*train, calibration=calibration)
    proba = model.predict_proba(calibration[0]).max(axis=1)
    assert np.mean(proba == 1.0) > 0.2  # one tie that no threshold can cut
    wrapped = AbstainingClassifier(TextClassifier("multinomial"), max_error=0.05)
    wrapped.fit(*train, calibration=calibration)
    decision = model.decide(test)
    assert decision.coverage > 0.5
    assert_array_equal(decision.labels, wrapped.predict(test))
    answered = ~decision.abstained
    assert np.mean(decision.labels[answered] != truth[answered]) <= 0.05
    assert model.score(test, truth) == wrapped.score(test, truth)


def repeated(rng, n):
    """Half of the texts say everything eight times: log-odds rank them too high."""
    texts, y = documents(rng, n, n_classes=3, length=10, spread=2.0)
    return [" ".join([text] * rng.choice([1, 8])) for text in texts], y


@pytest.mark.filterwarnings("ignore:what max_")
def test_a_learned_confidence_is_the_same_everywhere_and_answers_more(rng, tmp_path):
    train, calibration, (test, truth) = (repeated(rng, n) for n in (600, 600, 1500))
    plain = TextClassifier("multinomial", max_error=0.1)
    plain.fit(*train, calibration=calibration)
    model = TextClassifier("multinomial", max_error=0.1, learn_confidence=True)
    model.fit(*train, calibration=calibration)
    assert "confidence: learned" in model.summary()
    assert model.evidence_.held_out
    decision = model.decide(test)
    assert decision.best.tolist() == plain.decide(test).best.tolist()
    assert decision.coverage > plain.decide(test).coverage + 0.02
    answered = ~decision.abstained
    assert np.mean(decision.labels[answered] != truth[answered]) <= 0.12
    wrapped = AbstainingClassifier(
        TextClassifier("multinomial"), max_error=0.1, learn_confidence=True
    ).fit(*train, calibration=calibration)
    assert decision.labels.tolist() == wrapped.predict(test).tolist()
    served = ServedModel(model, {}).classify([Job({"text": test})])[0]
    assert [answer["label"] for answer in served] == decision.labels.tolist()
    model.save(tmp_path / "m.earmark")
    again = load(tmp_path / "m.earmark").decide(test)
    assert_array_equal(again.certainty, decision.certainty)
    model.partial_fit(*calibration)
    assert model.learned_confidence_ is None


@pytest.mark.parametrize("name", [LinearSVC(random_state=0), "auto"])
def test_a_learned_confidence_without_calibration_is_an_estimate(name, rng):
    train, (test, _) = repeated(rng, 150), repeated(rng, 50)
    model = TextClassifier(name, max_error=0.2, learn_confidence=True, random_state=0)
    decision = model.fit(*train).decide(test)
    assert model.guaranteed_error_ is None
    assert "confidence: " in model.summary()
    assert decision.labels.tolist() == decision.at(model.thresholds_).labels.tolist()


def test_a_label_for_abstentions_lets_scikit_learn_count_them(rng):
    train, calibration, (test, truth) = (repeated(rng, n) for n in (200, 300, 100))
    scored = make_scorer(f1_score, average="macro", labels=np.unique(truth))
    for model in (
        TextClassifier("multinomial", max_error=0.1, abstain_label=""),
        AbstainingClassifier(
            TextClassifier("multinomial"), max_error=0.1, abstain_label=""
        ),
    ):
        model.fit(*train, calibration=calibration)
        labels = model.decide(test).labels
        answers = model.predict(test)
        assert answers.dtype.kind == "U"
        assert (answers == "").tolist() == [label is None for label in labels]
        assert (answers == "").any()
        assert 0 < scored(model, test, truth) < 1
        assert model.score(test, truth) == accuracy_score(truth, answers)
    numbers = TextClassifier("multinomial", max_error=0.1, abstain_label=-1)
    numbers.fit(train[0], [int(y[-1]) for y in train[1]])
    assert numbers.predict(test).dtype.kind == "i"


def test_a_tie_at_one_would_have_answered_nothing():
    """Half of the probabilities are exactly 1: no threshold can cut among them."""
    rng = np.random.default_rng(0)
    odds = np.concatenate([rng.uniform(40, 400, 500), rng.uniform(0, 5, 100)])
    right = rng.random(600) < np.where(odds > 150, 0.995, 0.8)
    log_proba = np.stack([-np.logaddexp(0, -odds), -np.logaddexp(0, odds)], axis=1)
    assert (np.exp(log_proba[:500]).max(axis=1) == 1.0).all()
    scores = Scores.from_log_proba(log_proba)
    assert_allclose(scores.certainty, odds)
    assert guaranteed_threshold(scores.certainty, right).coverage > 0.4
    assert guaranteed_threshold(scores.confidence, right).coverage == 0.0


def test_log_odds_stay_exact_where_a_probability_rounds():
    odds = np.array([-300.0, -2.0, 0.0, 2.0, 35.0, 300.0])
    assert_allclose(log_odds(-np.logaddexp(0, -odds)), odds, atol=1e-12)


def test_a_decision_can_be_taken_again_at_other_thresholds(rng):
    train, calibration = (
        documents(rng, 200, spread=1.0),
        documents(rng, 300, spread=1.0),
    )
    test, _ = documents(rng, 50, spread=1.0)
    model = TextClassifier("multinomial", max_error=0.1)
    strict = model.fit(*train, calibration=calibration).decide(test)
    assert 0 < strict.coverage < 1
    every = strict.at([])
    assert isinstance(every, Decision)
    assert_array_equal(every.labels, model.set_params(max_error=None).predict(test))
    again = every.at(model.set_params(max_error=0.1).thresholds_)
    assert_array_equal(again.labels, strict.labels)
    assert_array_equal(strict.take(slice(3, 9)).labels, strict.labels[3:9])
    assert_array_equal(strict.best, every.labels)


@pytest.mark.parametrize("max_error", [None, 0.05])
def test_fitted_attributes_never_raise(max_error, rng):
    texts, y = documents(rng, 60)
    model = TextClassifier("multinomial").fit(texts, y).set_params(max_error=max_error)
    assert model.thresholds_ == []
    assert (model.min_confidence_, model.coverage_, model.n_missing_) == (0.0, 1.0, 0)
    assert model.guaranteed_error_ is None
    assert model.estimated_error_ is None
