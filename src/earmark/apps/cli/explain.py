"""``earmark explain``: the words behind a decision."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "run"]

NAME = "explain"
HELP = """Show the words that decided, with contributions that add up.

  earmark explain model.earmark "cheap pills, only today"
  cat mail.txt | earmark explain model.earmark -
"""


def run(
    model: options.Model,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The document, or - for stdin.")
    ],
    top: Annotated[int, typer.Option(min=1, help="How many words to show.")] = 10,
    paths: Annotated[
        int,
        typer.Option(min=0, help="Chains of words and training documents to show."),
    ] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Show the words that decided, with contributions that add up."""
    from earmark.apps.cli._models import load_for

    classifier = load_for(model)
    document = sys.stdin.read() if text == "-" else text
    names = None if classifier.regions == "email" else classifier.region_names_
    # Without region columns the whole text stands in every region's place once.
    texts = [document] if names is None else {name: [document] for name in names}
    (explanation,) = classifier.explain(texts, top=top, paths=paths)
    typer.echo(
        json.dumps(explanation.to_dict(), ensure_ascii=False)
        if as_json
        else str(explanation)
    )
