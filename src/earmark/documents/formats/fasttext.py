"""fastText: lines that begin with their labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from earmark.documents.format import Format
from earmark.documents.records import Record, record_tables
from earmark.documents.stream import ReadOptions, TextSource, open_text
from earmark.documents.table import Request, Table

_MARK = "__label__"


def tables(
    path: Path | None, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """Lines such as ``__label__spam free money``: columns text and label."""
    with open_text(path, options.codec, None, options.longest_row) as source:
        records = map(_record, _lines(source))
        yield from record_tables(source, records, request, options, ["text", "label"])


def _lines(source: TextSource) -> Iterator[str]:
    """The lines of a file, each of bounded length."""
    n_before, counted = 0, source.bytes
    try:
        for line in source.lines:
            counted.mark = counted.count
            n_before += 1
            yield line
    except TextSource.failures as error:
        raise source.refused(error, n_before) from error


def _record(line: str) -> Record:
    marked: list[str] = []
    rest = line.strip()
    while rest.startswith(_MARK):
        label, _, rest = rest.partition(" ")
        marked.append(label.removeprefix(_MARK))
    labels: str | list[str] | None = marked if len(marked) > 1 else None
    return {"text": rest, "label": labels or (marked[0] if marked else None)}


FORMAT = Format(
    "fasttext",
    (".ft",),
    "fastText: `__label__x` at the start of a line",
    tables,
    begins=_MARK.encode(),
)
