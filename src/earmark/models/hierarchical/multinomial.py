"""Hidden nodes that draw every token of a document from one distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from earmark.kernels.mixture import DocumentRows, MixtureTotals, Tiling
from earmark.kernels.rows import row_lengths
from earmark.models.hierarchical.nodes import (
    ClassNodes,
    NodeParams,
    NodeProblem,
    document_mass,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = ["MultinomialEvents", "MultinomialProblem"]


@dataclass(frozen=True)
class MultinomialEvents:
    """How documents are drawn: the settings that all classes share."""

    alpha: float
    hidden_prior: Literal["tokens", "documents"]
    hard: bool
    dtype: Any

    def problem(
        self, X: SparseMatrix, weight: FloatVector, n_nodes: int
    ) -> MultinomialProblem:
        """EM for the nodes of the class that these documents make up."""
        return MultinomialProblem(X, weight, n_nodes, self)


class MultinomialProblem(NodeProblem):
    """EM for multinomial nodes (HB3-HB5), on the terms that the class holds.

    Terms the class never saw share one column: each of them has the same
    probability in a node. Columns are ordered by falling document frequency, in each
    row too, so that frequent terms share the cache.
    """

    def __init__(
        self,
        X: SparseMatrix,
        weight: FloatVector,
        n_nodes: int,
        events: MultinomialEvents,
    ) -> None:
        self._set_columns(np.bincount(X.indices, minlength=X.shape[1]), n_nodes, events)
        rows = self.document_rows(X)
        self.rows = DocumentRows(rows.matrix, weight, rows.length)
        self._set_base(rows.matrix.T @ weight)

    def _set_columns(
        self, documents: IntVector, n_nodes: int, events: MultinomialEvents
    ) -> None:
        """The class's own columns, by the documents that hold each term."""
        self.n_nodes = n_nodes
        self.hard = events.hard
        self._events = events
        self._n_features = len(documents)
        order = np.argsort(-documents, kind="stable")
        self._terms: IntVector = order[: np.count_nonzero(documents)]
        self._place = np.full(self._n_features, len(self._terms), dtype=np.int32)
        self._place[self._terms] = np.arange(len(self._terms), dtype=np.int32)

    def _set_base(self, counts: FloatVector) -> None:
        """The one-node model of the class, from its tokens by column."""
        alpha = self._events.alpha
        self._probability = _one_node(counts, self._n_features, alpha)
        self._base = np.log(self._probability)
        self._base_offset = 0.0
        self._base_total = float(counts @ self._base)

    def document_rows(self, X: SparseMatrix) -> DocumentRows:
        """Counts by this class's columns; all unseen terms in the last one."""
        matrix = sparse.csr_array(
            (
                X.data.astype(self._events.dtype),
                self._place[X.indices],
                X.indptr.copy(),
            ),
            shape=(X.shape[0], len(self._terms) + 1),
        )
        matrix.sort_indices()
        return DocumentRows.of(matrix, np.ones(X.shape[0]), row_lengths(X))

    def maximize(self, totals: MixtureTotals) -> NodeParams:
        """HB4 and HB5, turned into weights in place: the sums become the table."""
        alpha, dtype = self._events.alpha, self._events.dtype
        tiling = Tiling(*totals.docs.shape)
        mass = totals.lengths + alpha * self._n_features
        table = totals.sums
        table += dtype(alpha)
        if alpha == 0:
            np.maximum(table, _floor(dtype), out=table)
        scale = tiling.pack_nodes(1.0 / np.where(mass > 0, mass, 1.0))
        scale[scale == 0] = 1.0  # the unused columns
        table *= (1.0 / self._probability).astype(dtype)[:, None]
        table *= scale.astype(dtype)
        np.log(table, out=table)  # HB4: log φ, relative to the base
        weight = self._hidden_weights(totals, mass)
        log_prior = self._log_prior(table, weight, tiling)
        with np.errstate(divide="ignore"):
            offset = tiling.pack_nodes(np.log(weight)).astype(dtype)
        return NodeParams(table, offset, log_prior, tiling)

    def _hidden_weights(self, totals: MixtureTotals, mass: FloatMatrix) -> FloatMatrix:
        """P(h|c) by document mass or by token mass (HB5)."""
        if self._events.hidden_prior == "documents":
            return document_mass(totals.docs)
        total = mass.sum(axis=1, keepdims=True)
        even = np.full_like(mass, 1.0 / self.n_nodes)
        return np.asarray(np.divide(mass, total, out=even, where=total > 0))

    def _log_prior(
        self, table: Any, weight: FloatMatrix, tiling: Tiling
    ) -> FloatVector:
        """α Σ_hw log φ, and Σ_h log P(h|c) where that has a prior (HB8)."""
        log_prior = np.zeros(len(weight))
        if self._events.hidden_prior == "documents":
            log_prior += np.log(weight).sum(axis=1)
        if self._events.alpha > 0:
            n_seen = len(self._terms)
            n_unseen = self._n_features - n_seen
            sums = table[:, :n_seen].sum(axis=1, keepdims=True, dtype=np.float64)
            sums += n_unseen * table[:, n_seen:].astype(np.float64)
            base = self._base[:n_seen].sum() + n_unseen * self._base[n_seen]
            log_phi = tiling.unpack(sums)[0].sum(axis=1) + self.n_nodes * base
            log_prior += self._events.alpha * log_phi
        return log_prior

    def nodes(self, params: NodeParams) -> ClassNodes:
        """Log P(w|h,c) of the first restart over the whole vocabulary."""
        table = params.tiling.unpack(params.table)[:, 0].astype(np.float64)
        log_prob = (table + self._base[:, None]).T
        if self._events.alpha == 0:
            log_prob[:, -1] = -np.inf
        offset = params.tiling.unpack(params.offset)[0, 0].astype(np.float64)
        return ClassNodes(offset, (log_prob[:, self._place],))

    def params_of(self, nodes: ClassNodes) -> NodeParams:
        """Nodes fitted on fewer documents, over this class's columns."""
        dtype = self._events.dtype
        log_prob = nodes.values[0]
        tiling = self._tiling(1)
        seen = log_prob[:, self._terms] - self._base[:-1]
        unseen = np.flatnonzero(self._place == len(self._terms))[:1]
        last = log_prob[:, unseen] - self._base[-1] if len(unseen) else seen[:, :1]
        table = np.column_stack((seen, last)).T
        np.maximum(table, np.log(_floor(dtype)), out=table)
        tiles = tiling.pack(table[:, None, :].astype(dtype))
        return NodeParams(
            tiles,
            tiling.pack_nodes(nodes.log_weight[None]).astype(dtype),
            self._log_prior(tiles, np.exp(nodes.log_weight[None]), tiling),
            tiling,
        )

    def linear_evidence(self, params: NodeParams, rows: DocumentRows) -> FloatMatrix:
        """Log P(x|c) as the product of sums (HB2), (n_documents, n_restarts)."""
        table = params.tiling.unpack(params.table).astype(np.float64)
        table += params.tiling.unpack(params.offset)
        evidence = rows.matrix.astype(np.float64) @ logsumexp(table, axis=2)
        return np.asarray(evidence) + self._base_evidence(rows)[:, None]


def _one_node(counts: FloatVector, n_features: int, alpha: float) -> FloatVector:
    """Smoothed P(w|c), all columns positive: what the nodes are measured against."""
    smoothing = max(alpha, 1e-6)
    total = counts.sum() + smoothing * n_features
    return np.asarray((counts + smoothing) / total)


def _floor(dtype: Any) -> Any:
    """What stands for a count of 0 under a logarithm where nothing is smoothed."""
    return np.finfo(dtype).tiny ** dtype(0.75)
