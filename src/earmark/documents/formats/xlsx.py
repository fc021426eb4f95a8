"""Excel files: the rows of the first sheet."""

from __future__ import annotations

import datetime
import io
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from earmark._optional import require
from earmark.documents.format import Format
from earmark.documents.records import record_tables
from earmark.documents.stream import ReadOptions
from earmark.documents.table import Request, Table, fault
from earmark.exceptions import DataError, EarmarkWarning, MissingDependencyError

# A part of the file may be so large, or so many times what it takes compressed: Excel
# itself writes tenths of the one and a tenth of the other.
_LARGEST_PART = 1 << 30
_MOST_GROWTH = 200
_ALWAYS_FINE = 1 << 26
# What openpyxl and the modules below it say of a damaged file; a fault in the XML is a
# SyntaxError, a password a RuntimeError, a way of packing that is not known one too.
_DAMAGES = (
    *(ArithmeticError, AssertionError, AttributeError, BadZipFile, EOFError),
    *(LookupError, OSError, RuntimeError, SyntaxError, TypeError, ValueError),
    zlib.error,
)


def tables(path: Path, request: Request, options: ReadOptions) -> Iterator[Table]:
    """Batches of the rows of an Excel file's first sheet; its first row names them."""
    rows = _rows(path)
    names = (
        [name or "" for name in next(rows, [])]
        if options.names is None
        else list(options.names)
    )
    if not any(names):
        raise fault(str(path), "expected a header row, the first sheet is empty.")
    records = (dict(zip(names, row, strict=False)) for row in rows)
    yield from record_tables(str(path), records, request, options, names)


def _rows(path: Path) -> Iterator[list[str | None]]:
    """The rows of the first sheet that are not empty."""
    excel = require("openpyxl", f"read the Excel file {path.name}")
    try:
        content = io.BytesIO(path.read_bytes())  # whatever the file is called
        _refuse_bombs(path, content)
        book = excel.load_workbook(content, read_only=True, data_only=True)
        first, *others = book.worksheets
        if others:
            warnings.warn(
                f"{path}: the first of {len(others) + 1} sheets is read, "
                f"{first.title!r}; save the others as files of their own to use them.",
                EarmarkWarning,
                stacklevel=2,
            )
        for row in first.iter_rows(values_only=True):
            if any(value is not None for value in row):
                yield [_cell(value) for value in row]
    except _DAMAGES as error:
        if isinstance(error, DataError | EarmarkWarning | MissingDependencyError):
            raise
        raise fault(
            str(path),
            f"the Excel file cannot be read ({error}); it is cut off, damaged or in "
            "the format before 2007: save it as .xlsx again.",
        ) from error


def _refuse_bombs(path: Path, content: Any) -> None:
    """Refuse a part that would take more memory than the file lets one expect."""
    # A reader gets no more bytes of a part than these, whatever is packed in it.
    with ZipFile(content) as parts:
        for part in parts.infolist():
            fair = max(_ALWAYS_FINE, _MOST_GROWTH * part.compress_size)
            most = min(_LARGEST_PART, fair)
            if part.file_size > most:
                raise fault(
                    str(path),
                    f"expected parts of at most {most:,} bytes, got {part.filename!r} "
                    f"with {part.file_size:,}, packed into {part.compress_size:,}; "
                    "save it as .csv if this is no attack.",
                )


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
