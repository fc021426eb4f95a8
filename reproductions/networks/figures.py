"""The reproduction's figures, drawn from its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figure_style import COLORS, MUTED, series
from reproductions.figures import band, counts, legend, panels, save
from reproductions.networks.descent import error_of, points

__all__ = ["descent_paths", "learning_curves"]


def descent_paths(result: Mapping[str, Any], path: Path) -> None:
    """The weights' way over the error surface, and the error step by step."""
    figure, axes = panels(4, 4, (3.25, 3.3))
    X, y = points()
    walks = [np.array(row["path"]) for row in result["rows"]]
    every = np.concatenate([*walks, [result["optimum"]]])
    across, up = np.linspace(every.min(axis=0) - 0.3, every.max(axis=0) + 0.3, 60).T
    surface = [[error_of(np.array([a, b]), X, y) for a in across] for b in up]
    levels = result["optimal_error"] + np.geomspace(2e-3, 1.0, 12)
    for axis, row, walk in zip(axes, result["rows"], walks, strict=False):
        axis.contour(across, up, surface, levels=levels, colors=MUTED, linewidths=0.5)
        path_style = {"color": COLORS[0], "linestyle": "-", "marker": "."}
        axis.plot(walk[:, 0], walk[:, 1], linewidth=0.8, **path_style)
        axis.plot(*result["optimum"], marker="*", color=COLORS[1], markersize=12)
        axis.set(title=f"batches of {row['batch_size']}", xlabel="first weight")
        style = series(len(axes[-1].lines)) | {"marker": ""}
        axes[-1].plot(row["error"], label=f"batches of {row['batch_size']}", **style)
    axes[0].set(ylabel="second weight")
    axes[-1].axhline(result["optimal_error"], color=MUTED, lw=0.8, marker="")
    axes[-1].set(title="error", xlabel="step")
    legend(figure, axes[-1])
    save(figure, path)


def learning_curves(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Test accuracy against training documents, one panel per corpus."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, axes = panels(len(corpora), size=(4.5, 3.6))
    for axis, corpus in zip(axes, corpora, strict=True):
        mine = [row for row in rows if row["corpus"] == corpus]
        sizes = [row["size"] for row in mine]
        for name in mine[0]["methods"]:
            band(axis, sizes, [row["methods"][name] for row in mine], name)
        axis.set(title=corpus, xlabel="training documents")
        counts(axis, sizes)
    axes[0].set(ylabel="test accuracy")
    legend(figure, axes[0], 3)
    save(figure, path)
