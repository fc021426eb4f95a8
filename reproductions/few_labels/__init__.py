"""Few labels, many documents: the tables, with draws, errors, wins and losses.

Labelled documents are drawn per class from the training part, the rest of it is
the pool, the test part is untouched. Every method sees the same draws.

If ``EARMARK_DRAWS`` names a folder, finished draws are kept there and an interrupted
run resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reproductions.few_labels.draws import Finished
from reproductions.few_labels.encoder import (
    CORPORA,
    compare_with_encoder,
    weigh_names,
)
from reproductions.few_labels.experiments import (
    compare_branches,
    compare_with_supervised,
    learning_curves,
    many_labels,
    means,
    short_means,
    unlabelled_classes,
)
from reproductions.few_labels.figures import draw
from reproductions.few_labels.tables import tables
from reproductions.few_labels.tasks import DEVELOPMENT, SHORT, untouched_tasks
from reproductions.study import Run

__all__ = ["PARTS", "derive", "draw", "tables"]

_QUICK = ("webkb", "sms", "trec")


def _few(run: Run) -> int:
    return 1 if run.quick else 3


def _corpora(run: Run) -> tuple[str, ...]:
    return _QUICK if run.quick else DEVELOPMENT


def _development(run: Run) -> Any:
    most = 2 if run.quick else 8
    return compare_with_supervised(
        Finished(), _corpora(run), most, run.progress, with_literature=True
    )


def _short(run: Run) -> Any:
    names = ("ag-titles", "sms") if run.quick else SHORT
    return compare_branches(Finished(), names, _few(run), run.progress)


def _untouched(run: Run) -> Any:
    names = ("docstrings",) if run.quick else untouched_tasks()
    return compare_with_supervised(Finished(), names, _few(run), run.progress)


def _unlabelled_classes(run: Run) -> Any:
    names = ("webkb", "trec") if run.quick else ("20ng", "r8", "webkb", "trec")
    return unlabelled_classes(Finished(), names, _few(run), run.progress)


def _many_labels(run: Run) -> Any:
    sizes = (100,) if run.quick else None
    return many_labels(Finished(), _corpora(run), sizes, run.progress)


def _curves(run: Run) -> Any:
    names = ("webkb", "sms") if run.quick else ("r8", "webkb", "imdb")
    return learning_curves(Finished(), names, _few(run), run.progress)


def _encoder(run: Run) -> Any:
    names = ("sms", "trec") if run.quick else CORPORA
    return compare_with_encoder(names, _few(run), run.progress)


def _name_weight(run: Run) -> Any:
    names = ("sms", "trec") if run.quick else CORPORA
    return weigh_names(names, 1 if run.quick else 2, run.progress)


PARTS: Mapping[str, Callable[[Run], Any]] = {
    "development": _development,
    "short": _short,
    "untouched": _untouched,
    "unlabelled_classes": _unlabelled_classes,
    "many_labels": _many_labels,
    "curves": _curves,
    "encoder": _encoder,
    "name_weight": _name_weight,
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Means over the corpora."""
    return {
        "means": means(result["development"]),
        "short_means": short_means(result["short"]),
    }
