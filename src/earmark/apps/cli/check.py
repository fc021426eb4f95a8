"""``earmark check``: what is wrong with the documents before learning from them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "run"]

NAME = "check"
HELP = """Look for what usually goes wrong with labelled documents.

Empty texts, repeated documents, equal documents with different labels, leaks
between training and test part, sorted or very uneven classes, and labels that
the other documents contradict (naive Bayes, each document left out).

  earmark check mails.csv --label topic
  earmark check train.csv --label topic --test test.csv
"""


def run(
    data: options.Data,
    label: options.LabelColumn = None,
    text: options.TextColumns = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA2", help="A test part to check for leaks."),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Suspected label errors shown.")] = 10,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: options.NoQuotes = False,
    as_json: options.AsJson = False,
) -> None:
    """Look for what usually goes wrong with labelled documents."""
    from earmark.apps.cli._console import status
    from earmark.apps.cli._labels import ask_about_labels
    from earmark.documents import read_documents
    from earmark.documents._fingerprint import fingerprint
    from earmark.evaluation import check_documents

    def read(path: str) -> Any:
        return read_documents(
            path,
            label=label,
            null_text="empty",
            allow_unlabelled=True,
            **options.reading(encoding, format, no_quotes),
            **options.column_list(text),
        )

    with status(f"reading {data}"):
        documents = read(data)
        other = None if test is None else read(test)
    ask_about_labels(documents, label)
    with status(f"checking {len(documents):,} documents"):
        findings = check_documents(
            documents.joined(),
            documents.labels,
            test=None if other is None else (other.joined(), other.labels),
        )
        suspects = _suspects(documents, top)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "fingerprint": fingerprint(documents),
                    "findings": [
                        {**one.to_dict(), "rows": [row + 1 for row in one.rows]}
                        for one in findings
                    ],
                    "suspected_label_errors": suspects,
                },
                default=str,
            )
        )
        return
    _print(documents, findings, suspects)


def _suspects(documents: Any, top: int) -> list[dict[str, Any]]:
    """Labels that a naive Bayes model without the document contradicts most."""
    from earmark.evaluation import suspected_label_errors
    from earmark.pipeline import TextClassifier

    texts = documents.joined()
    rows = [
        i
        for i, label in enumerate(documents.labels or ())
        if label is not None and texts[i].strip()
    ]
    labelled = documents.take(rows)
    if not top or len(set(labelled.labels or ())) < 2:
        return []
    model = TextClassifier("multinomial").fit(labelled.texts, labelled.labels)
    left_out = model.leave_one_out(labelled.texts, labelled.labels)
    found = suspected_label_errors(labelled.labels, left_out, model.classes_)
    return [
        {
            "row": labelled.rows[one.index],
            "label": one.given,
            "suggested": one.suggested,
            "margin": round(float(one.margin), 3),
            "text": labelled.joined()[one.index][:80].replace("\n", " "),
        }
        for one in list(found)[:top]
    ]


def _print(documents: Any, findings: list[Any], suspects: list[dict[str, Any]]) -> None:
    from earmark.documents._fingerprint import fingerprint

    given = documents.labels or ()
    n_labels = len({label for label in given if label is not None})
    typer.echo(f"{len(documents):,} documents, {n_labels} labels")
    typer.echo(f"fingerprint {fingerprint(documents)}")
    for finding in findings:
        typer.echo(f"- {finding}")
    if not findings:
        typer.echo("- nothing to complain about")
    if suspects:
        typer.echo("\nlabels that the other documents contradict most:")
        for one in suspects:
            typer.echo(
                f"  row {one['row']}: {one['label']}, rather {one['suggested']}: "
                f"{one['text']}"
            )
