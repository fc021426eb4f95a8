"""Points of the plane as documents, as the chapter draws them.

The models compare directions. A small patch of the sphere is almost flat (figure
14.2): a point of the plane, scaled down and put before the eye, becomes a unit vector
whose cosine orders other points as the distance in the plane does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.typing import BoolVector, FloatMatrix, IntVector

__all__ = ["OnSphere", "enclave", "linear_with_noise", "multimodal", "three_classes"]

# Points of [0, 1] x [0, 1] span about 3 degrees: distances are true to 1 in 1000.
_SCALE = 0.05


class OnSphere:
    """A classifier of unit vectors, asked about points of the unit square."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, points: FloatMatrix, y: Any) -> OnSphere:
        """Learn points of the plane."""
        self.model.fit(lifted(points), y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, points: FloatMatrix) -> Any:
        """Labels of points."""
        return self.model.predict(lifted(points))

    def predict_proba(self, points: FloatMatrix) -> FloatMatrix:
        """Probabilities of points."""
        proba: FloatMatrix = self.model.predict_proba(lifted(points))
        return proba


def lifted(points: FloatMatrix) -> FloatMatrix:
    """Points of the unit square as directions near the third axis."""
    centred = (np.asarray(points) - 0.5) * _SCALE
    return np.column_stack([centred, np.ones(len(centred))])


def three_classes(rng: np.random.Generator) -> tuple[FloatMatrix, Any]:
    """China, UK and Kenya of figure 14.1; UK is the most scattered."""
    centre = {"China": (0.25, 0.7), "UK": (0.7, 0.72), "Kenya": (0.6, 0.2)}
    spread = {"China": 0.07, "UK": 0.11, "Kenya": 0.05}
    points = [rng.normal(centre[c], spread[c], (25, 2)) for c in centre]
    return np.vstack(points), np.repeat(list(centre), 25)


def multimodal(rng: np.random.Generator) -> tuple[FloatMatrix, Any]:
    """Figure 14.5: class a has two clusters, and b lies near the midst of them."""
    points = [
        rng.normal((0.2, 0.75), 0.05, (25, 2)),
        rng.normal((0.8, 0.75), 0.05, (25, 2)),
        rng.normal((0.5, 0.65), 0.08, (50, 2)),
    ]
    return np.vstack(points), np.repeat(["a", "b"], 50)


def linear_with_noise(
    n: int, rng: np.random.Generator, noise: float = 0.05
) -> tuple[FloatMatrix, IntVector, FloatMatrix]:
    """Figure 14.10: points, labels and P(c | point); a line separates, but noise."""
    points = rng.uniform(size=(n, 2))
    return points, *_labelled(points[:, 1] > 0.3 + 0.4 * points[:, 0], noise, rng)


def enclave(
    n: int, rng: np.random.Generator, noise: float = 0.05
) -> tuple[FloatMatrix, IntVector, FloatMatrix]:
    """Figure 14.11: the same line, and a round enclave of the other class above it."""
    points = rng.uniform(size=(n, 2))
    inside = np.hypot(points[:, 0] - 0.3, points[:, 1] - 0.75) < 0.15
    return points, *_labelled(
        (points[:, 1] > 0.3 + 0.4 * points[:, 0]) & ~inside, noise, rng
    )


def _labelled(
    positive: BoolVector, noise: float, rng: np.random.Generator
) -> tuple[IntVector, FloatMatrix]:
    chance = np.where(positive, 1 - noise, noise)
    label = (rng.uniform(size=len(chance)) < chance).astype(np.int64)
    return label, np.column_stack([1 - chance, chance])
