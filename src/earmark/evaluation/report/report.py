"""Report: everything known about a set of predictions, in three forms."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earmark.evaluation.confusion import (
    ConfusionMatrix,
    MultiLabelScores,
    multi_label_scores,
)
from earmark.evaluation.coverage import AccuracyCoverage, accuracy_coverage
from earmark.evaluation.label_errors import SuspectedLabelError
from earmark.evaluation.labels import (
    as_labels,
    as_probabilities,
    confidence_and_choice,
    index_of,
    is_multi_label,
)
from earmark.evaluation.reliability import Reliability, reliability
from earmark.evaluation.report.foreign import ForeignDocuments
from earmark.evaluation.report.page import render_page
from earmark.evaluation.report.terminal import html_block, render_terminal
from earmark.evaluation.report.words import summary_sentences
from earmark.evaluation.result import Result
from earmark.exceptions import DataError
from earmark.folds import check_equal_length
from earmark.parameters import offers, shape_of
from earmark.typing import ArrayLike, DocumentsLike, Estimator, JsonObject, Label
from earmark.whole_files import write_whole

__all__ = ["Report"]

Terms = Sequence[tuple[str, float]]


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
    sentences : list of str
        The summary in plain words.

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
            ``notes``: sentences to add to the summary.

        """
        names = None if classes is None else tuple(as_labels(classes))
        if proba is not None and names is None:
            raise DataError("proba needs classes: the labels of its columns.")
        measure = _measure_any_of if is_multi_label(y_true) else _measure_one_of
        measured = measure(y_true, y_pred, proba, names)
        figures = measured["confusion"] or measured["multi_label"]
        check_equal_length(texts=texts, y_true=np.empty(figures.n_documents))
        return cls(
            title=title,
            n_documents=figures.n_documents,
            classes=figures.classes,
            texts=None if texts is None else [str(text) for text in texts],
            threshold=threshold,
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

    def __str__(self) -> str:
        return render_terminal(self)

    def to_dict(self) -> JsonObject:
        """Plain Python values; document texts are not included."""
        content: JsonObject = {
            "title": self.title,
            "n_documents": self.n_documents,
            "classes": list(self.classes),
            "summary": self.sentences,
        }
        for name in ("confusion", "multi_label", "coverage", "reliability"):
            if getattr(self, name) is not None:
                content[name] = getattr(self, name).to_dict()
        if self.threshold is not None:
            content["threshold"] = self.threshold
        if self.foreign is not None:
            content["foreign"] = self.foreign.to_dict()
        if self.learning_curve is not None:
            content["learning_curve"] = self.learning_curve.to_dict()
        for name in ("label_errors", "findings"):
            if getattr(self, name) is not None:
                content[name] = [item.to_dict() for item in getattr(self, name)]
        if self.top_terms is not None:
            content["top_terms"] = [
                {"label": label, "terms": _term_list(terms)}
                for label, terms in self.top_terms.items()
            ]
        if self.hidden_nodes is not None:
            content["hidden_nodes"] = [
                {
                    "label": label,
                    "nodes": [
                        {"share": float(share), "terms": _term_list(terms)}
                        for share, terms in nodes
                    ],
                }
                for label, nodes in self.hidden_nodes.items()
            ]
        for name in ("header", "timing", "fingerprint"):
            if getattr(self, name) is not None:
                content[name] = dict(getattr(self, name))
        return content

    def _repr_html_(self) -> str:
        scores = self.confusion or self.multi_label
        rows = [
            [c.label, *(f"{v:.3f}" for v in (c.precision, c.recall, c.f1)), c.support]
            for c in ([] if scores is None else scores.per_class)
        ]
        head = ["class", "precision", "recall", "F1", "documents"]
        return html_block(self.title, self.sentences, head, rows)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as JSON text, also written to ``path`` if one is given."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=_plain)
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as one HTML page that needs no network; written to ``path``.

        The file appears atomically and stays under 3 MB: examples are
        cut to about 1,000 characters and limited in number.
        """
        page = render_page(self)
        if path is not None:
            write_whole(path, page)
        return page


def _measure_one_of(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    proba: ArrayLike | None,
    names: tuple[Label, ...] | None,
) -> JsonObject:
    measured: JsonObject = {"multi_label": None}
    sure = None
    if proba is not None and names is not None:
        matrix = as_probabilities(proba, len(names))
        sure, choice = confidence_and_choice(matrix)
        # The curve shows what every threshold would give, so it looks at the
        # most probable class also where the classifier abstained.
        answers = as_labels(y_pred)
        check_equal_length(y_pred=answers, proba=matrix)
        forced = [
            names[c] if a is None else a for a, c in zip(answers, choice, strict=True)
        ]
        said = index_of(forced, names)
        rows = np.flatnonzero(said >= 0)
        sure[rows] = matrix[rows, said[rows]]
        measured["coverage"] = accuracy_coverage(y_true, forced, sure)
        measured["reliability"] = reliability(y_true, matrix, names)
    measured["confusion"] = ConfusionMatrix.from_predictions(
        y_true, y_pred, classes=names, confidence=sure
    )
    return measured


def _measure_any_of(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    proba: ArrayLike | None,
    names: tuple[Label, ...] | None,
) -> JsonObject:
    measured: JsonObject = {"confusion": None}
    measured["multi_label"] = multi_label_scores(y_true, y_pred, classes=names)
    if proba is not None and names is not None:
        measured["reliability"] = reliability(y_true, proba, names)
    return measured


def _term_list(terms: Terms) -> list[list[Label]]:
    return [[term, float(weight)] for term, weight in terms]


def _plain(value: Any) -> Any:
    """What json does not know: numpy values, and anything else by its text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)
