"""Abstention thresholds that keep a promise about the error of the answers (AB1).

Calibration documents, none of which took part in fitting, are ranked by
confidence. The set of the k most confident is tested for k = k_0, k_0 + 1, ...:
with e_k errors it passes when P(Binomial(k, max_error) <= e_k) <= 1 - confidence,
and testing stops at the first failure. The last set that passed is answered.

Why this needs no correction for the many tests. Let u* be the confidence at which
the error of the more confident documents first reaches max_error. To choose a
threshold beyond u*, the sequence must pass the set of exactly the calibration
documents above u*; given their number k their errors are Binomial(k, max_error), so
it passes with probability at most 1 - confidence. No other test matters. (Should
the error fall below max_error again further down and rise once more, the argument
holds for the first crossing after the start of the sequence.)

The start k_0 is fixed before any label is seen: at least the smallest sample that
could pass without an error, and ``min_coverage`` of the documents. Starting lower
would let one unlucky document among the first sixty end the sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from earmark.evaluation._labels import check_equal_length
from earmark.exceptions import DataError
from earmark.typing import ArrayLike, BoolVector, FloatVector, IntVector

__all__ = [
    "Threshold",
    "estimated_threshold",
    "guaranteed_threshold",
    "several_words",
    "smallest_sample",
]


@dataclass(frozen=True)
class Threshold:
    """From which confidence on to answer, and what may be said about it.

    Attributes
    ----------
    value : float
        Answer when the confidence is >= value; inf: never, -inf: always.
    coverage : float
        Share of the calibration documents answered.
    error : float or None
        Share of wrong answers among them; None when none is answered.
    guaranteed : bool
        Whether the error of new answers is at most ``max_error`` with
        ``confidence`` (exact test on documents not used in fitting), or this is
        only what was observed.
    n_documents, n_answered, n_errors : int
        Calibration documents, those answered, and those answered wrongly.
    n_missing : int or None
        When nothing is answered: at least how many more labelled documents are
        needed; None when no number of labels is likely to do.

    """

    value: float
    coverage: float
    error: float | None
    guaranteed: bool
    max_error: float
    confidence: float | None
    n_documents: int
    n_answered: int
    n_errors: int
    n_missing: int | None = 0

    @property
    def words(self) -> str:
        """The threshold in plain words."""
        wrong = f"{100 * self.max_error:g} %"
        if self.n_answered == 0:
            return self._why_nothing(wrong)
        share = f"{100 * self.coverage:.1f} % of the documents"
        if self.guaranteed:
            assert self.confidence is not None
            return (
                f"Answers {share}; at most {wrong} of the answers are wrong, with "
                f"{100 * self.confidence:g} % confidence, for documents like those "
                "it was calibrated on."
            )
        return (
            f"Answers {share}; an estimated {100 * (self.error or 0):.1f} % of the "
            "answers are wrong. This is an estimate, not a guarantee: it has seen "
            "these documents in fitting."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def _why_nothing(self, wrong: str) -> str:
        head = f"Abstains on everything: an error of at most {wrong} "
        if not self.guaranteed:
            return head + "is not reached by its most confident answers."
        if self.n_missing is None:
            return head + (
                "is not reached by its most confident answers either; more labels "
                "for calibration are not likely to help, a better classifier would."
            )
        return head + (
            f"cannot be promised from {self.n_documents:,} calibration documents; "
            f"at least {self.n_missing:,} more labelled documents are needed."
        )


def several_words(found: Sequence[Threshold]) -> str:
    """One or several thresholds together, in plain words."""
    if len(found) == 1:
        return found[0].words
    answered = sum(t.n_answered for t in found)
    head = f"{sum(t.n_answered > 0 for t in found)} of {len(found)} labels are answered"
    if not answered:
        return f"{head}. {found[0].words}"
    share = 100 * answered / sum(t.n_documents for t in found)
    if found[0].confidence is None:
        wrong = 100 * sum(t.n_errors for t in found) / answered
        kind = f"an estimated {wrong:.1f} % of the answers are wrong, not a guarantee"
    else:
        risk = (1 - found[0].confidence) * len(found)
        kind = (
            f"at most {100 * found[0].max_error:g} % of the answers are wrong for "
            f"every label, with {100 * (1 - risk):g} % confidence"
        )
    return f"{head}, {share:.1f} % of the decisions; {kind}."


def smallest_sample(max_error: float, confidence: float) -> int:
    """Fewest answers, all of them right, that can promise ``max_error``.

    Examples
    --------
    >>> smallest_sample(0.05, 0.95)
    59

    """
    # (1 - max_error)^k <= 1 - confidence
    k = int(np.ceil(np.log1p(-confidence) / np.log1p(-max_error) - 1e-9))
    return max(k, 1)


def guaranteed_threshold(
    confidence: ArrayLike,
    correct: ArrayLike,
    max_error: float = 0.05,
    confidence_level: float = 0.95,
    *,
    min_coverage: float = 0.1,
) -> Threshold:
    """Threshold whose answers are wrong at most ``max_error`` of the time (AB1).

    Parameters
    ----------
    confidence : array-like of shape (n_documents,)
        How sure the classifier is of its best label, for calibration documents
        that took no part in fitting, near-duplicates counted once.
    correct : array-like of bool, shape (n_documents,)
        Whether that label is right.
    max_error : float in (0, 1), default=0.05
        The promised share of wrong answers.
    confidence_level : float in (0, 1), default=0.95
        How surely the promise holds, over draws of the calibration documents.
    min_coverage : float in [0, 1], default=0.1
        The smallest share of documents worth answering: the tests start there.
        Must be chosen before looking at the labels.

    Returns
    -------
    Threshold
        With ``value`` inf if the promise cannot be made.

    Examples
    --------
    >>> found = guaranteed_threshold(np.arange(100), np.arange(100) >= 20)
    >>> found.guaranteed, found.n_answered, found.n_errors
    (True, 80, 0)

    """
    scores, right = _checked(confidence, correct, max_error)
    if not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level must be in (0, 1), got {confidence_level!r}."
        )
    n_documents = len(scores)
    ranked, errors, ends = _ranked(scores, right)
    smallest = smallest_sample(max_error, confidence_level)
    start = max(smallest, int(np.ceil(min_coverage * n_documents)))
    tested = ends[ends >= start]
    p_value = stats.binom.cdf(errors[tested - 1], tested, max_error)
    failed = np.flatnonzero(p_value > 1 - confidence_level)
    passed = tested[: failed[0]] if len(failed) else tested
    n_answered = int(passed[-1]) if len(passed) else 0
    return Threshold(
        value=_cut(ranked, n_answered),
        coverage=n_answered / max(n_documents, 1),
        error=float(errors[n_answered - 1] / n_answered) if n_answered else None,
        guaranteed=True,
        max_error=max_error,
        confidence=confidence_level,
        n_documents=n_documents,
        n_answered=n_answered,
        n_errors=int(errors[n_answered - 1]) if n_answered else 0,
        n_missing=0
        if n_answered
        else _missing(errors, smallest, min_coverage, max_error, confidence_level),
    )


def estimated_threshold(
    confidence: ArrayLike, correct: ArrayLike, max_error: float = 0.05
) -> Threshold:
    """Threshold from leave-one-out or cross-validated scores: only an estimate.

    The largest set of most confident documents in which, counting half an error
    more than was seen, at most ``max_error`` are wrong. The scores of documents
    that the model was fitted with depend on each other, so no guarantee follows.

    Examples
    --------
    >>> found = estimated_threshold(np.arange(100), np.arange(100) >= 20)
    >>> found.guaranteed, found.n_answered, found.n_errors
    (False, 83, 3)

    """
    scores, right = _checked(confidence, correct, max_error)
    ranked, errors, ends = _ranked(scores, right)
    good = ends[(errors[ends - 1] + 0.5) / (ends + 0.5) <= max_error]
    n_answered = int(good[-1]) if len(good) else 0
    return Threshold(
        value=_cut(ranked, n_answered),
        coverage=n_answered / max(len(scores), 1),
        error=float(errors[n_answered - 1] / n_answered) if n_answered else None,
        guaranteed=False,
        max_error=max_error,
        confidence=None,
        n_documents=len(scores),
        n_answered=n_answered,
        n_errors=int(errors[n_answered - 1]) if n_answered else 0,
        n_missing=None if not n_answered else 0,
    )


def _checked(
    confidence: ArrayLike, correct: ArrayLike, max_error: float
) -> tuple[FloatVector, BoolVector]:
    scores = np.asarray(confidence, dtype=np.float64)
    right = np.asarray(correct, dtype=bool)
    check_equal_length(confidence=scores, correct=right)
    if not 0 < max_error < 1:
        raise ValueError(f"max_error must be in (0, 1), got {max_error!r}.")
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        raise DataError(f"confidence must be a number, got NaN in row {bad[0]}.")
    return scores, right


def _ranked(
    scores: FloatVector, right: BoolVector
) -> tuple[FloatVector, IntVector, IntVector]:
    """Scores in falling order, errors among the first k, and the ends of ties."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    errors = np.cumsum(~right[order]).astype(np.int64)
    ends = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True][: len(ranked)]) + 1
    return ranked, errors, ends.astype(np.int64)


def _cut(ranked: FloatVector, n_answered: int) -> float:
    """Just above the first document left out: what the test conditions on."""
    if n_answered == 0:
        return float("inf")
    if n_answered == len(ranked):
        return float("-inf")
    return float(np.nextafter(ranked[n_answered], np.inf))


def _missing(
    errors: IntVector,
    smallest: int,
    min_coverage: float,
    max_error: float,
    confidence_level: float,
) -> int | None:
    """At least how many more documents would let the first test pass, or None.

    With more documents the first test is of a smaller, surer share of them: the
    error seen in that share of these documents is taken to go on.
    """
    n_documents = len(errors)
    if n_documents < smallest:
        return smallest - n_documents
    sizes = np.unique(np.geomspace(n_documents + 1, 1e7, 2000).astype(np.int64))
    starts = np.maximum(smallest, np.ceil(min_coverage * sizes)).astype(np.int64)
    seen = np.maximum(1, np.round(starts / sizes * n_documents)).astype(np.int64)
    expected = np.floor(errors[seen - 1] / seen * starts)
    p_value = stats.binom.cdf(expected, starts, max_error)
    enough = sizes[p_value <= 1 - confidence_level]
    return int(enough[0]) - n_documents if len(enough) else None
