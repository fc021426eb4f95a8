"""Paired tests: textbook values, scipy as the oracle, false alarms by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from earmark.evaluation import corrected_resampled_t, holm, mcnemar_exact
from earmark.evaluation.significance import paired_interval, wilson_interval
from earmark.exceptions import DataError


def test_corrected_t_matches_the_formula_by_hand():
    a, b = np.array([0.8, 0.82, 0.81, 0.79]), np.array([0.78, 0.8, 0.8, 0.79])
    d = a - b
    t = d.mean() / np.sqrt((1 / 4 + 30 / 70) * d.var(ddof=1))
    found = corrected_resampled_t(a, b, n_train=70, n_test=30)
    assert_allclose(found.p_value, 2 * stats.t.sf(t, 3))
    assert_allclose(found.difference, d.mean())


def test_without_overlap_the_corrected_t_is_the_paired_t():
    a, b = [0.8, 0.82, 0.81, 0.79], [0.78, 0.8, 0.8, 0.79]
    found = corrected_resampled_t(a, b, n_train=10**12, n_test=1)
    assert_allclose(found.p_value, stats.ttest_rel(a, b).pvalue, rtol=1e-6)


def test_equal_scores_show_no_difference():
    assert corrected_resampled_t([0.5] * 3, [0.5] * 3, n_train=7, n_test=3).p_value == 1
    assert mcnemar_exact([1, 0], [1, 0]).p_value == 1


def test_mcnemar_is_the_binomial_test_of_the_discordant_documents():
    a = [1] * 9 + [0] * 2 + [1] * 50
    b = [0] * 9 + [1] * 2 + [1] * 50
    found = mcnemar_exact(a, b)
    assert_allclose(found.p_value, 2 * stats.binom.cdf(2, 11, 0.5))
    assert_allclose(found.difference, 7 / 61)


def test_mcnemar_raises_few_false_alarms():
    rng = np.random.default_rng(0)
    p = [
        mcnemar_exact(rng.random(100) < 0.8, rng.random(100) < 0.8).p_value
        for _ in range(400)
    ]
    assert np.mean(np.array(p) < 0.05) < 0.06


def test_holm_matches_a_worked_example():
    # Holm 1979: smallest times 4, next times 3, ...; never decreasing.
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_order_and_lies_between_plain_and_bonferroni(p):
    adjusted = holm(p)
    assert np.all(adjusted >= np.array(p))
    assert np.all(adjusted <= np.minimum(np.array(p) * len(p), 1) + 1e-15)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= 0)


def test_wilson_interval_agrees_with_scipy_and_covers():
    for hits, total in ((0, 5), (3, 9), (50, 50), (700, 1000)):
        theirs = stats.binomtest(hits, total).proportion_ci(method="wilson")
        assert_allclose(wilson_interval(hits, total), theirs, atol=1e-12)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_one_split_is_refused_with_the_remedy():
    with pytest.raises(DataError, match="use mcnemar_exact"):
        corrected_resampled_t([0.5], [0.4], n_train=7, n_test=3)
    with pytest.raises(DataError, match="got none"):
        corrected_resampled_t([], [], n_train=7, n_test=3)
    with pytest.raises(DataError, match="scores_a 2, scores_b 1"):
        corrected_resampled_t([1, 2], [1], n_train=7, n_test=3)


@pytest.mark.parametrize(("n", "p"), [(2, 0.5), (5, 2.0**-4)])
def test_splits_that_all_differ_alike_prove_no_more_than_their_number(n, p):
    found = corrected_resampled_t([0.8] * n, [0.7] * n, n_train=70, n_test=30)
    assert found.p_value == p


def test_the_interval_of_two_accuracies_on_the_same_documents_covers_what_it_says():
    rng = np.random.default_rng(0)
    for n, shares in ((40, (0.7, 0.15, 0.05)), (200, (0.85, 0.05, 0.02))):
        drawn = rng.multinomial(n, [*shares, 1 - sum(shares)], size=2000)
        truth, covered = shares[1] - shares[2], 0
        for both, only_a, only_b, none in drawn:
            a = np.repeat([1, 1, 0, 0], [both, only_a, only_b, none])
            b = np.repeat([1, 0, 1, 0], [both, only_a, only_b, none])
            low, high = paired_interval(a, b)
            covered += low <= truth <= high
        assert 0.94 <= covered / 2000 <= 0.985
