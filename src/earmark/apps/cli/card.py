"""``earmark card``: the page to pass on with a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import note

__all__ = ["run"]


def run(
    model: options.Model,
    out: Path | None = None,
    intended_use: str | None = None,
    date: str | None = None,
    licence: Annotated[str | None, typer.Option("--license")] = None,
    contact: str | None = None,
    hub: bool = False,
    test: str | None = None,
    words: Annotated[int, typer.Option(min=0)] = 8,
) -> None:
    """Write a model card: what the model is, its accuracy, what it is not for.

    Markdown, or one HTML page if FILE ends in .html. Everything in it is read from
    the model file: the labels, the fingerprint of the training data, the evaluation.

      earmark card model.earmark
      earmark card model.earmark --out card.html --intended-use "Routing of tickets."
      earmark card model.earmark --out README.md --hub --license cc-by-4.0

    -o, --out FILE  Write it there, not to stdout.
    --intended-use TEXT  What the model is meant for, in words.
    --date DAY  Date of the model.
    --license ID  Licence, e.g. cc-by-4.0.
    --contact WHO  Whom to ask about the model.
    --hub  Begin with the front matter that hubs read.
    --test DATA  Add the accuracy on these documents.
    --words  Most indicative words per label.
    """
    from earmark.apps.card import CardFacts, front_matter, to_html, to_markdown
    from earmark.exceptions import DataError
    from earmark.whole_files import write_whole

    if not model.exists():
        raise DataError(f"{model}: no such model file; `earmark train` makes one.")
    if out is not None:
        options.require_output(out, model)
    facts = CardFacts.from_file(model, words)
    said = {"date": date, "licence": licence, "contact": contact}
    about = {name: value for name, value in said.items() if value is not None}
    if test is not None:
        from earmark.apps.cli._models import load_for, read_all

        classifier, stored = load_for(model)
        documents = read_all(classifier, stored, test, None, None)
        report = classifier.report(documents.texts, documents.labels)
        facts = facts.tested(report, test)
    if out is not None and out.suffix.lower() in (".html", ".htm"):
        text = to_html(facts, intended_use, about)
    else:
        front = front_matter(facts, licence) if hub else None
        text = to_markdown(facts, intended_use, about, front)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_whole(out, text)
    note(f"wrote {out}")
