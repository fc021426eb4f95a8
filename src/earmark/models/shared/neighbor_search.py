"""From documents to their neighbours (VS3).

Every search returns similarities and positions, best first, equal ones by position;
0 and -1 fill up where there are fewer neighbours than asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from earmark.kernels.keys import GOLDEN, mixed_bits
from earmark.kernels.postings import best_first, build_postings, top_similar
from earmark.kernels.rows import squared_lengths, unit_rows
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

Neighbors = tuple[FloatMatrix, IntVector]

# A tree beats products in so few dimensions only.
_TREE_DIMENSIONS = 8
# Scores computed at a time.
_BLOCK_SCORES = 2_000_000
# Sketches: bits per document, and documents compared exactly per neighbour.
_BITS = 512
_CANDIDATES = 30


class Search(ABC):
    """An index over the documents learned."""

    def __init__(self, vectors: SparseMatrix) -> None:
        self.vectors = vectors

    @abstractmethod
    def nearest(self, rows: SparseMatrix, k: int, exclude: IntVector) -> Neighbors:
        """The k nearest documents of each row; ``exclude`` names one or -1."""

    def _blocks(self, rows: SparseMatrix) -> list[slice]:
        step = max(1, _BLOCK_SCORES // max(1, self.vectors.shape[0]))
        return [slice(i, i + step) for i in range(0, rows.shape[0], step)]


class SimilarSearch(Search):
    """Cosine, similar documents only: exact, on an inverted index."""

    def __init__(self, vectors: SparseMatrix) -> None:
        super().__init__(vectors)
        self._postings = build_postings(vectors)

    def nearest(self, rows: SparseMatrix, k: int, exclude: IntVector) -> Neighbors:
        """The k documents of the largest cosine above 0."""
        return top_similar(self._postings, rows, k, exclude)


class ProductSearch(Search):
    """The k largest products, whatever their sign; a row of zeros finds none."""

    def __init__(self, vectors: SparseMatrix, unit: bool) -> None:
        super().__init__(vectors)
        self._unit = unit

    def nearest(self, rows: SparseMatrix, k: int, exclude: IntVector) -> Neighbors:
        """The k documents of the largest product, or cosine."""
        similarity, index = _empty(rows.shape[0], k)
        rows = unit_rows(rows) if self._unit else rows
        for block in self._blocks(rows):
            products = (rows[block] @ self.vectors.T).toarray()
            if self._unit:
                np.clip(products, -1.0, 1.0, out=products)
            similarity[block], index[block] = _best(products, k, exclude[block])
        empty = np.diff(rows.indptr) == 0
        similarity[empty], index[empty] = 0.0, -1
        return similarity, index


class DistanceSearch(Search):
    """Euclidean distance d, similarity 1 / (1 + d): exact, vectors of any length."""

    # A k-d tree in few dimensions, products in many: either names candidates, whose
    # distances are computed from the differences, so that equal ones come out equal.

    def __init__(self, vectors: SparseMatrix) -> None:
        super().__init__(vectors)
        self._lengths = squared_lengths(vectors)
        small = 0 < vectors.shape[1] <= _TREE_DIMENSIONS and vectors.shape[0] > 0
        self._points = vectors.toarray() if small else None
        self._tree = cKDTree(self._points) if small else None

    def nearest(self, rows: SparseMatrix, k: int, exclude: IntVector) -> Neighbors:
        """The k documents at the smallest distance."""
        similarity, index = _empty(rows.shape[0], k)
        for block in self._blocks(rows):
            part = rows[block]
            dense = part.toarray() if self._points is not None else None
            for offset, candidates in enumerate(
                self._candidates(part, k + 1, exclude[block])
            ):
                row = block.start + offset
                if self._points is not None and dense is not None:
                    gaps = self._points[candidates] - dense[offset]
                    distance = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
                else:
                    distance = self._distances(part[[offset]], candidates)
                order = np.lexsort((candidates, distance))[:k]
                similarity[row, : len(order)] = 1.0 / (1.0 + distance[order])
                index[row, : len(order)] = candidates[order]
        return similarity, index

    def _candidates(
        self, rows: SparseMatrix, k: int, exclude: IntVector
    ) -> list[IntVector]:
        """Documents that may be among the k nearest, rounding allowed for."""
        n = self.vectors.shape[0]
        if self._tree is not None:
            points = rows.toarray()
            far, _ = self._tree.query(points, [min(k, n)])
            balls = self._tree.query_ball_point(points, far[:, 0] * (1 + 1e-9) + 1e-12)
            near = [np.sort(np.asarray(ball, dtype=np.int64)) for ball in balls]
        else:
            squares = self._lengths - 2.0 * (rows @ self.vectors.T).toarray()
            most = np.partition(squares, min(k, n) - 1, axis=1)[:, min(k, n) - 1]
            slack = 1e-9 * (1.0 + np.abs(most) + squared_lengths(rows))
            near = [
                np.flatnonzero(row <= limit)
                for row, limit in zip(squares, most + slack, strict=True)
            ]
        return [each[each != out] for each, out in zip(near, exclude, strict=True)]

    def _distances(self, row: SparseMatrix, candidates: IntVector) -> FloatVector:
        gaps = self.vectors[candidates] - row[np.zeros(len(candidates), dtype=np.int64)]
        return np.sqrt(squared_lengths(sparse.csr_array(gaps)))


class SketchSearch(Search):
    """Cosine by locality-sensitive sketches: approximate (Charikar 2002)."""

    # A sketch is the signs of products with random vectors of +-1; two agree in a share
    # 1 - angle / pi of the bits. Those that agree most are compared exactly.

    def __init__(self, vectors: SparseMatrix, seed: int) -> None:
        super().__init__(vectors)
        self._seed = np.uint64(seed)
        self._sketches = self._signs(vectors).astype(np.float32)

    def nearest(self, rows: SparseMatrix, k: int, exclude: IntVector) -> Neighbors:
        """The k documents of the largest cosine above 0 among the candidates."""
        similarity, index = _empty(rows.shape[0], k)
        rows = unit_rows(rows)
        most = min(self.vectors.shape[0], _CANDIDATES * (k + 1))
        for block in self._blocks(rows):
            part = rows[block]
            agreement = self._signs(part).astype(np.float32) @ self._sketches.T
            likely = np.argpartition(-agreement, most - 1, axis=1)[:, :most]
            for offset, places in enumerate(np.sort(likely, axis=1)):
                row = block.start + offset
                places = places[places != exclude[row]]
                cosine = (self.vectors[places] @ part[[offset]].T).toarray()[:, 0]
                (best,), (where,) = _best(cosine[None], k, np.array([-1]))
                n_similar = int((best > 0).sum())
                similarity[row, :n_similar] = np.minimum(best[:n_similar], 1.0)
                index[row, :n_similar] = places[where[:n_similar]]
        return similarity, index

    def recall(self, k: int, sample: IntVector) -> float:
        """Share of the k exact neighbours of some documents that are found."""
        rows = self.vectors[sample]
        _, theirs = SimilarSearch(self.vectors).nearest(rows, k, sample)
        _, ours = self.nearest(rows, k, sample)
        hits = [
            np.isin(exact[exact >= 0], mine).sum()
            for exact, mine in zip(theirs, ours, strict=True)
        ]
        return float(np.sum(hits) / max(1, (theirs >= 0).sum()))

    def _signs(self, rows: SparseMatrix) -> NDArray[np.int8]:
        """Sketches of +-1, (n_rows, _BITS); a sign is a hash of column and bit."""
        columns, place = np.unique(rows.indices, return_inverse=True)
        words = np.arange(_BITS // 64, dtype=np.uint64)
        key = columns.astype(np.uint64)[:, None] * np.uint64(_BITS // 64) + words
        hashes = mixed_bits((key + np.uint64(1)) * GOLDEN ^ self._seed)
        bits = np.unpackbits(hashes.view(np.uint8), axis=1)
        plane = bits.astype(np.float32) * 2.0 - 1.0
        narrow = sparse.csr_array(
            (rows.data.astype(np.float32), place, rows.indptr),
            shape=(rows.shape[0], len(columns)),
        )
        return np.where(narrow @ plane >= 0, 1, -1).astype(np.int8)


def build_search(
    vectors: SparseMatrix, metric: str, only_similar: bool, algorithm: str, seed: int
) -> Search:
    """The index for a metric; ``vectors`` are of unit length for the cosine."""
    if algorithm == "approximate":
        return SketchSearch(vectors, seed)
    if metric == "euclidean":
        return DistanceSearch(vectors)
    if metric == "cosine" and only_similar:
        return SimilarSearch(vectors)
    return ProductSearch(vectors, unit=metric == "cosine")


def _empty(n_rows: int, k: int) -> Neighbors:
    return np.zeros((n_rows, k)), np.full((n_rows, k), -1, dtype=np.int64)


def _best(scores: FloatMatrix, k: int, exclude: IntVector) -> Neighbors:
    """The k largest scores of each row, best first, equal ones by position."""
    similarity, index = _empty(len(scores), k)
    every = np.arange(scores.shape[1])
    for row, out in enumerate(exclude):
        places = every[every != out]
        mine = scores[row, places]
        order = best_first(places, mine, k)
        similarity[row, : len(order)] = mine[order]
        index[row, : len(order)] = places[order]
    return similarity, index
