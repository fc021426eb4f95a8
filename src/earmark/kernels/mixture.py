"""EM passes for many mixtures at once: sparse rows times tiles of dense columns.

A mixture has H nodes; a node scores a document by an offset plus one weight per
term. R mixtures (restarts) run as one block of R·H columns. One pass gives the
E-step and the sums of the M-step; responsibilities never outlive their document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.kernels.backend import native
from earmark.kernels.keys import uniform_of
from earmark.typing import FloatMatrix, FloatVector, SparseMatrix

# Tile widths that the compiled passes know; wider tiles are multiples of 32. A tile
# costs about as much as 24 columns, beside its own.
_WIDTHS, _WIDE, _TILE_COST = (32, 36, 40, 56, 16, 8), 32, 24
_PLAIN_ROWS = 512


@dataclass(frozen=True)
class DocumentRows:
    """Documents as the passes take them; values may be float64 or float32."""

    matrix: SparseMatrix
    """CSR of shape (n_documents, n_terms), int64 ``indptr``, int32 ``indices``."""
    weight: FloatVector
    """Sample weight s_d."""
    length: FloatVector
    """Length n_d, added up per node; tokens for counts."""

    @classmethod
    def of(cls, X: SparseMatrix, weight: FloatVector, length: FloatVector) -> Self:
        """Wrap a CSR matrix, with its index types made those of the kernels."""
        matrix = sparse.csr_array(X)
        matrix.indptr = matrix.indptr.astype(np.int64, copy=False)
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        return cls(matrix, np.ascontiguousarray(weight), np.ascontiguousarray(length))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """indptr, indices and data of the matrix."""
        return self.matrix.indptr, self.matrix.indices, self.matrix.data


@dataclass(frozen=True)
class Tiling:
    """How R mixtures of H nodes lie in tiles of columns, (tile, term, column).

    A tile holds whole mixtures; what is left over at its end stays unused. Where the
    mixtures are anchored, weights are relative to those of each mixture's last node,
    which has no column: it scores 0, and its sums are what the others leave.
    """

    n_mixtures: int
    n_nodes: int
    anchored: bool = False

    @property
    def n_columns(self) -> int:
        """Columns of a mixture."""
        return self.n_nodes - self.anchored

    @property
    def shape(self) -> dict[str, int]:
        """What the compiled passes have to know of a mixture."""
        return {"nodes": self.n_columns, "anchored": self.anchored}

    @property
    def width(self) -> int:
        """Columns of a tile."""
        fitting = [width for width in _WIDTHS if width >= self.n_columns]
        if not fitting:
            return -(-self.n_columns // _WIDE) * _WIDE
        return min(fitting, key=self._cost)

    @property
    def per_tile(self) -> int:
        """Mixtures of a tile."""
        return self.width // self.n_columns

    @property
    def n_tiles(self) -> int:
        """Tiles in all."""
        return -(-self.n_mixtures // self.per_tile)

    def pack(self, nodes: NDArray[Any]) -> NDArray[Any]:
        """Values (n_terms, R, columns) -> (n_tiles, n_terms, width), else 0."""
        n_terms = nodes.shape[0]
        tiles = np.zeros((self.n_tiles, n_terms, self.width), dtype=nodes.dtype)
        for t, (mixtures, used) in enumerate(self.tiles()):
            tiles[t, :, :used] = nodes[:, mixtures].reshape(n_terms, used)
        return tiles

    def unpack(self, tiles: NDArray[Any]) -> NDArray[Any]:
        """Values (n_tiles, n_terms, width) -> (n_terms, R, columns)."""
        shape = (tiles.shape[1], self.n_mixtures, self.n_columns)
        nodes = np.empty(shape, dtype=tiles.dtype)
        for t, (mixtures, used) in enumerate(self.tiles()):
            part = tiles[t, :, :used]
            nodes[:, mixtures] = part.reshape(shape[0], -1, self.n_columns)
        return nodes

    def by_mixture(self, tiles: NDArray[Any]) -> NDArray[Any]:
        """A view of tiles, (n_tiles, n_terms, mixtures of a tile, columns)."""
        used = tiles[..., : self.per_tile * self.n_columns]
        return used.reshape(*tiles.shape[:2], self.per_tile, self.n_columns)

    def mixtures(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (n_tiles, n_terms, mixtures of a tile) -> (n_terms, R)."""
        wide = values.transpose(1, 0, 2).reshape(values.shape[1], -1)
        return wide[:, : self.n_mixtures]

    def pack_nodes(self, nodes: NDArray[Any]) -> NDArray[Any]:
        """One value for each column (R, columns) -> (n_tiles, 1, width)."""
        return self.pack(nodes[None])

    def _cost(self, width: int) -> int:
        """What a pass costs with tiles of this width."""
        n_tiles = -(-self.n_mixtures // (width // self.n_columns))
        return n_tiles * (width + _TILE_COST)

    def tiles(self) -> list[tuple[slice, int]]:
        """The mixtures of each tile and how many columns they use."""
        edges = [*range(0, self.n_mixtures, self.per_tile), self.n_mixtures]
        return [(slice(i, j), (j - i) * self.n_columns) for i, j in pairwise(edges)]


@dataclass
class MixtureTotals:
    """What one pass adds up; totals of shards merge by adding."""

    sums: NDArray[Any]
    """Σ_d s_d m_dh x_dw, in tiles (n_tiles, n_terms, width)."""
    docs: FloatMatrix
    """Σ_d s_d m_dh, (R, columns)."""
    lengths: FloatMatrix
    """Σ_d s_d m_dh n_d, (R, columns)."""
    bound: FloatVector
    """Σ_d s_d log Σ_h exp(score_dh), (R,); best score for hard responsibilities."""

    @classmethod
    def zeros(cls, tiling: Tiling, n_terms: int, dtype: Any) -> Self:
        """Totals of no document."""
        nodes = (tiling.n_mixtures, tiling.n_columns)
        return cls(
            np.zeros((tiling.n_tiles, n_terms, tiling.width), dtype=dtype),
            np.zeros(nodes),
            np.zeros(nodes),
            np.zeros(tiling.n_mixtures),
        )

    @property
    def flat(self) -> dict[str, NDArray[Any]]:
        """Sums, docs and lengths, as the compiled passes fill them."""
        docs, lengths = self.docs.reshape(-1), self.lengths.reshape(-1)
        return {"sums": self.sums, "docs": docs, "lengths": lengths}

    def merge(self, other: MixtureTotals) -> Self:
        """Add the totals of other documents; the arrays stay as they are."""
        self.sums = self.sums + other.sums
        self.docs = self.docs + other.docs
        self.lengths = self.lengths + other.lengths
        self.bound = self.bound + other.bound
        return self


def mixture_step(
    rows: DocumentRows,
    table: NDArray[Any],
    offset: NDArray[Any],
    tiling: Tiling,
    *,
    hard: bool = False,
) -> MixtureTotals:
    """E-step (HB3) under ``table`` and ``offset``, in tiles; the sums of HB4-HB5."""
    out = MixtureTotals.zeros(tiling, table.shape[1], table.dtype)
    lib = native()
    if lib is not None:
        lib.mixture_step(
            *rows.arrays,
            weight=rows.weight,
            length=rows.length,
            table=table,
            offset=offset.ravel(),
            mixtures=tiling.n_mixtures,
            hard=hard,
            bound=out.bound,
            **tiling.shape,
            **out.flat,
        )
        return out
    for block in _blocks(rows, tiling):
        scores = _node_scores(block, table, offset, tiling)
        share, evidence = _harden(scores) if hard else _soften(scores)
        out.bound[block.mixtures] += _sums(block.weight[:, None] * evidence)
        _add(out, block, share[..., : tiling.n_columns])
    return out


def mixture_start(
    rows: DocumentRows,
    keys: NDArray[np.uint64],
    seeds: NDArray[np.uint64],
    tiling: Tiling,
) -> MixtureTotals:
    """The sums of HB4-HB5 for random responsibilities, uniform on the simplex."""
    # A document's depend on its mixture's seed and its own key only, not on its place.
    out = MixtureTotals.zeros(tiling, rows.matrix.shape[1], rows.matrix.dtype)
    lib = native()
    if lib is not None:
        random = {"keys": keys, "seeds": seeds, **tiling.shape}
        by_row = {"weight": rows.weight, "length": rows.length}
        lib.mixture_start(*rows.arrays, **by_row, **random, **out.flat)
        return out
    nodes = np.arange(tiling.n_nodes, dtype=np.uint64)
    for block in _blocks(rows, tiling):
        key, seed = keys[block.rows, None, None], seeds[block.mixtures][None, :, None]
        draws = -np.log(uniform_of(seed, key, nodes))
        share = draws.astype(block.X.dtype) / draws.sum(axis=2, keepdims=True)
        _add(out, block, share.astype(block.X.dtype)[..., : tiling.n_columns])
    return out


def mixture_evidence(
    rows: DocumentRows, table: NDArray[Any], offset: NDArray[Any], tiling: Tiling
) -> FloatMatrix:
    """Log Σ_h exp(score_dh) of every row under every mixture, (n_documents, R)."""
    out = np.zeros((rows.matrix.shape[0], tiling.n_mixtures))
    lib = native()
    if lib is not None:
        weights = {"table": table, "offset": offset.ravel(), **tiling.shape}
        lib.mixture_evidence(*rows.arrays, weight=np.ones(len(out)), **weights, out=out)
        return out
    for block in _blocks(rows, tiling):
        scores = _node_scores(block, table, offset, tiling)
        out[block.rows, block.mixtures] = _soften(scores)[1]
    return out


# -- plain twins ---------------------------------------------------------------


class _Block(NamedTuple):
    """Some documents, crossed with the mixtures of a tile."""

    rows: slice
    X: SparseMatrix
    weight: FloatVector
    length: FloatVector
    tile: int
    mixtures: slice
    n_used: int


def _blocks(rows: DocumentRows, tiling: Tiling) -> Iterator[_Block]:
    for start in range(0, rows.matrix.shape[0], _PLAIN_ROWS):
        part = slice(start, start + _PLAIN_ROWS)
        documents = (part, rows.matrix[part], rows.weight[part], rows.length[part])
        for tile, (mixtures, n_used) in enumerate(tiling.tiles()):
            yield _Block(*documents, tile, mixtures, n_used)


def _node_scores(
    block: _Block, table: NDArray[Any], offset: NDArray[Any], tiling: Tiling
) -> NDArray[Any]:
    """Scores (n, mixtures, H), those of an anchor included."""
    used = (block.tile, slice(None), slice(block.n_used))
    scores = np.asarray(block.X @ table[used] + offset[used][0])
    scores = scores.reshape(block.X.shape[0], -1, tiling.n_columns)
    return np.pad(scores, ((0, 0), (0, 0), (0, int(tiling.anchored))))


def _soften(scores: NDArray[Any]) -> tuple[NDArray[Any], FloatMatrix]:
    """Responsibilities and log-sum-exp along the last axis (HB3)."""
    top = scores.max(axis=2, keepdims=True)
    share = np.exp(scores - top)
    total = share.sum(axis=2, keepdims=True)
    evidence = top[..., 0].astype(np.float64) + np.log(total[..., 0], dtype=np.float64)
    return share / total, evidence


def _harden(scores: NDArray[Any]) -> tuple[NDArray[Any], FloatMatrix]:
    """Give each document wholly to its best node; also that node's score (HB3)."""
    best = scores.argmax(axis=2)[..., None]
    share = np.zeros_like(scores)
    np.put_along_axis(share, best, 1, axis=2)
    evidence = np.take_along_axis(scores, best, axis=2)[..., 0]
    return share, evidence.astype(np.float64)


def _add(out: MixtureTotals, block: _Block, share: NDArray[Any]) -> None:
    """Add one block's weighted responsibilities (n, mixtures, H) to the totals."""
    mass = share * block.weight[:, None, None]
    out.docs[block.mixtures] += _sums(mass)
    out.lengths[block.mixtures] += _sums(mass * block.length[:, None, None])
    flat = mass.reshape(mass.shape[0], -1).astype(block.X.dtype, copy=False)
    out.sums[block.tile, :, : flat.shape[1]] += block.X.T @ flat


def _sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sum over the documents, in one order whatever the number of columns."""
    return np.asarray(np.cumsum(values, axis=0, dtype=np.float64)[-1])
