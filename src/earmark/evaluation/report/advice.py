"""What to do next, by what a report measured: nothing where nothing helps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from earmark.evaluation.report.text import confidence_words, count_of, percent, targets
from earmark.evaluation.result import Result
from earmark.evaluation.significance import wilson_interval
from earmark.evaluation.slices import LABEL, Slice

if TYPE_CHECKING:
    from earmark.evaluation.confusion import ConfusionMatrix
    from earmark.evaluation.report.report import Report

_MOST_STEPS = 5
_MOST_ALIKE = 2  # steps of one kind
# Two classes are merged if each is taken for the other so often, and surely so often.
_OFTEN, _SURELY = 0.15, 0.05
_FEWEST_CONFUSED = 5
_LEAST_COVERAGE = 0.3


@dataclass(frozen=True)
class Step(Result):
    """One thing to do, and how many wrong answers it is about."""

    kind: str
    sentence: str
    n_wrong: int
    section: str  # of the page, where its figures are


def next_steps(report: Report) -> list[Step]:
    """At most five steps: those about most wrong answers first, the threshold last."""
    matrix = report.confusion
    if matrix is None or matrix.n_correct == matrix.n_answered:
        return []
    steps = [*_labels(report, matrix), *_slices(report, matrix), *_merge(matrix)]
    steps.sort(key=lambda step: -step.n_wrong)
    number: dict[str, int] = {}
    few = []
    for step in steps:
        number[step.kind] = number.get(step.kind, 0) + 1
        if number[step.kind] <= _MOST_ALIKE:
            few.append(step)
    last = [*_costs(report), *_threshold(report, matrix)]
    return [*few[: _MOST_STEPS - len(last)], *last]


def _labels(report: Report, matrix: ConfusionMatrix) -> Iterator[Step]:
    doubtful = [one for one in report.doubtful if one.suggested != one.label]
    answers = [matrix.predicted_index[one.index] for one in doubtful]
    n_wrong = sum(
        said >= 0 and matrix.classes[said] == one.suggested
        for said, one in zip(answers, doubtful, strict=True)
    )
    if not n_wrong:
        return
    most = percent((matrix.n_correct + n_wrong) / matrix.n_answered)
    are = "is" if n_wrong == 1 else "are"
    yield Step(
        "labels",
        f"Check {count_of(len(report.doubtful), 'doubtful label')}: {n_wrong:,} of the "
        f"{_n_wrong(matrix):,} wrong answers {are} what they look like. If the model "
        f"is right there, its accuracy is {most}, not {percent(matrix.accuracy)}.",
        n_wrong,
        "label-errors",
    )


def _slices(report: Report, matrix: ConfusionMatrix) -> Iterator[Step]:
    for one in report.slices or ():
        if not one.excess:
            continue
        gain = (
            f"Read as well as the rest, {one.excess:,} more of the "
            f"{matrix.n_answered:,} answers would be right."
        )
        known = report.learned
        if one.column == LABEL and known and one.value not in [*map(str, known)]:
            sentence = (
                f"The model never learned “{one.value}”, so it misreads all "
                f"{count_of(one.n_documents, 'document')} of it: train it with some."
            )
            yield Step("class", sentence, one.excess, "slices")
        elif one.column == LABEL:
            do = f"Label more documents of “{one.value}”"
            yield Step("class", f"{do}: {_figures(one)}. {gain}", one.excess, "slices")
        else:
            do = f"Look at the documents with {one.name}"
            yield Step("slice", f"{do}: {_figures(one)}. {gain}", one.excess, "slices")
    for word in list(report.error_words or ())[:1]:
        do = f"{word}: read some of them"
        yield Step("word", f"{do}.", word.excess, "error-words")


def _figures(one: Slice) -> str:
    return (
        f"{one.n_wrong:,} of {one.n_documents:,} are misread "
        f"({percent(1 - one.accuracy)}; {percent(1 - one.rest)} elsewhere)"
    )


def _merge(matrix: ConfusionMatrix) -> Iterator[Step]:
    """Pairs of classes that are taken for each other, both ways."""
    if len(matrix.classes) < 3:
        return
    counts, support = matrix.counts, matrix.counts.sum(axis=1)
    both = np.triu(counts + counts.T, 1)
    for place in np.argsort(-both.ravel(), kind="stable")[:_MOST_ALIKE].tolist():
        a, b = divmod(place, len(counts))
        n = int(both[a, b])
        ways = _is_often(counts[a, b], support[a]), _is_often(counts[b, a], support[b])
        if n < _FEWEST_CONFUSED or not all(ways):
            continue
        merged = (matrix.n_correct + n) / matrix.n_answered
        yield Step(
            "merge",
            f"Merge “{matrix.classes[a]}” and “{matrix.classes[b]}”, or define them "
            f"better: they are taken for each other {count_of(n, 'time')} "
            f"({percent(n / _n_wrong(matrix))} of the wrong answers). As one class, "
            f"accuracy is {percent(merged)}, not {percent(matrix.accuracy)}.",
            n,
            "confusion",
        )


def _is_often(hits: np.int64, total: np.int64) -> bool:
    low, _ = wilson_interval(int(hits), int(total))
    return bool(total and hits >= _OFTEN * total and low >= _SURELY)


def _costs(report: Report) -> Iterator[Step]:
    costs = report.costs
    if costs is not None and costs.interval is not None and costs.saves:
        low, high = (-end for end in reversed(costs.interval))
        yield Step(
            "costs",
            "Take the answers of least expected cost: they save "
            f"{-costs.difference:.3g} per document (95 % interval {low:.3g} to "
            f"{high:.3g}).",
            0,
            "costs",
        )


def _threshold(report: Report, matrix: ConfusionMatrix) -> Iterator[Step]:
    """A threshold that surely makes the answers better, chosen on these documents."""
    curve = report.coverage
    if curve is None or report.threshold == math.inf or not matrix.n_answered:
        return
    for target in targets(curve.n_documents):
        threshold = curve.threshold_at(target)
        if target <= matrix.accuracy or threshold is None:
            continue
        share, right = curve.at_threshold(threshold)
        n_answered = round(share * curve.n_documents)
        low, high = wilson_interval(round((right or 0) * n_answered), n_answered)
        if share < _LEAST_COVERAGE or low <= matrix.accuracy:
            return
        n_left = curve.n_documents - n_answered
        do = "Raise the threshold to" if matrix.abstained.any() else "Answer only from"
        yield Step(
            "threshold",
            f"{do} a confidence of {confidence_words(threshold)}: {percent(share)} of "
            f"the documents would be answered, {percent(right or 0)} of them rightly "
            f"(95 % interval {percent(low)} to {percent(high)}, chosen on these "
            f"documents), and {count_of(n_left, 'document')} left to a person.",
            0,
            "confidence",
        )
        return


def _n_wrong(matrix: ConfusionMatrix) -> int:
    return matrix.n_answered - matrix.n_correct
