"""Everything known about a set of predictions, of one model or of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from earmark.evaluation.confusion import (
    ConfusionMatrix,
    MultiLabelScores,
    multi_label_scores,
)
from earmark.evaluation.costs import CostMatrix, Costs
from earmark.evaluation.coverage import (
    AccuracyCoverage,
    Reliability,
    accuracy_coverage,
    reliability,
)
from earmark.evaluation.doubtful import DoubtfulLabel, doubtful_labels
from earmark.evaluation.label_errors import SuspectedLabelError
from earmark.evaluation.report.advice import Step, next_steps
from earmark.evaluation.report.columns import HEAD, class_row
from earmark.evaluation.report.page import cut, marked_pieces, render_page, render_pages
from earmark.evaluation.report.text import (
    ForeignDocuments,
    percent,
    render_terminal,
    summary_sentences,
)
from earmark.evaluation.result import Path, Result, as_data, written
from earmark.evaluation.significance import (
    PairedTest,
    holm,
    mcnemar_exact,
    p_words,
    paired_interval,
)
from earmark.evaluation.slices import Slices, error_slices, error_words
from earmark.exceptions import DataError, Try
from earmark.folds import check_equal_length
from earmark.inputs.duplicates import DuplicateGroups, group_near_duplicates
from earmark.inputs.labels import (
    as_labels,
    as_probabilities,
    confidence_and_choice,
    index_of,
    is_multi_label,
)
from earmark.parameters import offers, shape_of
from earmark.tables import WIDTH, html_block, text_table, wrapped
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    Estimator,
    IntVector,
    JsonObject,
    Label,
)

__all__ = ["Report", "SideBySide"]

Terms = Sequence[tuple[str, float]]
Names = tuple[Label, ...] | None
# Documents that one model gets right and the other does not.
_MOST_EXAMPLES = 10
# A p-value below it shows a difference.
_SHOWN = 0.05


@dataclass(frozen=True, eq=False)
class Report(Result):
    """What a classifier got right, what it got wrong, and what to do about it.

    Build it with ``from_predictions`` or ``from_estimator``. ``str(report)`` is
    text for a terminal, ``to_dict`` and ``to_json`` are for machines, ``to_html``
    writes one self-contained page. Parts without data are left out.

    Attributes
    ----------
    confusion : ConfusionMatrix or None
        For one label per document.
    multi_label : MultiLabelScores or None
        For several labels per document.
    coverage : AccuracyCoverage or None
        With probabilities: accuracy of the most confident answers.
    reliability : Reliability or None
        With probabilities: calibration.
    slices, error_words : Slices or None
        With other columns: where it fails, and the words of misread documents.
    costs : Costs or None
        With a cost matrix: what the answers cost.
    sentences : list of str
        The summary in plain words.
    next_steps : list of Step
        What to do next.

    Examples
    --------
    >>> report = Report.from_predictions(["a", "b", "b"], ["a", "b", "a"])
    >>> print(report.sentences[0].partition(" (")[0])
    3 documents in 2 classes: 66.7 % of the answers are right

    """

    title: str
    n_documents: int
    classes: tuple[Label, ...]
    confusion: ConfusionMatrix | None = None
    multi_label: MultiLabelScores | None = None
    coverage: AccuracyCoverage | None = None
    reliability: Reliability | None = None
    threshold: float | None = None
    top_terms: Mapping[Label, Terms] | None = None
    hidden_nodes: Mapping[Label, Sequence[tuple[float, Terms]]] | None = None
    label_errors: Sequence[SuspectedLabelError] | None = None
    foreign: ForeignDocuments | None = None
    learning_curve: Any = None
    findings: Sequence[Label] | None = None
    timing: Mapping[str, Any] | None = None
    fingerprint: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()
    header: Mapping[str, str] | None = None
    words: Mapping[int, Terms] | None = None
    texts: Sequence[str] | None = field(default=None, repr=False)
    slices: Slices | None = None
    error_words: Slices | None = None
    costs: Costs | None = None
    copies: DuplicateGroups | None = field(default=None, repr=False)
    label_command: str | None = None
    rows: Sequence[int] | None = field(default=None, repr=False)
    learned: Names = field(default=None, repr=False)
    """The classes that the model can answer, if it gives their probabilities."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        proba: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        texts: Sequence[str] | None = None,
        threshold: float | None = None,
        title: str = "Evaluation report",
        columns: Mapping[str, Iterable[Any]] | None = None,
        costs: CostMatrix | None = None,
        **parts: Any,
    ) -> Report:
        """Build the report of predictions against the truth.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            True labels, or a list of label lists.
        y_pred : array-like of shape (n_documents,)
            Predicted labels, or label lists; None where nothing was answered.
        proba : array-like of shape (n_documents, n_classes), optional
            Probabilities, for coverage and calibration; needs ``classes``.
        classes : array-like of shape (n_classes,), optional
            Columns of ``proba`` and order of the classes.
        texts : sequence of str, optional
            The documents, to show examples of what was confused.
        threshold : float, optional
            The confidence from which on the classifier answers: the chosen
            point on the accuracy/coverage curve.
        title : str
            Heading.
        columns : mapping of str to sequence, optional
            Other columns of the documents, perhaps none of them (``{}``). With it, the
            report says in which slices, and with ``texts`` with which words, documents
            are misread more often: ``error_slices``, ``error_words``.
        costs : CostMatrix, optional
            What mistakes cost; needs ``proba``.
        **parts
            ``top_terms``: dict label -> list of (term, weight);
            ``hidden_nodes``: dict label -> list of (share, list of (term, weight));
            ``label_errors``: from ``suspected_label_errors``;
            ``foreign``: documents unlike the training documents;
            ``learning_curve``: from ``learning_curve``;
            ``findings``: from ``check_documents``;
            ``timing`` and ``fingerprint``: dict of name -> value;
            ``header``: dict of name -> value under the title, such as model, data
            and date (the report asks no clock: equal input gives equal bytes);
            ``words``: dict document -> list of (term, weight), marked in its text;
            ``copies``: from ``group_near_duplicates``;
            ``label_command``: how to open the doubtful labels;
            ``rows``: number of each document in its file, counted from 1 otherwise;
            ``notes``: sentences to add to the summary.

        """
        names = None if classes is None else tuple(as_labels(classes))
        if proba is not None and names is None:
            raise DataError("proba needs classes: the labels of its columns.")
        measured = _measured(y_true, y_pred, proba, names)
        figures = measured["confusion"] or measured["multi_label"]
        check_equal_length(texts=texts, y_true=np.empty(figures.n_documents))
        plain = None if texts is None else [str(text) for text in texts]
        if costs is not None:
            measured["costs"] = _costs(costs, y_true, y_pred, proba, names)
        if columns is not None:
            copies = parts.pop("copies", None)
            measured |= _failures(y_true, y_pred, columns, plain, copies)
        return cls(
            title=title,
            n_documents=figures.n_documents,
            classes=figures.classes,
            texts=plain,
            threshold=threshold,
            learned=None if proba is None else names,
            **measured,
            **{name: part for name, part in parts.items() if part is not None},
        )

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: DocumentsLike, y: ArrayLike, **options: Any
    ) -> Report:
        """Predict X with a fitted estimator and report against y.

        Probabilities are used where the estimator has ``predict_proba``. X is
        kept as ``texts`` when it is a sequence of strings.
        """
        if offers(estimator, "predict_proba"):
            options.setdefault("proba", estimator.predict_proba(X))
            options.setdefault("classes", estimator.classes_)
        if not shape_of(X) and len(X) and isinstance(X[0], str):
            options.setdefault("texts", X)
        return cls.from_predictions(y, estimator.predict(X), **options)

    @property
    def sentences(self) -> list[str]:
        """The summary in plain words, one sentence an entry."""
        return summary_sentences(self)

    @cached_property
    def doubtful(self) -> list[DoubtfulLabel]:
        """Labels to look at: suspected ones, then those that copies contradict."""
        matrix = self.confusion
        if matrix is None:
            return []
        labels = [matrix.classes[place] for place in matrix.true_index.tolist()]
        every = doubtful_labels(labels, self.label_errors or (), self.copies)
        # Of a document without text nothing can be said.
        texts = self.texts
        return [one for one in every if texts is None or texts[one.index].strip()]

    @cached_property
    def next_steps(self) -> list[Step]:
        """What to do next, the steps about most wrong answers first."""
        return next_steps(self)

    def row(self, document: int) -> int:
        """The number of a document in its file."""
        return document + 1 if self.rows is None else self.rows[document]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = WIDTH) -> str:
        """Summary and tables for a terminal of so many columns."""
        return render_terminal(self, width)

    def to_dict(self) -> JsonObject:
        """Plain Python values; document texts are not included."""
        content: JsonObject = {
            "title": self.title,
            "n_documents": self.n_documents,
            "classes": list(self.classes),
            "summary": self.sentences,
            "next_steps": as_data(self.next_steps),
        }
        measured = ("confusion", "multi_label", "coverage", "reliability", "foreign")
        listed = ("learning_curve", "label_errors", "findings")
        failures = ("slices", "error_words", "costs")
        for name in (*measured, *listed, *failures, "header", "timing", "fingerprint"):
            if (part := getattr(self, name)) is not None:
                content[name] = as_data(part)
        if self.threshold is not None:
            content["threshold"] = self.threshold
        if self.top_terms is not None:
            content["top_terms"] = [
                {"label": label, "terms": as_data(terms)}
                for label, terms in self.top_terms.items()
            ]
        if self.hidden_nodes is not None:
            content["hidden_nodes"] = [
                {
                    "label": label,
                    "nodes": [
                        {"share": float(share), "terms": as_data(terms)}
                        for share, terms in nodes
                    ],
                }
                for label, nodes in self.hidden_nodes.items()
            ]
        return content

    def _repr_html_(self) -> str:
        scores = self.confusion or self.multi_label
        classes = () if scores is None else scores.per_class
        rows = [class_row(c.label, c) for c in classes]
        return html_block(self.title, self.sentences, HEAD, rows)

    def to_html(self, path: Path | None = None) -> str:
        """The report as one HTML page that needs no network; written to ``path``.

        The file appears atomically and stays under 3 MB: examples are
        cut to about 1,000 characters and limited in number.
        """
        return written(render_page(self), path)


def _costs(
    costs: CostMatrix,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    proba: ArrayLike | None,
    names: Names,
) -> Costs:
    if is_multi_label(y_true):
        raise DataError("costs are for one label per document.")
    if proba is None or names is None:
        raise DataError(
            "costs need the probabilities of the classes",
            Try("give them with", proba=...),
        )
    return Costs.of(costs, y_true, y_pred, proba, names)


def _failures(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    columns: Mapping[str, Iterable[Any]],
    texts: list[str] | None,
    copies: DuplicateGroups | None,
) -> JsonObject:
    """Slices and words that are misread more often; copies count once."""
    if texts is not None and copies is None:
        copies = group_near_duplicates(texts)
    slices = error_slices(y_true, y_pred, columns, texts=texts, copies=copies)
    words = None
    if texts is not None:
        words = error_words(y_true, y_pred, texts, copies=copies)
    return {"slices": slices, "error_words": words, "copies": copies}


def _measured(
    y_true: ArrayLike, y_pred: ArrayLike, proba: ArrayLike | None, names: Names
) -> JsonObject:
    """The parts of a report that follow from predictions."""
    measured: JsonObject = {"confusion": None, "multi_label": None}
    if is_multi_label(y_true):
        measured["multi_label"] = multi_label_scores(y_true, y_pred, classes=names)
        if proba is not None and names is not None:
            measured["reliability"] = reliability(y_true, proba, names)
        return measured
    sure = None
    if proba is not None and names is not None:
        matrix = as_probabilities(proba, len(names))
        sure, choice = confidence_and_choice(matrix)
        # The curve shows what every threshold would give, so it looks at the
        # most probable class also where the classifier abstained.
        answers = as_labels(y_pred)
        check_equal_length(y_pred=answers, proba=matrix)
        pairs = zip(answers, choice, strict=True)
        forced = [names[c] if answer is None else answer for answer, c in pairs]
        said = index_of(forced, names)
        rows = np.flatnonzero(said >= 0)
        sure[rows] = matrix[rows, said[rows]]
        measured["coverage"] = accuracy_coverage(y_true, forced, sure)
        measured["reliability"] = reliability(y_true, matrix, names)
    measured["confusion"] = ConfusionMatrix.from_predictions(
        y_true, y_pred, classes=names, confidence=sure
    )
    return measured


@dataclass(frozen=True, eq=False)
class SideBySide(Result):
    """Reports of several models on one test set; the first is what others are held to.

    Attributes
    ----------
    reports : dict of str to Report
        One label per document, all on the same documents in the same order.
    header : dict of str to str or None
        What is said under the title of the page.

    Examples
    --------
    >>> truth = ["a", "b", "b", "a"]
    >>> both = SideBySide({
    ...     "old": Report.from_predictions(truth, ["a", "a", "b", "a"]),
    ...     "new": Report.from_predictions(truth, ["a", "b", "b", "a"]),
    ... })
    >>> both.sentences[0]
    'old: 75.0 % of all documents right, new: 100.0 %.'
    >>> both.sentences[1].partition(" (")[0]
    'No difference shown between old and new'

    """

    reports: Mapping[str, Report]
    header: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        reports = self.reports.values()
        if len(reports) < 2 or any(report.confusion is None for report in reports):
            raise DataError(
                "side by side needs at least two reports with one label per document."
            )
        if len({report.n_documents for report in reports}) > 1:
            raise DataError("the reports must be on the same documents.")

    def _matrix(self, name: str) -> ConfusionMatrix:
        matrix = self.reports[name].confusion
        assert matrix is not None  # __post_init__ has seen to it
        return matrix

    @property
    def names(self) -> list[str]:
        """The models, in the order given."""
        return list(self.reports)

    def right(self, name: str) -> BoolVector:
        """The documents that a model answered correctly."""
        matrix = self._matrix(name)
        right: BoolVector = matrix.true_index == matrix.predicted_index
        return right

    @property
    def tests(self) -> dict[str, PairedTest]:
        """Each model against the first, with Holm's correction over them."""
        return self._tests(self.names[0])

    def _tests(self, base: str) -> dict[str, PairedTest]:
        others = [name for name in self.names if name != base]
        tests = [mcnemar_exact(self.right(name), self.right(base)) for name in others]
        adjusted = holm([test.p_value for test in tests])
        return {
            name: PairedTest(test.name, test.difference, float(p), test.n)
            for name, test, p in zip(others, tests, adjusted, strict=True)
        }

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Of the difference of each model's accuracy to the first's, at 95 %."""
        first, *others = self.names
        return {
            name: paired_interval(self.right(name), self.right(first))
            for name in others
        }

    @property
    def winner(self) -> str | None:
        """The model that is shown to be more accurate than every other, if one is."""
        best = max(self.names, key=lambda name: float(self.right(name).mean()))
        tests = self._tests(best).values()
        return best if all(test.p_value < _SHOWN for test in tests) else None

    @property
    def sentences(self) -> list[str]:
        """What the comparison shows, in words; the models in the order given."""
        shares = [f"{percent(float(self.right(name).mean()))}" for name in self.names]
        first, *others = self.names
        pairs = zip(others, shares[1:], strict=True)
        listed = [f"{name}: {share}" for name, share in pairs]
        head = f"{first}: {shares[0]} of all documents right"
        return [
            f"{', '.join([head, *listed])}.",
            *(self._verdict(first, name, test) for name, test in self.tests.items()),
        ]

    def _verdict(self, first: str, name: str, test: PairedTest) -> str:
        ends = self.intervals[name]
        p = f"McNemar {p_words(test.p_value)}"
        if test.p_value >= _SHOWN:
            low, high = (f"{100 * end:+.1f}" for end in ends)
            change = f"{100 * test.difference:+.1f} points"
            return (
                f"No difference shown between {first} and {name} ({change}, 95 % "
                f"interval {low} to {high}; {p})."
            )
        if test.difference > 0:
            better, worse = name, first
        else:
            better, worse, ends = first, name, (-ends[1], -ends[0])
        low, high = (f"{100 * end:.1f}" for end in ends)
        return (
            f"{better} is better than {worse} by {100 * abs(test.difference):.1f} "
            f"points (95 % interval {low} to {high}; {p})."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows: one measure per row, one model per column."""
        measures: dict[str, list[str]] = {}
        for name, report in self.reports.items():
            matrix = self._matrix(name)
            values = {
                "accuracy on all documents": percent(float(self.right(name).mean())),
                **self._difference(name),
                "answered": percent(matrix.coverage),
                "accuracy of the answers": percent(matrix.accuracy),
                "macro F1": f"{matrix.macro.f1:.3f}",
            }
            if report.coverage is not None and report.reliability is not None:
                values["coverage at 95 %"] = percent(report.coverage.coverage_at(0.95))
                values["log loss"] = f"{report.reliability.log_loss:.3f}"
                values["calibration error"] = f"{report.reliability.ece:.3f}"
            for measure, value in values.items():
                measures.setdefault(measure, []).append(value)
        rows = [[m, *v] for m, v in measures.items() if len(v) == len(self.reports)]
        return ["", *self.names], rows

    def _difference(self, name: str) -> dict[str, str]:
        """The cells of a model about its difference to the first."""
        first = self.names[0]
        heads = f"difference to {first}, points", "95 % interval", "verdict"
        if name == first:
            return dict(zip(heads, ("", "", self._mark(name)), strict=True))
        low, high = (f"{100 * end:+.1f}" for end in self.intervals[name])
        change = f"{100 * self.tests[name].difference:+.1f}"
        cells = change, f"{low} to {high}", self._mark(name)
        return dict(zip(heads, cells, strict=True))

    def _mark(self, name: str) -> str:
        winner = self.winner
        if winner is None:
            return "no winner shown"
        return "most accurate" if name == winner else ""

    def per_class(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows: F1 of each class, those that change most between two first."""
        scores: dict[str, list[float]] = {}
        for name in self.names:
            for c in self._matrix(name).per_class:
                scores.setdefault(str(c.label), []).append(c.f1)
        known = [(c, f1) for c, f1 in scores.items() if len(f1) == len(self.names)]
        known.sort(key=lambda row: min(row[1]) - max(row[1]))
        head, rows = ["F1 of class", *self.names], []
        for label, f1 in known:
            rows.append([label, *(f"{one:.3f}" for one in f1)])
            if len(f1) == 2:
                rows[-1].append(f"{f1[1] - f1[0]:+.3f}")
        return head + ["difference"] * (len(self.names) == 2), rows

    def examples(self, name: str) -> list[int]:
        """The documents that the page shows of what a model gains and loses."""
        first = self.names[0]
        gained, lost = self._only(name, first), self._only(first, name)
        return [*gained[:_MOST_EXAMPLES].tolist(), *lost[:_MOST_EXAMPLES].tolist()]

    def differences(self) -> list[tuple[str, list[JsonObject]]]:
        """What each other model gains and loses: some documents, the surest first.

        The words that speak for its answer are marked, where its report has them.
        """
        first = self.names[0]
        parts = []
        for other in self.names[1:]:
            for what, better, worse in (
                ("gains", other, first),
                ("loses", first, other),
            ):
                rows = self._only(better, worse)
                title = f"What {other} {what}: {better} is right, {worse} is not"
                documents = [
                    self._example(row, worse, other)
                    for row in rows[:_MOST_EXAMPLES].tolist()
                ]
                parts.append((f"{title} ({len(rows):,})", documents))
        return parts

    def _only(self, better: str, worse: str) -> IntVector:
        """The documents that only one gets right, the surest mistakes first."""
        rival = self._matrix(worse)
        rows = np.flatnonzero(self.right(better) & ~self.right(worse))
        if rival.confidence is not None:
            rows = rows[np.argsort(-rival.confidence[rows], kind="stable")]
        return rows

    def _example(self, row: int, worse: str, marked: str) -> JsonObject:
        report, rival = self.reports[marked], self._matrix(worse)
        said = int(rival.predicted_index[row])
        text = "" if report.texts is None else cut(report.texts[row], 600)
        return {
            "number": report.row(row),
            "true": str(rival.classes[rival.true_index[row]]),
            "said": str(rival.classes[said]) if said >= 0 else "nothing",
            "pieces": marked_pieces(text, (report.words or {}).get(row, ())),
        }

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = WIDTH) -> str:
        """Summary and tables for a terminal of so many columns."""
        lines = [wrapped(line, width, hang="  ") for line in self.sentences]
        blocks = ["\n".join(lines), text_table(*self.table())]
        return "\n\n".join([*blocks, text_table(*self.per_class())])

    def _repr_html_(self) -> str:
        return html_block("Side by side", self.sentences, *self.table())

    def to_dict(self) -> JsonObject:
        """Plain values: every report, and the tests against the first."""
        parts = {"models": self.reports, "tests": self.tests}
        content: JsonObject = as_data(parts) | {"summary": self.sentences}
        return content | {"intervals": as_data(self.intervals), "winner": self.winner}

    def to_html(self, path: Path | None = None) -> str:
        """One HTML page that needs no network; written to ``path``."""
        return written(render_pages(self), path)
