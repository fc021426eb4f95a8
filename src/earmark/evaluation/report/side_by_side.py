"""Several reports on the same documents, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.report.page import cut, render_side_by_side
from earmark.evaluation.report.report import Report
from earmark.evaluation.report.terminal import html_block, text_table
from earmark.evaluation.report.words import percent
from earmark.evaluation.significance import PairedTest, holm, mcnemar_exact
from earmark.exceptions import DataError
from earmark.typing import BoolVector, JsonObject
from earmark.whole_files import write_whole

__all__ = ["SideBySide"]

_MOST_EXAMPLES = 10


@dataclass(frozen=True, eq=False)
class SideBySide:
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
    'new: 100.0 % of all documents right, old: 75.0 %; McNemar p = 1.000.'

    """

    reports: Mapping[str, Report]
    header: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        matrices = [report.confusion for report in self.reports.values()]
        if len(matrices) < 2 or any(matrix is None for matrix in matrices):
            raise DataError(
                "side by side needs at least two reports with one label per document."
            )
        if len({matrix.n_documents for matrix in matrices if matrix is not None}) > 1:
            raise DataError("the reports must be on the same documents.")

    @property
    def names(self) -> list[str]:
        """The models, in the order given."""
        return list(self.reports)

    def right(self, name: str) -> BoolVector:
        """The documents that a model answered correctly."""
        matrix = self.reports[name].confusion
        assert matrix is not None
        right: BoolVector = matrix.true_index == matrix.predicted_index
        return right

    @property
    def tests(self) -> dict[str, PairedTest]:
        """Each model against the first, with Holm's correction over them."""
        first, *others = self.names
        tests = [mcnemar_exact(self.right(name), self.right(first)) for name in others]
        adjusted = holm([test.p_value for test in tests])
        return {
            name: PairedTest(test.name, test.difference, float(p), test.n)
            for name, test, p in zip(others, tests, adjusted, strict=True)
        }

    @property
    def sentences(self) -> list[str]:
        """What the comparison shows, in words."""
        first = self.names[0]
        base = percent(float(self.right(first).mean()))
        return [
            f"{name}: {percent(float(self.right(name).mean()))} of all documents "
            f"right, {first}: {base}; McNemar p = {test.p_value:.3f}."
            for name, test in self.tests.items()
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows: one measure per row, one model per column."""
        measures: dict[str, list[str]] = {}
        for name, report in self.reports.items():
            matrix = report.confusion
            assert matrix is not None
            values = {
                "right, of all documents": percent(float(self.right(name).mean())),
                "answered": percent(matrix.coverage),
                "right, of the answers": percent(matrix.accuracy),
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

    def per_class(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows: F1 of each class under each model."""
        scores: dict[str, list[str]] = {}
        for report in self.reports.values():
            assert report.confusion is not None
            for c in report.confusion.per_class:
                scores.setdefault(str(c.label), []).append(f"{c.f1:.3f}")
        rows = [[label, *v] for label, v in scores.items() if len(v) == len(self.names)]
        return ["F1 of class", *self.names], rows

    def differences(self) -> list[tuple[str, list[JsonObject]]]:
        """For each other model: documents that only one of the two gets right."""
        first = self.names[0]
        return [
            (f"{better} is right, {worse} is not", self._only(better, worse))
            for other in self.names[1:]
            for better, worse in ((other, first), (first, other))
        ]

    def _only(self, better: str, worse: str) -> list[JsonObject]:
        report, rival = self.reports[better], self.reports[worse].confusion
        matrix = report.confusion
        assert matrix is not None
        assert rival is not None
        rows = np.flatnonzero(self.right(better) & ~self.right(worse))
        if rival.confidence is not None:  # the surest mistakes first
            rows = rows[np.argsort(-rival.confidence[rows], kind="stable")]
        return [
            {
                "number": row,
                "true": str(matrix.classes[matrix.true_index[row]]),
                "said": str(rival.classes[rival.predicted_index[row]])
                if rival.predicted_index[row] >= 0
                else "nothing",
                "text": "" if report.texts is None else cut(report.texts[row], 300),
            }
            for row in rows[:_MOST_EXAMPLES].tolist()
        ]

    def __str__(self) -> str:
        blocks = ["\n".join(self.sentences), text_table(*self.table())]
        return "\n\n".join([*blocks, text_table(*self.per_class())])

    def _repr_html_(self) -> str:
        return html_block("Side by side", self.sentences, *self.table())

    def to_dict(self) -> JsonObject:
        """Plain values: every report, and the tests against the first."""
        return {
            "models": {name: report.to_dict() for name, report in self.reports.items()},
            "tests": {name: test.to_dict() for name, test in self.tests.items()},
            "summary": self.sentences,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The comparison as JSON text, also written to ``path`` if one is given."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One HTML page that needs no network; written to ``path``."""
        page = render_side_by_side(self)
        if path is not None:
            write_whole(path, page)
        return page
