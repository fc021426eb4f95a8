"""Hidden nodes shown to a person: weight and most indicative words of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.typing import FloatMatrix, FloatVector

__all__ = ["HiddenNode", "HiddenNodes", "telling_features", "telling_terms"]


@dataclass(frozen=True)
class HiddenNode:
    """One hidden node of one class."""

    label: object
    """The class it belongs to."""
    number: int
    """Its number within the class, from 1."""
    weight: float
    """P(h|c)."""
    terms: tuple[str, ...]
    """Its most telling terms, best first."""
    strengths: tuple[float, ...]
    """How telling each of them is."""


@dataclass(frozen=True)
class HiddenNodes:
    """The hidden nodes of a fitted model: ``print`` them, or ``plot`` them."""

    nodes: tuple[HiddenNode, ...]

    def __str__(self) -> str:
        lines: list[str] = []
        for position, node in enumerate(self.nodes):
            if not position or self.nodes[position - 1].label != node.label:
                lines.append(f"{node.label}")
            words = ", ".join(node.terms) or "(no telling term)"
            lines.append(f"  {node.number}  {node.weight:6.1%}  {words}")
        return "\n".join(lines)

    def plot(self, *, figure: Any = None) -> Any:
        """Draw the terms of each node as bars, one row for each class.

        Parameters
        ----------
        figure : matplotlib Figure, default=None
            Where to draw; a new figure if not given.

        Returns
        -------
        figure : matplotlib Figure

        """
        pyplot = require("matplotlib.pyplot", "plot hidden nodes")
        labels = list(dict.fromkeys(node.label for node in self.nodes))
        rows = [[n for n in self.nodes if n.label == label] for label in labels]
        n_columns = max(len(row) for row in rows)
        n_terms = max(len(node.terms) for node in self.nodes)
        if figure is None:
            size = (3.2 * n_columns, len(rows) * (0.8 + 0.2 * max(n_terms, 1)))
            figure = pyplot.figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(rows), n_columns, squeeze=False)
        for axes_row, row in zip(axes, rows, strict=True):
            for ax, node in zip(axes_row, row, strict=False):
                ax.barh(range(len(node.terms)), node.strengths, color="#4c72b0")
                ax.set_yticks(range(len(node.terms)), node.terms)
                ax.invert_yaxis()
                ax.set_xticks([])
                ax.set_title(
                    f"{node.label}, node {node.number} ({node.weight:.0%})", fontsize=9
                )
            for ax in axes_row[len(row) :]:
                ax.set_axis_off()
        return figure


def describe_nodes(
    labels: Sequence[object],
    numbers: Sequence[int],
    weights: FloatVector,
    strengths: FloatMatrix,
    names: Sequence[str],
    top: int,
) -> HiddenNodes:
    """The ``top`` strongest positive features of each node, (n_nodes, n_features)."""
    nodes = []
    for label, number, weight, row in zip(
        labels, numbers, weights, strengths, strict=True
    ):
        best = np.argsort(-row, kind="stable")[:top]
        best = best[row[best] > 0]
        terms = tuple(str(names[w]) for w in best)
        told = tuple(float(row[w]) for w in best)
        nodes.append(HiddenNode(label, number, float(weight), terms, told))
    return HiddenNodes(tuple(nodes))


def telling_terms(log_prob: FloatMatrix, log_weight: FloatVector) -> FloatMatrix:
    """Each term's share in the divergence of a node from all nodes together.

    φ_hw log(φ_hw / mean φ_w): large for terms that are frequent here and rarer
    elsewhere. ``log_weight`` is the log P(h, c) of each node.
    """
    probability = np.exp(log_prob)
    share = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    overall = share @ probability
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(probability > 0, np.log(probability / overall), 0.0)
    return np.asarray(probability * ratio, dtype=np.float64)


def telling_features(
    mean: FloatMatrix, var: FloatMatrix, log_weight: FloatVector
) -> FloatMatrix:
    """How far a Gaussian node lies from the overall mean, in overall deviations."""
    share = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    center = share @ mean
    spread = share @ (var + (mean - center) ** 2)
    return np.asarray(np.abs(mean - center) / np.sqrt(spread), dtype=np.float64)
