"""Options that several commands share, and what to make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

__all__ = [
    "AsJson",
    "Data",
    "Encoding",
    "Format",
    "LabelColumn",
    "Model",
    "TextColumns",
    "column_list",
    "text_options",
]

DATA_HELP = (
    "Documents: .csv .tsv .jsonl .parquet (also .gz .zst), a folder with one "
    "sub-folder per label, a directory of Parquet or JSONL parts, or - for stdin."
)

Data = Annotated[
    str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file (*.earmark).")
]
TextColumns = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="COL[,COL...]",
        help="Column with the text; several make regions, each with its own words.",
    ),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COL", help="Column with the label.")
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of a text file [utf-8]."),
]
Format = Annotated[
    Literal["csv", "tsv", "jsonl", "parquet"] | None,
    typer.Option("--format", metavar="NAME", help="csv, tsv or jsonl, for stdin (-)."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON for machines instead of text.")
]


def column_list(text: str | None) -> dict[str, Any]:
    """The arguments ``text`` and ``regions`` of ``read_documents``."""
    if text is None:
        return {}
    names = [name.strip() for name in text.split(",") if name.strip()]
    return {"text": names[0]} if len(names) == 1 else {"regions": names}


def text_options(stem: str | None, substitute: str | None) -> dict[str, Any] | None:
    """``TextClassifier.features`` for the options --stem and --substitute."""
    found: dict[str, Any] = {}
    if stem:
        found["stemmer"] = stem
    if substitute:
        found["substitutions"] = [s.strip() for s in substitute.split(",") if s.strip()]
    return found or None
