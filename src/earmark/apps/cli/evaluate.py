"""``earmark evaluate``: how right a model is on labelled documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "run"]

NAME = "evaluate"
HELP = """Measure a model on labelled documents it has not seen.

  earmark evaluate model.earmark test.csv
  earmark evaluate model.earmark test.csv --report report.html
  earmark evaluate model.earmark parts/ --dask local:4
"""


def run(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    text: options.TextColumns = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one self-contained HTML page."),
    ] = None,
    max_error: options.MaxError = None,
    dask: options.Dask = None,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: options.NoQuotes = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure a model on labelled documents it has not seen."""
    from earmark.apps.cli._console import status
    from earmark.apps.cli._models import load_for, read_all

    if report is not None:
        options.require_output(report, data, model)
    how = options.reading(encoding, format, no_quotes)
    if dask is not None:
        from earmark.apps.cli._parts import evaluate_in_parts

        result = evaluate_in_parts(model, data, text, label, max_error, dask, how)
    else:
        classifier, stored = load_for(model, max_error)
        with status(f"reading {data}"):
            documents = read_all(classifier, stored, data, text, label, **how)
        options.labelled_rows(documents)
        with status(f"evaluating {len(documents):,} documents"):
            result = classifier.report(
                documents.texts, documents.labels, title=f"{model.name} on {data}"
            )
    typer.echo(result.to_json() if as_json else str(result))
    if report is not None:
        result.to_html(report)
        typer.echo(f"wrote {report}", err=True)
