"""The chapter's figures, drawn by the models themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark.typing import FloatMatrix
from reproductions.figures import panels, save
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

_MARKS = ("o", "D", "x", "s")
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
    return [save(figure, out / f"{name}.png", 90) for name, figure in figures.items()]


def _projection() -> Any:
    """Figures 14.2 and 14.14."""
    figure, (left, right) = panels(2, size=(4.5, 3.6))
    angle = np.linspace(0, np.pi, 200)
    left.plot(np.cos(angle), np.sin(angle), "k-", lw=0.8)
    left.axhline(-0.1, color="0.6", lw=0.8)
    for number, x in enumerate((-0.9, -0.2, 0.0, 0.2, 0.9), start=1):
        left.plot([x, x], [-0.1, np.sqrt(1 - x * x)], "0.7", lw=0.6)
        left.plot([x], [np.sqrt(1 - x * x)], "o", ms=4, color="C0")
        left.annotate(f"x{number}", (x, np.sqrt(1 - x * x) + 0.05))
    left.set(title="14.2: projections of small areas keep distances", aspect="equal")
    vectors = {"a": (0.5, 1.5), "x": (2, 2), "b": (4, 4), "c": (8, 6)}
    for name, point in vectors.items():
        right.annotate("", point, (0, 0), arrowprops={"arrowstyle": "->"})
        right.annotate(name, (point[0] + 0.1, point[1] + 0.1))
    right.set(xlim=(0, 9), ylim=(0, 7), title="14.14: three measures, three answers")
    return figure


def _regions() -> Any:
    """Figures 14.1 and 14.3 (Rocchio), 14.6 (1NN with its Voronoi cells, 3NN)."""
    figure, axes = panels(3, size=(4.0, 4.0))
    points, labels = three_classes(np.random.default_rng(3))
    model = rocchio().fit(points, labels)
    _painted(axes[0], model, points, labels, "14.1, 14.3: Rocchio, a star to classify")
    axes[0].plot(*model.prototypes_.T, "kP", ms=8)
    axes[0].plot(*STAR, "r*", ms=14)
    # The misfit of 14.3: nearer to Kenya's centroid, though UK is more scattered.
    axes[0].plot(*MISFIT, "ks", ms=7)
    few = np.random.default_rng(8).permutation(len(points))[:24]
    for axis, k in ((axes[1], 1), (axes[2], 3)):
        model = nearest(k).fit(points[few], labels[few])
        _painted(axis, model, points[few], labels[few], f"14.6: {k}NN")
        axis.plot(*STAR, "r*", ms=14)
        _voronoi(axis, points[few])
    return figure


def _shapes() -> Any:
    """Figures 14.5 (a class with two clusters) and 14.11 (an enclave)."""
    figure, axes = panels(4, 2, (4.0, 4.0))
    situations = {
        "14.5: two clusters": multimodal(np.random.default_rng(0)),
        "14.11: an enclave": enclave(400, np.random.default_rng(0), noise=0.02)[:2],
    }
    for row, (title, (points, labels)) in zip(
        (axes[:2], axes[2:]), situations.items(), strict=True
    ):
        models: dict[str, Any] = {"Rocchio": rocchio(), "9NN": nearest(9)}
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
        left.plot([0, 1], [start, start + slope], "0.5", lw=0.8)
    left.set(xlim=(0, 1), ylim=(0, 1), title="14.8: many lines separate two classes")
    points, labels, _ = linear_with_noise(150, np.random.default_rng(2))
    title = "14.10: one feature, a line, a perfect fit"
    _painted(right, nearest(1).fit(points, labels), points, labels, title)
    stump = Stump().fit(points[:, 1:], labels)
    right.axhline(stump.threshold_, color="k", ls=":")
    line = LogisticRegression(C=100.0).fit(points, labels)
    (w1, w2), b = line.coef_[0], line.intercept_[0]
    across = np.array([0.0, 1.0])
    right.plot(across, -(b + w1 * across) / w2, "k--")
    right.set(xlabel="Chinese characters", ylabel="Roman characters")
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
        left.contour(line, line, surface, levels=[0.0], colors="k", linewidths=1.0)
        left.plot(*points[labels == label].T, mark, ms=3.5, label=str(label))
    regions = claims.reshape(_GRID, _GRID)
    left.contourf(line, line, regions, levels=[-0.5, 0.5, 1.5, 3.5], alpha=0.25)
    left.set(title="14.12: claimed by none, one, several", xlim=(0, 1), ylim=(0, 1))
    left.legend(fontsize=7, loc="lower left")
    # One-of: the largest score divides the plane among the classes.
    _painted(right, rocchio().fit(points, labels), points, labels, "one-of: Voronoi")
    return figure


def _tradeoff(tradeoff: dict[str, Any], terms: dict[str, Any]) -> Any:
    """Bias and variance against capacity: k of kNN, and the number of terms."""
    figure, axes = panels(3, size=(4.3, 3.8))
    for axis, (problem, found) in zip(axes, tradeoff.items(), strict=False):
        k = [int(name[:-2]) for name in found if name.endswith("NN")]
        rows = [found[f"{each}NN"] for each in k]
        for part, style in (
            ("bias", "o-"),
            ("variance", "s-"),
            ("learning_error", "k:"),
        ):
            axis.semilogx(k, [row[part] for row in rows], style, ms=4, label=part)
        axis.plot([], [], " ", label="Rocchio: dashed")
        for part, color in (("bias", "C0"), ("variance", "C1")):
            axis.axhline(found["Rocchio"][part], color=color, ls="--", lw=0.8)
        axis.set(title=f"{problem} problem", xlabel="k (capacity falls)")
        axis.legend(fontsize=8)
    size = [row["terms"] for row in terms["rows"]]
    for name, style in (("Rocchio", "-"), ("1NN", "--")):
        for part, color in (("bias", "C0"), ("variance", "C1")):
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
    axis.contourf(
        line, line, region, levels=len(classes) - 1, alpha=0.25, cmap="viridis"
    )
    axis.contour(line, line, region, colors="k", linewidths=0.8)
    for mark, label in zip(_MARKS, classes, strict=False):
        mine = labels == label
        axis.plot(*points[mine].T, mark, ms=3.5, label=str(label))
    axis.set(xlim=(0, 1), ylim=(0, 1), title=title)
    axis.title.set_fontsize(10)
    axis.legend(fontsize=7, loc="lower left")


def _voronoi(axis: Any, points: FloatMatrix) -> None:
    """The cells of the points nearest to each document, as thin lines."""
    line = np.linspace(0, 1, 2 * _GRID)
    grid = np.stack(np.meshgrid(line, line), axis=-1)
    nearest = ((grid[:, :, None] - points) ** 2).sum(axis=-1).argmin(axis=-1)
    edge = np.zeros(nearest.shape)
    edge[:, 1:] += nearest[:, 1:] != nearest[:, :-1]
    edge[1:] += nearest[1:] != nearest[:-1]
    where = np.argwhere(edge > 0)
    axis.plot(line[where[:, 1]], line[where[:, 0]], ",", color="0.5")
