"""How often can a hyperplane separate? Exercises 14.16 and 14.17 by simulation."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import linprog

from earmark.typing import BoolVector, FloatMatrix

__all__ = ["cube_corners", "is_separable", "perturbed_square", "random_points"]


def is_separable(points: FloatMatrix, positive: BoolVector) -> bool:
    """Whether a hyperplane has all positive points on one side, the rest on the other.

    Feasibility of s_i (w.x_i - b) >= 1 for signs s: a linear programme.
    """
    sign = np.where(positive, 1.0, -1.0)
    rows = -sign[:, None] * np.column_stack([points, -np.ones(len(points))])
    answer = linprog(
        np.zeros(rows.shape[1]),
        A_ub=rows,
        b_ub=-np.ones(len(points)),
        bounds=(None, None),
        method="highs",
    )
    return bool(answer.status == 0)


def perturbed_square(n_draws: int, seed: int = 0) -> dict[str, Any]:
    """Exercise 14.16: the four points of figure 14.15 in M dimensions, moved a little.

    In the plane the crossed square stays crossed; in space four points in general
    position are corners of a tetrahedron, and every labelling can be separated.
    """
    rng = np.random.default_rng(seed)
    square = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    crossed = np.array([True, True, False, False])
    shares = {}
    for n_dimensions in (2, 3, 4):
        flat = np.hstack([square, np.zeros((4, n_dimensions - 2))])
        moved = flat + rng.normal(0, 0.05, (n_draws, *flat.shape))
        shares[str(n_dimensions)] = float(
            np.mean([is_separable(points, crossed) for points in moved])
        )
    return {"separable share by dimension": shares, "n_draws": n_draws}


def random_points(n_draws: int, seed: int = 0) -> dict[str, Any]:
    """Exercise 14.16: m random points, random labels, M dimensions; and Cover's count.

    Of the 2**m labellings of m points in general position 2 * sum_{k<=M}
    C(m - 1, k) are separable (Cover 1965): all of them for m <= M + 1.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for n_dimensions in (2, 5, 10, 20):
        for n_points in (n_dimensions, 2 * n_dimensions + 2, 4 * n_dimensions):
            simulated = np.mean(
                [
                    is_separable(
                        rng.normal(size=(n_points, n_dimensions)),
                        rng.uniform(size=n_points) < 0.5,
                    )
                    for _ in range(n_draws)
                ]
            )
            exact = sum(comb(n_points - 1, k) for k in range(n_dimensions + 1))
            rows.append(
                {
                    "dimensions": n_dimensions,
                    "points": n_points,
                    "simulated": float(simulated),
                    "Cover": min(1.0, exact / 2 ** (n_points - 1)),
                }
            )
    return {"rows": rows, "n_draws": n_draws}


def cube_corners(n_draws: int, seed: int = 0) -> dict[str, Any]:
    """Exercise 14.17: share of two-class labellings of a cube's corners that fail.

    All labellings up to three dimensions, a sample beyond. The share does not fall
    with the dimension, as the exercise says: it rises, since the number of corners
    grows faster than the freedom of a hyperplane. (What falls is the share for a
    fixed number of points: see ``random_points``.)
    """
    rng = np.random.default_rng(seed)
    rows = []
    for n_dimensions in (1, 2, 3, 4, 5):
        corners = np.array(list(product([0.0, 1.0], repeat=n_dimensions)))
        n_corners = len(corners)
        whole = n_dimensions <= 3
        if whole:
            labels = np.array(list(product([False, True], repeat=n_corners)))
        else:
            labels = rng.uniform(size=(n_draws, n_corners)) < 0.5
        failing = sum(not is_separable(corners, each) for each in labels)
        rows.append(
            {
                "dimensions": n_dimensions,
                "labellings looked at": len(labels),
                "all of them": whole,
                "not separable": failing,
                "share not separable": failing / len(labels),
            }
        )
    return {"rows": rows}
