"""``earmark predict``: label documents, in a stream of constant memory."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "run"]

NAME = "predict"
HELP = """Label documents; memory stays constant however many there are.

Writes one row a document: row number (or id), label, confidence. The label is
empty where the model abstains. The output file appears when all is done.

  earmark predict model.earmark new.csv --out labels.csv
  cat new.jsonl | earmark predict model.earmark - --format jsonl
  earmark predict model.earmark new.csv --max-error 0.05 --explain
"""


def run(
    model: options.Model,
    data: options.Data,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help=".csv or .jsonl; - is stdout."
        ),
    ] = "-",
    text: options.TextColumns = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COL", help="Column to copy beside the label."),
    ] = None,
    max_error: options.MaxError = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the words behind each label.")
    ] = False,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines instead of csv.")
    ] = False,
) -> None:
    """Label documents; memory stays constant however many there are."""
    from earmark.apps.cli._console import counting
    from earmark.apps.cli._models import load_for, read_batches

    if out != "-":
        options.require_folder(Path(out))
    classifier = load_for(model, max_error)
    batches = read_batches(
        classifier, data, text, id=id_column, encoding=encoding, format=format
    )
    lines = as_json or out.endswith((".jsonl", ".ndjson"))
    with _output(out) as file, counting("labelled") as advance:
        writer = _JsonLines(file) if lines else _Csv(file)
        for batch in batches:
            writer.write(_records(classifier, batch, explain))
            advance(len(batch))


def _records(classifier: Any, batch: Any, explain: bool) -> Iterator[dict[str, Any]]:
    decision = classifier.decide(batch.texts)
    reasons = classifier.explain(batch.texts) if explain else None
    key = "row" if batch.ids is None else "id"
    names = batch.rows if batch.ids is None else batch.ids
    for i, (name, label, confidence) in enumerate(
        zip(names, decision.labels.tolist(), decision.confidence.tolist(), strict=True)
    ):
        record = {key: name, "label": label, "confidence": round(confidence, 6)}
        if reasons is not None:
            record["explanation"] = [
                [t.term if t.region is None else f"{t.region}:{t.term}", t.contribution]
                for t in reasons[i].terms[: reasons[i].top]
            ]
        yield record


class _Csv:
    def __init__(self, file: TextIO) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._header: list[str] | None = None

    def write(self, records: Iterator[dict[str, Any]]) -> None:
        for record in records:
            if self._header is None:
                self._header = list(record)
                self._writer.writerow(self._header)
            self._writer.writerow([_cell(value) for value in record.values()])


class _JsonLines:
    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, records: Iterator[dict[str, Any]]) -> None:
        for record in records:
            self._file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return "|".join(value)
    if isinstance(value, list):
        return " ".join(f"{term}:{weight:+.3f}" for term, weight in value)
    return value


@contextmanager
def _output(out: str) -> Iterator[TextIO]:
    """stdout, or a file that appears whole when the work is done."""
    if out == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(out)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
