"""``earmark cache``: the vectors of encoders that are kept on disk."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from earmark.apps.cli import _options as options

__all__ = ["run"]


def run(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Only encoders with this in the name."),
    ] = None,
    clear: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Show or clear the vectors that encoders have computed.

    They are kept in the folder EARMARK_CACHE (or the platform's for caches), at most
    4 GB per encoder; EARMARK_ENCODER_CACHE sets another size, or off.

      earmark cache
      earmark cache --clear
      earmark cache --clear model2vec

    --clear  Forget the vectors listed.
    """
    from earmark.apps.cli._console import say_facts
    from earmark.encoders.cache import cache_entries, clear_cache

    entries = [e for e in cache_entries() if name is None or name in e.name]
    if clear:
        clear_cache(entries)
    if as_json:
        facts = [entry._asdict() for entry in entries]
        typer.echo(json.dumps(facts, ensure_ascii=False, default=str))
        return
    if not entries:
        typer.echo("no vectors are cached")
        return
    said = "cleared, " if clear else ""
    say_facts(
        (e.name, f"{said}{e.n_texts:,} texts, {e.n_bytes / 1e6:,.1f} MB, {e.path}")
        for e in entries
    )
