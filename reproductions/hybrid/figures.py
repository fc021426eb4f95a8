"""The reproduction's figures, drawn from its result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figure_style import series
from reproductions.figures import band, counts, legend, panels, save

__all__ = ["calibration", "coverage_curves", "learning_curves", "theorem"]

_METHODS = (
    "naive Bayes",
    "logistic regression",
    "hybrid R=1",
    "hybrid R=2",
    "hybrid R=2, unnormalised",
    "tf-idf + linear SVM",
)
_COVERAGE_METHODS = (
    "naive Bayes",
    "logistic regression",
    "hybrid R=1, unnormalised",
    "hybrid R=1",
)


def learning_curves(result: Mapping[str, Any], path: Path) -> None:
    """Test error against training documents, one panel per pair."""
    pairs = _pairs(result["figure_1"])
    figure, axes = panels(len(pairs))
    for axis, pair in zip(axes, pairs, strict=True):
        rows = [row for row in result["figure_1"] if tuple(row["pair"]) == pair]
        sizes = [row["size"] for row in rows]
        for name in _METHODS:
            band(axis, sizes, [r["methods"][name]["error"] for r in rows], name)
        axis.set(title=_title(pair), ylim=(0, None))
        counts(axis, sizes)
    _finish(figure, axes, "training documents", "test error", path)


def coverage_curves(result: Mapping[str, Any], path: Path) -> None:
    """Accuracy of the most confident x % of the answers, one panel per pair."""
    rows = result["figure_2"]
    figure, axes = panels(len(rows))
    for axis, row in zip(axes, rows, strict=True):
        for name in _COVERAGE_METHODS:
            accuracy = row["methods"][name]["accuracy"]
            style = series(name) | {"marker": ""}
            axis.plot(row["coverage"], accuracy, label=name, **style)
        axis.set(title=_title(tuple(row["pair"])), ylim=(0.74, 1.01))
    _finish(figure, axes, "coverage", "accuracy", path)


def calibration(result: Mapping[str, Any], path: Path) -> None:
    """Test log loss of plug-in and leave-one-out weights, mean over the pairs."""
    rows = result["figure_1"]
    sizes = sorted({row["size"] for row in rows})
    figure, axes = panels(2, size=(4.0, 3.2))
    names = ("hybrid R=2", "hybrid R=2, plug-in", "naive Bayes")
    for axis, figure_name in zip(axes, ("log_loss", "ece"), strict=True):
        for name in names:
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
            axis.plot(sizes, means, label=name, **series(name))
        counts(axis, sizes)
        axis.set(ylim=(0, None))
    axes[0].set_title("test log loss")
    axes[1].set_title("calibration error")
    _finish(figure, axes, "training documents", "", path)


def theorem(result: Mapping[str, Any], path: Path) -> None:
    """The gap of the log-likelihoods against m, one line per V."""
    rows = result["theorem_1"]
    figure, (axis,) = panels(1, size=(5.0, 3.4))
    for i, width in enumerate(sorted({row["V"] for row in rows})):
        mine = [row for row in rows if row["V"] == width]
        sizes = [row["m"] for row in mine]
        for name, line in (("leave_one_out", "-"), ("plug_in", ":")):
            gap = [row[name]["mean"] for row in mine]
            style = series(i) | {"linestyle": line}
            label = f"{name.replace('_', '-')}, {width:,} words"
            axis.plot(sizes, gap, label=label, **style)
    counts(axis, sizes)
    axis.set(ylim=(0, None))
    label = "largest gap of the\nmean log-likelihood"
    _finish(figure, [axis], "training documents m", label, path, 2)


def _pairs(rows: Any) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(row["pair"]) for row in rows))


def _title(pair: tuple[str, ...]) -> str:
    return " vs ".join(".".join(group.split(".")[-2:]) for group in pair)


def _finish(
    figure: Any, axes: list[Any], x: str, y: str, path: Path, columns: int = 3
) -> None:
    for axis in axes:
        axis.set_xlabel(x)
        axis.title.set_fontsize(9)
    axes[0].set_ylabel(y)
    legend(figure, axes[0], columns)
    save(figure, path)
