"""Abstention thresholds that keep a promise about the error of the answers (AB1).

Calibration documents, none of which took part in fitting, are ranked by
confidence. A set of the k most certain, with e_k errors, passes at risk r when
P(Binomial(k, max_error) <= e_k) <= r. Testing starts at a few ranks fixed before any
label is seen, which share the risk 1 - level. From a start on, every larger set
that a threshold can cut is tested until one fails. A sequence that reaches the next
start takes that start's risk along; after a failure the next start begins anew with
its own. The largest set that passed is answered. So one error among the most confident
documents ends only the first sequence.

Why this keeps the promise, exactly, for documents drawn independently of each other,
whatever the shape of the error and with ties. Order documents by certainty, ties
broken at random, and let R(u) be the error among the most confident share u of all
documents that may come: continuous in u. Call u bad where R(u) > max_error, and let b
and g be the places where R rises above max_error and falls back to it.

1. R = max_error at each b and g, so between any two of them the error is max_error on
   the average, and from b to a bad u it is more. Given how many calibration documents
   lie before each b and g, the errors in the first k documents are therefore at least
   Binomial(k, max_error), stochastically, if the set ends at a bad u. It passes at risk
   r with probability at most r.
2. To answer too much, some sequence must be the first to pass a bad set. If it starts
   at a bad u, that is its start, tested with its own risk. Otherwise it is the next
   set after b that can be cut: within a tie the error goes one way only, so the tie
   that holds b ends at a bad u, and the documents from b to its end are wrong more
   often than max_error (again point 1). The risk there is that of the starts between
   g and this set.
3. Given the counts of point 1, each start counts for one such set, so the
   probabilities add up to at most the risks of the starts: 1 - level.

Where some documents repeat others, answers are given only where two such families of
tests pass: one of all documents, which holds where a text that recurs among them will
recur, and one of documents that repeat no other, which holds where copies are an
accident of how they were collected. Whatever the truth is, one of the two is exact, and
no bad set that it passes is answered with more than its risk.

A start inside a tie counts the errors of the tie first. Starts lie where one error
more is allowed than a rank before: any start just before it would pass less often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from scipy import special

from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.typing import ArrayLike, BoolVector, FloatVector, IntVector

MIN_COVERAGE = (0.1, 0.25, 0.5)
"""Shares of the documents at which testing starts unless told otherwise."""

Coverages = float | Sequence[float] | None
"""One such share, several, or None for ``MIN_COVERAGE``."""

# Of the risk, for the first start; the others share the rest. Over 40 curves of error
# against coverage and 300 to 3,000 documents this costs a single start at most 1 % of
# the documents where that is the best there is, and gives up to 40 % where it is not.
_FIRST_SHARE = 0.8
# Of an estimate: how rare so few errors must be if the error were larger.
_ESTIMATE_LEVEL = 0.9
# Times the smallest sample: with fewer documents the risk is too small to be shared.
_ENOUGH_TO_SHARE = 5
# Times the smallest sample: a group with fewer documents shares a threshold.
_ENOUGH_FOR_ONE = 3
# Relative slack for rounding where a level is the size of a test exactly.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Threshold:
    """From which certainty on to answer, and what may be said about it.

    Attributes
    ----------
    value : float
        Answer when the certainty is >= value; inf: never, -inf: always.
    coverage : float
        Share of the calibration documents answered.
    error : float or None
        Share of wrong answers among them; None when none is answered.
    guaranteed : bool
        Whether the error of new answers is at most ``max_error`` with
        ``level`` (exact test on documents not used in fitting), or this is
        only what was observed. Several thresholds hold together with it.
    n_documents, n_answered, n_errors : int
        Calibration documents, those answered, and those answered wrongly.
    n_missing : int or None
        When nothing is answered: at least how many more labelled documents are
        needed; None when no number of labels is likely to do.
    n_pooled : int
        Groups that share this threshold: the promise is about their answers together.
    distinct : tuple of int or None
        Documents that repeat no other, those of them answered, and those answered
        wrongly; None where no document repeats another.

    """

    value: float
    coverage: float
    error: float | None
    guaranteed: bool
    max_error: float
    level: float | None
    n_documents: int
    n_answered: int
    n_errors: int
    n_missing: int | None = 0
    n_pooled: int = 1
    distinct: tuple[int, int, int] | None = None

    @property
    def words(self) -> str:
        """The threshold in plain words."""
        answered = f"Answers {100 * self.coverage:.1f} % of the documents"
        if self.distinct is not None and self.distinct[0]:
            share = 100 * self.distinct[1] / self.distinct[0]
            answered += f" ({share:.1f} % of those that repeat no other)"
        return _words(self, answered)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = asdict(self)
        if self.distinct is None:
            del plain["distinct"]
        return plain


def _words(threshold: Threshold, answered: str) -> str:
    """The sentence about how many answers are wrong; ``answered`` begins it."""
    wrong = f"{100 * threshold.max_error:g} %"
    if threshold.n_answered == 0:
        return _why_nothing(threshold, wrong)
    if threshold.guaranteed:
        assert threshold.level is not None
        return (
            f"{answered}; at most {wrong} of the answers are wrong, with "
            f"{100 * threshold.level:g} % confidence, for documents like those "
            "it was calibrated on."
        )
    return (
        f"{answered}; an estimated {wrong} of the answers are wrong at most "
        f"({threshold.n_errors:,} of {threshold.n_answered:,} left-out ones were). "
        "This is an estimate from the training documents, not a guarantee."
    )


def _why_nothing(threshold: Threshold, wrong: str) -> str:
    head = f"Abstains on everything: an error of at most {wrong} "
    if threshold.n_missing is None and not threshold.guaranteed:
        return head + (
            "is not reached by its most confident answers either; label more "
            "documents, or allow more errors."
        )
    if threshold.n_missing is None:
        return head + (
            "is not reached by its most confident answers either; more labels "
            "for calibration are not likely to help, a better classifier would."
        )
    if not threshold.guaranteed:
        least = smallest_sample(threshold.max_error, _ESTIMATE_LEVEL)
        return head + (
            f"cannot be told from {threshold.n_documents:,} labelled documents; that "
            f"takes {least:,} if none is answered wrongly, and more if some are."
        )
    return head + (
        f"cannot be promised from {threshold.n_documents:,} calibration documents; "
        f"at least {threshold.n_missing:,} more labelled documents are needed."
    )


def several_words(thresholds: Sequence[Threshold], answered: str = "") -> str:
    """One or several thresholds in plain words; ``answered`` replaces the share."""
    if len(thresholds) == 1:
        only = thresholds[0]
        return _words(only, answered) if answered else only.words
    n_answered = sum(t.n_answered for t in thresholds)
    n_labels = sum(t.n_answered > 0 for t in thresholds)
    head = f"{n_labels} of {len(thresholds)} labels are answered"
    if not n_answered:
        return f"{head}. {thresholds[0].words}"
    share = 100 * n_answered / sum(t.n_documents for t in thresholds)
    level = thresholds[0].level
    if level is None:
        n_wrong = sum(t.n_errors for t in thresholds)
        kind = (
            f"{n_wrong:,} of {n_answered:,} left-out answers were wrong, at most "
            f"{100 * thresholds[0].max_error:g} % for every label, an estimate and not "
            "a guarantee"
        )
    else:
        kind = (
            f"at most {100 * thresholds[0].max_error:g} % of the answers are wrong for "
            f"every label, with {100 * level:g} % confidence"
        )
        n_pooled = max(threshold.n_pooled for threshold in thresholds)
        kind += f" (the {n_pooled} rarest taken together)" if n_pooled > 1 else ""
    return f"{answered or f'{head}, {share:.1f} % of the decisions'}; {kind}."


def words_per_label(thresholds: Sequence[Threshold], labels: Sequence[Any]) -> str:
    """What was promised for each label, a line each.

    Examples
    --------
    >>> threshold = guaranteed_threshold(np.arange(100), np.arange(100) >= 20)
    >>> print(words_per_label([threshold], ["sport"]))
    sport: 80 of 100 answered, at most 5 % of them wrong (0 in calibration)

    """
    return "\n".join(
        f"{label}: {_short_words(threshold)}"
        for label, threshold in zip(labels, thresholds, strict=True)
    )


def _short_words(threshold: Threshold) -> str:
    wrong = f"{100 * threshold.max_error:g} %"
    answered = f"{threshold.n_answered:,} of {threshold.n_documents:,} answered"
    if threshold.n_answered and threshold.guaranteed:
        seen = f"{threshold.n_errors:,} in calibration"
        if threshold.n_pooled > 1:
            of = f"those of {threshold.n_pooled} rare labels together"
            return f"{answered}, at most {wrong} of {of} wrong ({seen} here)"
        return f"{answered}, at most {wrong} of them wrong ({seen})"
    if threshold.n_answered:
        return f"{answered}, {threshold.n_errors:,} of them wrong, not a guarantee"
    if not threshold.n_missing:
        return f"nothing is promised: at most {wrong} wrong is out of reach"
    return f"nothing is promised: {threshold.n_missing:,} more documents are needed"


def smallest_sample(max_error: float, level: float) -> int:
    """Fewest answers, all of them right, that can promise ``max_error``.

    Examples
    --------
    >>> smallest_sample(0.05, 0.95)
    59

    """
    # (1 - max_error)^k <= 1 - level
    k = int(np.ceil(np.log1p(-level) / np.log1p(-max_error) - 1e-9))
    return max(k, 1)


def guaranteed_threshold(
    certainty: ArrayLike,
    correct: ArrayLike,
    max_error: float = 0.05,
    level: float = 0.95,
    *,
    min_coverage: Coverages = None,
    distinct: ArrayLike | None = None,
) -> Threshold:
    """Threshold whose answers are wrong at most ``max_error`` of the time (AB1).

    Parameters
    ----------
    certainty : array-like of shape (n_documents,)
        How sure the classifier is of its best label, for calibration documents
        that took no part in fitting.
    correct : array-like of bool, shape (n_documents,)
        Whether that label is right.
    max_error : float in (0, 1), default=0.05
        The promised share of wrong answers.
    level : float in (0, 1), default=0.95
        How surely the promise holds, over draws of the calibration documents.
    min_coverage : float or sequence of float in [0, 1], optional
        Shares of the documents at which testing starts, 0.1, 0.25 and 0.5 by default.
        Several share the risk, the smallest gets most of it; with few documents it
        gets all. Must be chosen before looking at the labels.
    distinct : array-like of bool, shape (n_documents,), optional
        Whether each document repeats neither a training document nor one before it.
        The promise then holds for all documents and for these alone.

    Returns
    -------
    Threshold
        With ``value`` inf if the promise cannot be made.

    Examples
    --------
    >>> threshold = guaranteed_threshold(np.arange(100), np.arange(100) >= 20)
    >>> threshold.guaranteed, threshold.n_answered, threshold.n_errors
    (True, 80, 0)

    """
    one_group = np.zeros(len(np.asarray(certainty)), dtype=np.int64)
    return guaranteed_thresholds(
        certainty,
        correct,
        one_group,
        1,
        max_error,
        level,
        min_coverage=min_coverage,
        distinct=distinct,
    )[0]


def guaranteed_thresholds(
    certainty: ArrayLike,
    correct: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    max_error: float = 0.05,
    level: float = 0.95,
    *,
    min_coverage: Coverages = None,
    pool_rare: bool = False,
    distinct: ArrayLike | None = None,
) -> list[Threshold]:
    """One threshold per group; the promise holds for each, all of them together.

    The groups (predicted classes, or the labels of any-of decisions) share the risk.
    Only groups with enough documents to pass get a share. They are taken from the
    largest to the smallest, and a group in which nothing failed from its first start
    to its last document hands its whole risk on to the next.

    Why this holds, also where decisions of several groups are about one document: a
    group with a set that is wrong too often hands its risk on only if that set
    passed, which is the very error that its risk bounds. So such a group is tested
    with at most its own share and those of the groups between it and the last such
    group before it. These sums add up to at most 1 - level. (More risk at the
    same starting ranks never lets less pass.)

    Parameters
    ----------
    certainty, correct, max_error, min_coverage, distinct
        As for ``guaranteed_threshold``.
    group : array-like of int, shape (n_documents,)
        The group of each decision, 0 to ``n_groups`` - 1. Must not depend on the
        labels of the calibration documents.
    n_groups : int
        How many groups there are.
    level : float in (0, 1), default=0.95
        How surely all of the promises hold together.
    pool_rare : bool, default=False
        Groups too small for a threshold of their own share one, and the promise is
        about their answers together. Only where each document belongs to one group:
        the answers of a pool must not depend on each other.

    Returns
    -------
    list of Threshold
        One per group, each with the joint ``level``.

    Examples
    --------
    >>> easy, hard = np.arange(200.0), np.arange(200.0)
    >>> right = np.r_[np.ones(200, bool), np.arange(200) >= 100]
    >>> thresholds = guaranteed_thresholds(
    ...     np.r_[easy, hard], right, np.repeat([0, 1], 200), 2
    ... )
    >>> [threshold.n_answered for threshold in thresholds]
    [200, 101]

    """
    scores, right = _checked(certainty, correct, max_error, level)
    coverages = checked_coverages(min_coverage)
    members = np.asarray(group, dtype=np.int64)
    check_equal_length(certainty=scores, group=members)
    alone = np.ones(len(scores), bool) if distinct is None else np.asarray(distinct)
    check_equal_length(certainty=scores, distinct=alone)
    if pool_rare:
        sizes = np.bincount(members[alone], minlength=n_groups)[:n_groups]
        rare = _too_small(sizes, max_error, 1 - level)
        if len(rare) > 1:
            return _with_pool(
                scores, right, members, alone, rare, max_error, level, coverages
            )
    promise = _Promise(max_error, level, coverages)
    every = promise.tested(scores, right, members, n_groups)
    if alone.all():
        return [promise.threshold(one) for one in every]
    few = promise.tested(scores[alone], right[alone], members[alone], n_groups)
    return [
        promise.threshold(every[number], few[number], alone[members == number])
        for number in range(n_groups)
    ]


@dataclass(frozen=True, eq=False)
class _Tested:
    """Documents of a group in falling order of certainty, and which sets passed."""

    order: IntVector
    ranked: FloatVector
    errors: IntVector
    """Wrong answers among the first k."""
    ends: IntVector
    """Sizes of the sets that a threshold can cut."""
    passed: BoolVector
    """Whether each of these passed."""
    risk: float
    """That was tested with, or would be."""


@dataclass(frozen=True)
class _Promise:
    """What is to hold, and where testing starts."""

    max_error: float
    level: float
    coverages: tuple[float, ...]

    def tested(
        self, scores: FloatVector, right: BoolVector, members: IntVector, n_groups: int
    ) -> list[_Tested]:
        """Each group's sets, tested with its share of the risk."""
        risk_of_all, handed_on = 1 - self.level, 0.0
        sizes = np.bincount(members, minlength=n_groups)[:n_groups]
        shares = _group_risks(sizes, self.max_error, risk_of_all)
        tested: dict[int, _Tested] = {}
        for number in np.argsort(-sizes, kind="stable").tolist():
            rows = members == number
            order, ranked, errors, ends = _ranked(scores[rows], right[rows])
            risk = shares[number]
            more = 1 + handed_on / risk if risk else 0.0
            ranks = starting_ranks(len(errors), self.max_error, risk, self.coverages)
            starts = [(rank, share * more) for rank, share in ranks]
            passed, whole = _passed_sets(errors, ends, starts, self.max_error)
            handed_on = risk * more if whole else 0.0
            needed = risk or risk_of_all / (np.count_nonzero(shares) + 1)
            tested[number] = _Tested(order, ranked, errors, ends, passed, needed)
        return [tested[number] for number in range(n_groups)]

    def threshold(
        self,
        every: _Tested,
        few: _Tested | None = None,
        distinct: BoolVector | None = None,
    ) -> Threshold:
        """Where the largest set is cut that passed, also without the copies in it."""
        good = every.ends[every.passed]
        n_distinct = np.zeros(0, dtype=np.int64)
        if few is not None and distinct is not None:
            n_distinct = np.cumsum(distinct[every.order])
            good = good[np.isin(n_distinct[good - 1], few.ends[few.passed])]
        n_answered = int(good[-1]) if len(good) else 0
        missing: int | None = 0
        if not n_answered:
            each = [self._missing(one) for one in (every, few) if one is not None]
            known = [number for number in each if number]
            missing = max(known) if None not in each and known else None
        threshold = _threshold(
            every.ranked, every.errors, n_answered, self.max_error, self.level, missing
        )
        if few is None:
            return threshold
        n_few = int(n_distinct[n_answered - 1]) if n_answered else 0
        n_wrong = int(few.errors[n_few - 1]) if n_few else 0
        return replace(threshold, distinct=(len(few.ranked), n_few, n_wrong))

    def _missing(self, tested: _Tested) -> int | None:
        """Documents that are missing for a test; 0: it passes somewhere."""
        if tested.passed.any():
            return 0
        return _missing(tested.errors, self.max_error, tested.risk, self.coverages)


def _too_small(sizes: IntVector, max_error: float, risk: float) -> IntVector:
    """Groups too small for a threshold of their own: they share one."""
    order = np.argsort(-sizes, kind="stable")
    for n_own in range(len(sizes), 0, -1):
        pool = int(sizes[order[n_own:]].sum())
        is_tested = pool >= smallest_sample(max_error, 1 - risk / (n_own + 1))
        needed = smallest_sample(max_error, 1 - risk / (n_own + is_tested))
        if sizes[order[n_own - 1]] >= _ENOUGH_FOR_ONE * needed:
            return order[n_own:]
    return order


def _with_pool(
    scores: FloatVector,
    right: BoolVector,
    members: IntVector,
    distinct: BoolVector,
    rare: IntVector,
    max_error: float,
    level: float,
    coverages: tuple[float, ...],
) -> list[Threshold]:
    """Thresholds of all groups; the ``rare`` ones share one threshold."""
    pooled = np.where(np.isin(members, rare), rare[0], members)
    n_groups = int(max(members.max(initial=0), rare.max())) + 1
    thresholds = guaranteed_thresholds(
        scores,
        right,
        pooled,
        n_groups,
        max_error,
        level,
        min_coverage=coverages,
        distinct=distinct,
    )
    shared = thresholds[rare[0]]
    for number in rare.tolist():
        rows = members == number
        answered = rows & (scores >= shared.value)
        thresholds[number] = replace(
            shared,
            coverage=answered.sum() / max(rows.sum(), 1),
            error=float((~right[answered]).mean()) if answered.any() else None,
            n_documents=int(rows.sum()),
            n_answered=int(answered.sum()),
            n_errors=int((~right[answered]).sum()),
            n_pooled=len(rare),
            distinct=None
            if shared.distinct is None
            else (
                int((rows & distinct).sum()),
                int((answered & distinct).sum()),
                int((~right[answered & distinct]).sum()),
            ),
        )
    return thresholds


def checked_coverages(min_coverage: Coverages, where: str = "") -> tuple[float, ...]:
    """The shares at which testing starts, rising; raise unless in [0, 1]."""
    wanted = MIN_COVERAGE if min_coverage is None else min_coverage
    coverages = tuple(np.unique(np.asarray(wanted, np.float64)).tolist())
    if not coverages or not all(0 <= coverage <= 1 for coverage in coverages):
        raise ValueError(
            f"{where}min_coverage must be a share of the documents in [0, 1], or "
            f"several such shares, got {min_coverage!r}."
        )
    return coverages


@lru_cache(maxsize=4096)
def starting_ranks(
    n_documents: int,
    max_error: float,
    risk: float,
    coverages: tuple[float, ...] = MIN_COVERAGE,
) -> tuple[tuple[int, float], ...]:
    """Ranks at which testing starts, each with its share of ``risk``, rising."""
    # They depend on the number of documents only. None if no such sample could pass.
    if risk <= 0 or n_documents < smallest_sample(max_error, 1 - risk):
        return ()
    shared = n_documents >= _ENOUGH_TO_SHARE * smallest_sample(max_error, 1 - risk)
    used = sorted(coverages) if shared else [min(coverages)]
    shares = [risk * share for share in _shares(len(used))]
    starts: dict[int, float] = {}
    lost = 0.0
    for coverage, share in zip(used, shares, strict=True):
        rank = max(int(np.ceil(coverage * n_documents - _ROUNDING)), 1)
        rank = _start_from(rank, n_documents, max_error, share)
        if rank > n_documents:
            lost += share
        else:
            starts[rank] = starts.get(rank, 0.0) + share
    if not starts:
        return ((smallest_sample(max_error, 1 - risk), risk),)
    first = min(starts)
    starts[first] += lost
    return tuple(sorted(starts.items()))


def estimated_threshold(
    certainty: ArrayLike, correct: ArrayLike, max_error: float = 0.05
) -> Threshold:
    """Threshold from leave-one-out or cross-validated scores: only an estimate.

    The largest set of most certain documents whose error is likely to be at most
    ``max_error``: so few errors would be rarer than one time in ten if it were more.
    The best of many sets is taken, and the scores of documents that the model was
    fitted with depend on each other, so no guarantee follows.

    Examples
    --------
    >>> threshold = estimated_threshold(np.arange(100), np.arange(100) >= 20)
    >>> threshold.guaranteed, threshold.n_answered, threshold.n_errors
    (False, 81, 1)

    """
    scores, right = _checked(certainty, correct, max_error)
    _, ranked, errors, ends = _ranked(scores, right)
    rare = 1 - _ESTIMATE_LEVEL
    good = ends[_p_value(errors[ends - 1], ends, max_error) <= rare * (1 + _ROUNDING)]
    n_answered = int(good[-1]) if len(good) else 0
    missing: int | None = 0
    if not n_answered:
        missing = _missing(errors, max_error, rare, MIN_COVERAGE)
    return _threshold(ranked, errors, n_answered, max_error, None, missing)


def error_bounds(n_errors: float, n_answers: float) -> tuple[float, float]:
    """The shares of errors that such a count is likely under, at 95 % (exact).

    Examples
    --------
    >>> low, high = error_bounds(6, 20)
    >>> round(low, 2), round(high, 2)
    (0.12, 0.54)

    """
    n_right = n_answers - n_errors
    low = special.betaincinv(n_errors, n_right + 1, 0.025) if n_errors else 0.0
    high = special.betaincinv(n_errors + 1, n_right, 0.975) if n_right else 1.0
    return float(low), float(high)


# Below so many answers people read counts, not decimals.
_FEW_ANSWERS = 50


def accuracy_words(
    n_right: int, n: int, documents: str, accuracy: float, n_independent: float
) -> str:
    """How many answers to such documents were right, and how many may be.

    ``accuracy`` is that of the kind of documents that will come, and ``n_independent``
    says as how many independent answers these tell it.

    Examples
    --------
    >>> accuracy_words(14, 20, "held-out documents", 0.7, 20)
    '14 of 20 held-out documents right: between 46 and 88 %'

    """
    low, high = error_bounds((1.0 - accuracy) * n_independent, n_independent)
    between = f"between {100 * (1 - high):.0f} and {100 * (1 - low):.0f} %"
    if n < _FEW_ANSWERS:
        return f"{n_right:,} of {n:,} {documents} right: {between}"
    return f"accuracy {accuracy:.3f} on {n:,} {documents} ({between})"


def _checked(
    certainty: ArrayLike, correct: ArrayLike, max_error: float, level: float = 0.5
) -> tuple[FloatVector, BoolVector]:
    scores = np.asarray(certainty, dtype=np.float64)
    right = np.asarray(correct, dtype=bool)
    check_equal_length(certainty=scores, correct=right)
    if not 0 < max_error < 1:
        raise ValueError(f"max_error must be in (0, 1), got {max_error!r}.")
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level!r}.")
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        raise DataError(f"certainty must be a number, got NaN in row {bad[0]}.")
    return scores, right


def _ranked(
    scores: FloatVector, right: BoolVector
) -> tuple[IntVector, FloatVector, IntVector, IntVector]:
    """Falling order, scores in it, errors among the first k, and the ends of ties."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    errors = np.cumsum(~right[order]).astype(np.int64)
    ends = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True][: len(ranked)]) + 1
    return order, ranked, errors, ends.astype(np.int64)


def _threshold(
    ranked: FloatVector,
    errors: IntVector,
    n_answered: int,
    max_error: float,
    level: float | None,
    n_missing: int | None,
) -> Threshold:
    n_errors = int(errors[n_answered - 1]) if n_answered else 0
    value = -np.inf if n_answered else np.inf
    if 0 < n_answered < len(ranked):
        # Just above the first document left out: what the test conditions on.
        value = float(np.nextafter(ranked[n_answered], np.inf))
    return Threshold(
        value=value,
        coverage=n_answered / max(len(ranked), 1),
        error=n_errors / n_answered if n_answered else None,
        guaranteed=level is not None,
        max_error=max_error,
        level=level,
        n_documents=len(ranked),
        n_answered=n_answered,
        n_errors=n_errors,
        n_missing=n_missing,
    )


def _shares(n_starts: int) -> list[float]:
    """Divide the risk among so many first tests: shares that add up to 1."""
    if n_starts == 1:
        return [1.0]
    return [_FIRST_SHARE] + [(1 - _FIRST_SHARE) / (n_starts - 1)] * (n_starts - 1)


def _p_value(errors: ArrayLike, ranks: ArrayLike, max_error: float) -> FloatVector:
    """Probability of so few errors if the error were ``max_error`` (AB1)."""
    n_errors = np.asarray(errors, dtype=np.float64)
    n_right = np.asarray(ranks, dtype=np.float64) - n_errors
    p_value = special.betainc(np.maximum(n_right, 1e-300), n_errors + 1, 1 - max_error)
    return np.asarray(np.where(n_right > 0, p_value, 1.0))


def _start_from(rank: int, n_documents: int, max_error: float, risk: float) -> int:
    """The first rank, from ``rank`` on, at which one more error is allowed."""
    slack = risk * (1 + _ROUNDING)
    allowed = int(scipy.stats.binom.ppf(risk, rank - 1, max_error))
    if _p_value(allowed, rank - 1, max_error) > slack:
        allowed -= 1
    smallest = smallest_sample(max_error, 1 - risk)
    farthest = smallest + int(np.ceil(2 / max_error))  # steps are nearer to each other
    ranks = np.arange(rank, min(rank + farthest, n_documents) + 1)
    steps = ranks[_p_value(allowed + 1, ranks, max_error) <= slack]
    return int(steps[0]) if len(steps) else max(rank, smallest)


def _passed_sets(
    errors: IntVector,
    ends: IntVector,
    starts: Sequence[tuple[int, float]],
    max_error: float,
) -> tuple[BoolVector, bool]:
    """Which sets passed, and whether none failed from the first start on."""
    passed = np.zeros(len(ends), dtype=bool)
    if not starts:
        return passed, False
    p_value = _p_value(errors[ends - 1], ends, max_error)
    risk, whole = 0.0, True
    bounds = [rank for rank, _ in starts[1:]] + [len(errors) + 1]
    for (rank, share), bound in zip(starts, bounds, strict=True):
        if not risk:  # a new sequence
            first = _first_p_value(errors, ends, rank, max_error)
            if first > share * (1 + _ROUNDING):
                whole = False
                continue
        risk += share
        begin, end = np.searchsorted(ends, [rank, bound])
        failed = np.flatnonzero(p_value[begin:end] > risk * (1 + _ROUNDING))
        passed[begin : begin + failed[0] if len(failed) else end] = True
        if len(failed):
            risk, whole = 0.0, False
    return passed, whole


def _first_p_value(
    errors: IntVector, ends: IntVector, rank: int, max_error: float
) -> float:
    """The p-value of the first ``rank`` documents, errors first within a tie."""
    place = int(np.searchsorted(ends, rank))
    before = int(ends[place - 1]) if place else 0
    seen = int(errors[before - 1]) if before else 0
    tied = int(errors[ends[place] - 1]) - seen
    return float(_p_value(seen + min(tied, rank - before), rank, max_error))


def _group_risks(sizes: IntVector, max_error: float, risk: float) -> FloatVector:
    """Equal shares for as many groups as could each pass with such a share."""
    order = np.argsort(-sizes, kind="stable")
    n_sharing = 0
    for number, size in enumerate(sizes[order].tolist(), start=1):
        if size >= smallest_sample(max_error, 1 - risk / number):
            n_sharing = number
    shares = np.zeros(len(sizes))
    if n_sharing:
        shares[order[:n_sharing]] = risk / n_sharing
    return shares


def _missing(
    errors: IntVector, max_error: float, risk: float, coverages: tuple[float, ...]
) -> int | None:
    """The fewest further documents with which a test could pass; None if unknown."""
    # The error in a share of the documents is taken to go on in that share of more.
    n_documents = len(errors)
    smallest = smallest_sample(max_error, 1 - risk)
    if n_documents < smallest and (not n_documents or errors[-1] < n_documents):
        return smallest - n_documents
    sizes = np.unique(np.geomspace(n_documents + 1, 1e7, 400).astype(np.int64))
    for size in sizes[_promising(errors, sizes, max_error, risk, coverages)].tolist():
        for rank, share in starting_ranks(size, max_error, risk, coverages):
            seen = max(1, round(rank / size * n_documents))
            expected = int(errors[seen - 1]) * rank // seen
            if _p_value(expected, rank, max_error) <= share:
                return int(size) - n_documents
    return None


def _promising(
    errors: IntVector,
    sizes: IntVector,
    max_error: float,
    risk: float,
    coverages: Sequence[float],
) -> BoolVector:
    """Sizes at which some start would pass with one error less than expected."""
    enough = _ENOUGH_TO_SHARE * smallest_sample(max_error, 1 - risk)
    promising = np.zeros(len(sizes), dtype=bool)
    for place, part in enumerate(_shares(len(coverages))):
        share = np.where(sizes >= enough, risk * part, 0.0 if place else risk)
        smallest = smallest_sample(max_error, 1 - risk * part)
        ranks = np.maximum(np.ceil(coverages[place] * sizes), smallest)
        seen = np.clip(np.round(ranks / sizes * len(errors)), 1, len(errors))
        expected = np.floor(errors[seen.astype(np.int64) - 1] * ranks / seen)
        p_value = _p_value(np.maximum(expected - 1, 0), ranks, max_error)
        promising |= (share > 0) & ((expected == 0) | (p_value <= share))
    return promising
