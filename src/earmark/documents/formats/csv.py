"""Comma-separated rows, by Python's csv module, with the row and line of a fault."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

from earmark.documents.format import Format
from earmark.documents.stream import ReadOptions, TextSource, open_text
from earmark.documents.table import Request, Table, fault
from earmark.exceptions import DataError, Try

# Rows between two looks at the size of the batch.
_AT_ONCE = 64
_MOST_COLUMNS = 1 << 20
_BREAK = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r"sep=(.)", re.IGNORECASE)
_limit_lock = threading.Lock()
_limit_users = 0
_limit_before = 0


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


def tables(
    path: Path | None, request: Request, options: ReadOptions, mark: str | None = None
) -> Iterator[Table]:
    """Batches of rows as columns; without a delimiter, by the one of the header."""
    # newline="" leaves the line breaks inside quoted fields as they are.
    with open_text(path, options.codec, "", options.longest_row) as source:
        lines: Iterable[str] = source.lines
        mark = options.delimiter or mark
        if mark is None:
            head = source.head() if options.names is None else []
            first = head[-1] if head else ""
            stated = _SEP.fullmatch(first.strip("\r\n"))
            mark = stated[1] if stated else delimiter_of(first, options.quote)
            # Excel's own line that says what separates the fields is no data.
            lines = chain(["\n" for _ in head] if stated else head, lines)
        rows = _Rows(source, lines, options, mark)
        names = list(options.names) if options.names is not None else rows.header()
        plan = request.resolve(names, names, source.name)
        place = {name: names.index(name) for name in plan.needed}
        while cells := rows.batch(options.batch_size, width=len(names)):
            data = {name: [row[at] for row in cells] for name, at in place.items()}
            yield Table(source.name, plan, data, rows.first, rows.line_of)


def delimiter_of(header: str, quote: str | None) -> str:
    """The delimiter: a comma, unless the header has only another candidate."""
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
        if len(cells[0]) > _MOST_COLUMNS:
            raise fault(
                self.source.name,
                f"expected at most {_MOST_COLUMNS:,} columns, the header has "
                f"{len(cells[0]):,}; check that the file is a table.",
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
                    raw.append(row)  # kept when a later row fails
                    counted.mark = counted.count
                if len(raw) == n_before:
                    break
        except csv.Error as error:
            raise self._broken(error, is_header=is_header) from error
        except TextSource.failures as error:
            number = None if is_header else self.first + sum(map(bool, raw))
            raise self.source.refused(error, reader.line_num, number) from error

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
        """The error for a row with too many or too few fields."""
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
        literal = "if quotes are ordinary characters in this file give"
        if "field larger" in message:
            what = (
                f"expected fields of at most {self.options.field_limit} characters, "
                "got a longer one; most often a quote is not closed"
            )
            tries = [
                Try(literal, quote=None),
                Try("otherwise raise", " of read_documents", field_limit=...),
            ]
        elif "unexpected end" in message:
            what = f"expected a closing quote, got the end of the file at line {here}"
            tries = [Try("close the quote"), Try(f"or {literal}", quote=None)]
        else:
            what = (
                f"expected a well-formed row, got an error at line {here} ({message})"
            )
            tries = [
                Try("double the quotes inside a quoted field"),
                Try(f"or {literal}", quote=None),
            ]
        row = None if is_header else self.first + n_before
        line = self.line_of(n_before)
        return fault(self.source.name, what, *tries, row=row, line=line)


FORMAT = Format(
    "csv",
    (".csv",),
    "values between commas, or what the header has between them",
    tables,
    growth=14,
    header=True,
)
