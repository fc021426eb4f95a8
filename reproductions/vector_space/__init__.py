"""Vector space classification: the examples, figures and exercises of the book.

C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to Information
Retrieval, chapter 14. Cambridge University Press.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.study import Run
from reproductions.vector_space import (
    book,
    figures,
    languages,
    nearest_error,
    newsgroups,
    reuters,
    separability,
    timing,
    tradeoff,
)
from reproductions.vector_space.features import Split, corpus
from reproductions.vector_space.tables import tables

__all__ = ["PARTS", "derive", "draw", "tables"]


def _draws(run: Run) -> int:
    return 40 if run.quick else 400


def _sets(run: Run) -> int:
    return 10 if run.quick else 50


def _newsgroups(run: Run) -> Split:
    return corpus("20newsgroups", 2000 if run.quick else None)


def _terms(run: Run) -> tuple[int, ...]:
    return (100, 1000, 10_000) if run.quick else (100, 300, 1000, 3000, 10_000, 30_000)


def _reuters(run: Run) -> reuters.Reuters:
    return reuters.Reuters(2000 if run.quick else None)


def _points(run: Run) -> dict[str, Any]:
    return {
        "square": separability.perturbed_square(_draws(run)),
        "random points": separability.random_points(_draws(run)),
    }


def _ninety(run: Run) -> Any:
    data = _reuters(run)
    classes = reuters.TEN if run.quick else data.ninety
    return reuters.exercise(data, classes, run.progress)


PARTS: Mapping[str, Callable[[Run], Any]] = {
    "examples": lambda run: book.examples(),
    "exercise 14.1": lambda run: book.distortion(),
    "figure 14.2": lambda run: book.projection(),
    "exercise 14.6": lambda run: book.similarity_measures(),
    "exercise 14.5": lambda run: languages.one_of_and_any_of(),
    "exercise 14.16": _points,
    "exercise 14.17": lambda run: separability.cube_corners(_draws(run)),
    "1NN and the Bayes error": lambda run: nearest_error.bayes_and_nearest(
        (20, 100, 1000, 5000), 3 if run.quick else 20
    ),
    "bias and variance": lambda run: tradeoff.by_neighbours(_sets(run), run.progress),
    "figure 14.10": lambda run: tradeoff.three_classifiers(_sets(run), run.progress),
    "exercise 14.8": lambda run: newsgroups.exercise(_newsgroups(run), run.progress),
    "weighting": lambda run: newsgroups.weightings(
        2000 if run.quick else None, run.progress
    ),
    "feature selection": lambda run: newsgroups.feature_selection(
        _newsgroups(run), _terms(run), run.progress
    ),
    "tables 14.2 and 14.3": timing.time_complexity,
    "inverted index": timing.inverted_index,
    "bias and variance by terms": lambda run: tradeoff.by_terms(
        _newsgroups(run), _terms(run), 4 if run.quick else 12, run.progress
    ),
    "exercise 14.7": lambda run: reuters.exercise(
        _reuters(run), reuters.TEN, run.progress
    ),
    "routing": lambda run: reuters.routing(_reuters(run), run.progress),
    "table 14.5": lambda run: reuters.confusion(_reuters(run)),
    "Reuters, 90 classes": _ninety,
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing: every part stands alone."""
    return {}


def draw(result: Mapping[str, Any], out: Path) -> None:
    """The chapter's figures."""
    figures.draw_all(
        out, result["bias and variance"], result["bias and variance by terms"]
    )
