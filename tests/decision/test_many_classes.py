"""With very many classes the estimate judges some documents, and says how many."""

import time

import numpy as np
import pytest
from scipy import sparse

from earmark import TextClassifier, load
from earmark.decision import left_out
from earmark.models.shared import naive_bayes


def corpus(n_documents, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    labels = [f"c{row % n_classes}" for row in range(n_documents)]
    words = rng.integers(0, 20_000, (n_documents, 8))
    texts = [
        f"{label} u{row} " + " ".join(f"w{word}" for word in some)
        for row, (label, some) in enumerate(zip(labels, words, strict=True))
    ]
    return texts, labels


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(left_out, "_MOST_JUDGED", 1000)
    monkeypatch.setattr(left_out, "_FEWEST_JUDGED", 10)


@pytest.mark.parametrize("model", ["multinomial", "complement", "softmax", "rocchio"])
def test_the_estimate_is_of_documents_drawn_by_lot_and_says_so(few, tmp_path, model):
    texts, labels = corpus(120, 20)
    classifier = TextClassifier(model, random_state=1).fit(texts, labels)
    classifier.measure_confidence(texts, labels)
    assert len(classifier.evidence_) == 50  # 1,000 scores of 20 classes
    (line,) = [x for x in classifier.summary().splitlines() if "accuracy" in x]
    assert "on 50 left-out training documents (between 86 and 100 %)" in line
    assert "drawn by lot from 120, since" in line
    again = TextClassifier(model, random_state=1).fit(texts, labels)
    again.measure_confidence(texts, labels)
    assert again.evidence_.certainty.tolist() == classifier.evidence_.certainty.tolist()
    classifier.save(tmp_path / "m.earmark")
    assert line in load(tmp_path / "m.earmark").summary()


def test_those_drawn_are_judged_as_they_are_among_all(monkeypatch):
    texts, labels = corpus(120, 20)
    whole = TextClassifier("multinomial", random_state=1).fit(texts, labels)
    whole.measure_confidence(texts, labels)
    assert whole.evidence_.n_drawn_from == 0
    assert "drawn by lot" not in whole.summary()
    monkeypatch.setattr(left_out, "_MOST_JUDGED", 1000)
    monkeypatch.setattr(left_out, "_FEWEST_JUDGED", 10)
    some = TextClassifier("multinomial", random_state=1).fit(texts, labels)
    some.measure_confidence(texts, labels)
    every = np.round(whole.evidence_.certainty, 9).tolist()
    assert {*np.round(some.evidence_.certainty, 9).tolist()} <= {*every}


def test_confidence_is_learned_from_those_drawn(few):
    texts, labels = corpus(400, 4)
    model = TextClassifier("multinomial", learn_confidence=True, max_error=0.2)
    model.fit(texts, labels)
    assert len(model.evidence_) == 250
    assert len(model.predict(texts)) == 400


def test_single_cells_are_those_of_the_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (30, 17))
    rows, columns = rng.integers(0, 30, 200), rng.integers(0, 17, 200)
    for most in (1, 40, 10**6):
        monkeypatch.setattr(naive_bayes, "DENSE_CELLS", most)
        for some in (slice(None), slice(0, 3), slice(0, 0)):
            cells = naive_bayes.cells_at(
                sparse.csr_array(dense), rows[some], columns[some]
            )
            assert cells.tolist() == dense[rows[some], columns[some]].tolist()


@pytest.mark.slow
def test_50_000_classes_do_not_stall_the_estimate():
    """On the machine where it was written 4 s of processor time; before, it went on."""
    texts, labels = corpus(100_000, 50_000)
    model = TextClassifier("multinomial").fit(texts, labels)
    started = time.process_time()
    model.measure_confidence(texts, labels)
    assert time.process_time() - started < 60
    assert (
        "on 2,000 left-out training documents (between 0 and 1 %), drawn by lot"
        in model.summary()
    )
