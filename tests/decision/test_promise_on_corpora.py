"""The promise on real documents: calibrations drawn from the test sets."""

import numpy as np
import pytest

from earmark.decision import guaranteed_threshold
from earmark.decision.calibration import (
    confidence_features,
    learn_confidence,
    mean_risk,
)
from earmark.decision.decision import Scores, read_scores
from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.models import MultinomialNaiveBayes

pytestmark = pytest.mark.corpus


def scored(name, n_per_class, seed=0):
    """Certainty and truth on a test set, by log-odds and by a learned confidence."""
    train, test = (load_corpus(name, part) for part in ("train", "test"))
    rng = np.random.default_rng(seed)
    labels = np.array(train.labels)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == c))[:n_per_class]
         for c in np.unique(labels)]
    )  # fmt: skip
    counter = WordCounter()
    X = counter.fit_transform([train.texts[i] for i in rows])
    X_test = counter.transform(test.texts)
    y = labels[rows]
    model = MultinomialNaiveBayes().fit(X, y)
    sizes = np.unique(y, return_counts=True)[1]
    left = Scores.from_log_proba(model.leave_one_out(X, y))
    scores = read_scores(model, X_test)
    lengths, lengths_test = (np.asarray(m.sum(axis=1)).ravel() for m in (X, X_test))
    learned = learn_confidence(
        confidence_features(left, sizes, lengths),
        left.certainty,
        model.classes_[left.choice] == y,
    )
    right = model.classes_[scores.choice] == np.array(test.labels)
    features = confidence_features(scores, sizes, lengths_test)
    better = scores.certainty if learned is None else learned.log_odds(features)
    return scores.certainty, better, right


@pytest.mark.parametrize(
    ("name", "n_per_class"), [("r8", 100), ("trec", 200), ("20newsgroups", 40)]
)
def test_promise_holds_and_learning_helps_on_real_documents(rng, name, n_per_class):
    plain, learned, right = scored(name, n_per_class)
    assert mean_risk(learned, right) <= mean_risk(plain, right)
    max_error, repeats = 0.1, 300
    for certainty in (plain, learned):
        broken = 0
        for _ in range(repeats):
            rows = rng.integers(0, len(right), 500)
            found = guaranteed_threshold(certainty[rows], right[rows], max_error)
            answered = certainty >= found.value
            broken += answered.any() and (~right[answered]).mean() > max_error
        # 5 % of 300 is 15; 26 and more would come by chance once in 300 such tests.
        assert broken <= 25
