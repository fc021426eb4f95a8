"""``earmark explain``: the words behind a decision."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import note

__all__ = ["run"]


def run(
    model: options.Model,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="The document, or - for stdin. For a model with several columns: a "
            "JSON object.",
        ),
    ],
    top: Annotated[int, typer.Option(min=1)] = 10,
    paths: Annotated[int, typer.Option(min=0)] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Show the words behind a prediction; their contributions add up to its score.

      earmark explain model.earmark "cheap pills, only today"
      cat mail.txt | earmark explain model.earmark -
      earmark explain mails.earmark '{"subject": "lunch?", "body": "at noon"}'

    --top  Number of words to show.
    --paths  Paths of words and training documents to show.
    """
    from earmark.apps.cli._models import load_for

    classifier, _ = load_for(model)
    document = sys.stdin.read() if text == "-" else text
    names = None if classifier.regions == "email" else classifier.region_names_
    texts = [document] if names is None else _by_region(document, names)
    (explanation,) = classifier.explain(texts, top=top, paths=paths)
    if classifier.thresholds_ and classifier.decide(texts).labels[0] is None:
        note(
            f"note: with --max-error {classifier.max_error:g} this document gets no "
            "answer; shown is the label that is likeliest."
        )
    typer.echo(
        json.dumps(explanation.to_dict(), ensure_ascii=False)
        if as_json
        else str(explanation)
    )
    if as_json:
        return
    if any(term.labelled is not None for term in explanation.terms):
        note(
            "supervised: learned from labels and class names; unlabelled: from text "
            "without labels."
        )
    if explanation.constants:
        note("In parentheses: evidence that belongs to no single word.")


def _by_region(document: str, names: list[str]) -> dict[str, list[str]]:
    """The regions of a JSON object, or the whole text in every region's place."""
    try:
        given = json.loads(document)
    except ValueError:
        given = None
    if isinstance(given, dict) and given and set(given) <= set(names):
        return {name: [str(given.get(name) or "")] for name in names}
    note(
        f"note: the text stands in for each of {', '.join(names)}; give a JSON object "
        "of them to tell them apart."
    )
    return {name: [document] for name in names}
