"""Linear support vector machine by dual coordinate ascent on sparse documents.

    minimise  |w|^2 / 2 + sum_d c_d max(0, 1 - y_d (w'x_d + b))^2,   w = (w, b)

The dual has one number a_d >= 0 a document and w = sum_d a_d y_d x_d; one visit solves
for one a_d exactly. The bias is penalised like a weight.
"""

from __future__ import annotations

import numpy as np

from earmark.kernels.backend import native
from earmark.kernels.rows import squared_lengths
from earmark.kernels.shuffle import Visits, csr_parts
from earmark.typing import FloatVector, SparseMatrix

__all__ = ["fit_svm"]


def fit_svm(
    X: SparseMatrix,
    sign: FloatVector,
    visits: Visits,
    *,
    C: float,
    seed: int,
    max_passes: int,
    tol: float,
) -> tuple[FloatVector, float, int, bool]:
    """Weights, bias, passes made, and whether they were enough.

    ``sign`` is +1 or -1 for each row. Stops when the projected gradients met in a pass
    lie within ``tol``.
    """
    strength = C * visits.weight
    square = squared_lengths(X)
    weights, dual = np.zeros(X.shape[1] + 1), np.zeros(X.shape[0])
    parts, lib = csr_parts(X), native()
    spread, epoch = np.inf, 0
    while epoch < max_passes and spread > tol:
        order = visits.order(seed, epoch)
        if lib is not None:
            spread = lib.svm_ascend(
                *parts, order, sign, strength, square, weights, dual
            )
        else:
            spread = _ascend_plain(X, order, sign, strength, square, weights, dual)
        epoch += 1
    return weights[:-1], float(weights[-1]), epoch, bool(spread <= tol)


def _ascend_plain(
    X: SparseMatrix,
    order: np.typing.NDArray[np.int64],
    sign: FloatVector,
    strength: FloatVector,
    square: FloatVector,
    weights: FloatVector,
    dual: FloatVector,
) -> float:
    lowest, highest = np.inf, -np.inf
    for row in order:
        part = slice(X.indptr[row], X.indptr[row + 1])
        terms, x = X.indices[part], X.data[part]
        slack, y = 0.5 / strength[row], sign[row]
        margin = float(x @ weights[terms]) + weights[-1]
        gradient = y * margin - 1.0 + slack * dual[row]
        projected = gradient if dual[row] > 0 else min(gradient, 0.0)
        lowest, highest = min(lowest, projected), max(highest, projected)
        if projected == 0.0:
            continue
        moved = max(dual[row] - gradient / (square[row] + 1.0 + slack), 0.0)
        move, dual[row] = (moved - dual[row]) * y, moved
        weights[terms] += move * x
        weights[-1] += move
    return float(highest - lowest)
