"""Raina, Shen, Ng & McCallum (2003): figures 1 and 2, Theorem 1, and twenty classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.hybrid import figures
from reproductions.hybrid.coverage import coverage_curves
from reproductions.hybrid.curves import learning_curves, verdict
from reproductions.hybrid.pairs import PAIRS
from reproductions.hybrid.tables import tables
from reproductions.hybrid.theorem import likelihood_gap
from reproductions.hybrid.twenty import twenty_newsgroups
from reproductions.study import Run

__all__ = ["PARTS", "derive", "draw", "tables"]


def _pairs(run: Run) -> tuple[tuple[str, str], ...]:
    return PAIRS[:2] if run.quick else PAIRS


def _splits(run: Run) -> int:
    return 3 if run.quick else 10


def _figure_1(run: Run) -> Any:
    sizes = (50, 200) if run.quick else (50, 150, 500, 1500)
    return learning_curves(_pairs(run), sizes, _splits(run), run.progress)


def _given_dictionary(run: Run) -> Any:
    return learning_curves(
        _pairs(run), (50,), _splits(run), run.progress, given_dictionary=True
    )


PARTS: Mapping[str, Callable[[Run], Any]] = {
    "figure_1": _figure_1,
    "given_dictionary": _given_dictionary,
    "figure_2": lambda run: coverage_curves(_pairs(run), _splits(run), run.progress),
    "theorem_1": likelihood_gap,
    "twenty_newsgroups": lambda run: twenty_newsgroups(run.progress, run.quick),
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """On how many pairs the paper's claims hold."""
    return {
        "figure_1_verdict": verdict(result["figure_1"]),
        "given_dictionary_verdict": verdict(result["given_dictionary"]),
    }


def draw(result: Mapping[str, Any], out: Path) -> None:
    """Figures 1 and 2, plug-in against leave-one-out, and theorem 1."""
    figures.learning_curves(result, out / "figure-1.svg")
    figures.coverage_curves(result, out / "figure-2.svg")
    figures.calibration(result, out / "plug-in.svg")
    figures.theorem(result, out / "theorem-1.svg")
