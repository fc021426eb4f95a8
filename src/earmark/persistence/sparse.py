"""Sparse matrices from their parts, checked as compiled code will not check them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError
from earmark.persistence.nodes import SPARSE, Place

__all__ = ["compressed"]


def compressed(
    name: str,
    shape: tuple[int, ...],
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    place: Place,
) -> Any:
    """The CSR or CSC matrix or array of these parts, which are not copied."""
    if name not in SPARSE or len(shape) != 2:
        raise ModelFormatError(
            f"{place} is no sparse matrix that is read: {name[:80]!r} {shape}"
        )
    if not all(part.ndim == 1 for part in (data, indices, indptr)):
        raise ModelFormatError(f"the parts of {place} must be vectors")
    for part in (indices, indptr):
        if part.dtype not in (np.int32, np.int64):
            raise ModelFormatError(f"the indices of {place} must be int32 or int64")
    major, minor = shape if name.startswith("csr") else shape[::-1]
    if len(indptr) != major + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ModelFormatError(f"the row pointers of {place} do not fit {shape}")
    if np.any(indptr[1:] < indptr[:-1]) or len(data) != len(indices):
        raise ModelFormatError(f"the rows of {place} are not one after the other")
    if len(indices) and (indices.min() < 0 or indices.max() >= minor):
        raise ModelFormatError(f"the indices of {place} do not fit {shape}")
    from scipy import sparse

    made = getattr(sparse, name)(shape, dtype=data.dtype)
    # Set one by one: the constructor would narrow int64 indices.
    made.data, made.indices, made.indptr = data, indices, indptr
    return made
