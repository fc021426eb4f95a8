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
    Anchor,
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
        self._set_base(rows.matrix.T @ weight, float(weight.sum()))

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

    def _set_base(self, counts: FloatVector, mass: float) -> None:
        """The one-node model of the class, from its tokens by column and documents."""
        alpha = self._events.alpha
        self._counts, self._mass = counts, mass
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
        ordered = matrix.tocsc().tocsr()  # a counting sort of each row's columns
        return DocumentRows.of(ordered, np.ones(X.shape[0]), row_lengths(X))

    def maximize(self, totals: MixtureTotals) -> NodeParams:
        """HB4 and HB5, turned into weights in place: the sums become the table."""
        alpha, dtype = self._events.alpha, self._events.dtype
        tiling = self._tiling(len(totals.docs))
        docs = self._with_last(totals.docs, self._mass)
        mass = self._with_last(totals.lengths, self._counts.sum())
        mass += alpha * self._n_features
        table, last = totals.sums, None
        table += dtype(alpha)
        if alpha == 0:
            np.maximum(table, _floor(dtype), out=table)
        scale = 1.0 / np.where(mass > 0, mass, 1.0)
        columns = scale[:, : tiling.n_columns]
        relative = (1.0 / self._probability).astype(dtype)[:, None]
        if tiling.anchored:
            sums = self._last_sums(table, tiling)
            tiling.by_mixture(table)[...] /= sums[..., None]
            columns = columns / scale[:, -1:]
            last = tiling.mixtures(sums) * (relative * scale[:, -1].astype(dtype))
            np.log(last, out=last)
        else:
            table *= relative
        scales = tiling.pack_nodes(columns)
        scales[scales == 0] = 1.0  # the unused columns
        table *= scales.astype(dtype)
        np.log(table, out=table)  # HB4: log φ, relative to the last node or the base
        with np.errstate(divide="ignore"):
            log_weight = np.log(self._hidden_weights(docs, mass))
        return self._params(table, last, log_weight, tiling)

    def _with_last(self, columns: FloatMatrix, total: float) -> FloatMatrix:
        """(R, columns) -> (R, H): the last node has what the others leave."""
        if not self._tiling(1).anchored:
            return columns
        rest = total - columns.sum(axis=1, keepdims=True)
        return np.hstack((columns, np.maximum(rest, 0.0)))

    def _last_sums(self, table: Any, tiling: Tiling) -> Any:
        """Smoothed tokens of the last nodes, (n_tiles, n_terms, mixtures of a tile)."""
        alpha, dtype = self._events.alpha, self._events.dtype
        whole = (self._counts + self.n_nodes * alpha).astype(dtype)[:, None]
        nodes = tiling.by_mixture(table)
        rest = whole - nodes[..., 0]
        for h in range(1, tiling.n_columns):
            rest -= nodes[..., h]
        return np.maximum(rest, dtype(alpha), out=rest)

    def _hidden_weights(self, docs: FloatMatrix, mass: FloatMatrix) -> FloatMatrix:
        """P(h|c) by document mass or by token mass (HB5)."""
        if self._events.hidden_prior == "documents":
            return document_mass(docs)
        total = mass.sum(axis=1, keepdims=True)
        even = np.full_like(mass, 1.0 / self.n_nodes)
        return np.asarray(np.divide(mass, total, out=even, where=total > 0))

    def _params(
        self, table: Any, last: Any, log_weight: FloatMatrix, tiling: Tiling
    ) -> NodeParams:
        """Parameters from weights in tiles and log P(h|c) of all nodes (R, H).

        Their penalty is α Σ_hw log φ, and Σ_h log P(h|c) where that has a prior
        (HB8); of anchored mixtures also what all documents score under the anchor.
        """
        alpha, n_seen = self._events.alpha, len(self._terms)
        penalty = np.zeros(len(log_weight))
        if self._events.hidden_prior == "documents":
            penalty += log_weight.sum(axis=1)
        times = np.append(np.ones(n_seen), self._n_features - n_seen)
        if alpha > 0:
            sums = table.sum(axis=1, keepdims=True, dtype=np.float64)
            sums += (times[-1] - 1.0) * table[:, n_seen:]
            log_phi = tiling.unpack(sums)[0].sum(axis=1)
            penalty += alpha * (log_phi + self.n_nodes * (times @ self._base))
        offset = log_weight[:, : tiling.n_columns]
        if last is not None:
            anchor = log_weight[:, -1]
            offset = offset - anchor[:, None]
            weights = alpha * self.n_nodes * times + self._counts
            penalty += _column_sums(last * weights[:, None])
            penalty += self._mass * anchor
            last = Anchor(last, anchor)
        tiles = tiling.pack_nodes(offset).astype(self._events.dtype)
        return NodeParams(table, tiles, penalty, tiling, last)

    def nodes(self, params: NodeParams) -> ClassNodes:
        """Log P(w|h,c) of the first restart over the whole vocabulary."""
        table, offset = params.every_node()
        log_prob = (table[:, 0] + self._base[:, None]).T
        if self._events.alpha == 0:
            log_prob[:, -1] = -np.inf
        return ClassNodes(offset[0], (log_prob[:, self._place],))

    def params_of(self, nodes: ClassNodes) -> NodeParams:
        """Nodes fitted on fewer documents, over this class's columns."""
        dtype = self._events.dtype
        log_prob = nodes.values[0]
        tiling = self._tiling(1)
        seen = log_prob[:, self._terms] - self._base[:-1]
        unseen = np.flatnonzero(self._place == len(self._terms))[:1]
        rest = log_prob[:, unseen] - self._base[-1] if len(unseen) else seen[:, :1]
        table = np.column_stack((seen, rest)).T
        np.maximum(table, np.log(_floor(dtype)), out=table)
        last = None
        if tiling.anchored:
            last, table = table[:, -1:], table[:, :-1] - table[:, -1:]
        tiles = tiling.pack(table[:, None, :].astype(dtype))
        return self._params(tiles, last, nodes.log_weight[None], tiling)

    def linear_evidence(self, params: NodeParams, rows: DocumentRows) -> FloatMatrix:
        """Log P(x|c) as the product of sums (HB2), (n_documents, n_restarts)."""
        table, offset = params.every_node()
        evidence = rows.matrix.astype(np.float64) @ logsumexp(table + offset, axis=2)
        return np.asarray(evidence) + self._base_evidence(rows)[:, None]

    def _tiling(self, n_restarts: int) -> Tiling:
        """Smoothed nodes are anchored: what is left for the last one is exact enough.

        Without smoothing a count that should be 0 would be left as a rounding error.
        """
        anchored = self._events.alpha > 0 and self.n_nodes > 1
        return Tiling(n_restarts, self.n_nodes, anchored)


def _one_node(counts: FloatVector, n_features: int, alpha: float) -> FloatVector:
    """Smoothed P(w|c), all columns positive: what the nodes are measured against."""
    smoothing = max(alpha, 1e-6)
    total = counts.sum() + smoothing * n_features
    return np.asarray((counts + smoothing) / total)


def _column_sums(values: FloatMatrix) -> FloatVector:
    """Sums over the terms, one after another whatever the number of columns."""
    if values.shape[1] == 1:  # NumPy would add it up in pairs
        return np.asarray(np.cumsum(values)[-1:])
    return np.asarray(values.sum(axis=0))


def _floor(dtype: Any) -> Any:
    """What stands for a count of 0 under a logarithm where nothing is smoothed."""
    return np.finfo(dtype).tiny ** dtype(0.75)
