"""How far people agree beyond chance: kappa and alpha, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.result import Result
from earmark.evaluation.significance import percentile_interval
from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.typing import FloatMatrix, FloatVector, Label

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
    one_hot = _one_hot([*first, *second])
    a, b = one_hot[:n], one_hot[n:]
    n_classes = a.shape[1]
    equal = (a * b).sum(axis=1, keepdims=True)

    def kappa(sums: FloatMatrix) -> FloatVector:
        share = sums[:, 1:] / sums[:, 1 : 1 + n_classes].sum(axis=1, keepdims=True)
        chance = (share[:, :n_classes] * share[:, n_classes:]).sum(axis=1)
        return _beyond(sums[:, 0] / sums[:, 1 : 1 + n_classes].sum(axis=1), chance)

    sums = np.hstack([equal, a, b])
    return _estimated("Cohen's kappa", sums, kappa, equal[:, 0], level, random_state)


def fleiss_kappa(
    answers: Answers, *, level: float = 0.95, random_state: int = 0
) -> Agreement:
    """Fleiss' kappa: every document has the same number of answers, by whomever.

    Parameters
    ----------
    answers : sequence of sequences
        One row per document; None is left out.
    level : float, default=0.95
        Of the bootstrap interval.
    random_state : int, default=0
        Seed of the resamples.

    References
    ----------
    J. L. Fleiss (1971). Measuring nominal scale agreement among many raters.
    Psychological Bulletin 76.

    Examples
    --------
    >>> print(fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]))
    Fleiss' kappa 0.47 (-0.60 to 1.00) on 4 documents

    """
    counts = _counts(answers)
    per_document = counts.sum(axis=1)
    if len(np.unique(per_document)) > 1:
        raise DataError(
            "Fleiss' kappa needs the same number of answers for every document, got "
            f"{int(per_document.min())} to {int(per_document.max())}; use "
            "krippendorff_alpha."
        )
    equal = _equal_pairs(counts)

    def kappa(sums: FloatMatrix) -> FloatVector:
        share = sums[:, 1:] / sums[:, 1:].sum(axis=1, keepdims=True)
        n = sums[:, 1:].sum(axis=1) / per_document[0]
        return _beyond(sums[:, 0] / n, (share**2).sum(axis=1))

    sums = np.hstack([equal[:, None], counts])
    return _estimated("Fleiss' kappa", sums, kappa, equal, level, random_state)


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
    """NaN where chance alone explains everything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 1e-12, part / whole, np.nan)


def _one_hot(labels: Sequence[Label]) -> FloatMatrix:
    place = {label: column for column, label in enumerate(dict.fromkeys(labels))}
    return np.eye(len(place))[[place[label] for label in labels]]


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
