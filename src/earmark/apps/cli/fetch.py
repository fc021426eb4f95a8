"""``earmark fetch``: download a benchmark corpus, with its checksum verified."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["HELP", "NAME", "run"]

NAME = "fetch"
HELP = """Download a benchmark corpus for the reproductions and benchmarks.

The corpora have no single public home: give the address of a mirror with --url
or EARMARK_DATA_URL. Files already in the folder EARMARK_DATA need no fetching.
Checksums are verified. This is the only command that uses the network.
"""


def run(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Its name.")],
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Folder that holds the files.")
    ] = None,
) -> None:
    """Download a benchmark corpus, with its checksum verified."""
    from earmark.documents import corpus_names, fetch_corpus

    if corpus not in corpus_names():
        raise typer.BadParameter(
            f"{corpus!r} is not one of {', '.join(corpus_names())}"
        )
    for path in fetch_corpus(corpus, url=url):
        typer.echo(str(path))
