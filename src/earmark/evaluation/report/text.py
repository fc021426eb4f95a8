"""A report in words: its summary, and its text for a terminal or a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy

from earmark.evaluation.costs import NO_ANSWER, Costs
from earmark.evaluation.report.columns import HEAD, average_row, class_row
from earmark.evaluation.result import Result
from earmark.evaluation.significance import p_words, wilson_interval
from earmark.evaluation.slices import WORD, Slice
from earmark.tables import text_table, wrapped
from earmark.typing import FloatVector, IntVector, JsonObject

if TYPE_CHECKING:
    from earmark.evaluation.confusion import (
        ClassScores,
        ConfusionMatrix,
        MultiLabelScores,
    )
    from earmark.evaluation.coverage import Reliability
    from earmark.evaluation.report.report import Report

__all__ = [
    "ForeignDocuments",
    "confidence_words",
    "count_of",
    "percent",
    "render_terminal",
    "summary_sentences",
    "targets",
    "telling_documents",
]

_TARGETS = (0.9, 0.95, 0.99)
# Share of the labels that the answers differ from: if more, that is said.
_MANY = 0.2
_FEWEST_CALIBRATED = 20
# So unlikely a number of foreign documents is no accident.
_UNLIKELY = 0.01
_MOST_ROWS = 40


def targets(n_documents: int) -> list[float]:
    """Shares of right answers that so many documents can show: one may be wrong."""
    return [share for share in _TARGETS if n_documents >= round(1 / (1 - share))]


def percent(share: float) -> str:
    """0.8472 -> "84.7 %"."""
    return f"{100 * share:.1f} %"


def confidence_words(confidence: float) -> str:
    """0.8472 -> "0.847"; a confidence below 1 is not rounded up to 1.

    >>> confidence_words(0.8472), confidence_words(0.999987), confidence_words(1.0)
    ('0.847', '0.99999', '1')
    """
    for digits in range(3, 13):
        words = f"{confidence:.{digits}f}"
        if float(words) < 1:
            return words
    return "1"


def count_of(number: int, noun: str) -> str:
    """2, "document" -> "2 documents"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


@dataclass(frozen=True, eq=False)
class ForeignDocuments(Result):
    """Which documents are called foreign, and whether they are more than chance."""

    level: float
    """Documents with a p-value of this or less are foreign."""
    n_documents: int
    """How many were looked at."""
    documents: IntVector
    """The foreign ones, the most foreign first."""
    p_values: FloatVector
    """Theirs."""

    @classmethod
    def from_p_values(cls, p_values: FloatVector, level: float) -> Self:
        """From the p-values of all documents."""
        order = np.argsort(p_values, kind="stable")
        foreign = order[p_values[order] <= level]
        return cls(level, len(p_values), foreign, p_values[foreign])

    @property
    def share(self) -> float:
        """Their share of the documents."""
        return len(self.documents) / max(self.n_documents, 1)

    @property
    def is_more_than_chance(self) -> bool:
        """Whether documents like the training documents would hardly give so many."""
        n_foreign = len(self.documents)
        chance = scipy.stats.binom.sf(n_foreign - 1, self.n_documents, self.level)
        return bool(chance < _UNLIKELY)

    @property
    def sentence(self) -> str:
        """Both in plain words."""
        head = (
            f"{count_of(len(self.documents), 'document')} ({percent(self.share)}) are "
            f"unlike the training documents, where {percent(self.level)} are called so "
            "by accident"
        )
        if self.is_more_than_chance:
            return f"{head}: these documents are not like the ones it learned from."
        return f"{head}: no more than that."

    def to_dict(self) -> JsonObject:
        """Plain Python values."""
        more = {"share": self.share, "more_than_chance": self.is_more_than_chance}
        return super().to_dict() | more


def telling_documents(report: Report, most: int = 10) -> tuple[list[int], list[int]]:
    """The most confident mistakes, and the answers given with most doubt."""
    matrix = report.confusion
    if matrix is None or matrix.confidence is None:
        return [], []
    answered = np.flatnonzero(matrix.predicted_index >= 0)
    order = answered[np.argsort(-matrix.confidence[answered], kind="stable")]
    wrong = matrix.true_index[order] != matrix.predicted_index[order]
    return order[wrong][:most].tolist(), order[::-1][:most].tolist()


# -- the summary --------------------------------------------------------------------


def summary_sentences(report: Report) -> list[str]:
    """What a reader should know first, one sentence an entry."""
    matrix, sentences = report.confusion, []
    if matrix is not None:
        sentences += _one_of(matrix)
    if report.multi_label is not None:
        sentences += _any_of(report.multi_label)
    sentences += _coverage(report)
    calibrated = report.reliability
    if calibrated is not None and calibrated.count.sum() >= _FEWEST_CALIBRATED:
        sentences.append(_calibration(calibrated))
    if matrix is not None:
        sentences += _confusions(matrix)
    if report.foreign is not None:
        sentences.append(report.foreign.sentence)
    if report.label_errors:
        sentences.append(
            f"Labels more probably wrong than right: {len(report.label_errors):,}; "
            "they are listed below, the most probable first."
        )
    elif report.label_errors is not None and matrix is not None:
        sentences += _unlisted(report, matrix)
    if report.costs is not None:
        sentences.append(report.costs.sentence)
    if report.learning_curve is not None:
        sentences.append(report.learning_curve.advice)
    return [*sentences, *report.notes]


def _unlisted(report: Report, matrix: ConfusionMatrix) -> Iterator[str]:
    """That many answers differ from the labels, though no label is listed."""
    n_wrong = matrix.n_answered - matrix.n_correct
    if not report.doubtful and n_wrong > _MANY * matrix.n_documents:
        yield (
            "No single label is more probably wrong than right, yet the answers "
            f"differ from {n_wrong:,} of {matrix.n_documents:,} labels: the model is "
            "weak or many labels are wrong; look at some."
        )


def _classes(matrix: ConfusionMatrix) -> str:
    return "1 class" if len(matrix.classes) == 1 else f"{len(matrix.classes)} classes"


def _figures(score: ClassScores) -> str:
    """How well a class is found; its answers, if there were any."""
    documents = count_of(score.support, "document")
    answers = f"{percent(score.precision)} of the answers are right"
    if not score.predicted:
        answers = "it was never answered"
    if not score.correct:
        one = score.support == 1
        which = "its 1 document is not" if one else f"none of its {documents} is"
        return f"{which} found, {answers}"
    return f"{percent(score.recall)} of its {documents} are found, {answers}"


def _one_of(matrix: ConfusionMatrix) -> list[str]:
    n_documents = matrix.n_documents
    head = f"{count_of(n_documents, 'document')} in {_classes(matrix)}"
    if matrix.n_answered == 0:
        return [f"{head}: none was answered, the classifier abstained on all of them."]
    if matrix.n_answered < n_documents:
        head += f": {percent(matrix.coverage)} were answered, and"
    else:
        head += ":"
    low, high = wilson_interval(matrix.n_correct, matrix.n_answered)
    support = matrix.counts.sum(axis=1) + matrix.abstained
    largest = int(support.argmax())
    return [
        f"{head} {percent(matrix.accuracy)} of the answers are right "
        f"(95 % interval {percent(low)} to {percent(high)}).",
        f"For comparison: always answering “{matrix.classes[largest]}”, the most "
        f"frequent class, would be right in {percent(support[largest] / n_documents)}.",
    ]


def _any_of(scores: MultiLabelScores) -> list[str]:
    head = f"{count_of(scores.n_documents, 'document')}, "
    head += count_of(len(scores.classes), "label")
    answered = ""
    if scores.n_answered < scores.n_documents:
        answered = f"{percent(scores.coverage)} of the documents were answered; "
    weak = min((s for s in scores.per_class if s.support), key=lambda s: s.f1)
    return [
        f"{head}: {answered}of the labels given, {percent(scores.micro.precision)} are "
        f"right, and {percent(scores.micro.recall)} of the true labels are found "
        f"(F1 {scores.micro.f1:.3f} over decisions, {scores.macro.f1:.3f} as a mean "
        "over labels).",
        f"The whole set of labels is right for {percent(scores.subset_accuracy)} of "
        "the answered documents.",
        f"The label with the lowest F1 is “{weak.label}” ({weak.f1:.2f}: "
        f"{_figures(weak)}).",
    ]


def _coverage(report: Report) -> Iterator[str]:
    curve, threshold = report.coverage, report.threshold
    if curve is None:
        return
    abstains = report.confusion is not None and report.confusion.abstained.any()
    if threshold == math.inf:
        yield "It answers nothing: no confidence is known to be high enough."
    elif threshold is not None and abstains:
        yield f"It answers from a confidence of {confidence_words(threshold)} on."
    elif threshold is not None:
        share, accuracy = curve.at_threshold(threshold)
        right = f", and {percent(accuracy or 0)} of those are right"
        yield (
            f"Answering only from a confidence of {confidence_words(threshold)} on "
            f"would answer {percent(share)} of the documents"
            f"{'' if accuracy is None else right}."
        )
    full = float(curve.accuracy[-1]) if len(curve.accuracy) else 0.0
    if abstains:
        yield (
            f"Without abstaining, {percent(full)} of all documents would be answered "
            "rightly."
        )
    target = next((t for t in (0.95, 0.99) if t > full), None)
    if target is None or target not in targets(curve.n_documents):
        return
    threshold, wanted = curve.threshold_at(target), f"{100 * target:.0f} %"
    if threshold is not None:
        share, reached = curve.at_threshold(threshold)
        n_answers, reached = round(share * curve.n_documents), reached or 0.0
        low, high = wilson_interval(round(reached * n_answers), n_answers)
        yield (
            f"Of its most confident {percent(share)} of the answers, "
            f"{percent(reached)} are right (95 % interval {percent(low)} to "
            f"{percent(high)})."
        )
    else:
        yield f"No threshold makes {wanted} of the answers right."


def _calibration(figures: Reliability) -> str:
    points = 100 * abs(figures.bias)
    way = f"is {points:.1f} points {'too high' if figures.bias > 0 else 'too low'}"
    return (
        f"Its stated confidence {'can be taken at its word' if points < 1 else way} on "
        f"average (expected calibration error {figures.ece:.3f}, log loss "
        f"{figures.log_loss:.3f})."
    )


def _confusions(matrix: ConfusionMatrix) -> Iterator[str]:
    for pair in matrix.most_confused(top=1):
        yield (
            f"The most frequent mistake: “{pair.true}” taken for “{pair.predicted}” "
            f"({count_of(pair.count, 'time')}, {percent(pair.share)} of the documents "
            f"of “{pair.true}”)."
        )
    seen = [s for s in matrix.per_class if s.support]
    weak = min(seen, key=lambda s: s.f1)
    if len(seen) > 2 and matrix.n_answered and weak.f1 < 1:
        yield (
            f"The class with the lowest F1 is “{weak.label}” ({weak.f1:.2f}: "
            f"{_figures(weak)})."
        )


# -- tables that terminal and page share ----------------------------------------------

SLICE_HEAD = (
    *("slice", "documents", "accuracy", "interval", "elsewhere", "points"),
    "p-value",
)
COST_HEAD = ("least-cost answer", "surely from", "answers", "by least cost")


def slice_row(one: Slice) -> list[str]:
    """The cells of a slice or word below ``SLICE_HEAD``."""
    low, high = one.interval
    return [
        str(one.value) if one.column == WORD else one.name,
        f"{one.n_documents:,}",
        percent(one.accuracy),
        f"{100 * low:.0f}–{100 * high:.0f} %",
        percent(one.rest),
        f"{100 * one.difference:+.1f}",
        p_words(one.p_value).removeprefix("p ").removeprefix("= "),
    ]


def cost_rows(costs: Costs) -> list[list[str]]:
    """The cells of all answers below ``COST_HEAD``."""
    rows = []
    for name, threshold, before, after in costs.per_class:
        never = "" if name is None else "never"
        surely = never if threshold is None else confidence_words(threshold)
        who = NO_ANSWER if name is None else str(name)
        rows.append([who, surely, f"{before:,}", f"{after:,}"])
    return rows


def these(number: int) -> str:
    """What to fix, in words."""
    return "this one" if number == 1 else f"these {number:,}"


# -- on a terminal, in a notebook -----------------------------------------------------


def render_terminal(report: Report, width: int) -> str:
    """Summary, then one short table per part."""
    return "\n\n".join(block for block in _blocks(report, width) if block)


_NONE_WORSE = "none is surely misread more often than the rest."


def _blocks(report: Report, width: int) -> Iterator[str]:
    """The parts of a report as text; one without data may be empty."""
    yield f"{report.title}\n{'=' * len(report.title)}"
    yield _filled(report.sentences, width)
    steps = [f"{n}. {step.sentence}" for n, step in enumerate(report.next_steps, 1)]
    yield _listed("What to do next", steps, width)
    scores = report.confusion or report.multi_label
    if scores is not None:
        yield _class_table(scores, report.n_documents)
    if report.confusion is not None:
        pairs = [
            [_cut(p.true, 30), _cut(p.predicted, 30), f"{p.count:,}", percent(p.share)]
            for p in report.confusion.most_confused(top=5)
        ]
        yield _table(["class", "taken for", "times", "of its documents"], pairs)
    if (curve := report.coverage) is not None:
        reached = targets(curve.n_documents)
        rows = [[percent(t), percent(curve.coverage_at(t))] for t in reached]
        yield _table(["accuracy", "documents answered"], rows)
    if report.costs is not None:
        yield _table(COST_HEAD, cost_rows(report.costs))
    if report.slices:
        yield _table(SLICE_HEAD, [slice_row(one) for one in report.slices])
    elif report.slices is not None:
        yield f"{count_of(report.slices.n_tested, 'slice')} looked at: {_NONE_WORSE}"
    if report.error_words:
        rows = [slice_row(one) for one in report.error_words]
        yield _table(("words of errors", *SLICE_HEAD[1:]), rows)
    top = list((report.top_terms or {}).items())[:_MOST_ROWS]
    indicative = [f"{label}: {_words(t, 10)}" for label, t in top]
    yield _listed("Most indicative words", indicative, width)
    hidden = list((report.hidden_nodes or {}).items())[:_MOST_ROWS]
    yield _listed(
        "Hidden nodes",
        [f"{c} {percent(n)}: {_words(t, 8)}" for c, nodes in hidden for n, t in nodes],
        width,
    )
    doubtful = report.doubtful
    suspects = [
        [
            f"row {report.row(e.index)}",
            _cut(e.label, 28),
            _cut(e.suggested, 28),
            e.reason,
        ]
        for e in doubtful[:10]
    ]
    yield _table(["doubtful labels", "labelled", "looks like", "why"], suspects)
    if doubtful and report.label_command is not None:
        yield f"Fix {these(len(doubtful))}:\n  {report.label_command}"
    if report.findings:
        yield f"Checks of the data\n{_filled(map(str, report.findings), width, '- ')}"
    for heading, part in (("Timing", report.timing), ("Identity", report.fingerprint)):
        facts = [
            [str(name), f"{value:.3g}" if isinstance(value, float) else str(value)]
            for name, value in (part or {}).items()
        ]
        yield _table([heading, ""], facts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return text_table(header, rows) if rows else ""


def _class_table(scores: ConfusionMatrix | MultiLabelScores, n_documents: int) -> str:
    classes = scores.per_class
    if len(classes) > _MOST_ROWS:
        weakest = sorted(classes, key=lambda s: (s.f1, str(s.label)))
        classes = tuple(weakest[:_MOST_ROWS])
    rows = [
        *(class_row(_cut(s.label, 34), s) for s in classes),
        average_row("micro average", scores.micro, n_documents),
        average_row("macro average", scores.macro, n_documents),
    ]
    text = text_table(HEAD, rows)
    if len(classes) < len(scores.per_class):
        text += f"\n(the {_MOST_ROWS} weakest of {len(scores.per_class)} classes)"
    return text


def _filled(lines: Iterable[str], width: int, mark: str = "") -> str:
    return "\n".join(wrapped(line, width, mark, "  ") for line in lines)


def _listed(heading: str, lines: Sequence[str], width: int) -> str:
    under = f"{heading}\n{'-' * len(heading)}\n"
    return f"{under}{_filled(lines, width)}" if lines else ""


def _words(terms: Iterable[tuple[str, float]], most: int) -> str:
    return ", ".join(term for term, _ in list(terms)[:most])


def _cut(label: object, width: int) -> str:
    text = str(label)
    return text if len(text) <= width else text[: width - 1] + "…"
