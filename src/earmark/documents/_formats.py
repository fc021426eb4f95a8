"""A reader per format: rows of a file as tables of columns, in batches.

csv by Python's csv module, JSON, fastText, Excel and mail record by record, Parquet
column by column; every fault with its row and line.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import sys
import threading
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import BadZipFile

from earmark._optional import require
from earmark.documents._streams import (
    Format,
    ReadOptions,
    TextSource,
    open_bytes,
    open_text,
)
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
from earmark.exceptions import DataError, EarmarkWarning

Record: TypeAlias = dict[str, Any]
Numbered: TypeAlias = tuple[list[Record], list[int] | None]

# Rows between two looks at the size of the batch.
_AT_ONCE = 64
_BREAK = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r"sep=(.)", re.IGNORECASE)
_MOST_LEVELS = 8
_FASTTEXT = "__label__"
_limit_lock = threading.Lock()
_limit_users = 0
_limit_before = 0


def _unique(pairs: list[tuple[str, object]]) -> Record:
    """An object of JSON, whose fields must not repeat: all but one would be lost."""
    record = dict(pairs)
    if len(record) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise DataError(f"an object that has the field {name!r} twice")
    return record


_json = json.JSONDecoder(object_pairs_hook=_unique)
_decode = _json.raw_decode


@contextmanager
def _field_limit(limit: int) -> Iterator[None]:
    """Raise the csv module's limit while any reader is parsing, then restore it."""
    global _limit_users, _limit_before
    with _limit_lock:
        if _limit_users == 0:
            _limit_before = csv.field_size_limit()
        _limit_users += 1
        csv.field_size_limit(limit)
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                csv.field_size_limit(_limit_before)


def csv_tables(
    path: Path | None, request: Request, options: ReadOptions, mark: str | None = None
) -> Iterator[Table]:
    """Batches of rows as columns; without a delimiter, by the one of the header."""
    # newline="" leaves the line breaks inside quoted fields as they are.
    with open_text(path, options.codec, "") as source:
        lines: Iterable[str] = source.lines
        mark = options.delimiter or mark
        if mark is None:
            head = source.head() if options.names is None else []
            first = head[-1] if head else ""
            stated = _SEP.fullmatch(first.strip("\r\n"))
            mark = stated[1] if stated else _delimiter_of(first, options.quote)
            # Excel's own line that says what separates the fields is no data.
            lines = chain(["\n" for _ in head] if stated else head, lines)
        rows = _Rows(source, lines, options, mark)
        names = list(options.names) if options.names is not None else rows.header()
        plan = request.resolve(names, names, source.name)
        place = {name: names.index(name) for name in plan.needed}
        while cells := rows.batch(options.batch_size, width=len(names)):
            data = {name: [row[at] for row in cells] for name, at in place.items()}
            yield Table(source.name, plan, data, rows.first, rows.line_of)


def _delimiter_of(header: str, quote: str | None) -> str:
    """A comma, unless the header has none and one of the others instead."""
    # Spreadsheets write semicolons in the countries where 0,5 is a half.
    if quote is not None:
        mark = re.escape(quote)
        header = re.sub(f"{mark}[^{mark}]*({mark}|$)", "", header)
    frequency = {mark: header.count(mark) for mark in ",;\t|"}
    return "," if frequency[","] else max(frequency, key=lambda mark: frequency[mark])


class _Rows:
    """Rows in batches; ``first`` is the data row that the batch begins with."""

    def __init__(
        self, source: TextSource, lines: Iterable[str], options: ReadOptions, mark: str
    ) -> None:
        self.source, self.options = source, options
        self.first = 0
        plain = options.quote is None
        self.reader = csv.reader(
            lines,
            delimiter=mark,
            quotechar=options.quote,
            quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL,
            strict=True,
        )
        self._next = 1
        self._first_line = 1
        self._raw: list[list[str]] = []

    def header(self) -> list[str]:
        """The first line that is not blank."""
        cells = self.batch(1, width=None)
        if not cells:
            raise fault(
                self.source.name,
                "expected a header and data rows, the file is empty; "
                "check that it was written completely.",
            )
        self._next = 1
        return cells[0]

    def batch(self, size: int, width: int | None) -> list[list[str]]:
        """The next rows, each of ``width`` fields; blank lines are passed over."""
        cells: list[list[str]] = []
        while not cells:
            self.first, self._first_line = self._next, self.reader.line_num + 1
            with _field_limit(self.options.field_limit):
                self._read(size, is_header=width is None)
            if not self._raw:
                break
            cells = self._raw if all(self._raw) else [row for row in self._raw if row]
            if width is not None and set(map(len, cells)) - {width}:
                raise self._wrong_width(cells, width)
            self._next += len(cells)
        return cells

    def _read(self, size: int, *, is_header: bool) -> None:
        """Fill ``_raw`` with at most ``size`` rows and about ``batch_bytes``."""
        reader, counted = self.reader, self.source.bytes
        stop = counted.count + self.options.batch_bytes
        raw = self._raw = []
        try:
            while len(raw) < size and counted.count <= stop:
                n_before = len(raw)
                for row in islice(reader, min(_AT_ONCE, size - n_before)):
                    raw.append(row)  # noqa: PERF402 - kept when a later row fails
                if len(raw) == n_before:
                    break
        except csv.Error as error:
            raise self._broken(error, is_header=is_header) from error
        except UnicodeDecodeError as error:
            raise self.source.undecodable(error, reader.line_num) from error

    def line_of(self, index: int) -> int:
        """The line on which a row of the batch begins, counted if an error asks."""
        line, seen = self._first_line, -1
        for row in self._raw:
            seen += bool(row)
            if seen == index:
                break
            line += 1 + sum(len(_BREAK.findall(field)) for field in row)
        return line

    def _wrong_width(self, cells: list[list[str]], width: int) -> DataError:
        """Too many or too few fields."""
        index = next(i for i, row in enumerate(cells) if len(row) != width)
        n_fields = len(cells[index])
        advice = (
            "put quotes around a field that holds the separator"
            if n_fields > width
            else "look for a missing separator or a line break outside quotes"
        )
        return fault(
            self.source.name,
            f"expected {width} fields as in the header, got {n_fields}; {advice}.",
            row=self.first + index,
            line=self.line_of(index),
        )

    def _broken(self, error: csv.Error, *, is_header: bool) -> DataError:
        """What the csv module found wrong, in the user's terms."""
        message, here = str(error), self.reader.line_num
        n_before = sum(map(bool, self._raw))
        literal = "if quotes are ordinary characters in this file give quote=None"
        if "field larger" in message:
            what = (
                f"expected fields of at most {self.options.field_limit} characters, "
                f"got a longer one; most often a quote is not closed: {literal}; "
                f"otherwise raise field_limit= of read_documents"
            )
        elif "unexpected end" in message:
            what = (
                f"expected a closing quote, got the end of the file at line {here}; "
                f"close the quote, or {literal}"
            )
        else:
            what = (
                f"expected a well-formed row, got an error at line {here} ({message}); "
                f"double the quotes inside a quoted field, or {literal}"
            )
        row = None if is_header else self.first + n_before
        line = self.line_of(n_before)
        return fault(self.source.name, f"{what}.", row=row, line=line)


def json_tables(
    path: Path | None, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of JSON lines, or of the objects of one JSON array, as columns."""
    with open_text(path, options.codec, None) as source:
        head = source.head()
        lines = chain(head, source.lines)
        if head and head[-1].lstrip().startswith("["):
            batches = _array(source, lines, options)
        else:
            batches = _json_lines(source, lines, options)
        yield from _tables(source.name, batches, request)


def _array(
    source: TextSource, lines: Iterable[str], options: ReadOptions
) -> Iterator[Numbered]:
    """The objects of a file that is one JSON array, which is read whole."""
    try:
        values = _json.decode("".join(lines))
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
    path: Path | None, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of lines such as ``__label__spam free money``: columns text and label."""
    with open_text(path, options.codec, None) as source:
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
    path: Path | None, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Batches of the mails of an mbox file: text, subject, body, from, to, date."""
    name = "stdin" if path is None else str(path)
    opened = nullcontext(sys.stdin.buffer) if path is None else open_bytes(path)
    try:
        with opened as lines:
            records: Iterator[Record] = map(mail_record, mails_of_box(lines))
            yield from _tables(name, _batches(records, options), request)
    except (OSError, EOFError, zlib.error) as error:
        what = f"the mails cannot be read ({error}); get the file again."
        raise fault(name, what) from error


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


def _json_lines(
    source: TextSource, lines: Iterable[str], options: ReadOptions
) -> Iterator[Numbered]:
    """Batches of objects and their lines; blank lines are passed over."""
    counted, n_before, line = source.bytes, 0, 0
    records: list[Record] = []
    numbers: list[int] = []
    stop = counted.count + options.batch_bytes
    try:
        for line, text in enumerate(lines, start=1):
            try:
                record, end = _decode(text)
                clean = type(record) is dict and len(text) - end < 2
            except (ValueError, RecursionError):
                clean = False
            if not clean:
                if text.isspace():
                    continue
                row = n_before + len(records) + 1
                record = _carefully(text, source.name, row, line)
            records.append(record)
            numbers.append(line)
            if len(records) == options.batch_size or counted.count > stop:
                yield records, numbers
                n_before, records, numbers = n_before + len(records), [], []
                stop = counted.count + options.batch_bytes
    except UnicodeDecodeError as error:
        raise source.undecodable(error, line) from error
    if records:
        yield records, numbers


def _carefully(text: str, source: str, row: int, line: int) -> Record:
    """Decode a line that the quick way refused, or say what is wrong with it."""

    def wrong(what: str) -> DataError:
        expected = f"expected one JSON object on the line, {what}."
        return fault(source, expected, row=row, line=line)

    try:
        record = _json.decode(text)
    except json.JSONDecodeError as error:
        raise wrong(
            f"got broken JSON at character {error.pos + 1} ({error.msg}); "
            f"correct or remove the line"
        ) from error
    except RecursionError as error:
        raise wrong("got one nested too deeply; remove the line") from error
    except DataError as error:
        raise wrong(f"got {error}; remove one of the two") from None
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
    plan = request.resolve(list(examples), strings, source, sparse=True)
    if request.keep != "all":
        return plan
    whole = {name for record in batch for name in record}
    return replace(plan, keep=tuple(name for name in plan.keep if name in whole))


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


TABLES: dict[Format, Callable[[Any, Request, ReadOptions], Iterator[Table]]] = {
    "csv": csv_tables,
    "tsv": partial(csv_tables, mark="\t"),
    "jsonl": json_tables,
    "json": json_tables,
    "fasttext": fasttext_tables,
    "xlsx": excel_tables,
    "parquet": parquet_tables,
    "mbox": mail_tables,
    "eml": mail_tables,
}
