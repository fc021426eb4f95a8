"""Type aliases: ``*Like`` at the public door, the plain name once validated."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ArrayLike",
    "BoolVector",
    "FloatMatrix",
    "FloatVector",
    "IntVector",
    "Labels",
    "Matrix",
    "MatrixLike",
    "SparseMatrix",
]

FloatMatrix: TypeAlias = NDArray[np.float64]
FloatVector: TypeAlias = NDArray[np.float64]
IntVector: TypeAlias = NDArray[np.int64]
BoolVector: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]
# scipy ships no types: a sparse matrix is Any to the type checker.
SparseMatrix: TypeAlias = Any
Matrix: TypeAlias = Any
MatrixLike: TypeAlias = Any
