"""Sorted input is told from mixed input, and only warned about when it is sure."""

import warnings

import numpy as np
import pytest

from earmark.documents import warn_if_sorted
from earmark.exceptions import EarmarkWarning


def test_sorted_labels_give_a_warning_with_the_counts():
    with pytest.warns(EarmarkWarning, match=r"sorted by label: 1 changes .* in 40 doc"):
        assert warn_if_sorted(["a"] * 20 + ["b"] * 20)


def test_the_subject_can_be_named():
    with pytest.warns(EarmarkWarning, match=r"^train.csv look sorted"):
        warn_if_sorted(["a"] * 20 + ["b"] * 20, what="train.csv")


def test_the_warning_points_at_the_caller():
    with pytest.warns(EarmarkWarning) as caught:
        warn_if_sorted(["a"] * 20 + ["b"] * 20)
    assert caught[0].filename == __file__


def test_label_sets_and_unlabelled_documents_are_understood():
    labels = [["a"]] * 20 + [None] * 5 + [["a", "b"]] * 20
    with pytest.warns(EarmarkWarning, match="in 40 documents"):
        warn_if_sorted(labels)


@pytest.mark.parametrize(
    "labels",
    [
        [],
        ["a"],
        ["a"] * 100,
        ["a"] * 3 + ["b"] * 3,
        ["a"] * 99 + ["b"],
        ["a", "b"] * 50,
        [None] * 50,
    ],
)
def test_short_single_and_mixed_input_is_silent(labels):
    assert not warn_if_sorted(labels)


def test_shuffled_input_is_silent_for_any_shuffle(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n_classes in (2, 3, 20):
            for _ in range(200):
                warn_if_sorted(rng.integers(n_classes, size=60).tolist())
        skewed = np.repeat(["a", "b"], [95, 5])
        for _ in range(200):
            warn_if_sorted(rng.permutation(skewed).tolist())
