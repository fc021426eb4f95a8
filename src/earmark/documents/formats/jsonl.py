"""JSON lines, read as JSON is."""

from __future__ import annotations

from functools import partial

from earmark.documents.format import Format
from earmark.documents.formats.json import tables

FORMAT = Format(
    "jsonl",
    (".jsonl", ".ndjson"),
    "one JSON object on each line",
    partial(tables, may_be_array=False),
    growth=14,
)
