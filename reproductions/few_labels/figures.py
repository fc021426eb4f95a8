"""Figures of the few-labels tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.figures import panels, save

__all__ = ["draw"]


def draw(result: dict[str, Any], out: Path) -> None:
    """Learning curves, and the gain on every corpus."""
    _curves(result["curves"], out / "learning-curves.png")
    _gains(result["development"], out / "gains.png")


def _curves(curves: dict[str, Any], path: Path) -> None:
    figure, axes = panels(len(curves), size=(3.4, 3.0))
    for axis, (name, rows) in zip(axes, curves.items(), strict=True):
        sizes, ours, linear = zip(*rows, strict=True)
        axis.plot(sizes, ours, "o-", color="C0", label="with the pool")
        axis.plot(sizes, linear, "s--", color="C7", label="logistic regression")
        axis.set(title=name, xscale="log", xlabel="labels a class")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("accuracy")
    axes[0].legend(loc="lower right", fontsize=8)
    save(figure, path, dpi=110)


def _gains(table: dict[str, Any], path: Path) -> None:
    figure, (axis,) = panels(1, size=(7.0, 3.2))
    names = list(table)
    gaps = [table[name]["paired"]["logistic regression"] for name in names]
    axis.bar(
        range(len(names)),
        [gap["mean"] for gap in gaps],
        yerr=[gap["se"] for gap in gaps],
        color=["C0" if name.endswith("-5") else "C1" for name in names],
    )
    axis.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axis.set_ylabel("accuracy over\nlogistic regression")
    axis.axhline(0.0, color="black", linewidth=0.8)
    save(figure, path, dpi=110)
