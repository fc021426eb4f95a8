"""Tab-separated rows, read as csv is."""

from __future__ import annotations

from functools import partial

from earmark.documents.format import Format
from earmark.documents.formats import csv

FORMAT = Format(
    "tsv",
    (".tsv",),
    "values between tabs",
    partial(csv.tables, mark="\t"),
    growth=14,
    header=True,
)
