"""TextClassifier(max_novelty=...): abstains on documents unlike its training ones."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from earmark import TextClassifier, load
from earmark.exceptions import DataError
from earmark.models.base.declaration import MODELS
from tests.decision.test_novelty import documents

KNOWN = documents(np.random.default_rng(10), 150)
NEW, NEW_LABELS = documents(np.random.default_rng(11), 60)
FOREIGN, _ = documents(np.random.default_rng(12), 60, topics=[8])


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier("complement", max_novelty=0.05).fit(*KNOWN)


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_tells_foreign_documents_and_keeps_it_in_its_file(name, tmp_path):
    fitted = TextClassifier(name, max_novelty=0.05, random_state=0)
    fitted.fit(*KNOWN)
    decision = fitted.decide([*NEW, *FOREIGN])
    assert decision.foreign[60:].mean() > 0.6
    assert decision.foreign[:60].mean() < 0.2
    assert decision.abstained[decision.foreign].all()
    fitted.save(tmp_path / "model.earmark")
    again = load(tmp_path / "model.earmark").decide([*NEW, *FOREIGN])
    np.testing.assert_array_equal(again.novelty, decision.novelty)
    assert again.labels.tolist() == decision.labels.tolist()


def test_only_foreign_documents_lose_their_answer(classifier):
    decision = classifier.decide([*NEW, *FOREIGN])
    always = clone(classifier).set_params(max_novelty=None).fit(*KNOWN)
    assert always.novelty_ is None
    assert always.decide(NEW).novelty is None
    answers = always.predict([*NEW, *FOREIGN])
    assert [label is None for label in decision.labels] == decision.foreign.tolist()
    ordinary = ~decision.foreign
    assert (decision.labels[ordinary] == answers[ordinary]).all()
    assert decision.best.tolist() == answers.tolist()


def test_the_share_can_be_moved_without_fitting_again(classifier):
    p_values = classifier.decide(NEW).novelty
    for share in (0.01, 0.3):
        moved = pickle.loads(pickle.dumps(classifier)).set_params(max_novelty=share)
        np.testing.assert_array_equal(moved.decide(NEW).foreign, p_values <= share)
    open_ = pickle.loads(pickle.dumps(classifier)).set_params(max_novelty=None)
    assert not open_.decide(FOREIGN).foreign.any()
    np.testing.assert_array_equal(open_.decide(NEW).novelty, p_values)


def test_decided_again_at_other_thresholds_foreign_stays_unanswered(classifier):
    decision = classifier.decide([*NEW, *FOREIGN])
    assert decision.at([]).labels.tolist() == decision.labels.tolist()
    half = decision.take(np.arange(30, 90))
    np.testing.assert_array_equal(half.foreign, decision.foreign[30:90])


def test_the_promise_about_errors_counts_what_will_be_answered():
    """Calibration documents that would not be answered are no evidence."""
    rng = np.random.default_rng(13)
    odd, _ = documents(rng, 40, topics=[8])
    texts, y = documents(rng, 150)
    fitted = TextClassifier("complement", max_novelty=0.05, max_error=0.1)
    fitted.fit(*KNOWN, calibration=([*texts, *odd], [*y, *["t0"] * 40]))
    answered = fitted.decide(texts)
    assert fitted.guaranteed_error_ == 0.1
    assert answered.coverage > 0.8
    n_ordinary = int((fitted.evidence_.novelty > 0.05).sum())
    assert n_ordinary < 160
    assert fitted.thresholds_[0].n_answered <= n_ordinary
    without = pickle.loads(pickle.dumps(fitted)).set_params(max_novelty=None)
    assert without.thresholds_[0].n_answered > n_ordinary


def test_several_labels_per_document():
    texts, y = KNOWN
    fitted = TextClassifier(max_novelty=0.05)
    fitted.fit(texts, [[label, "all"] for label in y])
    decision = fitted.decide([*NEW, *FOREIGN])
    assert decision.foreign[60:].mean() > 0.6
    assert all(labels is None for labels in decision.labels[decision.foreign])
    assert decision.abstained[decision.foreign].all()


def test_unlabelled_documents_are_ordinary_too():
    texts, y = KNOWN
    pool, _ = documents(np.random.default_rng(14), 200, topics=[0, 1, 2])
    alone = TextClassifier("complement", max_novelty=0.05).fit(texts[:30], y[:30])
    assert alone.novelty_.counts_.shape[0] == 30
    fitted = TextClassifier("complement", max_novelty=0.05)
    fitted.fit(texts[:30], y[:30], unlabelled=pool)
    assert fitted.novelty_.counts_.shape[0] == 230
    assert (fitted.decide(FOREIGN).foreign.mean()) > alone.decide(
        FOREIGN
    ).foreign.mean()


def test_regions_and_scripts_without_spaces():
    texts, y = KNOWN
    columns = {"subject": [t.partition(" ")[0] for t in texts], "body": texts}
    fitted = TextClassifier("complement", max_novelty=0.05).fit(columns, y)
    asked = {"subject": ["", ""], "body": [NEW[0], FOREIGN[0]]}
    p_values = fitted.decide(asked).novelty
    assert p_values[0] > p_values[1]
    rng = np.random.default_rng(15)
    kinds = ["天気雨風雪", "電車駅道車"]
    chinese = ["".join(rng.choice(list(k), 8)) for k in kinds for _ in range(20)]
    fitted = TextClassifier("complement", max_novelty=0.05)
    fitted.fit(chinese, ["w"] * 20 + ["t"] * 20)
    assert fitted.novelty_.analyzer == "char"


@pytest.mark.filterwarnings("ignore:what max_")
def test_what_is_known_goes_with_further_learning_and_can_be_learned_again():
    fitted = TextClassifier("multinomial", max_novelty=0.05).fit(*KNOWN)
    fitted.partial_fit(NEW, NEW_LABELS)
    assert fitted.novelty_ is None
    with pytest.raises(DataError, match="measure_novelty"):
        fitted.predict(NEW)
    texts, y = [*KNOWN[0], *NEW], [*KNOWN[1], *NEW_LABELS]
    fitted.measure_novelty(texts, y)
    assert fitted.decide(FOREIGN).foreign.mean() > 0.6
    fitted.forget(NEW, NEW_LABELS)
    assert fitted.novelty_ is None


def test_wrong_shares_are_refused_and_the_summary_says_what_holds(classifier):
    for wrong in (0, 1.0, -0.1):
        with pytest.raises(ValueError, match="max_novelty"):
            TextClassifier(max_novelty=wrong).fit(*KNOWN)
    assert "at most 5 % of ordinary ones are called foreign" in classifier.summary()
    few = TextClassifier("complement", max_novelty=0.05)
    few.fit([text for text in KNOWN[0][:10]], [*["a"] * 5, *["b"] * 5])
    assert "that takes 19 documents" in few.summary()
    assert not few.decide(FOREIGN).foreign.any()


def test_the_report_lists_foreign_documents(classifier):
    report = classifier.report([*NEW, *FOREIGN], [*NEW_LABELS, *["t0"] * 60])
    foreign = classifier.decide([*NEW, *FOREIGN]).foreign
    assert sorted(report.foreign.documents) == np.flatnonzero(foreign).tolist()
    assert (np.diff(report.foreign.p_values) >= 0).all()
    assert report.foreign.is_more_than_chance
    assert "not like the ones it learned from" in str(report)
    assert report.to_dict()["foreign"]["share"] == foreign.mean()
    page = report.to_html()
    assert "Unlike the training documents" in page
    ordinary = classifier.report(NEW, NEW_LABELS)
    assert "no more than that" in " ".join(ordinary.sentences)
    plain = TextClassifier("complement").fit(*KNOWN).report(NEW, NEW_LABELS)
    assert plain.foreign is None
    assert "Unlike the training documents" not in plain.to_html()
