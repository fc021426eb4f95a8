"""Sums of unit vectors within each class, in whole multiples of 2**-40 (CS2).

Lengths are summed exactly and rounded once, so that neither the order of a row's
entries nor the choice of kernel shows in the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from earmark.kernels.backend import native
from earmark.kernels.rows import canonical_rows, class_sums, scale_rows, unit_rows
from earmark.typing import IntVector, SparseMatrix

__all__ = ["UNIT", "class_unit_sums", "fixed_point_rows"]

UNIT = 2.0**-40
"""The grid that the entries of a unit vector are rounded to."""


def fixed_point_rows(rows: SparseMatrix, unit: bool = True) -> SparseMatrix:
    """Rows of a canonical CSR in whole numbers of ``UNIT``, as int64.

    Scaled to length 1 first unless ``unit`` is False; a row of zeros stays zero.
    """
    steps = unit_rows(rows) if unit else rows.astype(np.float64)
    steps.data = np.rint(steps.data * (1.0 / UNIT)).astype(np.int64)
    return steps


def class_unit_sums(
    rows: SparseMatrix,
    y_index: IntVector,
    n_classes: int,
    weight: Any | None,
    unit: bool = True,
) -> SparseMatrix:
    """Sum the fixed-point rows of each class -> CSR int64 (n_classes, n_features).

    ``weight`` is None, int64 (the sum stays a multiple of each entry) or float64
    (each product is rounded to the grid). Rows are of unit length unless ``unit`` is
    False, which the plain code does.
    """
    lib = native()
    if lib is None or rows.indices.dtype != np.int32 or not unit:
        return _plain(canonical_rows(rows), y_index, n_classes, weight, unit)
    is_whole = weight is not None and weight.dtype.kind == "i"
    is_real = weight is not None and not is_whole
    found = lib.class_unit_sums(
        rows.indptr.astype(np.int64),
        rows.indices,
        rows.data.astype(np.float64, copy=False),
        y_index.astype(np.int64, copy=False),
        weight if is_whole else np.empty(0, dtype=np.int64),
        weight if is_real else np.empty(0),
        n_classes,
        rows.shape[1],
    )
    if found is None:  # a column stands twice in a row
        return class_unit_sums(canonical_rows(rows), y_index, n_classes, weight)
    indptr, indices, data = found
    sums = sparse.csr_array((data, indices, indptr), shape=(n_classes, rows.shape[1]))
    sums.has_canonical_format = True
    return sums


def _plain(
    rows: SparseMatrix,
    y_index: IntVector,
    n_classes: int,
    weight: Any | None,
    unit: bool,
) -> SparseMatrix:
    steps = fixed_point_rows(rows, unit)
    if weight is not None:
        steps = scale_rows(steps, weight)
        if weight.dtype.kind == "f":
            steps.data = np.rint(steps.data).astype(np.int64)
    return canonical_rows(class_sums(steps, y_index, n_classes))
