"""Carlos & Rakshit (2016): tables 1 to 4, figures 1 to 4, and honest rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.hierarchical.corpora import (
    curves,
    labelled_corpora,
    questions,
    reviews,
)
from reproductions.hierarchical.figures import draw_figures
from reproductions.hierarchical.plane import shapes, xor
from reproductions.hierarchical.tables import tables
from reproductions.study import Run

__all__ = ["PARTS", "derive", "draw", "tables"]

PARTS: Mapping[str, Callable[[Run], Any]] = {
    "figure_2": lambda run: xor(3 if run.quick else 10),
    "table_4": lambda run: shapes(2 if run.quick else 10, run.progress),
    "table_3": questions,
    "table_2": labelled_corpora,
    "table_1": reviews,
    "figure_3": curves,
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing: every part has its own tests."""
    return {}


def draw(result: Mapping[str, Any], out: Path) -> None:
    """Figures 1 to 4."""
    draw_figures(result, out)
