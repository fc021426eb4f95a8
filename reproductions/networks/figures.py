"""The reproduction's figures, drawn from its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figures import band, panels, save
from reproductions.networks.descent import error_of, points

__all__ = ["descent_paths", "learning_curves"]

_STYLES: Mapping[str, dict[str, Any]] = {
    "Bernoulli naive Bayes": {"color": "tab:blue", "linestyle": ":"},
    "multinomial naive Bayes": {"color": "tab:cyan", "linestyle": ":"},
    "softmax regression on indicators": {"color": "0.5", "linestyle": "-"},
    "softmax regression on tf-idf": {"color": "black", "linestyle": "-"},
    "perceptron (100) on tf-idf": {"color": "tab:red", "linestyle": "--"},
}


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
        axis.contour(across, up, surface, levels=levels, colors="0.8", linewidths=0.7)
        axis.plot(walk[:, 0], walk[:, 1], color="black", linewidth=0.8, marker=".")
        axis.plot(*result["optimum"], marker="*", color="tab:red", markersize=12)
        axis.set(title=f"batches of {row['batch_size']}", xlabel="first weight")
        axes[-1].plot(row["error"], label=f"batches of {row['batch_size']}")
    axes[0].set(ylabel="second weight")
    axes[-1].axhline(result["optimal_error"], color="0.6", linestyle=":")
    axes[-1].set(title="error", xlabel="step")
    axes[-1].legend(loc="upper right")
    save(figure, path)


def learning_curves(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Test accuracy against training documents, one panel a corpus."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, axes = panels(len(corpora), size=(4.5, 3.6))
    for axis, corpus in zip(axes, corpora, strict=True):
        mine = [row for row in rows if row["corpus"] == corpus]
        sizes = [row["size"] for row in mine]
        for name, style in _STYLES.items():
            measured = [row["methods"][name] for row in mine]
            band(axis, sizes, measured, name, **style)
        axis.set(title=corpus, xscale="log", xlabel="training documents")
    axes[0].set(ylabel="test accuracy")
    axes[0].legend()
    save(figure, path)
