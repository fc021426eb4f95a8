"""Fitted nodes at work: class scores, responsibilities, explanations, descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from earmark._optional import require
from earmark.kernels.rows import canonical_rows, dense_blocks
from earmark.models.base import ScoreParts, linear_parts
from earmark.models.hierarchical.nodes import log_densities
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels, Matrix

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class NodeScores:
    """The nodes of all classes, those of a class side by side."""

    classes: Labels
    class_log_prior: FloatVector
    node_class: IntVector
    log_weight: FloatVector
    values: tuple[FloatMatrix, ...]
    """(log P(w|h,c),) or (means, variances), one row for each node."""
    linear: bool
    """Whether the posterior is the product of sums (HB2)."""

    @property
    def first(self) -> IntVector:
        """Position of the first node of each class."""
        return np.searchsorted(self.node_class, np.arange(len(self.classes)))

    @property
    def numbers(self) -> IntVector:
        """Number of each node within its class, from 1."""
        return np.arange(len(self.node_class)) - self.first[self.node_class] + 1

    def joint(self, X: Matrix) -> FloatMatrix:
        """Log P(x, c) of documents, (n_samples, n_classes)."""
        if self.linear:
            return np.asarray(X @ self.linear_weights() + self.class_log_prior)
        joint = np.empty((X.shape[0], len(self.classes)))
        for block, scores in self._node_blocks(X):
            joint[block] = self._sums(scores)  # HB1
        return joint + self.class_log_prior

    def linear_weights(self) -> FloatMatrix:
        """Log Σ_h P(h|c) P(w|h,c), (n_features, n_classes) (HB2)."""
        return self._sums((self.values[0] + self.log_weight[:, None]).T)

    def responsibilities(self, X: Matrix, y_index: IntVector) -> FloatMatrix:
        """P(h | document, its class); 0 for nodes that the class does not have."""
        sizes = np.bincount(self.node_class, minlength=len(self.classes))
        shares = np.zeros((X.shape[0], sizes.max()))
        for block, scores in self._node_blocks(X):
            total = self._sums(scores)
            for c, (start, size) in enumerate(zip(self.first, sizes, strict=True)):
                rows = np.flatnonzero(y_index[block] == c)
                own = scores[rows, start : start + size] - total[rows, c, None]
                shares[block.start + rows, :size] = np.exp(own)
        return shares

    def parts(self, X: Matrix) -> list[ScoreParts]:
        """Class scores as evidence of the node that answered for each class (AB3)."""
        # log P(x, c) = log P(c) + log P(h|c) + Σ_w evidence of w in h, for the best
        # node h, plus what the other nodes add: -log of the share of h.
        if self.linear:
            weights = self.linear_weights()
            return linear_parts(X, weights, {"class prior": self.class_log_prior})
        parts: list[ScoreParts] = []
        for block, scores in self._node_blocks(X):
            total = self._sums(scores)
            answered = self._best_nodes(scores)
            rest = total - np.take_along_axis(scores, answered, axis=1)
            for i, d in enumerate(range(block.start, block.stop)):
                columns, terms = self._evidence(X, d, answered[i])
                constants = {
                    "class prior": self.class_log_prior,
                    "hidden node": self.log_weight[answered[i]],
                    "other hidden nodes": rest[i],
                }
                best = int(np.argmax(total[i] + self.class_log_prior))
                note = self._note(best, int(answered[i, best]), float(rest[i, best]))
                parts.append(ScoreParts(columns, terms, constants, note))
        return parts

    def described(self, names: Sequence[str], top: int) -> HiddenNodes:
        """Every node with its most telling features."""
        log_joint = self.log_weight + self.class_log_prior[self.node_class]
        if len(self.values) == 2:
            strengths = telling_features(self.values[0], self.values[1], log_joint)
        else:
            strengths = telling_terms(self.values[0], log_joint)
        return describe_nodes(
            self.classes[self.node_class].tolist(),
            self.numbers.tolist(),
            np.exp(self.log_weight),
            strengths,
            names,
            top,
        )

    # -- private steps ---------------------------------------------------------------

    def _node_blocks(self, X: Matrix) -> Iterator[tuple[slice, FloatMatrix]]:
        """Log P(x, h | c) of every node, (rows of the block, n_nodes)."""
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, X.shape[0]))
            rows = X[block]
            if len(self.values) == 1:
                scores = np.asarray(rows @ self.values[0].T)
            else:
                scores = np.concatenate(
                    [log_densities(z, *self.values) for _, z in dense_blocks(rows)]
                )
            yield block, scores + self.log_weight

    def _sums(self, scores: FloatMatrix) -> FloatMatrix:
        """Log-sum-exp of each row's columns within each class."""
        top = np.maximum.reduceat(scores, self.first, axis=1)
        top = np.where(np.isneginf(top), 0.0, top)
        shares = np.exp(scores - top[:, self.node_class])
        with np.errstate(divide="ignore"):
            return np.log(np.add.reduceat(shares, self.first, axis=1)) + top

    def _best_nodes(self, scores: FloatMatrix) -> IntVector:
        """Position of each class's best node, (n_samples, n_classes)."""
        ends = np.append(self.first[1:], len(self.node_class))
        spans = zip(self.first, ends, strict=True)
        best = [start + scores[:, start:end].argmax(axis=1) for start, end in spans]
        return np.stack(best, axis=1)

    def _evidence(
        self, X: Matrix, d: int, nodes: IntVector
    ) -> tuple[IntVector, FloatMatrix]:
        """What each feature of document d adds under these nodes, (n_terms, K)."""
        if len(self.values) == 1:
            row = canonical_rows(X[[d]])
            columns = row.indices.astype(np.int64)
            return columns, row.data[:, None] * self.values[0][nodes][:, columns].T
        x = X[[d]].toarray()[0] if sparse.issparse(X) else X[d]
        mean, var = (values[nodes] for values in self.values)
        terms = -0.5 * (np.log(2.0 * np.pi * var) + (x - mean) ** 2 / var)
        return np.arange(len(x), dtype=np.int64), terms.T

    def _note(self, c: int, node: int, rest: float) -> str:
        size = int(np.sum(self.node_class == c))
        return (
            f"answered by hidden node {self.numbers[node]} of {size} of class "
            f"{self.classes[c]} (weight {np.exp(self.log_weight[node]):.2f}, "
            f"share in this document {np.exp(-rest):.2f})"
        )


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
    """Each term's share in a node's divergence from all, φ_hw log(φ_hw / mean φ_w)."""
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
