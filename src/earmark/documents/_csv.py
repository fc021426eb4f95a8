"""CSV and TSV by Python's csv module, with the row and line of every fault."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from earmark.documents._cells import Table
from earmark.documents._columns import Plan, Request
from earmark.documents._options import ReadOptions
from earmark.documents._places import fault
from earmark.documents._streams import TextSource
from earmark.exceptions import DataError

__all__ = ["csv_tables"]

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


def csv_tables(
    source: TextSource, request: Request, options: ReadOptions, delimiter: str
) -> Iterator[Table]:
    """Batches of rows as columns; nothing at all for an empty file is an error."""
    rows = _Rows(source, options, delimiter)
    names = list(options.names) if options.names is not None else rows.header()
    plan = request.resolve(names, names, source.name)
    rows.width = len(names)
    while True:
        first_row = rows.count + 1
        with _field_limit(options.field_limit):
            cells, lines = rows.batch()
        if not cells:
            break
        yield _table(source.name, plan, names, cells, lines, first_row)


def _table(
    source: str,
    plan: Plan,
    names: list[str],
    cells: list[list[str]],
    lines: list[int],
    first_row: int,
) -> Table:
    """The needed columns of some rows of equal width."""
    data = {}
    for name in plan.needed:
        at = names.index(name)
        data[name] = [row[at] for row in cells]
    return Table(source, plan, data, first_row, lines)


class _Rows:
    """The rows of one file, read in batches and counted."""

    def __init__(
        self, source: TextSource, options: ReadOptions, delimiter: str
    ) -> None:
        self.source = source
        self.options = options
        self.count = 0
        self.width: int | None = None
        plain = options.quote is None
        self.reader = csv.reader(
            source.lines,
            delimiter=delimiter,
            quotechar=options.quote,
            quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL,
            strict=True,
        )

    def header(self) -> list[str]:
        """The first line that is not blank."""
        self.width = None
        with _field_limit(self.options.field_limit):
            cells, _ = self.batch(size=1)
        self.count = 0
        if not cells:
            raise fault(
                self.source.name,
                "expected a header and data rows, the file is empty; "
                "check that it was written completely.",
            )
        return cells[0]

    def batch(self, size: int | None = None) -> tuple[list[list[str]], list[int]]:
        """The next rows and the line each begins on; blank lines are passed over."""
        size = self.options.batch_size if size is None else size
        stop = self.source.bytes.count + self.options.batch_bytes
        cells: list[list[str]] = []
        lines: list[int] = []
        reader, counted, width = self.reader, self.source.bytes, self.width
        begins = reader.line_num + 1
        try:
            for row in reader:
                if row:
                    if len(row) != width and width is not None:
                        raise self._wrong_width(row, len(cells), begins)
                    cells.append(row)
                    lines.append(begins)
                    if len(cells) == size or counted.count > stop:
                        break
                begins = reader.line_num + 1
        except csv.Error as error:
            raise self._broken(error, len(cells), begins) from error
        except UnicodeDecodeError as error:
            raise self.source.undecodable(error, reader.line_num) from error
        self.count += len(cells)
        return cells, lines

    def _wrong_width(self, row: list[str], n_before: int, line: int) -> DataError:
        """Too many or too few fields."""
        advice = (
            "put quotes around a field that holds the separator"
            if len(row) > (self.width or 0)
            else "look for a missing separator or a line break outside quotes"
        )
        return fault(
            self.source.name,
            f"expected {self.width} fields as in the header, got {len(row)}; {advice}.",
            row=self.count + n_before + 1,
            line=line,
        )

    def _broken(self, error: csv.Error, n_before: int, line: int) -> DataError:
        """What the csv module found wrong, in the user's terms."""
        message, here = str(error), self.reader.line_num
        literal = "if quotes are ordinary characters in this file give quote=None"
        if "field larger" in message:
            what = (
                f"expected fields of at most {self.options.field_limit} characters, "
                f"got a longer one; most often a quote is not closed: {literal}; "
                f"otherwise raise field_limit="
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
        row = self.count + n_before + 1 if self.width is not None else None
        return fault(self.source.name, f"{what}.", row=row, line=line)
