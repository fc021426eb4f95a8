"""A linear support vector machine on rows that share a dense constant part.

For sparse rows D_i, a dense row c, labels y_i = +-1, costs C_i and a scale s:

    min over w, b of  1/2 (|w|^2 + b^2)
                      + sum_i C_i loss(1 - y_i (w.(c + D_i) + s b))

with loss(z) = max(0, z)^2 or max(0, z). This is the problem of LIBLINEAR (and of
scikit-learn's LinearSVC with intercept_scaling = s) on the rows c + D_i, solved by
dual coordinate descent [1]_ without making those rows: w = v + t c where
v = sum_i a_i y_i D_i and t = sum_i a_i y_i, so that a step costs the entries of D_i.

.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan
   (2008). A dual coordinate descent method for large-scale linear SVM. ICML.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earmark.kernels.backend import native
from earmark.kernels.keys import GOLDEN, mixed_bits
from earmark.kernels.rows import csr_arrays, row_entries
from earmark.typing import FloatVector, SparseMatrix


class LinearFit(NamedTuple):
    """Scores are ``D @ weights + intercept``."""

    weights: FloatVector
    intercept: float
    n_iter: int
    converged: bool


def fit_offset_svm(
    D: SparseMatrix,
    offset: FloatVector,
    sign: FloatVector,
    cost: FloatVector,
    *,
    scale: float = 1.0,
    squared: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    seed: int = 0,
) -> LinearFit:
    """Fit until the projected gradients lie within ``tol``; scale = 0 leaves b out."""
    constant = float((offset * offset).sum() + scale * scale)
    lib = native()
    if lib is None:
        v, t, along, n_iter, gap = _fit_plain(
            D, offset, sign, cost, constant, squared, tol, max_iter, seed
        )
    else:
        v = np.zeros(D.shape[1])
        t, along, n_iter, gap = lib.fit_offset_svm(
            *csr_arrays(D),
            offset=offset,
            sign=sign,
            cost=cost,
            constant=constant,
            squared=squared,
            tol=tol,
            max_iter=max_iter,
            seed=seed,
            weights=v,
        )
    return LinearFit(v + t * offset, along + t * constant, n_iter, gap <= tol)


def _fit_plain(
    D: SparseMatrix,
    offset: FloatVector,
    sign: FloatVector,
    cost: FloatVector,
    constant: float,
    squared: bool,
    tol: float,
    max_iter: int,
    seed: int,
) -> tuple[FloatVector, float, float, int, float]:
    """Fit in plain Python, equal to the compiled loop."""
    rows = list(row_entries(D))
    shift = np.array([x @ offset[k] for k, x in rows])
    diagonal = 0.5 / cost if squared else np.zeros(len(cost))
    ceiling = np.full(len(cost), np.inf) if squared else cost
    own = np.array([x @ x for _, x in rows]) + 2 * shift + constant + diagonal
    own = np.maximum(own, 1e-300)
    # Lists: Python takes a number out of them much faster than out of an array.
    signs, shifts, diagonals = sign.tolist(), shift.tolist(), diagonal.tolist()
    ceilings, owns, alpha = ceiling.tolist(), own.tolist(), [0.0] * len(cost)
    v, t, along, gap = np.zeros(D.shape[1]), 0.0, 0.0, 0.0
    order, epoch = list(range(len(cost))), 0
    while epoch < max_iter:
        high = low = 0.0
        _shuffle(order, seed, epoch)
        for i in order:
            terms, x = rows[i]
            margin = float(v[terms] @ x) + along + t * (shifts[i] + constant)
            gradient = signs[i] * margin - 1.0 + diagonals[i] * alpha[i]
            if (alpha[i] <= 0.0 and gradient >= 0.0) or (
                alpha[i] >= ceilings[i] and gradient <= 0.0
            ):
                continue
            high, low = max(high, gradient), min(low, gradient)
            moved = min(max(alpha[i] - gradient / owns[i], 0.0), ceilings[i])
            change = (moved - alpha[i]) * signs[i]
            alpha[i] = moved
            v[terms] += change * x
            along += change * shifts[i]
            t += change
        epoch, gap = epoch + 1, high - low
        if gap <= tol:
            break
    return v, t, along, epoch, gap


def _shuffle(order: list[int], seed: int, epoch: int) -> None:
    """Shuffle in place, by random numbers that follow from seed and epoch."""
    n_draws = len(order) - 1
    counter = np.arange(1, n_draws + 1, dtype=np.uint64) + np.uint64(epoch * n_draws)
    draws = mixed_bits(np.uint64(seed) + counter * GOLDEN)
    bounds = np.arange(len(order), 1, -1, dtype=np.uint64)
    for i, j in zip(range(n_draws, 0, -1), (draws % bounds).tolist(), strict=True):
        order[i], order[j] = order[j], order[i]
