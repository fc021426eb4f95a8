"""The report as one HTML page, with its charts and the documents it carries."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark.evaluation.coverage import spread
from earmark.evaluation.report.columns import COLUMNS, page_cells
from earmark.evaluation.report.text import (
    COST_HEAD,
    SLICE_HEAD,
    confidence_words,
    cost_rows,
    percent,
    slice_row,
    targets,
    telling_documents,
    these,
)
from earmark.evaluation.significance import wilson_interval
from earmark.evaluation.slices import WORD
from earmark.typing import ArrayLike, FloatVector, JsonObject

if TYPE_CHECKING:
    from earmark.evaluation.confusion import ConfusionMatrix
    from earmark.evaluation.coverage import AccuracyCoverage, Reliability
    from earmark.evaluation.report.report import Report, SideBySide
    from earmark.evaluation.slices import Slice, Slices

__all__ = ["cut", "marked_pieces", "render"]

_CHARACTERS, _EXAMPLE_CHARACTERS = 1000, 600
_PER_CELL, _PER_SLICE, _SLICES_WITH_DOCUMENTS = 6, 4, 3
N_SERIES = 4  # colors of lines
_BUDGET = 1_800_000  # bytes of example text in the page
_MAX_CLASSES = 40  # rows of the confusion matrix
_SLIDER_STEPS = 200
_MOST_PREDICTIONS = 20_000
_FAINT = 0.1
_EMPTY_LINES = re.compile(r"\s*\n\s*\n\s*")
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 16.0, 14.0, 40.0


def render(template: str, **parts: Any) -> str:
    """Fill a template; everything that comes from data is escaped by it."""
    page: str = _template(template).render(
        style=_asset("report.css"), percent=percent, cut=cut, **parts
    )
    return page


@functools.cache
def _template(name: str) -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_asset),
    )
    # Per cent signs are not torn from their numbers.
    environment.filters["kept"] = lambda text: str(text).replace(" %", "\u00a0%")
    return environment.get_template(name)


@functools.cache
def _asset(name: str) -> str:
    folder = resources.files("earmark.evaluation.report") / "assets"
    return (folder / name).read_text(encoding="utf-8")


def render_page(report: Report) -> str:
    """The page of a report."""
    script, examples = _asset("report.js"), list[tuple[str, list[JsonObject]]]()
    matrix, curve = report.confusion, report.coverage
    cells = None if matrix is None else _matrix(matrix)
    data: JsonObject = {}
    if matrix is not None and cells is not None:
        if report.texts:
            data |= _examples(report, matrix, cells["shown"])
        if report.texts is not None:
            titles = ("Most confident mistakes", "Most doubtful answers")
            examples = [
                (title, [_example(report, matrix, d) for d in documents])
                for title, documents in zip(
                    titles, telling_documents(report), strict=True
                )
                if documents
            ]
        data |= _predictions(report, matrix)
    coverage = None
    if curve is not None and len(curve.coverage):
        data |= _slider(curve)
        coverage = coverage_chart(curve, report.threshold)
    return render(
        "report.html.j2",
        report=report,
        script=script,
        # Only this very script may run: a script in a document could not, even
        # if it were not escaped.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=data,
        json_data=_safe_json(data) if data else "",
        lists=examples,
        matrix=cells,
        classes=_class_rows(report),
        columns=COLUMNS,
        targets=[] if curve is None else targets(curve.n_documents),
        sure=confidence_words,
        steps=report.next_steps,
        doubtful=report.doubtful,
        these=these,
        slice_head=SLICE_HEAD,
        slices=[slice_row(one) for one in report.slices or ()],
        slice_documents=_misread(report, report.slices),
        word_documents=_misread(report, report.error_words),
        words_of_errors=[slice_row(one) for one in report.error_words or ()],
        cost_head=COST_HEAD,
        costs=[] if report.costs is None else cost_rows(report.costs),
        coverage=coverage,
        reliability=report.reliability and reliability_chart(report.reliability),
        learning=report.learning_curve and learning_chart(report.learning_curve),
    )


def render_pages(both: SideBySide) -> str:
    """The page of several reports on the same documents."""
    curves = {
        name: report.coverage
        for name, report in both.reports.items()
        if report.coverage is not None and len(report.coverage.coverage)
    }
    drawn = coverage_charts(curves) if len(curves) == len(both.reports) else None
    return render("side_by_side.html.j2", both=both, coverage=drawn)


def cut(text: object, characters: int = _CHARACTERS) -> str:
    """The beginning of a document without runs of empty lines, ended at a word."""
    text = _EMPTY_LINES.sub("\n\n", str(text).strip())
    if len(text) <= characters:
        return text
    head = text[:characters]
    space = head.rfind(" ")
    return (head[:space] if space > 0.9 * characters else head) + " …"


def _safe_json(value: Any) -> str:
    """JSON that may stand inside a script element: no <, > or & of its own."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


# -- what the page shows ------------------------------------------------------------


def _examples(
    report: Report, matrix: ConfusionMatrix, classes: list[int]
) -> JsonObject:
    """The example documents per cell (row, column), within the budget."""
    texts, documents = report.texts or (), list[JsonObject]()
    chosen: dict[str, list[int]] = {}
    examples: JsonObject = {"documents": documents, "cells": chosen}
    place = {-1: -1} | {number: place for place, number in enumerate(classes)}
    cells = {
        (place[row], place[column]): members.tolist()
        for (row, column), members in matrix.cells.items()
        if row in place and column in place
    }
    left = _BUDGET
    # Every cell gets its first example before any gets its second.
    order = sorted(cells, key=lambda cell: (cell[0] == cell[1], -len(cells[cell])))
    for turn in range(_PER_CELL):
        for row, column in order:
            members = cells[row, column]
            if turn >= len(members):
                continue
            document = members[turn]
            number, text = report.row(document), cut(texts[document])
            entry: JsonObject = {"number": number, "text": text}
            if matrix.confidence is not None:
                entry["confidence"] = round(float(matrix.confidence[document]), 3)
            left -= len(_safe_json(entry).encode("utf-8", errors="replace")) + 1
            if left < 0:
                return examples
            chosen.setdefault(f"{row},{column}", []).append(len(documents))
            documents.append(entry)
    return examples


def _matrix(matrix: ConfusionMatrix) -> JsonObject:
    """Rows of cells; for many classes only those with most mistakes."""
    wrong = matrix.counts.copy()
    np.fill_diagonal(wrong, 0)
    names, order = [str(c) for c in matrix.classes], list(range(len(matrix.classes)))
    if len(order) > _MAX_CLASSES:
        mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
        order = sorted(np.argsort(-mistakes, kind="stable")[:_MAX_CLASSES].tolist())
    support = np.maximum(matrix.counts.sum(axis=1) + matrix.abstained, 1)

    def cell(row: int, column: int, count: int, key: str) -> JsonObject:
        kind, said = "wrong", f"taken for {names[column]}"
        if column < 0:
            kind, said = "abstained", "left unanswered"
        elif column == row:
            kind, said = "right", "recognized"
        share = count / support[row]
        return {
            "count": count,
            "key": key,
            "kind": kind,
            "shade": round(100 * share**0.5),
            "title": f"{names[row]}: {count:,} {said} ({percent(share)})",
        }

    counts = np.column_stack([matrix.counts, matrix.abstained]).tolist()
    columns = [*enumerate(order), (-1, -1)]
    rows = [
        {
            "label": names[row],
            "cells": [cell(row, c, counts[row][c], f"{i},{at}") for at, c in columns],
        }
        for i, row in enumerate(order)
    ]
    return {"shown": order, "rows": rows, "abstained": bool(matrix.abstained.any())}


def _class_rows(report: Report) -> list[JsonObject]:
    """The label of each class, and its cells."""
    scores = report.confusion or report.multi_label
    classes = () if scores is None else scores.per_class
    return [{"label": c.label, "cells": list(page_cells(c))} for c in classes]


def _slider(curve: AccuracyCoverage) -> JsonObject:
    """Figures for a slider: what each threshold would answer, and how accurately."""
    chosen = spread(len(curve.coverage), _SLIDER_STEPS)
    right = np.round(curve.accuracy[chosen] * curve.answered[chosen])
    return {
        "curve": {
            "threshold": curve.threshold[chosen].round(4).tolist(),
            "answered": curve.answered[chosen].tolist(),
            "right": right.astype(int).tolist(),
            "documents": curve.n_documents,
        }
    }


def _predictions(report: Report, matrix: ConfusionMatrix) -> JsonObject:
    """True and predicted class and confidence of each document, to be downloaded."""
    if matrix.n_documents > _MOST_PREDICTIONS:
        return {}
    sure = matrix.confidence
    return {
        "classes": [str(label) for label in matrix.classes],
        "predictions": [
            matrix.true_index.tolist(),
            matrix.predicted_index.tolist(),
            None if sure is None else sure.round(4).tolist(),
        ],
        "rows": None if report.rows is None else [*report.rows],
    }


def _misread(
    report: Report, slices: Slices | None
) -> list[tuple[Slice, list[JsonObject]]]:
    """Some misread documents of the first slices; a word is marked."""
    matrix = report.confusion
    if matrix is None or report.texts is None:
        return []
    documents = []
    for one in (slices or ())[:_SLICES_WITH_DOCUMENTS]:
        terms = [(str(one.value), 1.0)] if one.column == WORD else None
        rows = one.rows[:_PER_SLICE].tolist()
        documents.append((one, [_example(report, matrix, row, terms) for row in rows]))
    return documents


def _example(
    report: Report,
    matrix: ConfusionMatrix,
    document: int,
    terms: Sequence[tuple[str, float]] | None = None,
) -> JsonObject:
    """A document with its true and predicted class, and its text in pieces."""
    if terms is None:
        terms = (report.words or {}).get(document, ())
    assert report.texts is not None
    sure = matrix.confidence
    true, said = matrix.true_index[document], matrix.predicted_index[document]
    text = cut(report.texts[document], _EXAMPLE_CHARACTERS)
    return {
        "number": report.row(document),
        "true": str(matrix.classes[true]),
        "said": str(matrix.classes[said]),
        "right": bool(true == said),
        "confidence": None if sure is None else percent(float(sure[document])),
        "pieces": marked_pieces(text, terms),
    }


def marked_pieces(
    text: str, terms: Sequence[tuple[str, float]]
) -> list[tuple[str, float | None]]:
    """A text cut at the words that decided: (piece, share of the strongest or None)."""
    weights = {str(term).rpartition(": ")[2].lower(): w for term, w in terms}
    most = max((abs(w) for w in weights.values()), default=0.0)
    pieces: list[tuple[str, float | None]] = []
    place = 0
    for word in re.finditer(r"\w+", text) if most else ():
        weight = weights.get(word.group().lower(), 0.0) / most
        if abs(weight) > _FAINT:
            pieces.append((text[place : word.start()], None))
            pieces.append((word.group(), round(weight, 2)))
            place = word.end()
    return [*pieces, (text[place:], None)]


# -- charts: numbers in, SVG coordinates out ------------------------------------------


@dataclass
class Chart:
    """One chart: axes as ticks, series as SVG paths, points with a label each."""

    name: str
    x_label: str
    x_range: tuple[float, float] = (0, 1)
    y_range: tuple[float, float] = (0, 1)
    log_x: bool = False
    width: float = 480.0
    height: float = 290.0
    y_label: str = "accuracy, %"
    x_ticks: list[tuple[float, str]] = field(default_factory=list)
    y_ticks: list[tuple[float, str]] = field(default_factory=list)
    paths: list[tuple[str, str]] = field(default_factory=list)
    points: list[JsonObject] = field(default_factory=list)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the plotting area."""
        return _LEFT, _TOP, self.width - _RIGHT, self.height - _BOTTOM

    def x(self, value: float) -> float:
        """Horizontal position of a value."""
        low, high = self.x_range
        if self.log_x:
            low, high, value = np.log(low), np.log(high), np.log(value)
        left, _, right, _ = self.box
        return round(left + (right - left) * float((value - low) / (high - low)), 1)

    def y(self, value: float) -> float:
        """Vertical position of a value."""
        low, high = self.y_range
        _, top, _, bottom = self.box
        return round(bottom - (bottom - top) * float((value - low) / (high - low)), 1)

    def line(self, kind: str, xs: ArrayLike, ys: ArrayLike) -> None:
        """Add a polyline of the given CSS class."""
        self.paths.append((kind, self._steps(xs, ys)))

    def band(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        """Add a filled band between two lines."""
        back = self._steps(np.asarray(xs)[::-1], np.asarray(high)[::-1], "L")
        self.paths.append(("band", self._steps(xs, low) + back + "Z"))

    def point(self, kind: str, x: float, y: float, label: str, radius: float) -> None:
        """Add a dot; its label shows on hovering."""
        place = {"x": self.x(x), "y": self.y(y), "r": round(radius, 1)}
        self.points.append({"kind": kind, "label": label, **place})

    def shares(self, y_step: float, x_step: float | None = None) -> None:
        """Ticks in per cent on the vertical axis, and on the horizontal one."""
        low, high = self.y_range
        values = np.arange(round(low / y_step + 0.499) * y_step, high + 1e-9, y_step)
        self.y_ticks = [(self.y(float(v)), f"{100 * v:.0f}") for v in values]
        if x_step is not None:
            values = np.arange(0, self.x_range[1] + 1e-9, x_step)
            self.x_ticks = [(self.x(float(v)), f"{100 * v:.0f}") for v in values]

    def _steps(self, xs: ArrayLike, ys: ArrayLike, first: str = "M") -> str:
        pairs = zip(np.asarray(xs).tolist(), np.asarray(ys).tolist(), strict=True)
        steps = [f"{self.x(a):g},{self.y(b):g}" for a, b in pairs]
        return first + " L".join(steps)


def coverage_chart(curve: AccuracyCoverage, threshold: float | None) -> Chart:
    """Accuracy of the most confident answers, with the chosen point."""
    ranks, accuracy = _curve(curve)
    low = max(0.0, np.floor((accuracy.min() - 0.02) * 10) / 10)
    name = "Accuracy against coverage"
    chart = Chart(name, "documents answered, %", y_range=(low, 1))
    chart.shares(0.1 if low < 0.65 else 0.05, 0.2)
    chart.line("line", ranks, accuracy)
    if threshold is not None:
        share, right = curve.at_threshold(threshold)
        if right is not None:
            label = f"chosen: {100 * right:.1f} % right at {100 * share:.1f} % answered"
            chart.point("chosen", share, max(right, low), label, 6)
    return chart


def coverage_charts(curves: Mapping[str, AccuracyCoverage]) -> Chart:
    """The curves of several models over each other."""
    lines = [_curve(curve) for curve in curves.values()]
    low = max(0.0, np.floor((min(y.min() for _, y in lines) - 0.02) * 10) / 10)
    name = f"Accuracy against coverage of {', '.join(curves)}"
    chart = Chart(name, "documents answered, %", y_range=(low, 1))
    chart.shares(0.1 if low < 0.65 else 0.05, 0.2)
    for number, (ranks, accuracy) in enumerate(lines):
        chart.line(f"line series{number % N_SERIES}", ranks, accuracy)
    return chart


def _curve(curve: AccuracyCoverage) -> tuple[FloatVector, FloatVector]:
    """Shares answered, and the accuracy there."""
    ranks = np.linspace(0, 1, 161)[1:] * float(curve.coverage[-1])
    # The first few per cent rest on a handful of documents: start where ten are.
    ranks = ranks[ranks * curve.n_documents >= min(10, curve.n_documents)]
    return ranks, np.array([curve.accuracy_at(float(share)) for share in ranks])


def reliability_chart(figures: Reliability) -> Chart:
    """Share of right answers against stated confidence, with 95 % intervals."""
    chart = Chart("Reliability diagram", "stated confidence, %")
    chart.shares(0.2, 0.2)
    chart.line("ideal", [0, 1], [0, 1])
    for b in np.flatnonzero(figures.count > 0):
        sure, right = float(figures.confidence[b]), float(figures.accuracy[b])
        n = int(figures.count[b])
        low, high = wilson_interval(round(right * n), n)
        chart.line("interval", [sure, sure], [low, high])
        label = (
            f"said {100 * sure:.1f} %, right {100 * right:.1f} % "
            f"({100 * low:.0f} to {100 * high:.0f} %), {n:,} answers"
        )
        chart.point("dot", sure, right, label, 3 + 6 * np.sqrt(n / figures.count.max()))
    return chart


def learning_chart(curve: Any) -> Chart:
    """Accuracy against number of labels, with interval and fitted curve."""
    sizes = np.asarray(curve.sizes, dtype=np.float64)
    far = float(curve.horizon)
    ends = [float(np.min(curve.low)), float(np.max(curve.high)), curve.predict(far)]
    low = max(0.0, np.floor((min(ends) - 0.01) * 20) / 20)
    high = min(1.0, np.ceil((max(ends) + 0.01) * 20) / 20)
    x_range = float(sizes[0]), far
    chart = Chart("Learning curve", "labelled documents", x_range, (low, high), True)
    chart.shares(0.05 if high - low < 0.4 else 0.1)
    ticks = [far]  # the horizon, and every size measured that fits
    for size in sorted(sizes.tolist(), reverse=True):
        if ticks[-1] / size >= (far / x_range[0]) ** (1 / 7):
            ticks.append(size)
    chart.x_ticks = [(chart.x(size), f"{size:,.0f}") for size in reversed(ticks)]
    chart.band(sizes, curve.low, curve.high)
    smooth = np.geomspace(sizes[0], far, 60)
    fitted = np.clip([curve.predict(float(s)) for s in smooth], low, high)
    chart.line("ideal", smooth, fitted)
    chart.line("line", sizes, curve.mean)
    for size, mean in zip(sizes, curve.mean, strict=True):
        label = f"{size:,.0f} labels: {100 * mean:.1f} % right"
        chart.point("dot", float(size), float(mean), label, 3.5)
    return chart
