"""Intervals for shares and means."""

from __future__ import annotations

import numpy as np
from scipy import stats

from earmark.typing import ArrayLike, FloatMatrix

__all__ = [
    "bootstrap_interval",
    "bootstrap_splits",
    "exact_interval",
    "wilson_interval",
]


def wilson_interval(hits: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share: sane at 0 and 1 and for few trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(8, 10)]
    [0.49, 0.943]

    """
    if total == 0:
        return 0.0, 1.0
    z = float(stats.norm.ppf(0.5 + level / 2))
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total)
    half *= float(np.sqrt(share * (1 - share) / total + z * z / (4 * total * total)))
    return max(0.0, middle - half), min(1.0, middle + half)


def exact_interval(hits: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share: holds it at least ``level`` often.

    Wider than Wilson's, which keeps the level only on average over the shares.

    Examples
    --------
    >>> [round(end, 3) for end in exact_interval(8, 10)]
    [0.444, 0.975]

    """
    if total == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = float(stats.beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0
    missed = total - hits
    high = float(stats.beta.ppf(1 - tail, hits + 1, missed)) if missed else 1.0
    return low, high


def bootstrap_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of ``values``.

    Examples
    --------
    >>> low, high = bootstrap_interval([0.7, 0.8, 0.75, 0.72])
    >>> 0.69 < low < 0.7425 < high < 0.81
    True

    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return float("nan"), float("nan")
    rng = np.random.default_rng(
        random_state.randint(2**31)
        if isinstance(random_state, np.random.RandomState)
        else random_state
    )
    means = np.empty(n_resamples)
    for number in range(n_resamples):  # one draw at a time: memory O(n)
        means[number] = sample[rng.integers(0, len(sample), len(sample))].mean()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_splits(
    shares: ArrayLike, sizes: ArrayLike, n_resamples: int, random_state: int
) -> FloatMatrix:
    """Resampled shares of right answers, (n_resamples, n_splits).

    Splits are drawn with replacement, then the documents of each split drawn. The
    number of right answers in a resample of n documents with share p right is
    Binomial(n, p), so no document need be drawn.
    """
    rng = np.random.default_rng(random_state)
    share, size = np.asarray(shares, np.float64), np.asarray(sizes, np.int64)
    drawn = rng.integers(0, len(share), size=(n_resamples, len(share)))
    resampled: FloatMatrix = rng.binomial(size[drawn], share[drawn]) / size[drawn]
    return resampled
