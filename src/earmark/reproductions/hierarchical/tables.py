"""The result as text: mean ± standard error, the paper's figure in brackets.

p is that of a paired t test against naive Bayes over the draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["show"]


def show(result: Mapping[str, Any]) -> str:
    """Every table, one line a row."""
    lines = ["Table 1: IMDB, 25,000 training reviews"]
    lines += _rows(result["table_1"]["rows"])
    for corpus, rows in result["table_2"].items():
        lines += ["", f"Table 2: {corpus}", *_rows(rows)]
    lines += ["", "Table 3: TREC questions in place of the paper's queries"]
    lines += _rows(result["table_3"])
    for shape, rows in result["table_4"].items():
        lines += ["", f"Table 4: {shape}", *_rows(rows)]
    lines += ["", "XOR, all four points right"]
    xor = result["figure_2"]
    lines += [
        f"  {name:40} {right} of {xor['seeds']} seeds"
        for name, right in xor["all four points right"].items()
    ]
    lines += ["", "Figure 3: IMDB by training reviews"]
    for point in (*result["figure_3"]["A and B"], *result["figure_3"]["C"]):
        lines += [f"{point['reviews']} reviews", *_rows(point["rows"])]
    return "\n".join(lines)


def _rows(table: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, row in table.items():
        error = f" ± {row['se']:.4f}" if row["n"] > 1 else ""
        paper = f" ({row['paper']:.3f})" if row.get("paper") is not None else ""
        p = row.get("p against naive Bayes")
        tested = "" if p is None else f"  p {p:.2g}"
        lines.append(f"  {name:40} {row['mean']:.4f}{error}{paper}{tested}")
    return lines
