"""Linear machines of all classes against the rest, fitted together.

For each class k, with t_ik = 1 where document i is of class k and -1 elsewhere (LM2):

    minimize over w, b   sum_j w_jk^2 / (2 v_jk) + b_k^2 / (2 v_b)
                         + sum_i c_ik max(0, 1 - t_ik s_ik)^2,   s_ik = x_i.w_k + b_k

by dual coordinate descent [1]_: one a_ik >= 0 for each document and class, with
w_jk = v_jk sum_i a_ik t_ik x_ij. A visit of a document moves the a of all its classes,
so that its row is read once. Columns are sparse ones, with a variance v_jk for each
class, and behind them dense ones of variance 1.

.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan
   (2008). A dual coordinate descent method for large-scale linear SVM. ICML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import sparse

from earmark.kernels.backend import native
from earmark.typing import FloatTable, FloatVector, IntVector, SparseMatrix

_LARGEST = 1e30


class Progress(NamedTuple):
    """How far the dual variables moved in a pass, and their sum after it."""

    moved: float
    total: float


@dataclass(eq=False)
class OneVsRest:
    """Documents, costs and variances, and the machines as they stand."""

    rows: SparseMatrix
    """Canonical CSR in single precision, (n_documents, n_columns)."""
    dense: FloatTable
    """(n_documents, n_dense)."""
    truth: SparseMatrix
    """The classes of each document: CSR (n_documents, n_classes) of ones."""
    variance: FloatTable | None = None
    """Of the sparse columns, (n_columns, n_classes); None: all 1."""
    bias_variance: float = 1.0
    weights: FloatTable = field(init=False)
    """(n_columns + n_dense, n_classes)."""
    bias: FloatTable = field(init=False)
    square: FloatTable = field(init=False)
    """Squared length of each document in the space of each class, bias included."""
    alpha: FloatTable = field(init=False)

    def __post_init__(self) -> None:
        (n, n_columns), n_classes = self.rows.shape, self.truth.shape[1]
        self.weights = np.zeros(
            (n_columns + self.dense.shape[1], n_classes), dtype=np.float32
        )
        self.bias = np.zeros(n_classes, dtype=np.float32)
        self.alpha = np.zeros((n, n_classes), dtype=np.float32)
        own = np.einsum("ij,ij->i", self.dense, self.dense) + self.bias_variance
        self.square = squared_lengths(self.rows, self.variance) + own[:, None]
        self.square = np.ascontiguousarray(self.square, dtype=np.float32)
        self._rows = _indexed(self.rows)
        self._classes = _indexed(self.truth)[:2]

    def visit(
        self, order: IntVector, cost: FloatVector, factor: FloatVector
    ) -> Progress:
        """Visit documents in this order, each with its cost.

        ``factor`` (2, n_classes) multiplies the costs of a class's problem: of the
        documents of the rest, and of its own.
        """
        lib = native()
        if lib is None:
            return self._visit_plain(order, cost, factor)
        indptr, indices, data = self._rows
        moved, total = lib.one_vs_rest_pass(
            indptr,
            indices,
            data,
            dense=self.dense,
            class_indptr=self._classes[0],
            class_indices=self._classes[1],
            cost=cost,
            factor=factor,
            variance=self.variance,
            square=self.square,
            bias_variance=self.bias_variance,
            order=order,
            weights=self.weights,
            bias=self.bias,
            alpha=self.alpha,
        )
        return Progress(moved, total)

    def _visit_plain(
        self, order: IntVector, cost: FloatVector, factor: FloatVector
    ) -> Progress:
        """One pass in plain Python, equal to the compiled loop."""
        indptr, indices, data = self._rows
        sign = np.where(self.truth.toarray() > 0, 1.0, -1.0).astype(np.float32)
        sparse_weights = self.weights[: self.rows.shape[1]]
        dense_weights = self.weights[self.rows.shape[1] :]
        moved = total = 0.0
        for i in order.tolist():
            columns = indices[indptr[i] : indptr[i + 1]]
            x, z, a, t = (
                data[indptr[i] : indptr[i + 1]],
                self.dense[i],
                self.alpha[i],
                sign[i],
            )
            score = x @ sparse_weights[columns] + z @ dense_weights + self.bias
            own = 0.5 / (cost[i] * np.where(t > 0, factor[1], factor[0]))
            own = np.minimum(own, _LARGEST).astype(np.float32)
            gradient = t * score - 1.0 + own * a
            after = np.maximum(a - gradient / (self.square[i] + own), 0.0)
            change = t * (after - a)
            self.alpha[i] = after
            moved += float(np.abs(change).sum())
            total += float(after.sum())
            step = np.outer(x, change)
            if self.variance is not None:
                step *= self.variance[columns]
            sparse_weights[columns] += step
            dense_weights += np.outer(z, change)
            self.bias += self.bias_variance * change
        return Progress(moved, total)


def squared_lengths(rows: SparseMatrix, variance: FloatTable | None) -> FloatTable:
    """Sum of x_ij^2 v_jk over each row (n_rows, n_classes); (n_rows, 1) for v = 1."""
    squares = sparse.csr_array(
        (rows.data * rows.data, rows.indices, rows.indptr), shape=rows.shape
    )
    if variance is None:
        return np.asarray(squares.sum(axis=1), dtype=np.float32).reshape(-1, 1)
    return np.asarray(squares @ variance)


def _indexed(rows: SparseMatrix) -> tuple[IntVector, IntVector, FloatTable]:
    """indptr, indices and data in the types that the kernel takes."""
    return (
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data, dtype=np.float32),
    )
