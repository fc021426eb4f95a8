"""Whatever holds documents -> a list of strings or Arrow buffers, checked by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from earmark._optional import require
from earmark.exceptions import DataError, MissingDependencyError
from earmark.inputs.containers import as_column
from earmark.kernels.text import (
    LONGEST_TEXT,
    ArrowText,
    Documents,
    longest_text,
    not_text,
    parsed_text,
    too_long,
)
from earmark.parameters import offers, shape_of


def as_texts(documents: Any) -> Documents:
    """Documents as a list of ``str``, checked, or as Arrow buffers without a copy."""
    if isinstance(documents, ArrowText):
        return documents
    items: list[Any] = documents
    if not isinstance(documents, list):
        documents = as_column(documents)
        arrow = _as_arrow(documents)
        if arrow is not None:
            _require_short(arrow)
            return arrow
        items = as_list(documents)
    if not set(map(type, items)) <= {str}:
        for row, item in enumerate(items):
            if not isinstance(item, str):
                raise DataError(not_text(row, item))
    if max(map(len, items), default=0) >= LONGEST_TEXT:
        _require_short(items)
    return items


def _require_short(documents: Documents) -> None:
    """Refuse texts that are longer than the kernels can count in."""
    length, row = longest_text(documents)
    if length >= LONGEST_TEXT:
        raise DataError(f"document {row}: {too_long(length)}")


def as_list(documents: Any, name: str = "documents") -> list[Any]:
    """The documents as a list, whatever they are; one flat container only."""
    if isinstance(documents, str | bytes):
        what = "decode it" if isinstance(documents, bytes) else "put it in a list"
        how = "[data.decode('utf-8')]" if isinstance(documents, bytes) else "[text]"
        raise DataError(
            "Iterable over raw text documents expected, a single string received; "
            f"{what}: {how}."
        )
    if parsed_text(documents):
        raise DataError(
            f"{name} must be a list, got one {type(documents).__name__}; give its "
            "text in a list: [document.text]."
        )
    if isinstance(documents, set | frozenset):
        raise DataError(
            f"{name} must have an order, got a {type(documents).__name__}; make a list "
            "of it."
        )
    documents = as_column(documents)
    shape = shape_of(documents) or (1,)
    if isinstance(documents, Mapping) or len(shape) != 1:
        got = shape if len(shape) != 1 else type(documents).__name__
        numbers = sparse.issparse(documents) or (
            isinstance(documents, np.ndarray) and documents.dtype.kind in "fiu"
        )
        what = "give texts, not a matrix" if numbers else "select the column first"
        raise DataError(f"{name} must be one column, got {got}; {what}.")
    if isinstance(documents, list):
        return documents
    values = plain_values(documents)
    if values is not None:
        return values
    if not isinstance(documents, Iterable):
        raise DataError(
            f"{name} must be a list, array, Series or Arrow column, got "
            f"{type(documents).__name__}."
        )
    items = list(documents)
    if not items and isinstance(documents, Iterator):
        raise DataError(
            f"the iterator over {name} was empty: a generator can be read only "
            "once; make a list of it to use it again."
        )
    return items


def plain_values(column: Any) -> list[Any] | None:
    """Python values of an array, Series or Arrow column; None for other things."""
    for method in ("to_pylist", "tolist", "to_list"):  # pyarrow; numpy, pandas; polars
        if offers(column, method):
            return list(getattr(column, method)())
    return None


def _as_arrow(documents: Any) -> ArrowText | None:
    """Buffers of an Arrow column of strings, or None when it is something else."""
    if isinstance(documents, tuple | np.ndarray):
        return None
    if not type(documents).__module__.startswith("pyarrow"):
        documents = _series_to_arrow(documents)
        if documents is None:
            return None
    pa = require("pyarrow", "read Arrow columns")
    if not isinstance(documents, pa.Array | pa.ChunkedArray):
        return None
    kind = documents.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if str(kind) not in ("string", "large_string", "string_view"):
            return None
        documents = documents.cast(pa.large_string())
    return _arrow_text(documents)


def _series_to_arrow(documents: Any) -> Any | None:
    """A Series that is Arrow inside, as pyarrow; None for all others."""
    series = nw.from_native(documents, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or series.dtype != nw.String:
        return None
    arrow_inside = series.implementation.is_polars() or "pyarrow" in str(
        getattr(documents, "dtype", "")
    )
    if not arrow_inside:
        return None
    try:
        require("pyarrow", "read Arrow columns")
    except MissingDependencyError:
        return None
    return series.to_arrow()


def _arrow_text(column: Any) -> ArrowText:
    """The buffers behind a string or large_string column; nulls are an error."""
    if column.null_count:
        row = int(column.is_null().to_numpy(zero_copy_only=False).argmax())
        raise DataError(not_text(row, None))
    chunks = []
    for chunk in getattr(column, "chunks", [column]):
        _, offsets, data = chunk.buffers()
        kind = np.int32 if str(chunk.type) == "string" else np.int64
        if len(chunk) == 0:
            continue
        bounds = np.frombuffer(offsets, dtype=kind)
        bounds = bounds[chunk.offset : chunk.offset + len(chunk) + 1]
        blob = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
        chunks.append((bounds, blob))
    return ArrowText(tuple(chunks))
