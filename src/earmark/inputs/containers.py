"""The door for tables: frames of any library, lazy ones too, and streams of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from earmark._optional import require
from earmark.exceptions import DataError
from earmark.parameters import offers

# What Python and numpy have themselves is no table.
_PLAIN = (list, tuple, str, bytes, bytearray, set, frozenset, np.ndarray)
_READ_ARROW = "read Arrow data"


def opened(X: Any) -> Any:
    """A container as it is, or the frame or column of one that must be asked first."""
    if hasattr(X, "column_names") and offers(X, "with_format"):
        return _rows_of_dataset(X)
    if isinstance(X, (*_PLAIN, Mapping)):
        return X
    known = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(known, nw.LazyFrame):  # polars, duckdb, dask, pyspark, ...
        return known.collect().to_native()
    if isinstance(known, nw.DataFrame | nw.Series):
        return X
    if type(X).__name__ == "PyCapsule":
        X = _Capsule(X)
    is_own = type(X).__module__.partition(".")[0] == "pyarrow"
    if offers(X, "__arrow_c_stream__"):
        return _unpacked(require("pyarrow", _READ_ARROW).chunked_array(X))
    if offers(X, "__arrow_c_array__") and not is_own:
        arrow = require("pyarrow", _READ_ARROW)
        return _unpacked(arrow.chunked_array([arrow.array(X)]))
    return X


def columns_of(X: Any) -> Mapping[str, Any] | None:
    """The columns of a dict, or of a table of any kind; None for other things."""
    X = opened(X)
    if isinstance(X, Mapping):
        return {str(name): column for name, column in X.items()}
    if isinstance(X, _PLAIN):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return {name: frame[name].to_native() for name in frame.columns}


def as_column(X: Any) -> Any:
    """The column of a table that has one; everything else opened."""
    X = opened(X)
    if isinstance(X, np.ndarray):
        return X[:, 0] if X.shape[1:] == (1,) else X
    columns = None if isinstance(X, Mapping) else columns_of(X)
    return X if columns is None or len(columns) != 1 else next(iter(columns.values()))


class _Capsule:
    """A bare capsule with a stream of Arrow, as an object that gives it."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if "arrow_array_stream" not in repr(self.capsule):
            raise DataError(
                f"expected a capsule with a stream of Arrow, got {self.capsule!r}; "
                "give the object that it came from."
            )
        return self.capsule


def _unpacked(column: Any) -> Any:
    """A table where the rows of an Arrow column are records, else the column."""
    arrow = require("pyarrow", _READ_ARROW)
    if not arrow.types.is_struct(column.type):
        return column
    return arrow.Table.from_struct_array(column)


def _rows_of_dataset(dataset: Any) -> Any:
    """A ``datasets.Dataset`` as an Arrow table; one of several splits is refused."""
    if isinstance(dataset.column_names, Mapping):
        splits = ", ".join(map(repr, dataset.column_names))
        raise DataError(f"expected one table, got the splits {splits}; choose one.")
    if not offers(dataset, "__len__"):
        raise DataError(
            f"expected a table, got {type(dataset).__name__}, which is read row by "
            "row; give a list of its texts."
        )
    return dataset.with_format("arrow")[:]
