"""Weights of very many classes: alike everywhere but in the cells that were seen.

Ten thousand classes and thirty thousand terms are 2.4 GB of weights, nearly all of them
alike: a term that a class has never had weighs what the smoothing says. What differs is
as sparse as the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from earmark.kernels.rows import row_lengths, times_dense
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = [
    "DENSE_CELLS",
    "SparseWeights",
    "cells_at",
    "is_spread_out",
    "weighted_sums",
]

DENSE_CELLS = 2**25
"""Classes times terms up to which all weights are kept, 256 MB of them."""


@dataclass(frozen=True)
class SparseWeights:
    """weights_wc = (by_term_w + by_class_c + extra_wc) * scale_c, most extra_wc 0."""

    extra: SparseMatrix
    """(n_features, n_classes), CSR."""
    by_term: FloatVector
    by_class: FloatVector
    scale: FloatVector

    def times(self, rows: SparseMatrix) -> FloatMatrix:
        """``rows @ weights``, by the lists of classes of the rows' terms."""
        values = rows.astype(np.float64)
        sums = np.asarray((values @ self.extra).toarray(), dtype=np.float64)
        sums += row_lengths(values)[:, None] * self.by_class
        sums += np.asarray(values @ self.by_term)[:, None]
        sums *= self.scale
        return sums

    def __getitem__(self, columns: IntVector) -> FloatMatrix:
        """The weights of some terms, (n_terms, n_classes)."""
        cells = self.extra[columns].toarray() + self.by_term[columns, None]
        return np.asarray((cells + self.by_class) * self.scale)

    def dense(self) -> FloatMatrix:
        """All weights, (n_features, n_classes)."""
        return self[np.arange(len(self.by_term))]


def is_spread_out(counts: SparseMatrix, alpha: float) -> bool:
    """Whether the weights of these class x term counts are better kept sparse."""
    cells = counts.shape[0] * counts.shape[1]
    return bool(alpha > 0 and cells > DENSE_CELLS and 4 * counts.nnz < cells)


def weighted_sums(
    rows: SparseMatrix, weights: FloatMatrix | SparseWeights
) -> FloatMatrix:
    """``rows @ weights``, however they are kept."""
    if isinstance(weights, SparseWeights):
        return weights.times(sparse.csr_array(rows))
    return times_dense(rows, weights)


def cells_at(
    counts: SparseMatrix, rows: IntVector, columns: IntVector
) -> FloatVector | IntVector:
    """counts[rows[i], columns[i]] for every i, with a bounded number of dense rows."""
    cells = np.zeros(len(rows))
    step = max(1, DENSE_CELLS // max(1, counts.shape[1]))
    for start in range(0, counts.shape[0], step):
        dense = counts[start : start + step].toarray()
        if step >= counts.shape[0]:
            flat = rows * counts.shape[1] + columns
            return np.asarray(dense.ravel().take(flat))
        mine = (start <= rows) & (rows < start + step)
        cells[mine] = dense[rows[mine] - start, columns[mine]]
    return cells
