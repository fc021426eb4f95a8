"""Ganiz, Lytkin & Pottenger (2009): tables 2 to 5, figures 2 to 4, honest rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.higher_order.figures import draw_curves, draw_ratios, log_ratios
from reproductions.higher_order.tables import tables
from reproductions.higher_order.trials import (
    curves,
    derive,
    few_documents,
    footnote_5,
    leak_free,
    milder_cross_postings,
    unlabelled,
)
from reproductions.study import Run

__all__ = ["PARTS", "derive", "draw", "tables"]

PARTS: Mapping[str, Callable[[Run], Any]] = {
    "few_documents": few_documents,
    "leak_free": leak_free,
    "footnote_5": footnote_5,
    "curves": curves,
    "milder_cross_postings": milder_cross_postings,
    "unlabelled": unlabelled,
    "log_ratios": log_ratios,
}


def draw(result: Mapping[str, Any], out: Path) -> None:
    """Figures 2, 3 and 4."""
    draw_curves(result["curves"]["means"], out)
    draw_ratios(result["log_ratios"], out)
