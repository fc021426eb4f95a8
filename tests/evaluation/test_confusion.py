"""ConfusionMatrix and any-of scores: scikit-learn as the oracle, abstentions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    hamming_loss,
    precision_recall_fscore_support,
)
from sklearn.preprocessing import MultiLabelBinarizer

from earmark.evaluation import ConfusionMatrix, multi_label_scores
from earmark.exceptions import DataError

labels = st.sampled_from("abcd")
pairs = st.lists(st.tuples(labels, labels), min_size=1)
sets = st.frozensets(labels)
set_pairs = st.lists(st.tuples(sets, sets), min_size=1)


@settings(max_examples=40, deadline=None)
@given(pairs)
def test_counts_and_rates_agree_with_scikit_learn(rows):
    y, z = map(list, zip(*rows, strict=True))
    found = ConfusionMatrix.from_predictions(y, z)
    every = list("abcd")
    whole = ConfusionMatrix.from_predictions(y, z, classes=every)
    assert_array_equal(whole.counts, confusion_matrix(y, z, labels=every))
    expected = precision_recall_fscore_support(y, z, zero_division=0)
    ours = [(s.precision, s.recall, s.f1, s.support) for s in found.per_class]
    assert_allclose(ours, np.array(expected).T)
    for name, mean in (("micro", found.micro), ("macro", found.macro)):
        theirs = precision_recall_fscore_support(y, z, average=name, zero_division=0)
        assert_allclose((mean.precision, mean.recall, mean.f1), theirs[:3])
    assert_allclose(found.accuracy, accuracy_score(y, z))


def test_abstentions_have_their_own_column_and_count_against_recall():
    found = ConfusionMatrix.from_predictions(
        ["a", "a", "b", "b"], ["a", None, "b", None]
    )
    assert found.abstained.tolist() == [1, 1]
    assert found.accuracy == 1.0
    assert found.coverage == 0.5
    assert [s.precision for s in found.per_class] == [1.0, 1.0]
    assert [s.recall for s in found.per_class] == [0.5, 0.5]
    assert found.examples("a", None).tolist() == [1]


def test_missing_answers_may_come_as_nan():
    found = ConfusionMatrix.from_predictions([1.0, 2.0], np.array([1.0, np.nan]))
    assert found.abstained.tolist() == [0, 1]


def test_abstaining_on_everything_is_defined():
    found = ConfusionMatrix.from_predictions(["a", "b"], [None, None])
    assert np.isnan(found.accuracy)
    assert found.coverage == 0.0
    assert found.to_dict()["accuracy"] is None


def test_most_confused_pairs_come_with_their_most_confident_examples():
    y = ["a", "a", "a", "b", "b"]
    z = ["b", "b", "a", "a", "b"]
    found = ConfusionMatrix.from_predictions(y, z, confidence=[0.6, 0.9, 1, 1, 1])
    first, second = found.most_confused()
    assert (first.true, first.predicted, first.count) == ("a", "b", 2)
    assert_allclose(first.share, 2 / 3)
    assert first.examples == (1, 0)
    assert (second.true, second.count, second.examples) == ("b", 1, (3,))
    assert found.most_confused(top=1) == [first]


def test_given_order_of_classes_is_kept_and_others_follow():
    found = ConfusionMatrix.from_predictions(["b", "x"], ["a", "x"], classes=["b", "a"])
    assert found.classes == ("b", "a", "x")


def test_labels_of_several_types_are_accepted():
    found = ConfusionMatrix.from_predictions([1, "a"], ["a", "a"])
    assert found.classes == (1, "a")


def test_unknown_class_is_named():
    found = ConfusionMatrix.from_predictions(["a"], ["a"])
    with pytest.raises(DataError, match="'q' is not among the 1 classes"):
        found.examples("a", "q")


def test_no_documents_is_an_error_that_says_so():
    with pytest.raises(DataError, match="at least one document"):
        ConfusionMatrix.from_predictions([], [])


@settings(max_examples=40, deadline=None)
@given(set_pairs)
def test_any_of_scores_agree_with_scikit_learn(rows):
    y, z = map(list, zip(*rows, strict=True))
    found = multi_label_scores(y, z, classes=list("abcd"))
    binarizer = MultiLabelBinarizer(classes=list("abcd"))
    truth, answers = binarizer.fit_transform(y), binarizer.transform(z)
    assert_allclose(
        [s.f1 for s in found.per_class],
        f1_score(truth, answers, average=None, zero_division=0),
    )
    assert_allclose(
        found.micro.f1, f1_score(truth, answers, average="micro", zero_division=0)
    )
    assert_allclose(found.subset_accuracy, accuracy_score(truth, answers))
    assert_allclose(found.hamming_loss, hamming_loss(truth, answers))
    same = multi_label_scores(truth, answers, classes=list("abcd"))
    assert same.to_dict() == found.to_dict()


def test_empty_label_lists_and_abstentions_are_defined():
    found = multi_label_scores([[], ["a"], ["a"]], [[], None, ["a"]])
    assert found.subset_accuracy == 1.0
    assert_allclose(found.coverage, 2 / 3)
    assert found.micro.recall == 0.5


def test_indicator_matrix_needs_a_name_per_column():
    with pytest.raises(DataError, match="2 columns for 3 classes"):
        multi_label_scores(np.eye(2), np.eye(2), classes=["a", "b", "c"])
