"""Theorem 1 by simulation: leave-one-out log-likelihood against the true one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from earmark.models import HybridBayes
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix
from reproductions.study import Progress, Run, mean_and_error

__all__ = ["gaps", "likelihood_gap"]

_LENGTHS = (5, 45)  # words of the two regions of every document
_N_FRESH = 20_000  # documents that stand for the expectation
_THETA = tuple(product((0.0, 5.0, 10.0, 20.0), repeat=2))  # |theta| <= 20


def likelihood_gap(run: Run) -> list[dict[str, Any]]:
    """The sup over theta of |leave-one-out - true| mean log-likelihood, and plug-in's.

    Documents are drawn from two known classes over V words with Zipf-like
    frequencies; the true log-likelihood is that of 20,000 fresh documents.
    """
    sizes = (20, 100, 500) if run.quick else (20, 100, 500, 1000, 2000, 5000)
    widths = (100, 1000) if run.quick else (100, 1000, 10_000)
    return gaps(sizes, widths, 3 if run.quick else 40, run.progress)


def gaps(
    sizes: Sequence[int], widths: Sequence[int], n_draws: int, progress: Progress
) -> list[dict[str, Any]]:
    """One row per size and width."""
    rows = []
    for width in widths:
        draws = [_one_draw(sizes, width, seed) for seed in range(n_draws)]
        rows += [
            {
                "m": size,
                "V": width,
                "leave_one_out": mean_and_error(draw[i][0] for draw in draws),
                "plug_in": mean_and_error(draw[i][1] for draw in draws),
            }
            for i, size in enumerate(sizes)
        ]
        progress(f"gap of the log-likelihoods for V = {width}")
    return rows


def _one_draw(sizes: Sequence[int], width: int, seed: int) -> list[tuple[float, float]]:
    rng = np.random.default_rng([seed, width])
    words = _word_probabilities(rng, width)
    fresh, fresh_y = _documents(rng, words, _N_FRESH)
    return [_gap(*_documents(rng, words, size), fresh, fresh_y) for size in sizes]


def _gap(
    X: SparseMatrix, y: IntVector, fresh: SparseMatrix, fresh_y: IntVector
) -> tuple[float, float]:
    """Largest gaps of the leave-one-out and of the plug-in log-likelihood."""
    blocks = np.repeat([0, 1], X.shape[1] // 2)
    model = HybridBayes(vocabulary="shared", alpha=1.0).fit(X, y, columns=blocks)
    true = _odds(model, lambda m: m.predict_log_proba(fresh))
    left_out = _odds(model, lambda m: m.leave_one_out(X, y))
    plug_in = _odds(model, lambda m: m.predict_log_proba(X))
    worst = [(0.0, 0.0)]
    for theta in _THETA:
        expected = _log_likelihood(true @ theta, fresh_y)
        worst.append(
            (
                abs(_log_likelihood(left_out @ theta, y) - expected),
                abs(_log_likelihood(plug_in @ theta, y) - expected),
            )
        )
    first, second = np.max(worst, axis=0)
    return float(first), float(second)


def _odds(model: HybridBayes, log_proba: Callable[[HybridBayes], Any]) -> FloatMatrix:
    """Log-odds of the second class for a weight of 1 on either region alone.

    Without a bias the log-odds are linear in theta: these two columns give them for
    every theta (HY1).
    """
    model.class_bias_ = np.zeros(2)
    columns = []
    for weights in ((1.0, 0.0), (0.0, 1.0)):
        model.region_weight_ = np.array(weights)
        log_probability = log_proba(model)
        columns.append(log_probability[:, 1] - log_probability[:, 0])
    return np.column_stack(columns)


def _log_likelihood(odds: FloatVector, y: IntVector) -> float:
    return float(-np.logaddexp(0.0, np.where(y == 1, -odds, odds)).mean())


def _word_probabilities(rng: np.random.Generator, width: int) -> FloatMatrix:
    """Two classes' word distributions: a common Zipf law, tilted for each class."""
    tilted = np.exp(0.5 * rng.normal(size=(2, width))) / np.arange(1, width + 1)
    return np.asarray(tilted / tilted.sum(axis=1, keepdims=True))


def _documents(
    rng: np.random.Generator, words: FloatMatrix, n: int
) -> tuple[SparseMatrix, IntVector]:
    y = rng.permutation(np.arange(n) % 2)
    cumulative = np.cumsum(words, axis=1)
    cumulative[:, -1] = 1.0
    parts = []
    for length in _LENGTHS:
        drawn = np.empty((n, length), dtype=np.int64)
        for c in (0, 1):
            chance = rng.random((int((y == c).sum()), length))
            drawn[y == c] = np.searchsorted(cumulative[c], chance)
        rows = np.repeat(np.arange(n), length)
        counts = (np.ones(drawn.size), (rows, drawn.ravel()))
        parts.append(sparse.csr_matrix(counts, shape=(n, words.shape[1])))
    return sparse.hstack(parts, format="csr"), y
