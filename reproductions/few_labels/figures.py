"""Figures of the few-labels tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.figure_style import series
from reproductions.figures import counts, legend, panels, save

__all__ = ["draw"]


def draw(result: dict[str, Any], out: Path) -> None:
    """Learning curves, and the gain on every corpus."""
    _curves(result["curves"], out / "learning-curves.svg")
    _gains(result["development"], out / "gains.svg")


def _curves(curves: dict[str, Any], path: Path) -> None:
    figure, axes = panels(len(curves), size=(3.4, 3.0))
    for axis, (name, rows) in zip(axes, curves.items(), strict=True):
        sizes, ours, linear = zip(*rows, strict=True)
        axis.plot(sizes, ours, label="earmark, with unlabelled text", **series(0))
        axis.plot(sizes, linear, label="logistic regression", **series(1))
        axis.set(title=name, xlabel="labels per class")
        counts(axis, sizes)
    axes[0].set_ylabel("accuracy")
    legend(figure, axes[0])
    save(figure, path)


def _gains(table: dict[str, Any], path: Path) -> None:
    figure, (axis,) = panels(1, size=(7.0, 3.2))
    corpora = list(dict.fromkeys(name.rsplit("-", 1)[0] for name in table))
    for place, n in enumerate((5, 20)):
        gaps = [table[f"{c}-{n}"]["paired"]["logistic regression"] for c in corpora]
        axis.bar(
            [i + 0.4 * place - 0.2 for i in range(len(corpora))],
            [gap["mean"] for gap in gaps],
            0.38,
            yerr=[gap["se"] for gap in gaps],
            color=series(place)["color"],
            label=f"{n} labels per class",
        )
    axis.set_xticks(range(len(corpora)), corpora)
    axis.set_ylabel("gain in accuracy over\nlogistic regression")
    axis.grid(visible=False, axis="x")
    axis.legend()
    save(figure, path)
