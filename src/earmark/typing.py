"""Type aliases: ``*Like`` at the public door, the plain name once validated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

FloatMatrix: TypeAlias = NDArray[np.float64]
# In single precision, where there are many numbers.
FloatTable: TypeAlias = NDArray[np.float32]
FloatVector: TypeAlias = NDArray[np.float64]
IntVector: TypeAlias = NDArray[np.int64]
BoolVector: TypeAlias = NDArray[np.bool_]
BoolMatrix: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]
# What the columns of a block are.
Kind: TypeAlias = Literal["word", "piece", "phrase", "vector"]
# One label: a string, a number, anything that can be compared and hashed.
Label: TypeAlias = Any
FilePath: TypeAlias = str | os.PathLike[str]
# Names and values as JSON has them: manifests, payloads, stored results.
JsonObject: TypeAlias = dict[str, Any]
# An int, None, or a numpy generator or RandomState.
RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None
ClassWeightLike: TypeAlias = Mapping[Any, float] | str | None
WeightsLike: TypeAlias = ArrayLike | None
# Lists, Series, Arrow columns, frames, dicts of regions: what a user has.
DocumentsLike: TypeAlias = Any
LabelsLike: TypeAlias = Any
# scikit-learn ships no types: an estimator is Any to the type checker.
Estimator: TypeAlias = Any
# matplotlib is an extra: its axes are Any to the type checker.
Axes: TypeAlias = Any
# scipy ships no types: a sparse matrix is Any to the type checker.
SparseMatrix: TypeAlias = Any
Matrix: TypeAlias = Any
MatrixLike: TypeAlias = Any
