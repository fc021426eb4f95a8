"""The chapter's figures, drawn by the models themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark.typing import FloatMatrix
from reproductions.figure_style import COLORS, INK, MUTED, series
from reproductions.figures import legend, panels, save
from reproductions.vector_space.plane import (
    enclave,
    linear_with_noise,
    multimodal,
    nearest,
    rocchio,
    three_classes,
)
from reproductions.vector_space.tradeoff import Stump

__all__ = ["draw_all"]

_MARKS = ("o", "D", "X", "s")
_GRID = 160
STAR = (0.3, 0.55)
MISFIT = (0.63, 0.44)


def draw_all(out: Path, tradeoff: dict[str, Any], terms: dict[str, Any]) -> list[str]:
    """Write every figure into ``out``; the names of the files."""
    figures = {
        "projection": _projection(),
        "regions": _regions(),
        "shapes": _shapes(),
        "separators": _separators(),
        "hyperplanes": _hyperplanes(),
        "bias-variance": _tradeoff(tradeoff, terms),
    }
    return [save(figure, out / f"{name}.svg") for name, figure in figures.items()]


def _projection() -> Any:
    """Figures 14.2 and 14.14."""
    figure, (left, right) = panels(2, size=(4.5, 3.6))
    angle = np.linspace(0, np.pi, 200)
    left.plot(np.cos(angle), np.sin(angle), "-", color=INK, lw=0.8, marker="")
    left.axhline(-0.1, color=MUTED, lw=0.8, marker="")
    for number, x in enumerate((-0.9, -0.2, 0.0, 0.2, 0.9), start=1):
        left.plot(
            [x, x], [-0.1, np.sqrt(1 - x * x)], color=MUTED, lw=0.6, marker="", ls="-"
        )
        left.plot([x], [np.sqrt(1 - x * x)], "o", ms=4, color=COLORS[0])
        # Outside of the arc, in the direction of its radius.
        away = 1.1 * np.array([x, np.sqrt(1 - x * x)])
        left.annotate(f"x{number}", away, ha="center", va="center")
    left.set(title="distances after a projection", aspect="equal", ylim=(-0.15, 1.25))
    vectors = {"a": (0.5, 1.5), "x": (2, 2), "b": (4, 4), "c": (8, 6)}
    for name, point in vectors.items():
        right.annotate("", point, (0, 0), arrowprops={"arrowstyle": "->", "color": INK})
        right.annotate(name, (point[0] - 0.1, point[1] + 0.15), ha="right")
    right.set(xlim=(0, 9), ylim=(0, 7), title="three measures, three answers")
    return figure


def _regions() -> Any:
    """Figures 14.1 and 14.3 (Rocchio), 14.6 (1NN with its Voronoi cells, 3NN)."""
    figure, axes = panels(3, size=(4.0, 4.0))
    points, labels = three_classes(np.random.default_rng(3))
    model = rocchio().fit(points, labels)
    _painted(axes[0], model, points, labels, "Rocchio")
    axes[0].plot(*model.prototypes_.T, "P", color=INK, ms=8)
    axes[0].plot(*STAR, "*", color=INK, ms=14)
    # The misfit of 14.3: nearer to Kenya's centroid, though UK is more scattered.
    axes[0].plot(*MISFIT, "s", color=INK, ms=7)
    few = np.random.default_rng(8).permutation(len(points))[:24]
    for axis, k in ((axes[1], 1), (axes[2], 3)):
        model = nearest(k).fit(points[few], labels[few])
        title = "nearest neighbour" if k == 1 else f"{k} nearest neighbours"
        _painted(axis, model, points[few], labels[few], title)
        axis.plot(*STAR, "*", color=INK, ms=14)
    _voronoi(axes[1], points[few])
    return figure


def _shapes() -> Any:
    """Figures 14.5 (a class with two clusters) and 14.11 (an enclave)."""
    figure, axes = panels(4, 2, (4.0, 4.0))
    situations = {
        "two clusters": multimodal(np.random.default_rng(0)),
        "enclave": enclave(400, np.random.default_rng(0), noise=0.02)[:2],
    }
    for row, (title, (points, labels)) in zip(
        (axes[:2], axes[2:]), situations.items(), strict=True
    ):
        models: dict[str, Any] = {"Rocchio": rocchio(), "9 neighbours": nearest(9)}
        for axis, (name, model) in zip(row, models.items(), strict=True):
            fitted = model.fit(points, labels)
            right = np.mean(fitted.predict(points) == labels)
            _painted(axis, fitted, points, labels, f"{title}, {name} ({right:.0%})")
    return figure


def _separators() -> Any:
    """Figures 14.8 (infinitely many separators) and 14.10 (three classifiers)."""
    figure, (left, right) = panels(2, size=(4.5, 4.0))
    rng = np.random.default_rng(0)
    apart = [
        rng.normal((0.25, 0.7), 0.08, (20, 2)),
        rng.normal((0.7, 0.3), 0.08, (20, 2)),
    ]
    for points, mark in zip(apart, _MARKS, strict=False):
        left.plot(*points.T, mark, ms=4)
    for slope, start in (
        (1.0, 0.0),
        (0.7, 0.16),
        (1.4, -0.18),
        (0.4, 0.3),
        (2.2, -0.5),
    ):
        left.plot([0, 1], [start, start + slope], "-", color=MUTED, lw=0.8, marker="")
    left.set(xlim=(0, 1), ylim=(0, 1), title="many lines separate two classes")
    points, labels, _ = linear_with_noise(150, np.random.default_rng(2))
    title = "one feature, a line, a perfect fit"
    kinds = np.where(labels == 1, "mixed", "Chinese")
    _painted(right, nearest(1).fit(points, kinds), points, kinds, title)
    right.plot([], [], "-", color=INK, lw=0.8, marker="", label="a perfect fit")
    stump = Stump().fit(points[:, 1:], labels)
    one = {"ls": ":", "label": "one feature"}
    right.axhline(stump.threshold_, color=INK, marker="", **one)
    line = LogisticRegression(C=100.0).fit(points, labels)
    (w1, w2), b = line.coef_[0], line.intercept_[0]
    across = np.array([0.0, 1.0])
    beyond = -(b + w1 * across) / w2
    right.plot(across, beyond, "--", color=INK, marker="", label="a line")
    right.set(xlabel="Chinese characters", ylabel="Roman characters")
    # Below the panels, where it hides no point.
    right.get_legend().remove()
    legend(figure, right, columns=5)
    return figure


def _hyperplanes() -> Any:
    """Figure 14.12: three hyperplanes do not divide the plane into three regions."""
    figure, (left, right) = panels(2, size=(4.5, 4.0))
    points, labels = three_classes(np.random.default_rng(3))
    classes = np.unique(labels)
    line = np.linspace(0, 1, _GRID)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(line, line)])
    claims = np.zeros(len(grid), dtype=int)
    for mark, label in zip(_MARKS, classes, strict=False):
        model = LogisticRegression(C=100.0).fit(points, labels == label)
        claims += model.decision_function(grid) > 0
        surface = model.decision_function(grid).reshape(_GRID, _GRID)
        left.contour(line, line, surface, levels=[0.0], colors=INK, linewidths=1.0)
        left.plot(*points[labels == label].T, mark, ms=3.5, label=str(label))
    regions = claims.reshape(_GRID, _GRID)
    left.contourf(
        line, line, regions, levels=[-0.5, 0.5, 1.5, 3.5], colors=COLORS[4:7], alpha=0.3
    )
    for words, place in (("none", (0.46, 0.45)), ("two", (0.12, 0.3))):
        left.annotate(words, place, ha="center", color=INK)
    left.set(title="claimed by one class, by two, by none", xlim=(0, 1), ylim=(0, 1))
    left.legend(fontsize=7, loc="lower left")
    # One-of: the largest score divides the plane among the classes.
    _painted(right, rocchio().fit(points, labels), points, labels, "the largest score")
    return figure


def _tradeoff(tradeoff: dict[str, Any], terms: dict[str, Any]) -> Any:
    """Bias and variance against capacity: k of kNN, and the number of terms."""
    figure, axes = panels(3, size=(4.3, 3.8))
    for axis, (problem, found) in zip(axes, tradeoff.items(), strict=False):
        k = [int(name[:-2]) for name in found if name.endswith("NN")]
        rows = [found[f"{each}NN"] for each in k]
        parts = ("bias", "variance", "learning_error")
        for place, part in enumerate(parts):
            label = part.replace("learning_", "")
            look = series(place) | {"linestyle": "-"}
            axis.semilogx(k, [row[part] for row in rows], label=label, **look)
        for part, color in (("bias", COLORS[0]), ("variance", COLORS[1])):
            height = found["Rocchio"][part]
            label = f"{part} of Rocchio"
            axis.axhline(height, color=color, ls="--", lw=1, marker="", label=label)
        axis.set(title=f"{problem} problem", xlabel="k (capacity falls)")
        axis.legend(fontsize=8)
    size = [row["terms"] for row in terms["rows"]]
    for name, style in (("Rocchio", "-"), ("1NN", "--")):
        for part, color in (("bias", COLORS[0]), ("variance", COLORS[1])):
            values = [row[name][part] for row in terms["rows"]]
            axes[2].semilogx(size, values, style, color=color, label=f"{name}, {part}")
    axes[2].set(title="20 Newsgroups", xlabel="terms kept (capacity rises)")
    axes[2].legend(fontsize=8)
    return figure


def _painted(
    axis: Any, model: Any, points: FloatMatrix, labels: Any, title: str
) -> None:
    """Decision regions as colours, documents as marks."""
    line = np.linspace(0, 1, _GRID)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(line, line)])
    classes = np.unique(labels)
    region = np.searchsorted(classes, model.predict(grid)).reshape(_GRID, _GRID)
    levels = np.arange(len(classes) + 1) - 0.5
    colors = COLORS[: len(classes)]
    axis.contourf(line, line, region, levels=levels, alpha=0.2, colors=colors)
    axis.contour(line, line, region, levels=levels[1:-1], colors=INK, linewidths=0.8)
    axis.grid(visible=False)
    for mark, label in zip(_MARKS, classes, strict=False):
        mine = labels == label
        axis.plot(*points[mine].T, mark, ms=3.5, label=str(label))
    axis.set(xlim=(0, 1), ylim=(0, 1), title=title)
    axis.title.set_fontsize(10)
    axis.legend(fontsize=7, loc="lower left", frameon=True, framealpha=0.9)


def _voronoi(axis: Any, points: FloatMatrix) -> None:
    """The cells of the points nearest to each document, as thin lines."""
    line = np.linspace(0, 1, 2 * _GRID)
    grid = np.stack(np.meshgrid(line, line), axis=-1)
    nearest = ((grid[:, :, None] - points) ** 2).sum(axis=-1).argmin(axis=-1)
    edge = np.zeros(nearest.shape)
    edge[:, 1:] += nearest[:, 1:] != nearest[:, :-1]
    edge[1:] += nearest[1:] != nearest[:-1]
    where = np.argwhere(edge > 0)
    axis.plot(*line[where[:, ::-1]].T, ",", color=MUTED, rasterized=True)
