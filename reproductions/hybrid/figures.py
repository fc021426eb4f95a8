"""The reproduction's figures, drawn from its result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figures import band, panels, save

__all__ = ["calibration", "coverage_curves", "learning_curves", "theorem"]

# Line styles as in the paper: red dashed, blue dotted, black solid.
_STYLES: Mapping[str, dict[str, Any]] = {
    "naive Bayes": {"color": "tab:blue", "linestyle": ":"},
    "logistic regression": {"color": "tab:red", "linestyle": "--"},
    "hybrid R=1": {"color": "0.5", "linestyle": "-"},
    "hybrid R=2": {"color": "black", "linestyle": "-"},
    "hybrid R=2, unnormalised": {"color": "tab:green", "linestyle": "-."},
    "tf-idf + linear SVM": {"color": "tab:orange", "linestyle": "-."},
}
_COVERAGE_STYLES: Mapping[str, dict[str, Any]] = {
    "naive Bayes": {"color": "magenta", "linestyle": "-."},
    "logistic regression": {"color": "tab:red", "linestyle": "--"},
    "hybrid R=1, unnormalised": {"color": "tab:blue", "linestyle": ":"},
    "hybrid R=1": {"color": "black", "linestyle": "-"},
}


def learning_curves(result: Mapping[str, Any], path: Path) -> None:
    """Test error against training documents, one panel a pair."""
    pairs = _pairs(result["figure_1"])
    figure, axes = panels(len(pairs))
    for axis, pair in zip(axes, pairs, strict=True):
        rows = [row for row in result["figure_1"] if tuple(row["pair"]) == pair]
        sizes = [row["size"] for row in rows]
        for name, style in _STYLES.items():
            band(
                axis, sizes, [r["methods"][name]["error"] for r in rows], name, **style
            )
        axis.set(title=_title(pair), xscale="log", ylim=(0, None))
    _finish(figure, axes, "training documents", "test error", path)


def coverage_curves(result: Mapping[str, Any], path: Path) -> None:
    """Accuracy of the most confident x % of the answers, one panel a pair."""
    rows = result["figure_2"]
    figure, axes = panels(len(rows))
    for axis, row in zip(axes, rows, strict=True):
        for name, style in _COVERAGE_STYLES.items():
            found = row["methods"][name]["accuracy"]
            axis.plot(row["coverage"], found, label=name, **style)
        axis.set(title=_title(tuple(row["pair"])))
    _finish(figure, axes, "coverage", "accuracy", path)


def calibration(result: Mapping[str, Any], path: Path) -> None:
    """Test log loss of plug-in and leave-one-out weights, mean over the pairs."""
    rows = result["figure_1"]
    sizes = sorted({row["size"] for row in rows})
    figure, axes = panels(2, size=(4.0, 3.2))
    names = {
        "hybrid R=2": {"color": "black"},
        "hybrid R=2, plug-in": {"color": "tab:red", "linestyle": "--"},
        "naive Bayes": {"color": "tab:blue", "linestyle": ":"},
    }
    for axis, figure_name in zip(axes, ("log_loss", "ece"), strict=True):
        for name, style in names.items():
            means = [
                np.mean(
                    [
                        row["methods"][name][figure_name]["mean"]
                        for row in rows
                        if row["size"] == size
                    ]
                )
                for size in sizes
            ]
            axis.plot(sizes, means, label=name, **style)
        axis.set(xscale="log", yscale="log")
    axes[0].set_title("test log loss")
    axes[1].set_title("calibration error")
    _finish(figure, axes, "training documents", "", path)


def theorem(result: Mapping[str, Any], path: Path) -> None:
    """The gap of the log-likelihoods against m, one line a V."""
    rows = result["theorem_1"]
    figure, (axis,) = panels(1, size=(5.0, 3.4))
    for i, width in enumerate(sorted({row["V"] for row in rows})):
        mine = [row for row in rows if row["V"] == width]
        sizes = [row["m"] for row in mine]
        for name, line in (("leave_one_out", "-"), ("plug_in", ":")):
            gap = [row[name]["mean"] for row in mine]
            label = f"{name.replace('_', '-')}, V={width}"
            axis.plot(sizes, gap, line, color=f"C{i}", label=label)
    axis.set(xscale="log", yscale="log")
    label = "sup |gap of mean log-likelihood|"
    _finish(figure, [axis], "training documents m", label, path)


def _pairs(rows: Any) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(row["pair"]) for row in rows))


def _title(pair: tuple[str, ...]) -> str:
    return " vs ".join(".".join(group.split(".")[-2:]) for group in pair)


def _finish(figure: Any, axes: list[Any], x: str, y: str, path: Path) -> None:
    for axis in axes:
        axis.set_xlabel(x)
        axis.title.set_fontsize(9)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(y)
    axes[0].legend(fontsize=6)
    save(figure, path, dpi=72)
