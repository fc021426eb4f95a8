"""The error of 1NN is at most twice the Bayes error (Cover and Hart 1967)."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import NeighborsClassifier
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["bayes_and_nearest"]


def bayes_and_nearest(
    sizes: tuple[int, ...], n_draws: int, seed: int = 0
) -> dict[str, Any]:
    """1NN's error for growing training sets, beside the Bayes error x and 2x.

    Documents lie on a circle (unit vectors in the plane); the class of one at angle
    t is drawn with P(1|t), which is known. The limit of 1NN's error is the mean of
    2 P (1 - P), its bound 2x (1 - x).
    """
    grid = np.linspace(0, 2 * np.pi, 100_001)[:-1]
    chance = _membership(grid)
    bayes = float(np.minimum(chance, 1 - chance).mean())
    rng = np.random.default_rng(seed)
    test, labels = _draw(4000, rng)
    rows = []
    for size in sizes:
        errors = []
        for _ in range(n_draws):
            model = NeighborsClassifier(1, random_state=0).fit(*_draw(size, rng))
            errors.append(float(np.mean(model.predict(test) != labels)))
        rows.append({"training documents": size, "error": float(np.mean(errors))})
    return {
        "Bayes error": bayes,
        "twice the Bayes error": 2 * bayes,
        "limit of 1NN": float((2 * chance * (1 - chance)).mean()),
        "1NN": rows,
        "n_draws": n_draws,
    }


def _membership(angle: FloatVector) -> FloatVector:
    """P(1 | angle): two humps, never certain."""
    return np.asarray(0.5 + 0.4 * np.sin(2 * angle))


def _draw(n: int, rng: np.random.Generator) -> tuple[FloatMatrix, IntVector]:
    angle = rng.uniform(0, 2 * np.pi, n)
    label = (rng.uniform(size=n) < _membership(angle)).astype(np.int64)
    return np.column_stack([np.cos(angle), np.sin(angle)]), label
