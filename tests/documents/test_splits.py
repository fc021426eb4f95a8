"""Splits: every index once, classes in proportion, nested, and repeatable."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.documents import (
    labelled_per_class,
    stratified_split,
)
from earmark.exceptions import DataError

LABELS = st.lists(st.sampled_from("abcde"), min_size=2, max_size=60)


@given(y=LABELS, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**32 - 1))
def test_stratified_split_covers_all_and_keeps_proportions(y, share, seed):
    n_test = min(max(1, round(share * len(y))), len(y) - 1)
    train, test = stratified_split(y, n_test, seed)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert len(test) == n_test
    whole, part = Counter(y), Counter(y[i] for i in test)
    quota = {label: count * n_test / len(y) for label, count in whole.items()}
    if n_test <= len(y) - len(whole):
        assert all(part[label] < whole[label] for label in whole)
    if all(whole[label] - quota[label] >= 1 for label in whole):
        assert all(abs(part[label] - quota[label]) < 1 + 1e-9 for label in whole)


def test_stratified_split_is_exact_where_it_can_be():
    y = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    train, test = stratified_split(y, 0.1, random_state=3)
    assert Counter(y[i] for i in test) == {"a": 6, "b": 3, "c": 1}
    assert Counter(y[i] for i in train) == {"a": 54, "b": 27, "c": 9}


def test_largest_remainders_get_the_last_places():
    y = ["a"] * 7 + ["b"] * 6 + ["c"] * 2
    # Quotas 2.33, 2.0, 0.67: the floor leaves one place, c has most left over.
    _, test = stratified_split(y, 5, random_state=0)
    assert Counter(y[i] for i in test) == {"a": 2, "b": 2, "c": 1}


def test_class_of_one_document_stays_in_train():
    y = ["rare"] + ["a"] * 10 + ["b"] * 10
    for seed in range(20):
        train, _ = stratified_split(y, 0.5, seed)
        assert 0 in train


@pytest.mark.parametrize("size", [0.0, 1.0, 0, 4, -1, 1.5, True, "half"])
def test_senseless_test_size_is_refused(size):
    with pytest.raises(ValueError, match="test_size must"):
        stratified_split(["a", "b", "a", "b"], size)


@given(y=LABELS, n=st.integers(1, 10), seed=st.integers(0, 2**32 - 1))
def test_labelled_per_class_takes_n_of_each_and_leaves_the_rest(y, n, seed):
    labelled, pool = labelled_per_class(y, n, seed)
    assert sorted([*labelled, *pool]) == list(range(len(y)))
    expected = {label: min(n, count) for label, count in Counter(y).items()}
    assert Counter(y[i] for i in labelled) == expected
    more, _ = labelled_per_class(y, n + 1, seed)
    assert set(labelled.tolist()) <= set(more.tolist())


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_senseless_number_of_labels_is_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number >= 1"):
        labelled_per_class(["a", "b"], n)


def test_same_seed_same_split_and_other_seed_another():
    y = np.array(["a", "b", "c"] * 30)
    for function, argument in [
        (stratified_split, 0.3),
        (labelled_per_class, 5),
    ]:
        one, two, other = (function(y, argument, seed) for seed in (7, 7, 8))
        for left, right in zip(one, two, strict=True):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == np.int64
        assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_order_of_the_indices_is_shuffled():
    train, test = stratified_split(["a"] * 50 + ["b"] * 50, 0.5, random_state=0)
    assert train.tolist() != sorted(train.tolist())
    assert test.tolist() != sorted(test.tolist())


def test_label_sets_are_strata_whatever_their_order():
    y = [["a", "b"], ["b", "a"]] * 5 + [[]] * 10
    labelled, _ = labelled_per_class(y, 2, random_state=0)
    assert len(labelled) == 4


def test_unlabelled_documents_have_no_stratum():
    with pytest.raises(DataError, match="got None at index 1; leave the unlabelled"):
        stratified_split(["a", None], 1)
    with pytest.raises(DataError, match="expected at least one document"):
        labelled_per_class([], 1)
