"""``earmark fetch``: download a benchmark corpus or the weights of an encoder."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["run"]


def run(
    what: Annotated[
        str, typer.Argument(metavar="NAME", help="Of a corpus, or of an encoder.")
    ],
    url: str | None = None,
) -> None:
    """Download a benchmark corpus, or the weights of an encoder.

    Weights come through the encoder's own package, into its own cache. The corpora have
    no single public home: give the address of a mirror with --url or EARMARK_DATA_URL.
    Files already in the folder EARMARK_DATA need no fetching; checksums are verified.
    This is the only command that uses the network.

      earmark fetch model2vec:minishlab/potion-base-8M
      earmark fetch r8 --url https://example.org/corpora

    --url URL  Folder that holds the files.
    """
    from earmark.apps.cli._console import confirm, status
    from earmark.documents import corpus_names, fetch_corpus

    if ":" in what or what == "minilm":
        from earmark.encoders import fetch_encoder

        with status(f"fetching {what}"):
            fetched = fetch_encoder(what)
        confirm(f"{fetched} is on this machine now")
        return
    if what not in corpus_names():
        raise typer.BadParameter(
            f"{what!r} is not one of {', '.join(corpus_names())}, and no encoder "
            "(model2vec:NAME, ...)"
        )
    with status(f"fetching {what}"):
        paths = fetch_corpus(what, url=url)
    for path in paths:
        typer.echo(str(path))
