"""The exercise sheet on Bishop (2006), and whole training sets beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.networks import figures
from reproductions.networks.curves import crossing, learning_curves
from reproductions.networks.descent import compare_batches
from reproductions.networks.tables import tables
from reproductions.networks.whole import newsgroups, reviews_by_default, sentiment
from reproductions.networks.worked_example import worked_example
from reproductions.study import Run

__all__ = ["PARTS", "derive", "draw", "tables"]

_SIZES = {
    "20newsgroups": (20, 100, 300, 1000, 3000, 11_314),
    "imdb": (10, 30, 100, 300, 1000, 3000, 10_000, 25_000),
}


def _curves(run: Run) -> list[dict[str, Any]]:
    rows = []
    for corpus, sizes in _SIZES.items():
        chosen = sizes[:3] if run.quick else sizes
        rows += learning_curves(corpus, chosen, 1 if run.quick else 3, run.progress)
    return rows


def _newsgroups(run: Run) -> Any:
    return newsgroups(3000 if run.quick else None, run.progress)


def _sentiment(run: Run) -> Any:
    if run.quick:
        return sentiment(1, 5000, run.progress)
    words, pairs = (sentiment(n, None, run.progress) for n in (1, 2))
    return [*words, *pairs, reviews_by_default(None, run.progress)]


PARTS: Mapping[str, Callable[[Run], Any]] = {
    "worked_example": lambda run: worked_example(),
    "descent": lambda run: compare_batches(n_seeds=5 if run.quick else 20),
    "learning_curves": _curves,
    "newsgroups": _newsgroups,
    "sentiment": _sentiment,
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """From which size on a method stays above the generative ones."""
    return {"crossing": crossing(result["learning_curves"])}


def draw(result: Mapping[str, Any], out: Path) -> None:
    """The paths of the descent, and the learning curves."""
    figures.descent_paths(result["descent"], out / "descent.svg")
    figures.learning_curves(result["learning_curves"], out / "learning-curves.svg")
