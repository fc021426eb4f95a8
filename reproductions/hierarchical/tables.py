"""The tables: mean ± standard error, the paper's figure in brackets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproductions.tables import MISSING, Table, mean, number, p_value

__all__ = ["tables"]

Rows = Mapping[str, Any]


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Every table, and the points of figure 3."""
    return [
        _rows(
            "table-1",
            "Table 1: IMDB, 25,000 training reviews",
            result["table_1"]["rows"],
        ),
        _side_by_side("table-2", "Table 2: labelled corpora", result["table_2"]),
        _tests("table-2-tests", "Table 2: p against naive Bayes", result["table_2"]),
        _rows(
            "table-3",
            "Table 3: TREC questions in place of the paper's queries",
            result["table_3"],
        ),
        _shapes(result["table_4"]),
        _xor(result["figure_2"]),
        *_curves(result["figure_3"]),
    ]


def _rows(name: str, title: str, rows: Rows) -> Table:
    lines = [[each, mean(row), _p(each, rows)] for each, row in rows.items()]
    return Table(name, title, ["", "accuracy", "p against naive Bayes"], lines)


def _p(name: str, rows: Rows) -> str:
    """P against the naive Bayes of the same smoothing, over the test documents."""
    other = "naive Bayes" + (", alpha 1" if "alpha 1" in name else "")
    if name not in rows or name == other:
        return MISSING
    return p_value(rows[name]["p against naive Bayes"])


def _side_by_side(name: str, title: str, corpora: Mapping[str, Rows]) -> Table:
    methods = list(dict.fromkeys(m for rows in corpora.values() for m in rows))
    lines = [
        [m, *(mean(rows[m]) if m in rows else MISSING for rows in corpora.values())]
        for m in methods
    ]
    return Table(name, title, ["", *corpora], lines)


def _tests(name: str, title: str, corpora: Mapping[str, Rows]) -> Table:
    methods = list(dict.fromkeys(m for rows in corpora.values() for m in rows))
    lines = [
        [
            m,
            *(_p(m, rows) for rows in corpora.values()),
        ]
        for m in methods
    ]
    return Table(name, title, ["", *corpora], lines)


def _shapes(shapes: Mapping[str, Rows]) -> Table:
    models = ("naive Bayes", "hierarchical Bayes")
    lines = [
        [shape, *(mean(rows[model]) for model in models)]
        for shape, rows in shapes.items()
    ]
    return Table("table-4", "Table 4: shapes", ["shape", *models], lines)


def _xor(xor: Mapping[str, Any]) -> Table:
    lines = [
        [name, f"{right} of {xor['seeds']}"]
        for name, right in xor["all four points right"].items()
    ]
    head = ["", "seeds with all four points right"]
    return Table("xor", "Figure 2: XOR", head, lines)


def _curves(figure: Mapping[str, Any]) -> list[Table]:
    """Figure 3 as numbers: one row per method, one column per training size."""
    made = []
    for key, points in figure.items():
        methods = list(points[0]["rows"])
        lines = [
            [m, *(number(point["rows"][m]["mean"]) for point in points)]
            for m in methods
        ]
        head = ["training reviews", *(f"{point['reviews']:,}" for point in points)]
        name = "figure-3-" + key.lower().replace(" and ", "-")
        made.append(Table(name, f"Figure 3, {key}: IMDB accuracy", head, lines))
    return made
