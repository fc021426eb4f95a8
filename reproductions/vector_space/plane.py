"""Points of the plane as documents, as the chapter draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models import NeighborsClassifier, RocchioClassifier
from earmark.typing import BoolVector, FloatMatrix, IntVector

__all__ = [
    "enclave",
    "linear_with_noise",
    "multimodal",
    "nearest",
    "rocchio",
    "three_classes",
]


def nearest(k: int) -> NeighborsClassifier:
    """KNN on points: Euclidean distance, a vote each."""
    return NeighborsClassifier(k, metric="euclidean", vote="majority", random_state=0)


def rocchio() -> RocchioClassifier:
    """Rocchio on points: the nearest mean."""
    return RocchioClassifier(normalize=False)


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
    """Figure 14.10: points, labels and P(c | point); a line separates, but noise.

    Across: Chinese characters of a page, up: Roman ones. Mixed pages lie above.
    """
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
