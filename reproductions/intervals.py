"""Intervals around means and shares."""

from __future__ import annotations

import numpy as np
import scipy.stats

from earmark.typing import ArrayLike

__all__ = ["bootstrap_interval", "wilson_interval"]


def wilson_interval(hits: int, total: int) -> tuple[float, float]:
    """Wilson's interval for a share, at 95 %."""
    ends = scipy.stats.binomtest(hits, total).proportion_ci(0.95, "wilson")
    return float(ends.low), float(ends.high)


def bootstrap_interval(values: ArrayLike) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of ``values``, at 95 %."""
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return float("nan"), float("nan")
    rng = np.random.default_rng(0)
    means = [
        sample[rng.integers(0, len(sample), len(sample))].mean() for _ in range(2000)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
