"""Rows that are records: JSON, fastText, Excel, mail; and Parquet, column by column."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import BadZipFile

from earmark._optional import require
from earmark.documents._streams import ReadOptions, TextSource
from earmark.documents.columns import (
    Plan,
    Request,
    Table,
    described,
    fault,
    listed,
    near,
)
from earmark.documents.mail import mail_record, mails_of_box
from earmark.exceptions import DataError

Record: TypeAlias = dict[str, Any]
Numbered: TypeAlias = tuple[list[Record], list[int] | None]

_decode = json.JSONDecoder().raw_decode
_MOST_LEVELS = 8
_FASTTEXT = "__label__"


def json_tables(
    source: TextSource, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of JSON lines, or of the objects of one JSON array, as columns.

    The name of a nested field is its path: ``body.text``.
    """
    head = source.head()
    lines = chain(head, source.lines)
    if head and head[-1].lstrip().startswith("["):
        batches: Iterable[Numbered] = _array(source, lines, options)
    else:
        batches = iter(_JsonLines(source, lines, options).batch, ([], []))
    yield from _tables(source.name, batches, request)


def _array(
    source: TextSource, lines: Iterable[str], options: ReadOptions
) -> Iterator[Numbered]:
    """The objects of a file that is one JSON array, which is read whole."""
    try:
        values = json.loads("".join(lines))
    except UnicodeDecodeError as error:
        raise source.undecodable(error, 0) from error
    except (ValueError, RecursionError) as error:
        raise fault(
            source.name,
            f"expected one JSON array of objects, got broken JSON ({error}); "
            "check that it was written completely.",
        ) from error
    for row, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise fault(
                source.name,
                f'expected an object, got {described(value)}; write {{"text": ...}}.',
                row=row,
            )
    yield from _batches(iter(values), options)


def _batches(records: Iterator[Record], options: ReadOptions) -> Iterator[Numbered]:
    while batch := list(islice(records, options.batch_size)):
        yield batch, None


def fasttext_tables(
    source: TextSource, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of lines such as ``__label__spam free money``: columns text and label."""
    batches = _batches(map(_fasttext_record, source.lines), options)
    try:
        yield from _tables(source.name, batches, request, ["text", "label"])
    except UnicodeDecodeError as error:
        raise source.undecodable(error, 0) from error


def _fasttext_record(line: str) -> Record:
    marked: list[str] = []
    rest = line.strip()
    while rest.startswith(_FASTTEXT):
        label, _, rest = rest.partition(" ")
        marked.append(label.removeprefix(_FASTTEXT))
    labels: str | list[str] | None = marked if len(marked) > 1 else None
    return {"text": rest, "label": labels or (marked[0] if marked else None)}


def excel_tables(path: Path, request: Request, options: ReadOptions) -> Iterator[Table]:
    """Batches of the rows of an Excel file's first sheet; its first row names them."""
    excel = require("openpyxl", f"read the Excel file {path.name}")
    try:
        book = excel.load_workbook(path, read_only=True, data_only=True)
        rows: Iterator[list[str | None]] = (
            [_cell(value) for value in row]
            for row in book.worksheets[0].iter_rows(values_only=True)
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
        yield from _tables(str(path), _batches(records, options), request, names)
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


def mail_tables(
    lines: Iterable[bytes], name: str, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of the mails of an mbox file: text, subject, body, from, to, date."""
    records = (mail_record(mail) for mail in mails_of_box(lines))
    yield from _tables(name, _batches(records, options), request)


def _tables(
    source: str,
    batches: Iterable[Numbered],
    request: Request,
    names: list[str] | None = None,
) -> Iterator[Table]:
    """Records as columns; the first batch settles which ones."""
    plan: Plan | None = None
    first_row = 1
    for batch, lines in batches:
        if plan is None:
            plan = _plan(batch, request, source, names)
        data = {
            name: _column(batch, name, plan, first_row, lines, source)
            for name in plan.needed
        }
        line_of = None if lines is None else lines.__getitem__
        yield Table(source, plan, data, first_row, line_of)
        first_row += len(batch)


class _JsonLines:
    """The objects of one file, read in batches and counted."""

    def __init__(
        self, source: TextSource, lines: Iterator[str], options: ReadOptions
    ) -> None:
        self.source, self.lines, self.options = source, lines, options
        self.count = self.line = 0

    def batch(self) -> tuple[list[Record], list[int]]:
        """The next objects and their lines; blank lines are passed over."""
        size, counted = self.options.batch_size, self.source.bytes
        stop = counted.count + self.options.batch_bytes
        records: list[Record] = []
        lines: list[int] = []
        line = self.line
        try:
            for text in self.lines:
                line += 1
                try:
                    record, end = _decode(text)
                    clean = type(record) is dict and len(text) - end < 2
                except (ValueError, RecursionError):
                    clean = False
                if not clean:
                    if text.isspace():
                        continue
                    record = self._carefully(text, len(records), line)
                records.append(record)
                lines.append(line)
                if len(records) == size or counted.count > stop:
                    break
        except UnicodeDecodeError as error:
            raise self.source.undecodable(error, line) from error
        self.line = line
        self.count += len(records)
        return records, lines

    def _carefully(self, text: str, n_before: int, line: int) -> Record:
        """Decode a line that the quick way refused, or say what is wrong with it."""
        row = self.count + n_before + 1

        def wrong(what: str) -> DataError:
            return fault(
                self.source.name,
                f"expected one JSON object on the line, {what}.",
                row=row,
                line=line,
            )

        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise wrong(
                f"got broken JSON at character {error.pos + 1} ({error.msg}); "
                f"correct or remove the line"
            ) from error
        except RecursionError as error:
            raise wrong("got one nested too deeply; remove the line") from error
        except ValueError as error:
            raise wrong(f"got one that Python cannot hold ({error})") from error
        if not isinstance(record, dict):
            raise wrong(f'got {described(record)}; write {{"text": ...}}')
        return record


def _plan(
    batch: list[Record], request: Request, source: str, names: list[str] | None
) -> Plan:
    """Choose the columns from every field of the first batch, nested ones by path."""
    examples: Record = {}
    for record in batch:
        for name, value in _fields(record):
            if examples.get(name) is None:
                examples[name] = value
    strings = [name for name, value in examples.items() if isinstance(value, str)]
    if names is not None:
        return request.resolve(names, [n for n in names if n in strings], source)
    return request.resolve(list(examples), strings, source, sparse=True)


def _fields(
    record: Record, path: str = "", level: int = 0
) -> Iterator[tuple[str, Any]]:
    """Names and values of a record; of an object in it also those of its fields."""
    for name, value in record.items():
        yield f"{path}{name}", value
        if isinstance(value, dict) and level < _MOST_LEVELS:
            yield from _fields(value, f"{path}{name}.", level + 1)


def _has(record: Record, name: str) -> bool:
    return name in record or ("." in name and _nested(record, name) is not None)


def _nested(record: Record, name: str) -> Any:
    """The value of a field by its name or, in objects within objects, by its path."""
    if name in record:
        return record[name]
    head, dot, rest = name.partition(".")
    inner = record.get(head) if dot else None
    return _nested(inner, rest) if isinstance(inner, dict) else None


def _column(
    batch: list[Record],
    name: str,
    plan: Plan,
    first_row: int,
    lines: list[int] | None,
    source: str,
) -> list[Any]:
    """One field of every record; only texts and ids must be there."""
    try:
        return [record[name] for record in batch]
    except KeyError:
        pass
    if name in plan.texts or name == plan.id:
        for index, record in enumerate(batch):
            if not _has(record, name):
                slips = near(name, record)
                hint = f" (did you mean {listed(slips)}?)" if slips else ""
                raise fault(
                    source,
                    f"expected the field, the object has {listed(record) or 'none'}"
                    f"{hint}; add it or remove the line.",
                    row=first_row + index,
                    line=None if lines is None else lines[index],
                    column=name,
                )
    return [_nested(record, name) for record in batch]


def parquet_tables(
    path: Path, request: Request, options: ReadOptions
) -> Iterator[Table]:
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
