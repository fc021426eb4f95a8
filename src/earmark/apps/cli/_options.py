"""Options that several commands share, and what to make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

__all__ = [
    "AsJson",
    "Dask",
    "Data",
    "Encoding",
    "Format",
    "LabelColumn",
    "Model",
    "TextColumns",
    "column_list",
    "refuse_with_parts",
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
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="WHERE",
        help="Work on a Dask cluster: local, local:N (N processes here), or the "
        "scheduler's address, tcp://host:8786.",
    ),
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


def refuse_with_parts(given: dict[str, Any]) -> None:
    """Options that do not go together with data in parts are wrong usage."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with data in parts (--memory, --dask, --by-part, "
                "--skip-bad)."
            )


def text_options(
    stem: str | None,
    substitute: str | None,
    hashed: int | None = None,
    ngrams: int = 1,
) -> Any:
    """``TextClassifier.features`` for --stem, --substitute, --hashed and --ngrams."""
    found: dict[str, Any] = {}
    if ngrams > 1:
        found["ngram_range"] = (1, ngrams)
    if stem:
        found["stemmer"] = stem
    if substitute:
        found["substitutions"] = [s.strip() for s in substitute.split(",") if s.strip()]
    if hashed is None:
        return found or None
    if found:
        raise typer.BadParameter(
            "--hashed does not go with --stem, --substitute or --ngrams."
        )
    from earmark.features import HashedCounter

    return HashedCounter(n_features=2**hashed, alternate_sign=False, norm=None)
