"""Intervals, paired tests with the correction for asking often, and agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.typing import ArrayLike, FloatMatrix, FloatVector, Label


def wilson_interval(hits: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share: sane at 0 and 1 and for few trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(8, 10)]
    [0.49, 0.943]

    """
    return _proportion(hits, total, level, "wilson")


def exact_interval(hits: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share: holds it at least ``level`` often."""
    return _proportion(hits, total, level, "exact")


def _proportion(
    hits: int, total: int, level: float, method: str
) -> tuple[float, float]:
    if total == 0:
        return 0.0, 1.0
    ends = scipy.stats.binomtest(int(hits), int(total)).proportion_ci(level, method)
    return float(ends.low), float(ends.high)


def percentile_interval(values: ArrayLike, level: float) -> tuple[float, float]:
    """Where the middle share ``level`` of resampled values lies."""
    sample = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(sample, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_splits(
    shares: ArrayLike, sizes: ArrayLike, n_resamples: int, random_state: int
) -> FloatMatrix:
    """Right answers' shares in resampled splits and documents, a row per resample."""
    # Binomial(n, p) of n documents are right, so no document need be drawn.
    rng = np.random.default_rng(random_state)
    share, size = np.asarray(shares, np.float64), np.asarray(sizes, np.int64)
    drawn = rng.integers(0, len(share), size=(n_resamples, len(share)))
    resampled: FloatMatrix = rng.binomial(size[drawn], share[drawn]) / size[drawn]
    return resampled


@dataclass(frozen=True)
class PairedTest(Result):
    """Result of a paired test: the mean difference and its two-sided p-value."""

    name: str
    difference: float
    p_value: float
    n: int


def corrected_resampled_t(
    scores_a: ArrayLike, scores_b: ArrayLike, *, n_train: int, n_test: int
) -> PairedTest:
    """T test over repeated splits, corrected for their overlap.

    The training sets of repeated splits share most documents, so the plain
    paired t test finds differences that are not there. The variance is enlarged
    by n_test / n_train (Nadeau & Bengio 2003).

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,)
        Scores of both classifiers on the same splits.
    n_train, n_test : int
        Documents in the training and in the test part of a split.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine
    Learning 52.

    Examples
    --------
    >>> test = corrected_resampled_t([0.8, 0.82, 0.81], [0.7, 0.74, 0.7],
    ...                              n_train=70, n_test=30)
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.097, 0.018)

    """
    change = _differences(scores_a, scores_b)
    n_splits = len(change)
    if n_splits < 2:
        raise DataError(
            f"the corrected resampled t test needs at least 2 splits, got {n_splits}; "
            "repeat the split, or use mcnemar_exact for one test set."
        )
    mean, spread = float(change.mean()), float(change.var(ddof=1))
    if np.ptp(change) < 1e-12:  # no spread to estimate: all agree, as in a sign test
        p_value = 1.0 if abs(mean) < 1e-12 else 2.0 ** (1 - n_splits)
    else:
        t = mean / np.sqrt((1 / n_splits + n_test / n_train) * spread)
        p_value = float(2 * scipy.stats.t.sf(abs(t), n_splits - 1))
    return PairedTest("corrected resampled t", mean, p_value, n_splits)


def p_words(p_value: float) -> str:
    """A p-value for people; one that rounds to nothing is bounded instead.

    >>> p_words(0.0312), p_words(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {p_value:.2g}" if p_value >= 0.001 else "p < 0.001"


def mcnemar_exact(correct_a: ArrayLike, correct_b: ArrayLike) -> PairedTest:
    """McNemar's exact test of two classifiers on one test set.

    Looks only at the documents that exactly one of the two gets right: under no
    difference each is a fair coin.

    Examples
    --------
    >>> test = mcnemar_exact([1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0])
    >>> test.p_value
    0.03125

    """
    a, b = np.asarray(correct_a, dtype=bool), np.asarray(correct_b, dtype=bool)
    n = check_equal_length(correct_a=a, correct_b=b)
    only_a, only_b = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    apart = only_a + only_b
    p_value = 1.0
    if apart:
        p_value = float(scipy.stats.binomtest(only_a, apart).pvalue)
    return PairedTest("McNemar, exact", (only_a - only_b) / max(n, 1), p_value, n)


def paired_interval(
    correct_a: ArrayLike, correct_b: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two accuracies on the same documents, a less b.

    Wald's, with one document more for each way to differ (Bonett and Price 2012): it
    covers what it says also where few documents differ.

    Examples
    --------
    >>> low, high = paired_interval([1] * 8 + [0] * 2, [0] * 4 + [1] * 4 + [0] * 2)
    >>> round(low, 3), round(high, 3)
    (-0.02, 0.686)

    """
    a, b = np.asarray(correct_a, dtype=bool), np.asarray(correct_b, dtype=bool)
    n = check_equal_length(correct_a=a, correct_b=b) + 2
    only_a, only_b = (int(np.sum(a & ~b)) + 1) / n, (int(np.sum(b & ~a)) + 1) / n
    change = only_a - only_b
    deviation = np.sqrt((only_a + only_b - change**2) / n)
    half = float(scipy.stats.norm.ppf((1 + level) / 2) * deviation)
    return max(change - half, -1.0), min(change + half, 1.0)


def holm(p_values: ArrayLike) -> FloatVector:
    """Holm's adjusted p-values: below alpha they hold together with that confidence.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def fisher_more(
    hits: ArrayLike, sizes: ArrayLike, all_hits: int, n: int
) -> FloatVector:
    """Fisher's exact test that groups have more hits than the rest; one-sided.

    Each group is ``sizes`` of ``n`` things, of which ``all_hits`` are hits. The p-value
    of a group with no more hits than expected is rounded up to 1.

    Examples
    --------
    >>> fisher_more([12, 3], [30, 30], 42, 330).round(6).tolist()
    [6.3e-05, 1.0]

    """
    k, size = np.asarray(hits, np.float64), np.asarray(sizes, np.float64)
    p_values = np.ones(len(k))
    more = np.flatnonzero(k * n > size * all_hits)
    k, size = k[more], size[more]
    term, total = np.ones(len(more)), np.ones(len(more))
    log_p = _log_choose(all_hits, k) + _log_choose(n - all_hits, size - k)
    log_p -= _log_choose(n, size)
    # Each term of the tail from the one before: it falls from the mean on.
    while np.any(term > 1e-18 * total):
        above = (size - k) * (all_hits - k)
        term = term * above / ((k + 1) * (n - all_hits - size + k + 1))
        total, k = total + term, k + 1
    p_values[more] = np.minimum(np.exp(log_p + np.log(total)), 1.0)
    return p_values


def groups_with_more(
    hits: ArrayLike, sizes: ArrayLike, all_hits: int, n: int, level: float
) -> tuple[FloatVector, int]:
    """``fisher_more`` of many groups, with Holm's correction, and how many count.

    A group that is too small to be shown, whatever its hits, is not tested and costs
    the others nothing (Tarone 1990); its p-value is 1.
    """
    p_values, size = np.ones(len(np.asarray(hits))), np.asarray(sizes)
    least = fisher_more(np.minimum(size, all_hits), size, all_hits, n)
    bounds = (1 - level) / np.arange(1, len(least) + 1)
    within = np.searchsorted(np.sort(least), bounds, "right")
    enough = np.flatnonzero(within <= np.arange(1, len(least) + 1))
    if not len(enough):
        return p_values, 0
    tested = np.flatnonzero(least <= bounds[enough[0]])
    p_values[tested] = holm(
        fisher_more(np.asarray(hits)[tested], size[tested], all_hits, n)
    )
    return p_values, len(tested)


def _log_choose(n: ArrayLike, k: ArrayLike) -> FloatVector:
    gammaln = scipy.special.gammaln
    chosen, every = np.asarray(k, np.float64), np.asarray(n, np.float64)
    ways: FloatVector = (
        gammaln(every + 1) - gammaln(chosen + 1) - gammaln(every - chosen + 1)
    )
    return ways


def _differences(scores_a: ArrayLike, scores_b: ArrayLike) -> FloatVector:
    a = np.asarray(scores_a, dtype=np.float64)
    b = np.asarray(scores_b, dtype=np.float64)
    if not check_equal_length(scores_a=a, scores_b=b):
        raise DataError("a paired test needs scores, got none.")
    difference: FloatVector = a - b
    return difference


# -- agreement beyond chance -------------------------------------------------------

_N_RESAMPLES = 1000
# Documents drawn at a time: memory stays small for long lists.
_MOST_DRAWN = 2_000_000

# One row per document, one column per person; None where a person gave no answer.
Answers = Sequence[Sequence[Label | None]]
# Sums over documents -> the coefficient of each row.
_Coefficient = Callable[[FloatMatrix], FloatVector]


@dataclass(frozen=True)
class Agreement(Result):
    """A coefficient of agreement and its bootstrap interval; 1 is perfect, 0 chance."""

    name: str
    value: float  # NaN where everybody gave one and the same label
    low: float
    high: float
    n_documents: int
    observed: float  # share of equal pairs of answers to one document

    def __str__(self) -> str:
        return (
            f"{self.name} {self.value:.2f} ({self.low:.2f} to {self.high:.2f}) on "
            f"{self.n_documents:,} documents"
        )


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    level: float = 0.95,
    random_state: int = 0,
) -> Agreement:
    """Cohen's kappa of two people who labelled the same documents.

    Parameters
    ----------
    first, second : sequence of labels
        One per document.
    level : float, default=0.95
        Of the bootstrap interval.
    random_state : int, default=0
        Seed of the resamples.

    References
    ----------
    J. Cohen (1960). A coefficient of agreement for nominal scales. Educational and
    Psychological Measurement 20.

    Examples
    --------
    >>> print(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]))
    Cohen's kappa 0.50 (0.00 to 1.00) on 4 documents

    """
    n = check_equal_length(first=first, second=second)
    labels = [*first, *second]
    place = {label: column for column, label in enumerate(dict.fromkeys(labels))}
    a, b = np.split(np.eye(len(place))[[place[label] for label in labels]], [n])
    n_classes = a.shape[1]
    equal = (a * b).sum(axis=1, keepdims=True)

    def kappa(sums: FloatMatrix) -> FloatVector:
        share = sums[:, 1:] / sums[:, 1 : 1 + n_classes].sum(axis=1, keepdims=True)
        chance = (share[:, :n_classes] * share[:, n_classes:]).sum(axis=1)
        return _beyond(sums[:, 0] / sums[:, 1 : 1 + n_classes].sum(axis=1), chance)

    sums = np.hstack([equal, a, b])
    return _estimated("Cohen's kappa", sums, kappa, equal[:, 0], level, random_state)


def krippendorff_alpha(
    answers: Answers, *, level: float = 0.95, random_state: int = 0
) -> Agreement:
    """Krippendorff's alpha for labels: any number of people, with gaps.

    Documents with fewer than two answers say nothing and are left out.

    Parameters
    ----------
    answers : sequence of sequences
        One row per document; None where a person gave no answer.
    level : float, default=0.95
        Of the bootstrap interval.
    random_state : int, default=0
        Seed of the resamples.

    References
    ----------
    K. Krippendorff (2004). Content Analysis, chapter 11.

    Examples
    --------
    >>> print(krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"], ["b", None]]))
    Krippendorff's alpha 0.44 (-0.67 to 1.00) on 3 documents

    """
    counts = _counts(answers)
    n_each = counts.sum(axis=1)
    # Ordered pairs that differ, over the other answers to the document.
    differ = (n_each**2 - (counts**2).sum(axis=1)) / (n_each - 1)

    def alpha(sums: FloatMatrix) -> FloatVector:
        n = sums[:, 1:].sum(axis=1)
        expected = (n**2 - (sums[:, 1:] ** 2).sum(axis=1)) / (n - 1)
        return 1.0 - _ratio(sums[:, 0], expected)

    sums = np.hstack([differ[:, None], counts])
    equal = _equal_pairs(counts)
    return _estimated("Krippendorff's alpha", sums, alpha, equal, level, random_state)


def _estimated(
    name: str,
    sums: FloatMatrix,
    coefficient: _Coefficient,
    equal: FloatVector,
    level: float,
    random_state: int,
) -> Agreement:
    """The coefficient of all documents, and of resamples: it needs only sums."""
    n = len(sums)
    if not n:
        nan = float("nan")
        return Agreement(name, nan, nan, nan, 0, nan)
    rng = np.random.default_rng(random_state)
    at_once = max(1, _MOST_DRAWN // n)
    left = range(_N_RESAMPLES, 0, -at_once)
    drawn = [
        coefficient(rng.multinomial(n, np.full(n, 1 / n), size=size) @ sums)
        for size in (min(at_once, still) for still in left)
    ]
    values = np.concatenate(drawn)
    values = values[~np.isnan(values)]
    ends = percentile_interval(values, level) if len(values) else (np.nan, np.nan)
    value = float(coefficient(sums.sum(axis=0, keepdims=True))[0])
    return Agreement(name, value, *ends, n, float(equal.mean()))


def _beyond(observed: FloatVector, chance: FloatVector) -> FloatVector:
    return 1.0 - _ratio(1.0 - observed, 1.0 - chance)


def _ratio(part: FloatVector, whole: FloatVector) -> FloatVector:
    """Divide, with NaN where chance alone explains everything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 1e-12, part / whole, np.nan)


def _counts(answers: Answers) -> FloatMatrix:
    """How often each label was given, for documents with at least two answers."""
    rows = [[label for label in row if label is not None] for row in answers]
    rows = [row for row in rows if len(row) > 1]
    labels = dict.fromkeys(label for row in rows for label in row)
    place = {label: column for column, label in enumerate(labels)}
    counts = np.zeros((len(rows), len(place)))
    for number, row in enumerate(rows):
        for label in row:
            counts[number, place[label]] += 1
    return counts


def _equal_pairs(counts: FloatMatrix) -> FloatVector:
    """Share of equal pairs among the answers to each document."""
    n = counts.sum(axis=1)
    equal: FloatVector = (counts * (counts - 1)).sum(axis=1) / (n * (n - 1))
    return equal
