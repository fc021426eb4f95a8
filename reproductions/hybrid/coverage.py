"""Figure 2: accuracy against coverage, ten random halves of each pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from earmark.evaluation import accuracy_coverage, corrected_resampled_t
from reproductions.hybrid.methods import METHODS, Answer, one_region
from reproductions.hybrid.pairs import Corpus, Part, load_news
from reproductions.study import Progress, log_odds, mean_and_error

__all__ = ["coverage_curves"]

GRID = np.round(np.arange(0.05, 1.001, 0.05), 2)
OURS = "hybrid R=1"
COMPARED: Mapping[str, Callable[[Part, Part], Answer]] = {
    "naive Bayes": METHODS["naive Bayes"],
    "logistic regression": METHODS["logistic regression"],
    "hybrid R=1, unnormalised": one_region(normalize=False),
    OURS: METHODS[OURS],
}


def coverage_curves(
    pairs: Sequence[tuple[str, str]], n_splits: int, progress: Progress
) -> list[dict[str, Any]]:
    """Mean accuracy at each coverage, coverage at 95 % accuracy, and area."""
    corpus = load_news(pairs)
    rows = []
    for pair in pairs:
        measured = [_one_split(corpus, pair, s) for s in range(n_splits)]
        half = len(corpus.rows(pair)) // 2
        rows.append(
            {
                "pair": list(pair),
                "coverage": GRID.tolist(),
                "methods": {name: _summary(name, measured) for name in COMPARED},
                # Halves are drawn afresh, so that training and test parts overlap from
                # split to split: the corrected resampled t test.
                "p_area_against_R1": {
                    name: corrected_resampled_t(
                        [m[OURS]["area"] for m in measured],
                        [m[name]["area"] for m in measured],
                        n_train=half,
                        n_test=half,
                    ).p_value
                    for name in COMPARED
                    if name != OURS and n_splits > 1
                },
            }
        )
        progress(f"accuracy/coverage of {pair[0]} vs {pair[1]}")
    return rows


def _one_split(corpus: Corpus, pair: tuple[str, str], seed: int) -> dict[str, Any]:
    order = np.random.default_rng(seed).permutation(corpus.rows(pair))
    half = len(order) // 2
    train, test = corpus.split(order[:half], order[half:])
    found = {}
    for name, run in COMPARED.items():
        labels, log_proba = run(train, test)
        assert log_proba is not None
        curve = accuracy_coverage(test.y, labels, log_odds(log_proba))
        proba = np.exp(log_proba).max(axis=1)
        rounded = accuracy_coverage(test.y, labels, proba)
        found[name] = {
            "accuracy": [curve.accuracy_at(c) for c in GRID],
            "coverage_at_95": curve.coverage_at(0.95),
            "area": curve.area,
            # What ranking by a probability in floating point makes of it.
            "coverage_at_95_by_probability": rounded.coverage_at(0.95),
            "area_by_probability": rounded.area,
            "probability_is_1": float(np.mean(proba == 1.0)),
        }
    return found


def _summary(name: str, measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    curves = np.array([m[name]["accuracy"] for m in measured])
    return {
        "accuracy": curves.mean(axis=0).round(5).tolist(),
        **{
            key: mean_and_error(m[name][key] for m in measured)
            for key in measured[0][name]
            if key != "accuracy"
        },
    }
