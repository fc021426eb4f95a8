"""Run all parts of the reproduction, and draw the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earmark.reproductions._common import Progress
from earmark.reproductions.networks import figures
from earmark.reproductions.networks.curves import crossing, learning_curves
from earmark.reproductions.networks.descent import compare_batches
from earmark.reproductions.networks.whole import newsgroups, sentiment
from earmark.reproductions.networks.worked_example import worked_example

__all__ = ["reproduce"]

_SIZES = {
    "20newsgroups": (20, 100, 300, 1000, 3000, 11_314),
    "imdb": (10, 30, 100, 300, 1000, 3000, 10_000, 25_000),
}


def reproduce(
    out: Path, quick: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure everything; figures as PNG into ``out``.

    Quick: the three smallest samples of the learning curves, fewer draws; in place of
    the whole training sets 3,000 newsgroup posts and 5,000 reviews, words only.
    """
    tell: Progress = progress if progress is not None else lambda _: None
    n_draws = 1 if quick else 3
    curves = []
    for corpus, sizes in _SIZES.items():
        curves += learning_curves(corpus, sizes[:3] if quick else sizes, n_draws, tell)
    topics = newsgroups(3000 if quick else None, tell)
    reviews = sentiment(1, 5000, tell) if quick else []
    for ngrams in () if quick else (1, 2):
        reviews += sentiment(ngrams, None, tell)
    result: dict[str, Any] = {
        "worked_example": worked_example(),
        "descent": compare_batches(n_seeds=5 if quick else 20),
        "n_draws": n_draws,
        "learning_curves": curves,
        "crossing": crossing(curves),
        "newsgroups": topics,
        "sentiment": reviews,
    }
    out.mkdir(parents=True, exist_ok=True)
    figures.descent_paths(result["descent"], out / "descent.png")
    figures.learning_curves(curves, out / "learning-curves.png")
    tell(f"figures in {out}")
    return result
