"""JSON: the objects of one array, or one object on each line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from earmark.documents.exchange import Dialect, dialect_of, translated
from earmark.documents.format import Format
from earmark.documents.records import Numbered, Record, batch_tables, record_tables
from earmark.documents.stream import (
    ReadOptions,
    TextSource,
    TooLongError,
    open_text,
)
from earmark.documents.table import Request, Table, described, fault
from earmark.exceptions import DataError


def _unique(pairs: list[tuple[str, object]]) -> Record:
    """An object of JSON; a repeated field is an error, since one would be lost."""
    record = dict(pairs)
    if len(record) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise DataError(f"an object that has the field {name!r} twice")
    return record


_BLANKS = re.compile(r"[ \t\n\r]*")
_json = json.JSONDecoder(object_pairs_hook=_unique)
_decode = _json.raw_decode


def tables(
    path: Path | None,
    request: Request,
    options: ReadOptions,
    may_be_array: bool = True,
    dialect: Dialect | None = None,
) -> Iterator[Table]:
    """Batches of JSON lines, or of the objects of one JSON array, as columns."""
    with open_text(path, options.codec, None, options.longest_row) as source:
        counted, most = source.bytes, source.bytes.most
        if may_be_array:  # which may be a single line
            counted.most = options.largest_whole
        head = source.head()
        lines = chain(head, source.lines)
        if head and head[-1].lstrip().startswith("["):
            counted.most, counted.mark = options.largest_whole, 0
            records = _objects(source, _whole(source, lines))
            records = translated(records, dialect, request)
            yield from record_tables(source, records, request, options)
            return
        counted.most = most
        batches = _json_lines(source, lines, options)
        batches = _translated(batches, dialect, request)
        yield from batch_tables(source.name, batches, request)


def _translated(
    batches: Iterator[Numbered], dialect: Dialect | None, request: Request
) -> Iterator[Numbered]:
    """Batches of lines as columns, where they are of a labelling tool."""
    for number, (records, lines) in enumerate(batches):
        if number == 0 and dialect is None:
            dialect = dialect_of(records[0], request)
        yield list(map(dialect.read, records)) if dialect else records, lines


def _whole(source: TextSource, lines: Iterable[str]) -> str:
    """The text of a file that is one JSON array."""
    try:
        return "".join(lines)
    except TooLongError as error:
        raise fault(
            source.name,
            f"expected a JSON array of at most {source.bytes.most:,} bytes, got a "
            "longer one; write one object on each line (.jsonl), which is read in "
            "batches.",
        ) from error
    except UnicodeDecodeError as error:
        raise source.refused(error, 0) from error


def _objects(source: TextSource, text: str) -> Iterator[Record]:
    """The objects of an array, one by one: lists of numbers would fill the memory."""
    try:
        for row, value in enumerate(_values(text), start=1):
            if not isinstance(value, dict):
                raise fault(
                    source.name,
                    f"expected an object, got {described(value)}; write "
                    '{"text": ...}.',
                    row=row,
                )
            yield value
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError) and error.place:
            raise
        raise fault(
            source.name,
            f"expected one JSON array of objects, got broken JSON ({error}); "
            "check that it was written completely.",
        ) from error


def _values(text: str) -> Iterator[object]:
    """What stands between the commas of an array, and that it ends as one."""
    at = _behind_blanks(text, text.index("[") + 1)
    mark = text[at : at + 1]
    while mark != "]":
        value, at = _decode(text, at)
        yield value
        at = _behind_blanks(text, at)
        mark = text[at : at + 1]
        if mark == ",":
            at = _behind_blanks(text, at + 1)
        elif mark != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    end = _behind_blanks(text, at + 1)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _behind_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None  # no blank at all is a match
    return match.end()


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
            counted.mark = counted.count
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
    except TextSource.failures as error:
        row = n_before + len(records) + 1
        raise source.refused(error, line, row) from error
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


FORMAT = Format("json", (".json",), "JSON: an array of objects, or lines", tables)
