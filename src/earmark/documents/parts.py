"""A dataset in parts: files of one format that are read one by one, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from earmark.documents.document import Documents
from earmark.documents.format import COMPRESSED, FORMATS, format_by_suffix
from earmark.documents.formats.parquet import ParquetBatch, parquet_batches
from earmark.documents.source import Source, find_sources
from earmark.documents.stream import ReadOptions
from earmark.documents.table import (
    Request,
    Table,
    as_label,
    fault,
    listed,
    to_documents,
)
from earmark.exceptions import DataError
from earmark.typing import IntVector

__all__ = ["Batch", "CodedLabels", "Part", "PathLike", "list_parts", "memory_needed"]

PathLike: TypeAlias = str | os.PathLike[str]

# What a batch of Parquet rows is read up to, counted without compression.
_BATCH_BYTES = 1 << 25
_MOST_ROWS = 1 << 16
# Documents and counts in memory, per byte of a compressed file.
_GROWTH_COMPRESSED = 50


@dataclass(frozen=True)
class CodedLabels:
    """Labels of some documents; ``codes`` says which of ``names``, -1 none."""

    codes: IntVector
    names: list[str]
    """Distinct, sorted, each of at least one document."""

    @classmethod
    def of_values(cls, values: Sequence[str | None] | None) -> CodedLabels | None:
        """From one label or None for each document."""
        if values is None:
            return None
        code: dict[str | None, int] = {}
        codes = [code.setdefault(value, len(code)) for value in values]
        return cls.of_codes(np.array(codes, dtype=np.int64), list(code))

    @classmethod
    def of_codes(
        cls, codes: NDArray[np.integer], names: Sequence[str | None]
    ) -> CodedLabels:
        """From places among names that may repeat, be None or of no document."""
        codes = codes.astype(np.int64)
        met = np.bincount(codes[codes >= 0], minlength=len(names)) > 0
        pairs = zip(names, met, strict=True)
        known = sorted({name for name, occurs in pairs if occurs and name is not None})
        place: dict[str | None, int] = {name: k for k, name in enumerate(known)}
        new = np.array([place.get(name, -1) for name in (*names, None)], np.int64)
        return cls(new[codes], known)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_unlabelled(self) -> int:
        """Documents without a label."""
        return int(np.count_nonzero(self.codes < 0))

    def values(self) -> list[str | None]:
        """One label or None for each document."""
        names = [*self.names, None]
        return [names[code] for code in self.codes.tolist()]


@dataclass(frozen=True)
class Batch:
    """Some documents of a part; ``labels`` is None if there is no such column."""

    texts: Any  # a column or regions: lists of str, or Arrow arrays
    labels: CodedLabels | None
    first_row: int

    def __len__(self) -> int:
        column = self.texts
        if isinstance(column, dict):
            column = next(iter(column.values()))
        return len(column)


@dataclass(frozen=True)
class Part:
    """One file of a dataset; can be sent to another process or machine."""

    number: int
    path: Path
    format: str
    request: Request
    options: ReadOptions

    @property
    def name(self) -> str:
        """The file as messages call it."""
        return str(self.path)

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change: another stamp, another content."""
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns

    def batches(self) -> Iterator[Batch]:
        """The documents, in batches of bounded memory; DataError if unreadable."""
        if self.format == "parquet":
            for rows in parquet_batches(self.path, self.request, _rows_a_batch):
                yield _batch(self.request, rows)
            return
        for documents in self.documents():
            labels = CodedLabels.of_values(documents.labels)
            yield Batch(documents.texts, labels, documents.rows[0])

    def documents(self) -> Iterator[Documents]:
        """The same as ``iter_documents`` gives them, with ids and kept columns."""
        for table in self._tables():
            yield to_documents(table, self.request, None)

    def _tables(self) -> Iterator[Table]:
        if not self.path.exists():
            raise fault(self.name, "the part is gone; bring it back or start again.")
        tables = FORMATS[self.format].tables
        yield from tables(self.path, self.request, self.options)


def list_parts(
    path: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    quote: str | None = '"',
    query: str | None = None,
    **asked: Any,
) -> list[Part]:
    """The files of a directory in the order of their names, or one file.

    Columns are as ``asked`` for in a ``Request``, or of the first readable part.
    """
    options = ReadOptions(format=format, encoding=encoding, quote=quote, query=query)
    request = Request(**{"allow_unlabelled": True, "null_text": "empty", **asked})
    sources = _sources(path, options)
    parts = [
        Part(number, source.path, source.format.name, request, options)
        for number, source in enumerate(sources)
        if source.path is not None
    ]
    settled = request.settled(_first_table(parts))
    return [replace(part, request=settled) for part in parts]


def memory_needed(path: PathLike) -> int:
    """About how many bytes the documents of a file or directory take if read whole."""
    where, needed = Path(path), 0
    for file in where.iterdir() if where.is_dir() else [where]:
        kind = format_by_suffix(file)
        if kind is not None and kind.growth is not None and file.is_file():
            packed = file.suffix.lower() in COMPRESSED
            growth = _GROWTH_COMPRESSED if packed else kind.growth
            needed += int(file.stat().st_size * growth)
    return needed


def _sources(path: PathLike | Sequence[PathLike], options: ReadOptions) -> list[Source]:
    if not isinstance(path, str | os.PathLike):
        several = [s for one in path for s in _sources(one, options)]
        if not several:
            raise DataError("the list of parts is empty; name at least one file.")
        return several
    sources = find_sources(path, options)
    if sources is None:
        raise fault(
            os.fspath(path),
            "expected a directory of parts, which end in "
            f"{listed(_of_parts())}, got none of these in it; a folder of text files "
            "is read without parts.",
        )
    if sources[0].named is not None:
        raise fault(
            sources[0].named,
            "expected files, which can be read in parts, got a query; write its rows "
            "to a file first.",
        )
    if sources[0].path is None:
        raise fault("stdin", "expected files, which can be read more than once.")
    return sources


def _of_parts() -> list[str]:
    """The suffixes of formats that are read in parts."""
    return [s for one in FORMATS if one.growth is not None for s in one.suffixes]


def _first_table(parts: Sequence[Part]) -> Table:
    """Rows of the first part that can be read and has some."""
    error: DataError | None = None
    for part in parts:
        try:
            for table in part._tables():
                return table
        except DataError as caught:
            error = error or caught
    raise error or fault(
        str(parts[0].path.parent), "expected data rows, the parts are all empty."
    )


def _rows_a_batch(metadata: Any) -> int:
    groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
    sizes = [group.total_byte_size / max(1, group.num_rows) for group in groups]
    return int(np.clip(_BATCH_BYTES / max(1.0, *sizes, 1.0), 1, _MOST_ROWS))


def _batch(request: Request, rows: ParquetBatch) -> Batch:
    """A batch of documents; text columns stay Arrow arrays, without a copy."""
    plan = rows.plan
    simple = (plan.regions is not None or len(plan.texts) == 1) and all(
        name in rows.strings for name in plan.texts
    )
    if not simple:  # cells are checked one by one
        documents = to_documents(rows.table(), request, None)
        labels = CodedLabels.of_values(documents.labels)
        return Batch(documents.texts, labels, rows.first_row)
    columns = [_filled(rows.rows.column(name)) for name in plan.texts]
    texts = (
        columns[0]
        if plan.regions is None
        else dict(zip(plan.regions, columns, strict=True))
    )
    return Batch(texts, _arrow_labels(request, rows), rows.first_row)


def _is_coded(column: Any) -> bool:
    return str(column.type).startswith("dictionary")


def _filled(column: Any) -> Any:
    """A text column without nulls; a dictionary is spelled out."""
    if _is_coded(column):
        column = column.dictionary_decode()
    return column.fill_null("") if column.null_count else column


def _arrow_labels(request: Request, rows: ParquetBatch) -> CodedLabels | None:
    """Labels as strings, each distinct value converted once."""
    if rows.plan.label is None:
        return None
    coded = rows.rows.column(rows.plan.label)
    try:
        if not _is_coded(coded):
            coded = coded.dictionary_encode()
        names = [as_label(value) for value in coded.dictionary.to_pylist()]
        labels = CodedLabels.of_codes(coded.indices.fill_null(-1).to_numpy(), names)
    except Exception:  # nested types and bad labels
        labels = None
    if labels is None or (labels.n_unlabelled and not request.allow_unlabelled):
        # The slow way, which names the row of what is wrong.
        return CodedLabels.of_values(to_documents(rows.table(), request, None).labels)
    return labels
