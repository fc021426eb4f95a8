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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from earmark.kernels.keys import uniform_of
from earmark.kernels.mixture import (
    DocumentRows,
    MixtureTotals,
    Tiling,
    mixture_evidence,
    mixture_start,
    mixture_step,
)
from earmark.kernels.rows import row_lengths
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix, SparseMatrix


@dataclass(frozen=True)
class Anchor:
    """The last node of every restart, to which the others' weights are relative."""

    weights: NDArray[Any]
    """Its weights relative to the base, (n_statistics, n_restarts)."""
    offset: FloatVector  # its offset, (n_restarts,)


@dataclass(frozen=True)
class NodeParams:
    """Parameters of every node of every restart, as the kernels take them."""

    table: NDArray[Any]
    """Weights in tiles (n_tiles, n_statistics, width), relative to the anchor if
    there is one, else to the base."""
    offset: NDArray[Any]
    """Offsets in tiles (n_tiles, 1, width), with log P(h|c), relative like these."""
    penalty: FloatVector  # what the bound has beside the pass's own sums, (n_restarts,)
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

    log_weight: FloatVector  # log P(h|c), (n_nodes,)
    values: tuple[FloatMatrix, ...]
    """Multinomial: (log P(w|h,c),); Gaussian: (means, variances); (n_nodes, V) each."""


class NodeProblem(ABC):
    """EM for the nodes of one class."""

    rows: DocumentRows
    hard: bool
    n_nodes: int
    _base: FloatVector  # weights of the class's one-node model, (n_statistics,)
    _base_offset: float  # its offset
    _base_total: float  # log-likelihood of the class's documents under it

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
    """EM for multinomial nodes (HB3-HB5), on the terms that the class holds."""

    # Terms the class never saw share the last column. Columns are ordered by falling
    # document frequency, in each row too, so that frequent terms share the cache.

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
        """Store settings; number terms by their document counts, the largest first."""
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
        self._counts, self._mass = counts, mass
        # Smoothed P(w|c), all columns positive: what the nodes are measured against.
        smoothing = max(self._events.alpha, 1e-6)
        total = counts.sum() + smoothing * self._n_features
        self._probability = (counts + smoothing) / total
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
        """Append what the other nodes leave to the last one, (R, columns) -> (R, H)."""
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
        """The share of each hidden node in its class, by documents or tokens (HB5)."""
        if self._events.hidden_prior == "documents":
            return document_mass(docs)
        total = mass.sum(axis=1, keepdims=True)
        even = np.full_like(mass, 1.0 / self.n_nodes)
        return np.asarray(np.divide(mass, total, out=even, where=total > 0))

    def _params(
        self, table: Any, last: Any, log_weight: FloatMatrix, tiling: Tiling
    ) -> NodeParams:
        """Parameters of the nodes, with their prior, from tables of term weights."""
        # Their penalty is α Σ_hw log φ, and Σ_h log P(h|c) where that has a prior
        # (HB8); of anchored mixtures also what all documents score under the anchor.
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
        """How the nodes of all restarts are laid out in tiles."""
        anchored = self._events.alpha > 0 and self.n_nodes > 1
        return Tiling(n_restarts, self.n_nodes, anchored)


def _column_sums(values: FloatMatrix) -> FloatVector:
    """Sum over the terms, in one order whatever the number of columns."""
    if values.shape[1] == 1:  # NumPy would add it up in pairs
        return np.asarray(np.cumsum(values)[-1:])
    return np.asarray(values.sum(axis=0))


def _floor(dtype: Any) -> Any:
    """What stands for a count of 0 under a logarithm where nothing is smoothed."""
    return np.finfo(dtype).tiny ** dtype(0.75)


_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class GaussianEvents:
    """How documents are drawn: the settings and units that all classes share."""

    center: FloatVector
    scale: FloatVector
    var_floor: float
    hard: bool
    dtype: Any

    @classmethod
    def of(
        cls, X: Matrix, weight: FloatVector, *, var_floor: float, hard: bool, dtype: Any
    ) -> GaussianEvents:
        """Units in which X has mean 0, unless it is sparse, and variance 1."""
        mean = np.asarray(weight @ X).ravel() / weight.sum()
        if sparse.issparse(X):
            squares = np.asarray(weight @ X.multiply(X)).ravel() / weight.sum()
            variance = np.maximum(squares - mean**2, 0.0)
            center = np.zeros_like(mean)
        else:
            variance = np.asarray(weight @ (X - mean) ** 2).ravel() / weight.sum()
            center = mean
        scale = np.where(variance > 0, np.sqrt(variance), 1.0)
        return cls(center, scale, var_floor, hard, dtype)

    def problem(self, X: Matrix, weight: FloatVector, n_nodes: int) -> GaussianProblem:
        """EM for the nodes of the class that these documents make up."""
        return GaussianProblem(X, weight, n_nodes, self)


class GaussianProblem(NodeProblem):
    """EM for nodes with diagonal covariance (HB7), in units of the overall spread."""

    # A document's statistics are (z, z²), natural parameters (μ/v, -1/(2v)). max(v,
    # floor) is the likeliest variance allowed, so the likelihood still never falls.

    def __init__(
        self, X: Matrix, weight: FloatVector, n_nodes: int, events: GaussianEvents
    ) -> None:
        self.n_nodes = n_nodes
        self.hard = events.hard
        self._events = events
        rows = self.document_rows(X)
        self.rows = DocumentRows(rows.matrix, weight, rows.length)
        sums = rows.matrix.T.astype(np.float64) @ weight
        mean, var = self._moments(sums[:, None], np.array([weight.sum()]))
        self._mean, self._var = mean[:, 0], var[:, 0]
        self._base = np.concatenate(_natural(self._mean, self._var))
        self._base_offset = float(_offset(self._mean, self._var))
        self._base_offset -= float(np.log(events.scale).sum())
        self._base_total = float(sums @ self._base + weight.sum() * self._base_offset)

    def document_rows(self, X: Matrix) -> DocumentRows:
        """The statistics (z, z²) of documents."""
        events = self._events
        if sparse.issparse(X):
            z = sparse.csr_array(X) / events.scale
            matrix = sparse.hstack((z, z.multiply(z)), format="csr")
        else:
            z = (np.asarray(X) - events.center) / events.scale
            n_samples, n_statistics = z.shape[0], 2 * z.shape[1]
            columns = np.tile(np.arange(n_statistics, dtype=np.int32), n_samples)
            bounds = np.arange(n_samples + 1, dtype=np.int64) * n_statistics
            values = np.concatenate((z, z * z), axis=1).ravel()
            matrix = sparse.csr_array(
                (values, columns, bounds), shape=(n_samples, n_statistics)
            )
        ones = np.ones(matrix.shape[0])
        return DocumentRows.of(matrix.astype(events.dtype), ones, np.zeros(len(ones)))

    def start(self, keys: NDArray[np.uint64], seeds: NDArray[np.uint64]) -> NodeParams:
        """First parameters: each node around a document drawn at random (HB8)."""
        # Random responsibilities would put all nodes at the centre, which EM leaves
        # slowly.
        n_features = len(self._events.scale)
        distinct, first = np.unique(keys, return_index=True)
        mean = np.empty((n_features, len(seeds), self.n_nodes))
        for r, seed in enumerate(seeds):
            drawn = np.argsort(uniform_of(seed, distinct, np.uint64(0)), kind="stable")
            rows = self.rows.matrix[first[drawn[: self.n_nodes]]]
            mean[:, r] = rows.toarray()[:, :n_features].T
        spread = np.maximum(self._var / self.n_nodes, self._events.var_floor)
        var = np.broadcast_to(spread[:, None, None], mean.shape)
        weight = np.full(mean.shape[1:], 1.0 / self.n_nodes)
        return self._params(mean, var, weight, self._tiling(len(seeds)))

    def maximize(self, totals: MixtureTotals) -> NodeParams:
        """Means, floored variances and document-mass weights of every node (HB7)."""
        tiling = Tiling(*totals.docs.shape)
        sums = tiling.unpack(totals.sums).astype(np.float64)
        mean, var = self._moments(sums, totals.docs)
        return self._params(mean, var, document_mass(totals.docs), tiling)

    def _moments(
        self, sums: FloatMatrix, docs: FloatMatrix
    ) -> tuple[FloatMatrix, FloatMatrix]:
        """Mean and floored variance; an empty node takes the whole class's."""
        n_features = len(self._events.scale)
        has_documents = docs > 0
        mass = np.where(has_documents, docs, 1.0)
        mean, square = sums[:n_features] / mass, sums[n_features:] / mass
        var = np.maximum(square - mean**2, self._events.var_floor)
        if has_documents.all():
            return mean, var
        shape = (n_features,) + (1,) * docs.ndim
        return (
            np.where(has_documents, mean, self._mean.reshape(shape)),
            np.where(has_documents, var, self._var.reshape(shape)),
        )

    def _params(
        self, mean: FloatMatrix, var: FloatMatrix, weight: FloatMatrix, tiling: Tiling
    ) -> NodeParams:
        """Natural parameters relative to the base, from means (n_features, R, H)."""
        dtype = self._events.dtype
        table = np.concatenate(_natural(mean, var)) - self._base[:, None, None]
        offset = _offset(mean, var) - _offset(self._mean, self._var)
        return NodeParams(
            tiling.pack(table.astype(dtype)),
            tiling.pack_nodes(offset + np.log(weight)).astype(dtype),
            np.log(weight).sum(axis=1),
            tiling,
        )

    def nodes(self, params: NodeParams) -> ClassNodes:
        """Means and variances of the first restart, in the units of X."""
        events, n_features = self._events, len(self._events.scale)
        table = params.tiling.unpack(params.table)[:, 0].astype(np.float64)
        natural = table + self._base[:, None]
        var = -0.5 / natural[n_features:]
        mean = natural[:n_features] * var
        offset = params.tiling.unpack(params.offset)[0, 0].astype(np.float64)
        log_weight = offset - _offset(mean, var) + _offset(self._mean, self._var)
        return ClassNodes(
            log_weight, (mean.T * events.scale + events.center, var.T * events.scale**2)
        )

    def params_of(self, nodes: ClassNodes) -> NodeParams:
        """Nodes fitted on fewer documents, in this problem's units."""
        events = self._events
        mean = ((nodes.values[0] - events.center) / events.scale).T[:, None]
        var = (nodes.values[1] / events.scale**2).T[:, None]
        weight = np.exp(nodes.log_weight[None])
        return self._params(mean, var, weight, self._tiling(1))


def _natural(mean: Any, var: Any) -> tuple[Any, Any]:
    """Weights of z and z² in log N(z; mean, var)."""
    return mean / var, -0.5 / var


def _offset(mean: Any, var: Any) -> Any:
    """The part of the normal log-density without z, summed over the features."""
    return -0.5 * (_LOG_2PI + np.log(var) + mean**2 / var).sum(axis=0)


def node_densities(block: FloatMatrix, mean: FloatMatrix, var: FloatMatrix) -> Any:
    """Log density of each row under each node, (n_samples, n_nodes)."""
    constant = -0.5 * (_LOG_2PI + np.log(var)).sum(axis=1)
    scores = np.empty((len(block), len(mean)))
    for h, (center, spread) in enumerate(zip(mean, var, strict=True)):
        scores[:, h] = -0.5 * ((block - center) ** 2 / spread).sum(axis=1)
    return scores + constant
