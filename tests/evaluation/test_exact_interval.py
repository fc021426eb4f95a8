"""Clopper and Pearson's interval keeps its level for every share."""

import numpy as np
import pytest
from scipy import stats

from earmark.evaluation.significance import exact_interval


@pytest.mark.parametrize(("hits", "total"), [(0, 7), (3, 7), (7, 7), (36, 39)])
def test_the_ends_are_where_the_binomial_tails_reach_the_level(hits, total):
    low, high = exact_interval(hits, total)
    if hits:
        assert stats.binom.sf(hits - 1, total, low) == pytest.approx(0.025)
    else:
        assert low == 0
    if hits < total:
        assert stats.binom.cdf(hits, total, high) == pytest.approx(0.025)
    else:
        assert high == 1


def test_the_level_is_kept_for_every_share():
    total = 30
    ends = [exact_interval(hits, total) for hits in range(total + 1)]
    for share in np.linspace(0.01, 0.99, 50):
        holds = [low <= share <= high for low, high in ends]
        chance = stats.binom.pmf(np.arange(total + 1), total, share)
        assert chance[holds].sum() >= 0.95


def test_nothing_seen_says_nothing():
    assert exact_interval(0, 0) == (0.0, 1.0)
