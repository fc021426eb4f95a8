"""A directory of documents -> a directory with those that a filter keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from earmark._optional import require
from earmark.distributed.executor import Dataset
from earmark.distributed.predicting import ResultFolder
from earmark.documents.parts import Part, list_parts
from earmark.exceptions import DataError
from earmark.pipeline.text_filter import TextFilter
from earmark.whole_files import whole_file

_ROWS = 4096


@dataclass
class FilterReport:
    """What went in and what came out, in documents and characters of text."""

    parts: int = 0
    skipped: int = 0
    """Parts that an earlier run had done."""
    documents: int = 0
    kept: int = 0
    characters: int = 0
    kept_characters: int = 0
    bad: dict[str, str] = field(default_factory=dict)
    """Part -> why it could not be read."""

    def add(self, part: FilterReport) -> None:
        """Count the documents of a part that is done."""
        self.documents += part.documents
        self.kept += part.kept
        self.characters += part.characters
        self.kept_characters += part.kept_characters


def filter_parts(
    chosen: TextFilter,
    dataset: Dataset,
    out: str | os.PathLike[str],
    *,
    text: str | None = None,
    unit: Literal["document", "paragraph"] = "document",
    fingerprint: str = "",
    progress: Callable[[int], None] | None = None,
    skip_bad: bool = False,
    **how: Any,
) -> FilterReport:
    """Write the documents that stay, part by part, in constant memory.

    Every part of the input becomes a part of the same name in ``out``, with all its
    columns: Parquet stays Parquet, other formats become JSON lines. A part is
    written atomically; one that is there already is not done again. With
    ``skip_bad`` a part that cannot be read is left out, and the report says why.
    """
    parts = list_parts(dataset, text=text, label=False, keep="all", **how)
    columns = parts[0].request.text
    if columns is None or len(columns) != 1:
        raise DataError("a filter reads one column of text; name it with --text.")
    settings = {
        "model": fingerprint,
        "keep": sorted(map(str, chosen.labels)),
        "min_confidence": chosen.min_confidence,
        "unit": unit,
        "text": list(columns),
    }
    folder = ResultFolder(Path(out), settings, parts, "earmark filter")
    report = FilterReport()
    for part in parts:
        report.parts += 1
        target = folder.target(part, part.format)
        if target is None:
            report.skipped += 1
            continue
        part_report = FilterReport()
        try:
            _Work(chosen, columns[0], unit == "paragraph", part_report, progress)(
                part, target
            )
        except DataError as error:
            if not skip_bad:
                raise
            report.bad[part.name] = str(error)
        else:
            report.add(part_report)
    return report


@dataclass
class _Work:
    """Judges the documents of one part and counts them."""

    chosen: TextFilter
    column: str
    by_paragraph: bool
    report: FilterReport
    progress: Callable[[int], None] | None

    def stays(self, texts: list[str]) -> list[str]:
        """What is left of each text; "" means that the document goes."""
        if self.by_paragraph:
            left = self.chosen.paragraphs(texts)
            gone = [not text for text in left]
        else:
            gone = (~self.chosen.mask(texts)).tolist()
            left = ["" if g else t for g, t in zip(gone, texts, strict=True)]
        self.report.documents += len(texts)
        self.report.kept += len(texts) - sum(gone)
        self.report.characters += sum(map(len, texts))
        self.report.kept_characters += sum(map(len, left))
        if self.progress is not None:
            self.progress(len(texts))
        self.gone = np.asarray(gone)
        return left

    def __call__(self, part: Part, target: Path) -> None:
        """Write what stays of one part."""
        if part.format == "parquet":
            self.parquet(part, target)
        else:
            self.lines(part, target)

    def parquet(self, part: Part, target: Path) -> None:
        """One Parquet file to another, batch by batch."""
        arrow = require("pyarrow", "filter Parquet files")
        parquet = require("pyarrow.parquet", "filter Parquet files")
        try:
            with (
                parquet.ParquetFile(part.path) as file,
                whole_file(target) as temporary,
                parquet.ParquetWriter(temporary, file.schema_arrow) as writer,
            ):
                place = file.schema_arrow.get_field_index(self.column)
                kind = file.schema_arrow.field(place).type
                for batch in file.iter_batches(_ROWS):
                    texts = [t or "" for t in batch.column(place).to_pylist()]
                    left = self.stays(texts)
                    if self.by_paragraph:
                        column = arrow.array(left, type=kind)
                        batch = batch.set_column(
                            place, batch.schema.field(place), column
                        )
                    some = batch.filter(arrow.array(~self.gone))
                    if some.num_rows:
                        writer.write_batch(some)
        except (arrow.ArrowException, OSError) as error:
            raise DataError(
                f"{part.name}: the Parquet file cannot be read ({error}); it is cut "
                "off or damaged: get it again, or move it away."
            ) from error

    def lines(self, part: Part, target: Path) -> None:
        """Any text format to JSON lines."""
        with whole_file(target) as temporary, temporary.open("w") as file:
            for documents in part.documents():
                left = self.stays(documents.joined())
                columns = {self.column: left, **documents.columns}
                for row in _rows(columns, ~self.gone):
                    file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def _rows(columns: dict[str, list[Any]], stays: Any) -> Iterator[dict[str, Any]]:
    names = list(columns)
    for keep, values in zip(stays, zip(*columns.values(), strict=True), strict=True):
        if keep:
            yield dict(zip(names, values, strict=True))
