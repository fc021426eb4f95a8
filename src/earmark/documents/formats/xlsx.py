"""Excel files: the rows of the first sheet."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

from earmark._optional import require
from earmark.documents.format import Format
from earmark.documents.records import record_tables
from earmark.documents.stream import ReadOptions
from earmark.documents.table import Request, Table, fault
from earmark.exceptions import DataError, EarmarkWarning


def tables(path: Path, request: Request, options: ReadOptions) -> Iterator[Table]:
    """Batches of the rows of an Excel file's first sheet; its first row names them."""
    excel = require("openpyxl", f"read the Excel file {path.name}")
    try:
        content = io.BytesIO(path.read_bytes())  # whatever the file is called
        book = excel.load_workbook(content, read_only=True, data_only=True)
        first, *others = book.worksheets
        if others:
            warnings.warn(
                f"{path}: the first of {len(others) + 1} sheets is read, "
                f"{first.title!r}; save the others as files of their own to use them.",
                EarmarkWarning,
                stacklevel=2,
            )
        rows: Iterator[list[str | None]] = (
            [_cell(value) for value in row]
            for row in first.iter_rows(values_only=True)
            if any(value is not None for value in row)
        )
        names = (
            [name or "" for name in next(rows, [])]
            if options.names is None
            else list(options.names)
        )
        if not any(names):
            raise fault(str(path), "expected a header row, the first sheet is empty.")
        records = (dict(zip(names, row, strict=False)) for row in rows)
        yield from record_tables(str(path), records, request, options, names)
    except (OSError, BadZipFile, KeyError, ValueError, IndexError) as error:
        if isinstance(error, DataError):
            raise
        raise fault(
            str(path),
            f"the Excel file cannot be read ({error}); it is cut off, damaged or in "
            "the format before 2007: save it as .xlsx again.",
        ) from error


def _cell(value: object) -> str | None:
    """A cell as it is shown: 3 for 3.0, the date for a date."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


FORMAT = Format(
    "xlsx",
    (".xlsx",),
    "Excel: the first sheet",
    tables,
    streamed=False,
    header=True,
    extra="excel",
)
