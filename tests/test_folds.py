"""Folds and splits: every row once, every class in every fold, groups together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from earmark.folds import class_keeping_folds, stratified_folds, stratified_split


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 6))
def test_every_row_is_held_out_once_and_never_trained_on_then(labels, n_folds):
    y = np.array(labels)
    held_out = np.zeros(len(y), dtype=int)
    for train, held in stratified_folds(y, n_folds, 0):
        held_out[held] += 1
        assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(len(y)))
    assert (held_out == 1).all()


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 6))
def test_a_class_differs_by_one_at_most_between_folds(labels, n_folds):
    y = np.array(labels)
    folds = [held for _, held in stratified_folds(y, n_folds, 0)]
    for label in np.unique(y):
        counts = [np.sum(y[held] == label) for held in folds]
        counts += [0] * (n_folds - len(folds))
        assert max(counts) - min(counts) <= 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40))
def test_rows_of_a_group_stay_together(group):
    groups = np.array(group)
    y = groups % 3
    for train, held in stratified_folds(y, 3, 0, groups):
        assert not set(groups[train]) & set(groups[held])
    train, held = stratified_split(y, 0.4, np.random.default_rng(0), groups)
    assert not set(groups[train]) & set(groups[held])
    assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(len(y)))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=40),
    st.integers(1, 4),
)
def test_groups_stay_whole_and_classes_in_training_where_a_group_has_two_labels(
    rows, n_folds
):
    y, groups = np.array(rows).T
    for train, held in class_keeping_folds(y, n_folds, 0, groups):
        assert not set(groups[train]) & set(groups[held])
        assert set(y[train]) == set(y)


def test_groups_of_one_change_nothing(rng):
    y = rng.integers(0, 3, 50)
    plain, grouped = (
        [held.tolist() for _, held in stratified_folds(y, 5, 7, groups)]
        for groups in (None, np.arange(50))
    )
    assert plain == grouped


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_split_leaves_every_class_a_training_row(share, rng):
    y = np.repeat(np.arange(4), [1, 2, 10, 40])
    train, _ = stratified_split(y, share, rng)
    assert set(y[train]) == {0, 1, 2, 3}
