"""The experiments together, and their figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earmark.reproductions._common import Progress
from earmark.reproductions.few_labels._draws import Finished
from earmark.reproductions.few_labels._figures import draw_figures
from earmark.reproductions.few_labels._tables import (
    compare_branches,
    compare_with_supervised,
    learning_curves,
    many_labels,
    means,
    short_means,
    unlabelled_classes,
)
from earmark.reproductions.few_labels._tasks import (
    DEVELOPMENT,
    SHORT,
    untouched_tasks,
)

__all__ = ["reproduce"]


def reproduce(
    out: Path, quick: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """All tables as plain data; figures go to ``out``.

    If ``EARMARK_DRAWS`` names a folder, finished draws are kept there and an
    interrupted run goes on where it stopped.
    """
    tell = progress or (lambda message: None)
    done = Finished()
    corpora = ("webkb", "sms", "trec") if quick else DEVELOPMENT
    short = ("ag-titles", "sms") if quick else SHORT
    untouched = ("docstrings",) if quick else untouched_tasks()
    half = ("webkb", "trec") if quick else ("20ng", "r8", "webkb", "trec")
    curves = ("webkb", "sms") if quick else ("r8", "webkb", "imdb")
    most = 2 if quick else 8
    few = 1 if quick else 3
    result: dict[str, Any] = {
        "development": compare_with_supervised(done, corpora, most, tell, True),
        "short": compare_branches(done, short, few, tell),
        "untouched": compare_with_supervised(done, untouched, few, tell),
        "unlabelled_classes": unlabelled_classes(done, half, few, tell),
        "many_labels": many_labels(done, corpora, (100,) if quick else None, tell),
        "curves": learning_curves(done, curves, few, tell),
    }
    result["means"] = means(result["development"])
    result["short_means"] = short_means(result["short"])
    draw_figures(result, out)
    return result
