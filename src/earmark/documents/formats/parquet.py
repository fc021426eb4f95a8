"""Parquet files, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from earmark._optional import require
from earmark.documents.format import Format
from earmark.documents.stream import ReadOptions
from earmark.documents.table import Plan, Request, Table, fault


def tables(path: Path, request: Request, options: ReadOptions) -> Iterator[Table]:
    """Batches of rows as columns; only the needed columns are read."""
    for batch in parquet_batches(path, request, lambda _: options.batch_size):
        yield batch.table()


class ParquetBatch(NamedTuple):
    """Some rows of a Parquet file as it stores them."""

    source: str
    plan: Plan
    strings: list[str]
    """Columns that may hold text."""
    rows: Any
    first_row: int

    def table(self) -> Table:
        """The rows as Python values."""
        data = {name: self.rows.column(name).to_pylist() for name in self.plan.needed}
        return Table(self.source, self.plan, data, self.first_row)


def parquet_batches(
    path: Path, request: Request, n_rows: Callable[[Any], int]
) -> Iterator[ParquetBatch]:
    """The needed columns, as many rows at a time as ``n_rows(metadata)`` says."""
    parquet = require("pyarrow.parquet", f"read the Parquet file {path.name}")
    arrow = require("pyarrow", f"read the Parquet file {path.name}")
    source, first_row = str(path), 1
    try:
        with parquet.ParquetFile(path, memory_map=True) as file:
            schema = file.schema_arrow
            strings = [field.name for field in schema if _is_text(arrow, field.type)]
            plan = request.resolve(list(schema.names), strings, source)
            size, columns = n_rows(file.metadata), list(plan.needed)
            for rows in file.iter_batches(size, columns=columns):
                if rows.num_rows:
                    yield ParquetBatch(source, plan, strings, rows, first_row)
                    first_row += rows.num_rows
    except (arrow.ArrowException, OSError) as error:
        raise fault(
            source,
            f"expected a Parquet file, it cannot be read ({error}); "
            f"it is cut off, damaged or of another format: get it again.",
        ) from error


def _is_text(arrow: Any, kind: Any) -> bool:
    """Whether a column of this type may hold text."""
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or (hasattr(types, "is_string_view") and types.is_string_view(kind))
    )


FORMAT = Format(
    "parquet",
    (".parquet", ".pq"),
    "Parquet",
    tables,
    streamed=False,
    header=True,
    growth=40,
    extra="io",
)
