"""A simulated person labels: what the picks are worth, how honest the estimate is.

The person's answers are the corpus' own labels. Of 3,000 documents drawn in each run
1,000 are never asked about: the accuracy is measured on them. Both arms keep the same
random share of their questions apart for the estimate, and learn from the rest; they
differ in how the documents to learn from are picked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.labelling.experiment import comparisons, coverage, settings, study
from reproductions.labelling.figures import draw_curves
from reproductions.study import Run
from reproductions.tables import Table, number, p_value

__all__ = ["PARTS", "derive", "draw", "tables"]

PARTS: Mapping[str, Callable[[Run], Any]] = {"settings": settings, "corpora": study}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Both arms compared, and how often the estimate's interval holds the truth."""
    return {
        "comparison": comparisons(result["corpora"], result["settings"]["paired runs"]),
        "coverage": coverage(result["corpora"]),
    }


def draw(result: Mapping[str, Any], out: Path) -> None:
    """The curves of both arms."""
    draw_curves(result, out / "curves.svg")


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Both arms after the last answer, and the coverage of the estimate."""
    rows = []
    for name, arms in result["comparison"].items():
        low, high = arms["difference_interval"]
        gap = number(arms["difference"]["mean"], sign=True)
        interval = f"[{number(low, sign=True)}, {number(high, sign=True)}]"
        reached = (number(arms[arm]["mean"]) for arm in ("active", "random"))
        rows.append([name, *reached, f"{gap} {interval}", p_value(arms["p_value"])])
    covered = result["coverage"]
    holds = f"{covered['covered']} of {covered['runs']}"
    answers = result["settings"]["labels"]
    return [
        Table(
            "active-random",
            f"Accuracy on unasked documents after {answers} answers",
            ["corpus", "active", "random", "difference", "p"],
            rows,
            "Intervals: 95 %, bootstrap over paired runs; p: paired t test over the "
            "runs, each of which draws its own documents.",
        ),
        Table(
            "estimate",
            "The estimate shown to the person",
            ["interval holds the truth", "mean width", "mean bias"],
            [[holds, number(covered["mean_width"]), number(covered["mean_bias"])]],
        ),
    ]
