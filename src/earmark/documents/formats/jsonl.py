"""JSON lines, read as JSON is."""

from __future__ import annotations

from earmark.documents.format import Format
from earmark.documents.formats.json import tables

FORMAT = Format(
    "jsonl", (".jsonl", ".ndjson"), "one JSON object on each line", tables, growth=14
)
