"""The tables of the exercise sheet and of whole training sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reproductions.tables import MISSING, Table, mean, number

__all__ = ["tables"]

_FEATURES = ("text", "words", "words and pairs")


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Every table."""
    return [
        _worked_example(result["worked_example"]),
        _descent(result["descent"]),
        _curves(result["learning_curves"]),
        _crossing(result["crossing"]),
        _whole("newsgroups", "Twenty newsgroups by date", result["newsgroups"]),
        _whole("sentiment", "IMDB reviews", result["sentiment"]),
    ]


def _worked_example(example: Mapping[str, Any]) -> Table:
    rows = [
        [row["equation"], _array(row["value"], 4), _array(row["printed"], 3)]
        for row in example["rows"]
    ]
    title = f"The worked example, one step at eta = {example['eta']}"
    return Table("example", title, ["equation", "computed", "printed"], rows)


def _array(value: Any, digits: int) -> str:
    """A number, vector or matrix in one line."""
    array = np.atleast_2d(np.asarray(value, dtype=np.float64))
    return "; ".join(" ".join(f"{v:.{digits}f}" for v in row) for row in array)


def _descent(measured: Mapping[str, Any]) -> Table:
    rows = [
        [
            str(row["batch_size"]),
            f"{row['documents_visited']:,}",
            number(row["steps_that_lower_the_error"], 2),
            f"{row['error_after']:.4f} ± {row['sd_of_error_after']:.4f}",
        ]
        for row in measured["rows"]
    ]
    return Table(
        "descent",
        f"Descent of {measured['n_steps']} steps at eta = {measured['eta']} on "
        f"{measured['n_documents']} points",
        ["batch", "documents visited", "steps downhill", "error after (s.d.)"],
        rows,
        f"The lowest error there is: {measured['optimal_error']:.4f}.",
    )


def _curves(rows: Sequence[Mapping[str, Any]]) -> Table:
    names = list(rows[0]["methods"])
    lines = [
        [
            row["corpus"],
            f"{row['size']:,}",
            *(mean(row["methods"][name]) for name in names),
        ]
        for row in rows
    ]
    title = "Learning curves: test accuracy, mean over the draws"
    return Table("curves", title, ["corpus", "documents", *names], lines)


def _crossing(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "crossing",
        "Documents from which on a method stays above a generative one",
        ["corpus", "method", "above", "documents"],
        [
            [
                row["corpus"],
                row["method"],
                row["above"],
                MISSING if row["from_size"] is None else f"{row['from_size']:,}",
            ]
            for row in rows
        ],
    )


def _whole(name: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    lines = [
        [
            row["method"]
            + "".join(f" ({k} = {v:g})" for k, v in row["setting"].items()),
            _FEATURES[row["ngrams"]],
            number(row["accuracy"], 4),
            number(row["published"], 4),
        ]
        for row in rows
    ]
    head = ["method", "features", "accuracy", "published"]
    return Table(name, f"{title}, test accuracy", head, lines)
