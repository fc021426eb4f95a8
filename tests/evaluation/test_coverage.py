"""Accuracy against coverage: hand-computed curves, ties, invariances, messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from earmark.evaluation import accuracy_coverage
from earmark.exceptions import DataError

cases = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.1, 0.3, 0.5, 0.9])), min_size=1
)


def curve_of(pairs):
    return accuracy_coverage(
        ["a"] * len(pairs), ["a" if right else "b" for right, _ in pairs],
        [sure for _, sure in pairs],
    )  # fmt: skip


def test_curve_matches_hand_calculation():
    curve = accuracy_coverage("aabb", "abbb", [0.9, 0.8, 0.7, 0.6])
    assert_allclose(curve.coverage, [0.25, 0.5, 0.75, 1.0])
    assert_allclose(curve.accuracy, [1, 1 / 2, 2 / 3, 3 / 4])
    assert_allclose(curve.area, (1 + 1 / 2 + 2 / 3 + 3 / 4) / 4)
    assert curve.coverage_at(0.75) == 1.0
    assert curve.coverage_at(0.9) == 0.25
    assert curve.threshold_at(0.75) == 0.6
    assert curve.accuracy_at(0.5) == 0.5
    assert curve.at_threshold(0.65) == (0.75, 2 / 3)


def test_target_that_no_threshold_reaches_has_no_coverage():
    curve = accuracy_coverage("ab", "bb", [0.9, 0.2])
    assert curve.coverage_at(0.9) == 0.0
    assert curve.threshold_at(0.9) is None
    assert curve.at_threshold(0.95) == (0.0, None)


def test_exact_share_counts_as_reached():
    right = ["a"] * 19 + ["b"]
    curve = accuracy_coverage(["a"] * 20, right, np.linspace(1, 0.5, 20))
    assert curve.coverage_at(0.95) == 1.0


@settings(max_examples=40, deadline=None)
@given(cases, st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    one, other = curve_of(pairs), curve_of(shuffled)
    assert_allclose(one.coverage, other.coverage)
    assert_allclose(one.accuracy, other.accuracy)
    assert_allclose(one.area, other.area)


@settings(max_examples=40, deadline=None)
@given(cases)
def test_area_is_the_mean_over_random_orders_of_ties(pairs):
    # Brute force: expected number right among the first k, tie by tie.
    expected, done, right = [], 0, 0.0
    for level in sorted({sure for _, sure in pairs}, reverse=True):
        group = [ok for ok, sure in pairs if sure == level]
        ranks = np.arange(1, len(group) + 1)
        expected.extend((right + ranks * np.mean(group)) / (done + ranks))
        done += len(group)
        right += sum(group)
    assert_allclose(curve_of(pairs).area, np.mean(expected))


@settings(max_examples=40, deadline=None)
@given(cases)
def test_rising_transform_of_confidence_changes_nothing(pairs):
    plain = curve_of(pairs)
    bent = curve_of([(right, np.exp(3 * sure)) for right, sure in pairs])
    assert_allclose(plain.coverage, bent.coverage)
    assert_allclose(plain.accuracy, bent.accuracy)


def test_unanswered_documents_are_never_covered():
    curve = accuracy_coverage("aab", ["a", None, "b"], [0.9, 0.99, 0.5])
    assert_allclose(curve.coverage, [1 / 3, 2 / 3])
    assert_allclose(curve.accuracy, [1, 1])
    none = accuracy_coverage("ab", [None, None], [0.9, 0.1])
    assert len(none.coverage) == 0
    assert none.coverage_at(0.5) == 0.0
    assert none.area == 0.0


def test_long_curves_are_thinned_in_json():
    rng = np.random.default_rng(0)
    curve = accuracy_coverage(np.zeros(5000), np.zeros(5000), rng.random(5000))
    content = curve.to_dict(max_points=50)
    assert len(content["coverage"]) == 50
    assert content["coverage"][-1] == 1.0


def test_confidence_that_is_not_a_number_is_named_by_row():
    with pytest.raises(DataError, match="NaN in row 1"):
        accuracy_coverage("ab", "ab", [0.5, float("nan")])


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(DataError, match="y_true 2, y_pred 1, confidence 2"):
        accuracy_coverage("ab", "a", [0.5, 0.5])


def test_missing_true_label_is_named_by_row():
    with pytest.raises(DataError, match="None in row 1"):
        accuracy_coverage(["a", None], ["a", "a"], [0.5, 0.5])


def test_probability_matrix_is_refused_as_confidence():
    with pytest.raises(DataError, match=r"shape \(2, 2\)"):
        accuracy_coverage("ab", "ab", np.eye(2))
