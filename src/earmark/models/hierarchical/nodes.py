"""The hidden nodes of one class, for many restarts at once: what EM asks for.

Both event models are exponential families: a node scores a document by an offset
plus one weight for each of the document's statistics, counts for the multinomial,
(x, x²) for the Gaussian. So both run on one kernel, and a child only says how
weights follow from sums. Scores are kept relative to the class's own one-node model
(``_base``), which keeps them small: float32 then rounds where nothing is lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.mixture import (
    DocumentRows,
    MixtureTotals,
    Tiling,
    mixture_evidence,
    mixture_start,
    mixture_step,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix

__all__ = ["Anchor", "ClassNodes", "NodeParams", "NodeProblem"]


@dataclass(frozen=True)
class Anchor:
    """The last node of every restart, to which the others' weights are relative."""

    weights: NDArray[Any]
    """Its weights relative to the base, (n_statistics, n_restarts)."""
    offset: FloatVector
    """Its offset, (n_restarts,)."""


@dataclass(frozen=True)
class NodeParams:
    """Parameters of every node of every restart, as the kernels take them."""

    table: NDArray[Any]
    """Weights in tiles (n_tiles, n_statistics, width), relative to the anchor if
    there is one, else to the base."""
    offset: NDArray[Any]
    """Offsets in tiles (n_tiles, 1, width), with log P(h|c), relative like these."""
    penalty: FloatVector
    """What the bound has beside the pass's own sums, (n_restarts,)."""
    tiling: Tiling
    anchor: Anchor | None = None

    def take(self, restarts: IntVector, tiling: Tiling) -> NodeParams:
        """The parameters of some restarts, in tiles of their own."""
        anchor = self.anchor
        if anchor is not None:
            anchor = Anchor(anchor.weights[:, restarts], anchor.offset[restarts])
        return NodeParams(
            tiling.pack(self.tiling.unpack(self.table)[:, restarts]),
            tiling.pack(self.tiling.unpack(self.offset)[:, restarts]),
            self.penalty[restarts],
            tiling,
            anchor,
        )

    def every_node(self) -> tuple[FloatMatrix, FloatMatrix]:
        """Weights (n_statistics, R, H) and offsets (R, H), relative to the base."""
        table = self.tiling.unpack(self.table).astype(np.float64)
        offset = self.tiling.unpack(self.offset)[0].astype(np.float64)
        if self.anchor is None:
            return table, offset
        last = self.anchor.weights[..., None].astype(np.float64)
        first = self.anchor.offset[:, None]
        return (
            np.concatenate((table + last, last), axis=2),
            np.concatenate((offset + first, first), axis=1),
        )


@dataclass(frozen=True)
class ClassNodes:
    """The nodes of one class as the fitted model keeps them."""

    log_weight: FloatVector
    """log P(h|c), (n_nodes,)."""
    values: tuple[FloatMatrix, ...]
    """Multinomial: (log P(w|h,c),); Gaussian: (means, variances); (n_nodes, V) each."""


class NodeProblem(ABC):
    """EM for the nodes of one class."""

    rows: DocumentRows
    hard: bool
    n_nodes: int
    _base: FloatVector
    """Weights of the class's one-node model, (n_statistics,)."""
    _base_offset: float
    """Its offset."""
    _base_total: float
    """Log-likelihood of the class's documents under it."""

    # -- what a child says -------------------------------------------------------

    @abstractmethod
    def maximize(self, totals: MixtureTotals) -> NodeParams:
        """The parameters that these totals make likeliest; may consume the totals."""

    @abstractmethod
    def document_rows(self, X: Matrix) -> DocumentRows:
        """Any documents in this class's own statistics."""

    @abstractmethod
    def nodes(self, params: NodeParams) -> ClassNodes:
        """The nodes of the first restart, over all features."""

    @abstractmethod
    def params_of(self, nodes: ClassNodes) -> NodeParams:
        """Nodes fitted elsewhere as the parameters of a single restart."""

    # -- what EM asks for -------------------------------------------------------------

    def start(self, keys: NDArray[np.uint64], seeds: NDArray[np.uint64]) -> NodeParams:
        """First parameters: one M-step from random responsibilities (HB8)."""
        tiling = self._tiling(len(seeds))
        return self.maximize(mixture_start(self.rows, keys, seeds, tiling))

    def step(self, params: NodeParams) -> tuple[MixtureTotals, FloatVector]:
        """E-step, sums for the M-step, and the penalised log-likelihood (HB3, HB8)."""
        totals = mixture_step(
            self.rows, params.table, params.offset, params.tiling, hard=self.hard
        )
        return totals, totals.bound + self._base_total + params.penalty

    def take(self, params: NodeParams, restarts: IntVector) -> NodeParams:
        """The parameters of some restarts."""
        return params.take(restarts, self._tiling(len(restarts)))

    # -- scores ------------------------------------------------------------------

    def evidence(self, params: NodeParams, rows: DocumentRows) -> FloatMatrix:
        """Log P(x|c) of documents under every restart, (n_documents, n_restarts)."""
        evidence = mixture_evidence(rows, params.table, params.offset, params.tiling)
        if params.anchor is not None:
            evidence += rows.matrix @ params.anchor.weights + params.anchor.offset
        return evidence + self._base_evidence(rows)[:, None]

    def _base_evidence(self, rows: DocumentRows) -> FloatVector:
        """Log-likelihood of documents under the class's one-node model."""
        scores = rows.matrix.astype(np.float64) @ self._base + self._base_offset
        return np.asarray(scores, dtype=np.float64)

    def _tiling(self, n_restarts: int) -> Tiling:
        return Tiling(n_restarts, self.n_nodes)


def document_mass(docs: FloatMatrix) -> FloatMatrix:
    """P(h|c) by document mass, (1 + Σ m) / (H + docs) (HB5, second form)."""
    total = docs.shape[1] + docs.sum(axis=1, keepdims=True)
    return np.asarray((1.0 + docs) / total)
