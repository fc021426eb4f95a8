"""The summary of a report in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from earmark.evaluation.significance import wilson_interval

if TYPE_CHECKING:
    from earmark.evaluation.report.report import Report

__all__ = ["count_of", "percent", "summary_sentences", "targets"]

_TARGETS = (0.9, 0.95, 0.99)
_FEWEST_CALIBRATED = 20


def targets(n_documents: int) -> list[float]:
    """Shares of right answers that so many documents can show: one may be wrong."""
    return [share for share in _TARGETS if n_documents >= round(1 / (1 - share))]


def percent(share: float) -> str:
    """0.8472 -> "84.7 %"."""
    return f"{100 * share:.1f} %"


def summary_sentences(report: Report) -> list[str]:
    """What a reader should know first, one sentence an entry."""
    sentences: list[str] = []
    if report.confusion is not None:
        sentences += _one_of(report)
    if report.multi_label is not None:
        sentences += _any_of(report)
    if report.coverage is not None:
        sentences += _coverage(report)
    calibrated = report.reliability
    if calibrated is not None and calibrated.count.sum() >= _FEWEST_CALIBRATED:
        sentences.append(_calibration(report))
    if report.confusion is not None:
        sentences += _confusions(report)
    if report.foreign is not None:
        sentences.append(report.foreign.sentence)
    if report.label_errors:
        sentences.append(
            f"Labels more probably wrong than right: {len(report.label_errors):,}; "
            "they are listed below, the most probable first."
        )
    if report.learning_curve is not None:
        sentences.append(report.learning_curve.advice)
    sentences += list(report.notes)
    return sentences


def _one_of(report: Report) -> list[str]:
    matrix = report.confusion
    assert matrix is not None
    head = (
        f"{count_of(matrix.n_documents, 'document')} in {len(matrix.classes)} classes"
    )
    if matrix.n_answered == 0:
        return [f"{head}: none was answered, the classifier abstained on all of them."]
    low, high = wilson_interval(matrix.n_correct, matrix.n_answered)
    right = (
        f"{percent(matrix.accuracy)} of the answers are right "
        f"(95 % interval {percent(low)} to {percent(high)})"
    )
    if matrix.n_answered < matrix.n_documents:
        sentences = [f"{head}: {percent(matrix.coverage)} were answered, and {right}."]
    else:
        sentences = [f"{head}: {right}."]
    support = matrix.counts.sum(axis=1) + matrix.abstained
    largest = int(support.argmax())
    share = support[largest] / matrix.n_documents
    sentences.append(
        f"For comparison: always answering {_name(matrix.classes[largest])}, "
        f"the most frequent class, would be right in {percent(share)}."
    )
    return sentences


def _any_of(report: Report) -> list[str]:
    scores = report.multi_label
    assert scores is not None
    head = f"{count_of(scores.n_documents, 'document')}, {len(scores.classes)} labels"
    answered = ""
    if scores.n_answered < scores.n_documents:
        answered = f"{percent(scores.coverage)} of the documents were answered; "
    sentences = [
        f"{head}: {answered}of the labels given, {percent(scores.micro.precision)} are "
        f"right, and {percent(scores.micro.recall)} of the true labels are found "
        f"(F1 {scores.micro.f1:.3f} over decisions, {scores.macro.f1:.3f} as a mean "
        "over labels).",
        f"The whole set of labels is right for {percent(scores.subset_accuracy)} of "
        "the answered documents.",
    ]
    weak = min((s for s in scores.per_class if s.support), key=lambda s: s.f1)
    sentences.append(
        f"The label with the lowest F1 is {_name(weak.label)} ({weak.f1:.2f}: "
        f"{percent(weak.recall)} of its documents are found, {percent(weak.precision)} "
        "of the answers are right)."
    )
    return sentences


def _coverage(report: Report) -> list[str]:
    curve = report.coverage
    assert curve is not None
    sentences: list[str] = []
    abstains = report.confusion is not None and report.confusion.abstained.any()
    if report.threshold == math.inf:
        sentences.append(
            "It answers nothing: no confidence is known to be high enough."
        )
    elif report.threshold is not None and abstains:
        sentences.append(f"It answers from a confidence of {report.threshold:.3f} on.")
    elif report.threshold is not None:
        share, accuracy = curve.at_threshold(report.threshold)
        right = (
            "" if accuracy is None else f", and {percent(accuracy)} of those are right"
        )
        sentences.append(
            f"Answering only from a confidence of {report.threshold:.3f} on would "
            f"answer {percent(share)} of the documents{right}."
        )
    full = float(curve.accuracy[-1]) if len(curve.accuracy) else 0.0
    if abstains:
        sentences.append(
            f"Without abstaining, {percent(full)} of all documents would be answered "
            "rightly."
        )
    target = next((t for t in (0.95, 0.99) if t > full), None)
    if target in targets(curve.n_documents):
        share = curve.coverage_at(target)
        if share > 0:
            sentences.append(
                f"Of its most confident {percent(share)} of the answers, at least "
                f"{100 * target:.0f} % are right."
            )
        else:
            sentences.append(
                f"No threshold makes {100 * target:.0f} % of the answers right."
            )
    return sentences


def _calibration(report: Report) -> str:
    figures = report.reliability
    assert figures is not None
    points = 100 * abs(figures.bias)
    tail = (
        f"expected calibration error {figures.ece:.3f}, log loss {figures.log_loss:.3f}"
    )
    if points < 1:
        return f"Its stated confidence can be taken at its word on average ({tail})."
    way = "too high" if figures.bias > 0 else "too low"
    return f"Its stated confidence is {points:.1f} points {way} on average ({tail})."


def _confusions(report: Report) -> list[str]:
    matrix = report.confusion
    assert matrix is not None
    sentences: list[str] = []
    pairs = matrix.most_confused(top=1)
    if pairs:
        pair = pairs[0]
        sentences.append(
            f"The most frequent mistake: {_name(pair.true)} taken for "
            f"{_name(pair.predicted)} ({pair.count:,} times, {percent(pair.share)} of "
            f"the documents of {_name(pair.true)})."
        )
    seen = [s for s in matrix.per_class if s.support]
    weak = min(seen, key=lambda s: s.f1)
    if len(seen) > 2 and matrix.n_answered and weak.f1 < 1:
        sentences.append(
            f"The class with the lowest F1 is {_name(weak.label)} ({weak.f1:.2f}: "
            f"{percent(weak.recall)} of its {count_of(weak.support, 'document')} are "
            f"found, {percent(weak.precision)} of the answers are right)."
        )
    return sentences


def _name(label: object) -> str:
    return f"“{label}”"


def count_of(number: int, noun: str) -> str:
    """2, "document" -> "2 documents"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
