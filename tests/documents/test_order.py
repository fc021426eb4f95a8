"""Sorted input is told from mixed input, and only pointed out when it is sure."""

import numpy as np
import pytest

from earmark.evaluation import check_documents


def sorted_by_label(labels):
    texts = [f"document {i}" for i in range(len(labels))]
    findings = check_documents(texts, labels, near_duplicates=False)
    return [one for one in findings if one.kind == "sorted_by_label"]


def test_sorted_labels_are_found_with_the_counts():
    (finding,) = sorted_by_label(["a"] * 20 + ["b"] * 20)
    assert "changes in 40 documents: 1, where 20 would" in str(finding)


def test_label_sets_and_unlabelled_documents_are_understood():
    (finding,) = sorted_by_label([["a"]] * 20 + [None] * 5 + [["a", "b"]] * 20)
    assert "in 40 documents" in str(finding)


@pytest.mark.parametrize(
    "labels",
    [
        ["a"],
        ["a"] * 100,
        ["a"] * 3 + ["b"] * 3,
        ["a"] * 99 + ["b"],
        ["a", "b"] * 50,
        [None] * 50,
    ],
)
def test_short_single_and_mixed_input_is_silent(labels):
    assert not sorted_by_label(labels)


def test_shuffled_input_is_silent_for_any_shuffle(rng):
    for n_classes in (2, 3, 20):
        for _ in range(200):
            assert not sorted_by_label(rng.integers(n_classes, size=60).tolist())
    skewed = np.repeat(["a", "b"], [95, 5])
    for _ in range(200):
        assert not sorted_by_label(rng.permutation(skewed).tolist())
