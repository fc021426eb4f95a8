"""Figures of the few-labels tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earmark._optional import require

__all__ = ["draw_figures"]


def draw_figures(result: dict[str, Any], out: Path) -> None:
    """Learning curves, and the gain on every corpus."""
    out.mkdir(parents=True, exist_ok=True)
    pyplot = require("matplotlib.pyplot", "draw the figures of few-labels")
    _curves(pyplot, result["curves"], out / "learning-curves.png")
    _gains(pyplot, result["development"], out / "gains.png")


def _curves(pyplot: Any, curves: dict[str, Any], path: Path) -> None:
    figure, axes = pyplot.subplots(
        1, len(curves), figsize=(3.4 * len(curves), 3.0), squeeze=False
    )
    for axis, (name, rows) in zip(axes[0], curves.items(), strict=True):
        sizes, ours, linear = zip(*rows, strict=True)
        axis.plot(sizes, ours, "o-", color="C0", label="with the pool")
        axis.plot(sizes, linear, "s--", color="C7", label="logistic regression")
        axis.set(title=name, xscale="log", xlabel="labels a class")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy")
    axes[0][0].legend(loc="lower right", fontsize=8)
    _write(pyplot, figure, path)


def _gains(pyplot: Any, table: dict[str, Any], path: Path) -> None:
    figure, axis = pyplot.subplots(figsize=(7.0, 3.2))
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
    _write(pyplot, figure, path)


def _write(pyplot: Any, figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
