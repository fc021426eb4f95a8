"""The reproduction's result as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from earmark.evaluation.report.terminal import text_table

__all__ = ["numbers", "show"]


def show(result: Mapping[str, Any]) -> str:
    """All tables."""
    return "\n\n".join(
        [
            _worked_example(result["worked_example"]),
            _descent(result["descent"]),
            _curves(result["learning_curves"], result["n_draws"]),
            _crossing(result["crossing"]),
            _whole("Twenty newsgroups by date", result["newsgroups"]),
            _whole("IMDB reviews", result["sentiment"]),
        ]
    )


def _worked_example(example: Mapping[str, Any]) -> str:
    rows = [
        [row["equation"], numbers(row["value"], 4), numbers(row["printed"], 3)]
        for row in example["rows"]
    ]
    title = f"The worked example, one step at eta = {example['eta']}"
    return f"{title}\n{text_table(['equation', 'computed', 'printed'], rows)}"


def numbers(value: Any, digits: int) -> str:
    """A number, vector or matrix in one line."""
    array = np.atleast_2d(np.asarray(value, dtype=np.float64))
    return "; ".join(" ".join(f"{v:.{digits}f}" for v in row) for row in array)


def _descent(found: Mapping[str, Any]) -> str:
    rows = [
        [
            str(row["batch_size"]),
            f"{row['steps_that_lower_the_error']:.2f}",
            f"{row['error_after']:.4f}",
            f"{row['sd_of_error_after']:.4f}",
            f"{row['documents_visited']:,}",
        ]
        for row in found["rows"]
    ]
    head = ["batch", "steps downhill", "error after", "s.d.", "documents visited"]
    return (
        f"Descent of {found['n_steps']} steps at eta = {found['eta']} on "
        f"{found['n_documents']} points; lowest error {found['optimal_error']:.4f}\n"
        + text_table(head, rows)
    )


def _curves(rows: Sequence[Mapping[str, Any]], n_draws: int) -> str:
    names = list(rows[0]["methods"])
    lines = [
        [
            row["corpus"],
            f"{row['size']:,}",
            *(f"{row['methods'][name]['mean']:.3f}" for name in names),
        ]
        for row in rows
    ]
    title = (
        f"Learning curves: test accuracy, mean of {n_draws} draws (up "
        f"to 300 documents: {2 * n_draws}; all documents: 1)"
    )
    return f"{title}\n{text_table(['corpus', 'documents', *names], lines)}"


def _crossing(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            row["corpus"],
            row["method"],
            row["above"],
            "-" if row["from_size"] is None else f"{row['from_size']:,}",
        ]
        for row in found
    ]
    title = "Documents from which on a method stays above a generative one"
    return f"{title}\n{text_table(['corpus', 'method', 'above', 'documents'], rows)}"


def _whole(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            row["method"] + _setting(row["setting"]),
            "words" if row["ngrams"] == 1 else "words and pairs",
            f"{row['n_features']:,}",
            f"{row['accuracy']:.4f}",
            "-" if row["published"] is None else f"{row['published']:.4f}",
            f"{row['cpu_seconds_to_fit']:.2f}",
        ]
        for row in rows
    ]
    head = ["method", "features", "columns", "accuracy", "published", "CPU s to fit"]
    return f"{title}, test accuracy\n{text_table(head, lines)}"


def _setting(chosen: Mapping[str, float]) -> str:
    return "".join(f" ({name} = {value:g})" for name, value in chosen.items())
