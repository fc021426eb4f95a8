"""Vector space classification: the examples, figures and exercises of the book.

C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to Information
Retrieval, chapter 14. Cambridge University Press.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earmark.reproductions._common import Progress
from earmark.reproductions.vector_space import (
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
from earmark.reproductions.vector_space.features import corpus

__all__ = ["reproduce"]


def reproduce(
    out: Path, quick: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Run everything; figures go to ``out``, the result is plain data.

    ``quick`` takes fewer documents and draws: minutes become seconds.
    """
    tell: Progress = progress or (lambda message: None)
    result: dict[str, Any] = {
        "examples": book.examples(),
        "exercise 14.1": book.distortion(),
        "figure 14.2": book.projection(),
        "exercise 14.6": book.similarity_measures(),
        "exercise 14.5": languages.one_of_and_any_of(),
    }
    tell("worked examples")
    draws = 40 if quick else 400
    result["exercise 14.16"] = {
        "square": separability.perturbed_square(draws),
        "random points": separability.random_points(draws),
    }
    result["exercise 14.17"] = separability.cube_corners(draws)
    result["1NN and the Bayes error"] = nearest_error.bayes_and_nearest(
        (20, 100, 1000, 5000), 3 if quick else 20
    )
    tell("simulations")
    n_sets = 10 if quick else 50
    result["bias and variance"] = tradeoff.by_neighbours(n_sets, tell)
    result["figure 14.10"] = tradeoff.three_classifiers(n_sets, tell)
    result.update(_on_newsgroups(quick, tell))
    result.update(_on_reuters(quick, tell))
    result["figures"] = figures.draw_all(
        out, result["bias and variance"], result["bias and variance by terms"]
    )
    return result


def _on_newsgroups(quick: bool, tell: Progress) -> dict[str, Any]:
    data = corpus("20newsgroups", 2000 if quick else None)
    sizes = (100, 1000, 10_000) if quick else (100, 300, 1000, 3000, 10_000, 30_000)
    documents = (500, 1000, 2000) if quick else (1000, 2000, 4000, 8000)
    return {
        "exercise 14.8": newsgroups.exercise(data, tell),
        "feature selection": newsgroups.feature_selection(data, sizes, tell),
        "tables 14.2 and 14.3": timing.time_complexity(
            data, documents, (2, 8, 32, 128), 2 if quick else 3, tell
        ),
        "bias and variance by terms": tradeoff.by_terms(
            data, sizes, 4 if quick else 12, tell
        ),
    }


def _on_reuters(quick: bool, tell: Progress) -> dict[str, Any]:
    data = reuters.Reuters(2000 if quick else None)
    result: dict[str, Any] = {
        "exercise 14.7": reuters.exercise(data, reuters.TEN, tell),
        "routing": reuters.routing(data, tell),
        "table 14.5": reuters.confusion(data),
    }
    if not quick:
        result["Reuters, 90 classes"] = reuters.exercise(data, data.ninety, tell)
    return result
