"""Parquet through pyarrow, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.documents._cells import Table
from earmark.documents._columns import Request
from earmark.documents._options import ReadOptions
from earmark.documents._places import fault

__all__ = ["is_text", "parquet_tables"]


def parquet_tables(
    path: Path, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of rows as columns; only the needed columns are read."""
    parquet = require("pyarrow.parquet", f"read the Parquet file {path.name}")
    arrow = require("pyarrow", f"read the Parquet file {path.name}")
    source, first_row = str(path), 1
    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            strings = [field.name for field in schema if is_text(arrow, field.type)]
            plan = request.resolve(list(schema.names), strings, source)
            columns = list(plan.needed)
            for batch in file.iter_batches(options.batch_size, columns=columns):
                if batch.num_rows:
                    data = {name: batch.column(name).to_pylist() for name in columns}
                    yield Table(source, plan, data, first_row)
                    first_row += batch.num_rows
    except (arrow.ArrowException, OSError) as error:
        raise fault(
            source,
            f"expected a Parquet file, it cannot be read ({error}); "
            f"it is cut off, damaged or of another format: get it again.",
        ) from error


def is_text(arrow: Any, kind: Any) -> bool:
    """Whether a column of this type may hold text."""
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or (hasattr(types, "is_string_view") and types.is_string_view(kind))
    )
