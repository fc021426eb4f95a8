"""rank: the order of scores, whatever kind of scores a model has."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from earmark.decision import AnyOfClassifier, rank
from earmark.exceptions import DataError, NotSupportedError
from earmark.models import NeighborsClassifier, RocchioClassifier


def documents(rng, n_classes=3):
    y = np.arange(60) % n_classes
    return rng.poisson(0.3 + 2.0 * np.eye(6)[y]).astype(float), np.array(list("abc"))[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model", [RocchioClassifier(), LinearSVC(), MultinomialNB(), NeighborsClassifier()]
)
def test_members_of_the_class_come_first(model, n_classes, rng):
    X, y = documents(rng, n_classes)
    model.fit(X, y)
    for label in np.unique(y):
        positions, scores = rank(model, X, label)
        assert sorted(positions.tolist()) == list(range(60))
        assert (scores[1:] <= scores[:-1]).all()
        first = y[positions[:10]] == label
        assert first.mean() > 0.8


def test_top_cuts_and_ties_keep_their_order(rng):
    X, y = documents(rng)
    model = RocchioClassifier().fit(X, y)
    same = np.tile(X[:1], (5, 1))
    assert rank(model, same, "a", top=3).positions.tolist() == [0, 1, 2]
    whole = rank(model, X, "b")
    assert_array_equal(rank(model, X, "b", top=7).positions, whole.positions[:7])


def test_label_lists_are_ranked_too(rng):
    X, y = documents(rng)
    model = AnyOfClassifier(RocchioClassifier()).fit(X, [[label] for label in y])
    assert (y[rank(model, X, "c", top=10).positions] == "c").mean() > 0.8


def test_an_unknown_class_and_a_model_without_scores_are_refused(rng):
    X, y = documents(rng)
    with pytest.raises(DataError, match="cannot rank for 'z': the model's classes"):
        rank(RocchioClassifier().fit(X, y), X, "z")

    class Mute:
        classes_ = np.array(["a", "b"])

    with pytest.raises(NotSupportedError, match="ranking needs scores"):
        rank(Mute(), X, "a")
