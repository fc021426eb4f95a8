"""Theorem 1 by simulation: leave-one-out log-likelihood against the true one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from earmark.models import HybridBayes
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix
from reproductions.study import Progress, Run, mean_and_error

__all__ = ["gaps", "likelihood_gap"]

_LENGTHS = (5, 45)  # words of the two regions of every document
_N_TEST = 2000
_THETA = tuple(product((0.0, 5.0, 10.0, 20.0), repeat=2))  # |theta| <= 20


def likelihood_gap(run: Run) -> list[dict[str, Any]]:
    """The sup over theta of |leave-one-out - true| mean log-likelihood, and plug-in's.

    Documents are drawn from two known classes over V words with Zipf-like
    frequencies; the true log-likelihood is that of 2000 fresh documents.
    """
    sizes = (20, 100) if run.quick else (20, 100, 500, 1000)
    widths = (100, 1000) if run.quick else (100, 1000, 10000)
    return gaps(sizes, widths, 3 if run.quick else 10, run.progress)


def gaps(
    sizes: Sequence[int], widths: Sequence[int], n_draws: int, progress: Progress
) -> list[dict[str, Any]]:
    """One row per size and width."""
    rows = []
    for width in widths:
        for size in sizes:
            draws = [_one_draw(size, width, seed) for seed in range(n_draws)]
            rows.append(
                {
                    "m": size,
                    "V": width,
                    "leave_one_out": mean_and_error(d[0] for d in draws),
                    "plug_in": mean_and_error(d[1] for d in draws),
                }
            )
        progress(f"gap of the log-likelihoods for V = {width}")
    return rows


def _one_draw(size: int, width: int, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, size, width])
    words = _word_probabilities(rng, width)
    X, y = _documents(rng, words, size)
    fresh, fresh_y = _documents(rng, words, _N_TEST)
    blocks = np.repeat([0, 1], width)
    model = HybridBayes(blocks=blocks, vocabulary="shared", alpha=1.0).fit(X, y)
    found = []
    model.class_bias_ = np.zeros(2)
    for theta in _THETA:
        model.region_weight_ = np.array(theta)
        true = _mean_log_likelihood(model.predict_log_proba(fresh), fresh_y)
        left_out = _mean_log_likelihood(model.leave_one_out(X, y), y)
        plug_in = _mean_log_likelihood(model.predict_log_proba(X), y)
        found.append((abs(left_out - true), abs(plug_in - true)))
    worst = np.max(found, axis=0)
    return float(worst[0]), float(worst[1])


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
        drawn = np.stack(
            [np.searchsorted(cumulative[c], rng.random(length)) for c in y]
        )
        rows = np.repeat(np.arange(n), length)
        counts = (np.ones(drawn.size), (rows, drawn.ravel()))
        parts.append(sparse.csr_matrix(counts, shape=(n, words.shape[1])))
    return sparse.hstack(parts, format="csr"), y


def _mean_log_likelihood(log_proba: FloatMatrix, y: IntVector) -> float:
    values: FloatVector = log_proba[np.arange(len(y)), y]
    return float(values.mean())
