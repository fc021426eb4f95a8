"""Which documents the page carries, so that it stays small."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from earmark.evaluation.confusion import ConfusionMatrix

if TYPE_CHECKING:
    from earmark.evaluation.report.report import Report

__all__ = ["cell_members", "cut", "example_documents", "safe_json"]

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


def example_documents(report: Report, cells: dict[tuple[int, int], list[int]]) -> str:
    """JSON of the example documents per cell (row, column), within the budget.

    Every cell gets its first example before any gets its second; mistakes come
    before right answers, crowded cells before sparse ones.
    """
    if report.texts is None or report.confusion is None:
        return safe_json({"documents": [], "cells": {}})
    documents: list[dict[str, Any]] = []
    shown: dict[str, list[int]] = {}
    left = BUDGET
    order = sorted(cells, key=lambda cell: (cell[0] == cell[1], -len(cells[cell])))
    for turn in range(PER_CELL):
        for row, column in order:
            found = cells[row, column]
            if turn >= len(found):
                continue
            entry = _entry(report, report.confusion, found[turn])
            left -= len(safe_json(entry).encode("utf-8", errors="replace")) + 1
            if left < 0:
                return safe_json({"documents": documents, "cells": shown})
            shown.setdefault(f"{row},{column}", []).append(len(documents))
            documents.append(entry)
    return safe_json({"documents": documents, "cells": shown})


def safe_json(value: Any) -> str:
    """JSON that may stand inside a script element: no <, > or & of its own."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _entry(report: Report, matrix: ConfusionMatrix, document: int) -> dict[str, Any]:
    assert report.texts is not None
    entry = {"number": document, "text": cut(report.texts[document])}
    if matrix.confidence is not None:
        entry["confidence"] = round(float(matrix.confidence[document]), 3)
    return entry


def cell_members(
    matrix: ConfusionMatrix, shown: list[int]
) -> dict[tuple[int, int], list[int]]:
    """Documents of each cell among the shown classes; column -1: unanswered."""
    position = np.full(len(matrix.classes) + 1, -2)
    position[shown] = np.arange(len(shown))
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
