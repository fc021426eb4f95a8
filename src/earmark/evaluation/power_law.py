"""The power law of learning: error(n) = floor + scale * n^-exponent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.typing import ArrayLike, FloatMatrix, FloatVector

__all__ = ["PowerLaw", "fit_power_laws"]

_EXPONENTS = np.linspace(0.05, 1.5, 59)


@dataclass(frozen=True)
class PowerLaw:
    """Error as a function of the number of labels."""

    floor: float
    scale: float
    exponent: float

    def error(self, n: ArrayLike) -> FloatVector:
        """Predicted error with n labelled documents."""
        size = np.asarray(n, dtype=np.float64)
        predicted: FloatVector = self.floor + self.scale * size**-self.exponent
        return predicted

    def size_for(self, error: float) -> float | None:
        """Labels needed to come down to an error; None if it is out of reach."""
        if error <= self.floor or self.scale == 0:
            return None
        return float(((error - self.floor) / self.scale) ** (-1 / self.exponent))


def fit_power_laws(
    sizes: ArrayLike,
    errors: FloatMatrix,
    weights: ArrayLike,
    exponent: float | None = None,
) -> list[PowerLaw]:
    """Least-squares power law of each row of errors (n_curves, n_sizes).

    For a fixed exponent the law is a straight line in n^-exponent, fitted in
    closed form with floor and scale kept from going negative; an exponent that is
    not given is searched on a grid. With fewer than four sizes the floor is 0.
    """
    n = np.asarray(sizes, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    w = w / w.sum()
    grid = _EXPONENTS if exponent is None else np.array([exponent])
    x = (n / n[0]) ** -grid[:, None]  # (grid, sizes), 1 at the first size
    y = np.atleast_2d(errors)
    floor, scale = _lines(x, y, w, with_floor=len(n) >= 4)
    fitted = floor[:, :, None] + scale[:, :, None] * x[None]
    loss = ((fitted - y[:, None, :]) ** 2 * w).sum(axis=2)
    best = loss.argmin(axis=1)
    rows = np.arange(len(y))
    exponents = grid[best]
    scales = scale[rows, best] * n[0] ** exponents
    return [
        PowerLaw(float(a), float(b), float(c))
        for a, b, c in zip(floor[rows, best], scales, exponents, strict=True)
    ]


def _lines(
    x: FloatMatrix, y: FloatMatrix, w: FloatVector, *, with_floor: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Floor and scale >= 0 of y ~ floor + scale * x per curve and exponent."""
    xx = (x * x * w).sum(axis=1)
    xy = (y * w) @ x.T
    origin = xy / xx
    if not with_floor:
        return np.zeros_like(origin), np.maximum(origin, 0)
    x_mean = (x * w).sum(axis=1)
    y_mean = (y * w).sum(axis=1, keepdims=True)
    spread = xx - x_mean**2
    slope = (xy - y_mean * x_mean) / np.maximum(spread, 1e-300)
    floor = y_mean - slope * x_mean
    flat = np.broadcast_to(np.maximum(y_mean, 0), floor.shape)
    scale = np.where(slope < 0, 0.0, np.where(floor < 0, origin, slope))
    floor = np.where(slope < 0, flat, np.maximum(floor, 0.0))
    return floor, np.maximum(scale, 0.0)
