"""The report as one HTML page, with the documents it carries."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark.evaluation.confusion import ConfusionMatrix

if TYPE_CHECKING:
    from earmark.evaluation.report.report import Report
    from earmark.evaluation.report.side_by_side import SideBySide
import base64
import functools
import hashlib
from importlib import resources

from earmark.evaluation.report.charts import (
    coverage_chart,
    learning_chart,
    reliability_chart,
)
from earmark.evaluation.report.words import percent, targets
from earmark.evaluation.significance import wilson_interval
from earmark.typing import JsonObject, Label

__all__ = [
    "cell_members",
    "cut",
    "example_documents",
    "marked_pieces",
    "render_page",
    "render_side_by_side",
    "safe_json",
    "telling_documents",
]

CHARACTERS = 1000
PER_CELL = 6
_EMPTY_LINES = re.compile(r"\s*\n\s*\n\s*")
BUDGET = 1_800_000  # bytes of example text in the page


def cut(text: str, characters: int = CHARACTERS) -> str:
    """The beginning of a document without runs of empty lines, ended at a word."""
    text = _EMPTY_LINES.sub("\n\n", text.strip())
    if len(text) <= characters:
        return text
    head = text[:characters]
    space = head.rfind(" ")
    return (head[:space] if space > 0.9 * characters else head) + " …"


def example_documents(
    report: Report, cells: dict[tuple[int, int], list[int]]
) -> JsonObject:
    """The example documents per cell (row, column), within the budget.

    Every cell gets its first example before any gets its second; mistakes come
    before right answers, crowded cells before sparse ones.
    """
    documents: list[JsonObject] = []
    chosen: dict[str, list[int]] = {}
    examples: JsonObject = {"documents": documents, "cells": chosen}
    if report.texts is None or report.confusion is None:
        return examples
    left = BUDGET
    order = sorted(cells, key=lambda cell: (cell[0] == cell[1], -len(cells[cell])))
    for turn in range(PER_CELL):
        for row, column in order:
            entries = cells[row, column]
            if turn >= len(entries):
                continue
            entry = _entry(report, report.confusion, entries[turn])
            left -= len(safe_json(entry).encode("utf-8", errors="replace")) + 1
            if left < 0:
                return examples
            chosen.setdefault(f"{row},{column}", []).append(len(documents))
            documents.append(entry)
    return examples


def safe_json(value: Any) -> str:
    """JSON that may stand inside a script element: no <, > or & of its own."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _entry(report: Report, matrix: ConfusionMatrix, document: int) -> JsonObject:
    assert report.texts is not None
    entry = {"number": document + 1, "text": cut(report.texts[document])}
    if matrix.confidence is not None:
        entry["confidence"] = round(float(matrix.confidence[document]), 3)
    return entry


def cell_members(
    matrix: ConfusionMatrix, chosen: list[int]
) -> dict[tuple[int, int], list[int]]:
    """Documents of each cell among the shown classes; column -1: unanswered."""
    position = np.full(len(matrix.classes) + 1, -2)
    position[chosen] = np.arange(len(chosen))
    position[-1] = -1  # an abstention is column -1 of predicted_index as well
    rows = position[matrix.true_index]
    columns = position[matrix.predicted_index]
    order = np.flatnonzero((rows >= 0) & (columns >= -1))
    if matrix.confidence is not None:
        order = order[np.argsort(-matrix.confidence[order], kind="stable")]
    members: dict[tuple[int, int], list[int]] = {}
    for document in order.tolist():
        cell = int(rows[document]), int(columns[document])
        members.setdefault(cell, []).append(document)
    return members


_MAX_CLASSES = 40  # rows of the confusion matrix
_MAX_ERRORS = 50  # suspected label errors, and foreign documents, listed
_MAX_TERMS = 15
_SLIDER_STEPS = 200
_MOST_PREDICTIONS = 20_000
_TOLD_CHARACTERS = 600
_FAINT = 0.1


def render_page(report: Report) -> str:
    """Fill the template; everything that comes from data is escaped by it."""
    script, style = _asset("report.js"), _asset("report.css")
    matrix = _matrix(report.confusion) if report.confusion is not None else None
    examples = None
    if report.confusion is not None and matrix is not None and report.texts:
        members = cell_members(report.confusion, matrix["shown"])
        examples = example_documents(report, members)
    data = (examples or {}) | _slider(report) | _predictions(report)
    mistakes, doubtful = telling_documents(report)
    digest = hashlib.sha256(script.encode()).digest()
    page: str = _template("report.html.j2").render(
        report=report,
        style=style,
        script=script,
        # Only this very script may run: a script in a document could not, even
        # if it were not escaped.
        script_hash=base64.b64encode(digest).decode(),
        examples=examples,
        data=safe_json(data) if data else "",
        slider="curve" in data,
        predictions="predictions" in data,
        lists=[]
        if report.texts is None
        else [
            ("Most confident mistakes", [_told(report, d) for d in mistakes]),
            ("Most doubtful answers", [_told(report, d) for d in doubtful]),
        ],
        matrix=matrix,
        tiles=_tiles(report),
        classes=_class_rows(report),
        coverage=_coverage(report),
        reliability=reliability_chart(report.reliability)
        if report.reliability is not None
        else None,
        learning=learning_chart(report.learning_curve)
        if report.learning_curve is not None
        else None,
        terms=_terms(report),
        nodes=_nodes(report),
        label_errors=_label_errors(report),
        foreign=_foreign(report),
        percent=percent,
        n_label_errors=len(report.label_errors or ()),
    )
    return page


def render_side_by_side(both: SideBySide) -> str:
    """Several reports on one page."""
    page: str = _template("side_by_side.html.j2").render(
        both=both, style=_asset("report.css")
    )
    return page


@functools.cache
def _template(name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["kept"] = _keep_units
    return environment.from_string(_asset(name))


def _keep_units(text: object) -> str:
    """Text whose per cent signs are not torn from their numbers."""
    return str(text).replace(" %", "\u00a0%")


@functools.cache
def _asset(name: str) -> str:
    folder = resources.files("earmark.evaluation.report") / "assets"
    return (folder / name).read_text(encoding="utf-8")


def _tiles(report: Report) -> list[tuple[str, str, str]]:
    """The few figures at the top: value, what it is, remark."""
    tiles: list[tuple[str, str, str]] = []
    if report.confusion is not None:
        matrix = report.confusion
        if matrix.n_answered:
            remark = f"{matrix.n_correct:,} of {matrix.n_answered:,} answers"
            tiles.append((percent(matrix.accuracy), "right answers", remark))
        if matrix.n_answered < matrix.n_documents:
            remark = f"{matrix.n_documents - matrix.n_answered:,} left unanswered"
            tiles.append((percent(matrix.coverage), "answered", remark))
        remark = "mean over classes of F1"
        tiles.append((f"{matrix.macro.f1:.3f}", "macro F1", remark))
    if report.multi_label is not None:
        scores = report.multi_label
        tiles.append((f"{scores.micro.f1:.3f}", "micro F1", "over label decisions"))
        tiles.append((f"{scores.macro.f1:.3f}", "macro F1", "mean over labels"))
        remark = "documents with every label right"
        tiles.append((percent(scores.subset_accuracy), "whole sets right", remark))
    if report.coverage is not None:
        share = report.coverage.coverage_at(0.95)
        remark = "answered when 95 % must be right"
        tiles.append((percent(share), "coverage at 95 %", remark))
    if report.reliability is not None:
        remark = f"calibration error {report.reliability.ece:.3f}"
        tiles.append((f"{report.reliability.log_loss:.3f}", "log loss", remark))
    return tiles


def _matrix(matrix: ConfusionMatrix) -> JsonObject:
    """Rows of cells; for many classes only those with most mistakes."""
    wrong = matrix.counts.copy()
    np.fill_diagonal(wrong, 0)
    chosen = list(range(len(matrix.classes)))
    if len(chosen) > _MAX_CLASSES:
        mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
        chosen = sorted(np.argsort(-mistakes, kind="stable")[:_MAX_CLASSES].tolist())
    support = np.maximum(matrix.counts.sum(axis=1) + matrix.abstained, 1)
    rows = []
    for place, row in enumerate(chosen):
        cells = [
            _cell(matrix, row, int(matrix.counts[row, c]), support[row], place, at, c)
            for at, c in enumerate(chosen)
        ]
        gone = int(matrix.abstained[row])
        cells.append(_cell(matrix, row, gone, support[row], place, -1, -1))
        rows.append({"label": str(matrix.classes[row]), "cells": cells})
    return {
        "shown": chosen,
        "labels": [str(matrix.classes[c]) for c in chosen],
        "rows": rows,
        "abstained": bool(matrix.abstained.any()),
        "total": len(matrix.classes),
    }


def _cell(
    matrix: ConfusionMatrix,
    row: int,
    count: int,
    support: int,
    place: int,
    at: int,
    column: int,
) -> JsonObject:
    true = str(matrix.classes[row])
    said = "left unanswered" if column < 0 else f"taken for {matrix.classes[column]}"
    if column == row:
        said = "recognised"
    kind = "abstained" if column < 0 else ("right" if column == row else "wrong")
    return {
        "count": count,
        "key": f"{place},{at}",
        "kind": kind,
        "shade": round(100 * (count / support) ** 0.5) if count else 0,
        "title": f"{true}: {count:,} {said} ({percent(count / support)})",
    }


def _class_rows(report: Report) -> list[JsonObject]:
    """Scores of each class; a share of few documents has a wide interval."""
    scores = report.confusion or report.multi_label
    rows = []
    for c in [] if scores is None else scores.per_class:
        shares = []
        for share, total in ((c.precision, c.predicted), (c.recall, c.support)):
            low, high = wilson_interval(round(share * total), int(total))
            shares.append((share, f"{100 * low:.0f}–{100 * high:.0f} %"))
        rows.append({"class": c, "shares": [*shares, (c.f1, "")]})
    return rows


def _slider(report: Report) -> JsonObject:
    """What every threshold would answer, and how much of it is right."""
    curve = report.coverage
    if curve is None or not len(curve.coverage):
        return {}
    points = np.unique(np.linspace(0, len(curve.coverage) - 1, _SLIDER_STEPS).round())
    chosen = points.astype(np.int64)
    right = np.round(curve.accuracy[chosen] * curve.answered[chosen])
    return {
        "curve": {
            "threshold": curve.threshold[chosen].round(4).tolist(),
            "answered": curve.answered[chosen].tolist(),
            "right": right.astype(int).tolist(),
            "documents": curve.n_documents,
        }
    }


def _predictions(report: Report) -> JsonObject:
    """True and predicted class and confidence of each document, to be downloaded."""
    matrix = report.confusion
    if matrix is None or matrix.n_documents > _MOST_PREDICTIONS:
        return {}
    sure = matrix.confidence
    return {
        "classes": [str(label) for label in matrix.classes],
        "predictions": [
            matrix.true_index.tolist(),
            matrix.predicted_index.tolist(),
            None if sure is None else sure.round(4).tolist(),
        ],
    }


def _told(report: Report, document: int) -> JsonObject:
    """A document with its true and predicted class, and its text in pieces."""
    matrix = report.confusion
    assert matrix is not None
    assert matrix.confidence is not None
    assert report.texts is not None
    true, said = matrix.true_index[document], matrix.predicted_index[document]
    return {
        "number": document + 1,
        "true": str(matrix.classes[true]),
        "said": str(matrix.classes[said]),
        "right": bool(true == said),
        "confidence": percent(float(matrix.confidence[document])),
        "pieces": marked_pieces(
            cut(report.texts[document], _TOLD_CHARACTERS),
            (report.words or {}).get(document, ()),
        ),
    }


def telling_documents(report: Report, most: int = 10) -> tuple[list[int], list[int]]:
    """The most confident mistakes, and the answers given with most doubt."""
    matrix = report.confusion
    if matrix is None or matrix.confidence is None:
        return [], []
    answered = np.flatnonzero(matrix.predicted_index >= 0)
    order = answered[np.argsort(-matrix.confidence[answered], kind="stable")]
    wrong = matrix.true_index[order] != matrix.predicted_index[order]
    return order[wrong][:most].tolist(), order[::-1][:most].tolist()


def marked_pieces(
    text: str, terms: Sequence[tuple[str, float]]
) -> list[tuple[str, float | None]]:
    """A text cut at the words that decided: (piece, weight or None), in order.

    Weights are shares of the strongest; faint words stay plain.
    """
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


def _coverage(report: Report) -> JsonObject | None:
    curve = report.coverage
    if curve is None or not len(curve.coverage):
        return None
    rows = [
        (
            percent(target),
            percent(curve.coverage_at(target)),
            curve.threshold_at(target),
        )
        for target in targets(curve.n_documents)
    ]
    chosen = None
    if report.threshold is not None:
        share, right = curve.at_threshold(report.threshold)
        chosen = {"threshold": report.threshold, "coverage": share, "accuracy": right}
    return {
        "chart": coverage_chart(curve, report.threshold),
        "rows": rows,
        "area": curve.area,
        "chosen": chosen,
    }


def _weighted(terms: Any) -> list[tuple[str, int, str]]:
    """Term, strength in per cent of the strongest, weight as text."""
    listed = [(str(term), float(weight)) for term, weight in list(terms)[:_MAX_TERMS]]
    most = max((abs(weight) for _, weight in listed), default=0.0) or 1.0
    return [
        (term, round(100 * abs(weight) / most), f"{weight:.3g}")
        for term, weight in listed
    ]


def _terms(report: Report) -> list[tuple[str, list[tuple[str, int, str]]]]:
    entries = report.top_terms or {}
    return [(str(label), _weighted(terms)) for label, terms in entries.items()]


def _nodes(report: Report) -> list[tuple[str, list[Label]]]:
    entries = report.hidden_nodes or {}
    return [
        (str(label), [(percent(share), _weighted(terms)) for share, terms in nodes])
        for label, nodes in entries.items()
    ]


def _foreign(report: Report) -> list[JsonObject]:
    if report.foreign is None:
        return []
    listed = zip(report.foreign.documents, report.foreign.p_values, strict=True)
    return [
        {
            "row": int(document) + 1,
            "p_value": f"{p_value:.2g}",
            "text": "" if report.texts is None else cut(report.texts[document], 240),
        }
        for document, p_value in list(listed)[:_MAX_ERRORS]
    ]


def _label_errors(report: Report) -> list[JsonObject]:
    return [
        {
            "row": error.index + 1,
            "given": str(error.given),
            "suggested": str(error.suggested),
            "probability": percent(error.probability),
            "text": None if error.text is None else cut(str(error.text), 240),
        }
        for error in list(report.label_errors or ())[:_MAX_ERRORS]
    ]
