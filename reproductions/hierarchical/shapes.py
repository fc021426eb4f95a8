"""Points in a square, labelled by whether they fall inside a shape (table 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from earmark.typing import BoolVector, FloatMatrix

__all__ = ["SHAPES", "WIDTH", "draw"]

WIDTH = 500.0
_MIDDLE = WIDTH / 2


def draw(shape: str, n_points: int, seed: int) -> tuple[FloatMatrix, BoolVector]:
    """Points at random in the square, and which of them the shape holds."""
    points = np.random.default_rng(seed).uniform(0.0, WIDTH, (n_points, 2))
    return points, SHAPES[shape](points)


def _ring(points: FloatMatrix) -> BoolVector:
    radius = np.hypot(*(points - _MIDDLE).T)
    return np.asarray((radius >= 100) & (radius <= 200))


def _dots(points: FloatMatrix) -> BoolVector:
    """Nine discs in three rows."""
    offset = points % (WIDTH / 3) - WIDTH / 6
    return np.asarray(np.hypot(*offset.T) <= 65)


def _xor(points: FloatMatrix) -> BoolVector:
    """Two opposite quarters."""
    left, low = (points < _MIDDLE).T
    return np.asarray(left ^ low)


def _block_s(points: FloatMatrix) -> BoolVector:
    """The letter in straight strokes, 300 wide, 400 high, strokes of 55."""
    x, y = (points - _MIDDLE).T
    stroke = 55.0
    inside = (np.abs(x) <= 150) & (np.abs(y) <= 200)
    bars = (np.abs(y) >= 200 - stroke) | (np.abs(y) <= stroke / 2)
    sides = ((x <= stroke - 150) & (y > 0)) | ((x >= 150 - stroke) & (y < 0))
    return np.asarray(inside & (bars | sides))


def _round_s(points: FloatMatrix) -> BoolVector:
    """The letter in two three-quarter circles, a stroke of 70."""
    angle = np.radians(np.linspace(0, 270, 200))
    upper = np.column_stack(
        (_MIDDLE + 90 * np.cos(angle), _MIDDLE + 90 + 90 * np.sin(angle))
    )
    line = np.concatenate((upper, WIDTH - upper))
    gap = np.hypot(*(points[:, None] - line).transpose(2, 0, 1))
    return np.asarray(gap.min(axis=1) <= 35)


# The paper shows its shapes in a figure only: these are ours. A second S, drawn in
# arcs, is harder for nodes whose axes are those of the square.
SHAPES: Mapping[str, Callable[[FloatMatrix], BoolVector]] = {
    "ring": _ring,
    "dots": _dots,
    "XOR": _xor,
    "S": _block_s,
    "S in arcs": _round_s,
}
