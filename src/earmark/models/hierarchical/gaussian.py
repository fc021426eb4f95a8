"""Hidden nodes that draw every feature from a normal distribution of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.kernels.keys import uniform_of
from earmark.kernels.mixture import DocumentRows, MixtureTotals, Tiling
from earmark.models.hierarchical.nodes import (
    ClassNodes,
    NodeParams,
    NodeProblem,
    document_mass,
)
from earmark.typing import FloatMatrix, FloatVector, Matrix

__all__ = ["GaussianEvents", "GaussianProblem", "log_densities"]

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
        """Units in which X has mean 0 and variance 1.

        Sparse X is scaled but not centred: it would not stay sparse.
        """
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
    """EM for nodes with diagonal covariance (HB7), in units of the overall spread.

    The statistics of a document are (z, z²); natural parameters are (μ/v, -1/(2v)).
    The floor is part of the M-step: max(v, floor) is the likeliest variance allowed,
    so the likelihood still never falls.
    """

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
        """First parameters: each node around a document drawn at random (HB8).

        Random responsibilities would put all nodes at the centre of the class, which
        EM leaves slowly.
        """
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
        held = docs > 0
        mass = np.where(held, docs, 1.0)
        mean, square = sums[:n_features] / mass, sums[n_features:] / mass
        var = np.maximum(square - mean**2, self._events.var_floor)
        if held.all():
            return mean, var
        shape = (n_features,) + (1,) * docs.ndim
        return (
            np.where(held, mean, self._mean.reshape(shape)),
            np.where(held, var, self._var.reshape(shape)),
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
            log_weight,
            (mean.T * events.scale + events.center, var.T * events.scale**2),
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
    """What is left of log N(z; mean, var), summed over the features."""
    return -0.5 * (_LOG_2PI + np.log(var) + mean**2 / var).sum(axis=0)


def log_densities(block: FloatMatrix, mean: FloatMatrix, var: FloatMatrix) -> Any:
    """Log density of each row under each node, (n_samples, n_nodes)."""
    constant = -0.5 * (_LOG_2PI + np.log(var)).sum(axis=1)
    scores = np.empty((len(block), len(mean)))
    for h, (center, spread) in enumerate(zip(mean, var, strict=True)):
        scores[:, h] = -0.5 * ((block - center) ** 2 / spread).sum(axis=1)
    return scores + constant
