"""Single-point, mini-batch and full-batch descent on the same error surface.

Softmax regression of two classes on two features without bias has one weight vector,
w = w_2 - w_1, so that the path of a descent can be drawn over the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import SoftmaxRegression
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["compare_batches", "error_of"]

_N, _ETA = 200, 0.5


def points(seed: int = 0) -> tuple[FloatMatrix, IntVector]:
    """Two overlapping clouds of unequal spread."""
    rng = np.random.default_rng(seed)
    y = np.arange(_N) % 2
    centre = np.array([[0.6, -0.4], [-0.6, 0.4]])[y]
    return centre + rng.normal(size=(_N, 2)) * [1.2, 0.6], y


def error_of(w: FloatVector, X: FloatMatrix, y: IntVector) -> float:
    """The mean cross-entropy (equation 37 of the sheet, divided by N)."""
    return float(np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * (X @ w)).mean())


def compare_batches(n_steps: int = 60, n_seeds: int = 20) -> dict[str, Any]:
    """The path of each batch size, and how often a step lowers the error.

    Each step of the same descent is the last of a fit with one batch more.
    """
    X, y = points()
    rows = []
    for batch_size in (1, 16, _N):
        paths = [
            _path(X, y, batch_size, n_steps, seed)
            for seed in range(1 if batch_size == _N else n_seeds)
        ]
        errors = np.array([[error_of(w, X, y) for w in path] for path in paths])
        rows.append(
            {
                "batch_size": batch_size,
                "path": paths[0].tolist(),
                "error": errors[0].tolist(),
                "steps_that_lower_the_error": float((np.diff(errors) < 0).mean()),
                "error_after": float(errors[:, -1].mean()),
                "sd_of_error_after": float(errors[:, -1].std()),
                "documents_visited": batch_size * n_steps,
            }
        )
    best = SoftmaxRegression(
        solver="plain", eta=1.0, batch_size=_N, max_iter=3000, fit_intercept=False
    ).fit(X, y)
    return {
        "eta": _ETA,
        "n_documents": _N,
        "n_steps": n_steps,
        "n_seeds": n_seeds,
        "optimum": best.coef_[0].tolist(),
        "optimal_error": error_of(best.coef_[0], X, y),
        "rows": rows,
    }


def _path(
    X: FloatMatrix, y: IntVector, batch_size: int, n_steps: int, seed: int
) -> FloatMatrix:
    weights = [np.zeros(2)]
    for n in range(1, n_steps + 1):
        model = SoftmaxRegression(
            solver="plain",
            eta=_ETA,
            batch_size=batch_size,
            n_batches=n,
            fit_intercept=False,
            random_state=seed,
        )
        weights.append(model.fit(X, y).coef_[0])
    return np.array(weights)
