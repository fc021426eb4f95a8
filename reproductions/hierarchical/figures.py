"""The figures, drawn from the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figure_style import COLORS, INK, MUTED, PAPER
from reproductions.figures import band, legend, panels, pyplot, save
from reproductions.hierarchical.plane import (
    XOR_LABELS,
    XOR_POINTS,
    shape_model,
    xor_models,
)
from reproductions.hierarchical.shapes import SHAPES, WIDTH, draw

__all__ = ["draw_figures"]


def draw_figures(result: Mapping[str, Any], out: Path) -> list[str]:
    """Write every figure into ``out``; returns their names."""
    figures = {
        "xor.svg": _xor(),
        "shapes.svg": _shapes(),
        "reviews.svg": _reviews(result["figure_3"]),
    }
    return [save(figure, out / name) for name, figure in figures.items()]


def _xor() -> Any:
    """Figures 1 and 2: the four points, and where each classifier answers 1."""
    models = xor_models(0)
    models.pop("product of sums")
    figure, axes = panels(4, 4, (3.25, 3.4))
    step = np.linspace(0.05, 7, 140)
    grid = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
    for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
        ones = grid[model.predict(grid) == 1]
        axis.scatter(*ones.T, s=2, color=COLORS[4], marker="s", rasterized=True)
        axis.set_title(name)
        if not len(ones):
            axis.text(3.5, 3.5, "indifferent everywhere", ha="center", color=MUTED)
    axes[0].set_title("the function")
    for axis in axes:
        for label, face in ((0, PAPER), (1, INK)):
            points = XOR_POINTS[np.equal(XOR_LABELS, label)]
            axis.scatter(*points.T, s=60, facecolor=face, edgecolor=INK, marker="o")
        axis.set(xlim=(0, 7), ylim=(0, 7), aspect="equal")
    return figure


def _shapes() -> Any:
    """Figure 4: the points inside each shape, and below it what was learned."""
    figure, axes = pyplot().subplots(2, len(SHAPES), figsize=(2.4 * len(SHAPES), 5))
    step = np.linspace(0, WIDTH, 100)
    grid = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
    for (above, below), shape in zip(axes.T, SHAPES, strict=True):
        X, y = draw(shape, 2250, 0)
        above.scatter(*X[y].T, s=1.5, color=COLORS[0], marker="o", rasterized=True)
        above.scatter(*X[~y].T, s=1.5, color="0.75", marker="o", rasterized=True)
        above.set(title=shape)
        inside = shape_model(X, y, 0).predict(grid).reshape(100, 100)
        below.contourf(step, step, inside, levels=[0.5, 1.5], colors=[COLORS[0]])
        for axis in (above, below):
            axis.set(xlim=(0, WIDTH), ylim=(0, WIDTH), aspect="equal")
            axis.set(xticks=[], yticks=[])
    axes[0, 0].set_ylabel("training points")
    axes[1, 0].set_ylabel("learned")
    return figure


def _reviews(result: Mapping[str, Any]) -> Any:
    """Figure 3: the three plots."""
    many, few = result["A and B"], result["C"]
    names = list(many[0]["rows"])
    hidden = [name for name in names if name.startswith("hierarchical")]
    others = [name for name in names if name not in hidden]
    figure, axes = panels(3, 2, (5.0, 4.2))
    _lines(axes[0], many, ["hierarchical Bayes, H = 2", *others], 1000)
    _lines(axes[1], many, hidden, 1000)
    _lines(axes[2], few, list(few[0]["rows"]), 100)
    titles = ("against other methods", "by number of nodes", "few reviews")
    for axis, title, unit in zip(
        axes, titles, ("thousand", "thousand", "hundred"), strict=True
    ):
        axis.set(title=title, ylabel="accuracy", xlabel=f"training reviews, {unit}s")
    # The nodes have lines of their own, explained in the empty corner.
    *_, corner = figure.axes
    corner.legend(
        *axes[1].get_legend_handles_labels(), loc="upper left", title=titles[1]
    )
    legend(figure, [axes[0], axes[2]], 3)
    return figure


def _lines(
    axis: Any, points: Sequence[Mapping[str, Any]], names: Sequence[str], unit: int
) -> None:
    sizes = [point["reviews"] / unit for point in points]
    for name in names:
        rows = [point["rows"][name] for point in points]
        band(axis, sizes, rows, name)
