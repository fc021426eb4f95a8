"""``earmark predict``: label documents, in a stream of constant memory."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import confirm, note, number
from earmark.whole_files import whole_file

if TYPE_CHECKING:
    from earmark.decision import Decision
    from earmark.documents import Documents
    from earmark.pipeline import TextClassifier

__all__ = ["run"]


def run(
    model: options.Model,
    data: options.Data,
    out: str = "-",
    text: str | None = None,
    id_column: Annotated[str | None, typer.Option("--id")] = None,
    keep: str | None = None,
    with_text: bool = False,
    top_k: Annotated[int, typer.Option(min=0)] = 0,
    max_error: options.MaxError = None,
    novelty: options.Novelty = None,
    explain: bool = False,
    by_part: bool = False,
    skip_bad: bool = False,
    dask: str | None = None,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Predict the labels of documents, in constant memory.

    Writes one row per document: row number (or the column --id), label and confidence.
    The label is empty where the model abstains. A model trained with --novelty adds a
    p-value: small for documents unlike the training documents. With several labels per
    document and --max-error, the column undecided lists the labels left open. The
    output file appears when everything is done.

      earmark predict model.earmark new.csv --out labels.csv
      cat new.jsonl | earmark predict model.earmark - --format jsonl
      earmark predict model.earmark new.csv --id ticket --keep customer,date --top-k 3
      earmark predict model.earmark new.csv --max-error 0.05 --explain
      earmark predict model.earmark new.csv --novelty 0.01    # or: --novelty never
      earmark predict model.earmark parts/ --by-part --out labels/
      earmark predict model.earmark parts/ --dask local:4 --out labels/

    -o, --out FILE  .csv or .jsonl; - is stdout.
    --id COL  Column that identifies a row, copied first.
    --keep COL[,COL...]  More columns to copy.
    --with-text  Copy the text as well.
    --top-k K  Add the K likeliest labels.
    --explain  Add the words behind each label.
    --by-part  A Parquet file of labels for every part of DATA, in the folder --out;
        parts that are there already are not done again.
    --json  Write JSON lines instead of csv.
    """
    how = options.reading(encoding, format, no_quotes)
    if by_part or dask is not None or skip_bad:
        from earmark.apps.cli._parts import predict_in_parts

        options.refuse_with_parts(
            {
                "--explain": explain,
                "--id": id_column,
                "--keep": keep,
                "--with-text": with_text,
                "--top-k": top_k,
            }
        )
        folder = f"{data.rstrip('/')}.labels" if out == "-" else out
        told = predict_in_parts(
            model, data, folder, text, max_error, novelty, dask, skip_bad, how
        )
        if as_json:
            typer.echo(json.dumps(told))
        else:
            confirm(told_of_labels(told))
        return
    from earmark.apps.cli._console import counting
    from earmark.apps.cli._models import load_for, read_batches

    if out != "-":
        _require_kind(out, as_json)
        options.require_output(Path(out), data, model, streams=True)
    classifier, stored = load_for(model, max_error, novelty)
    copied = [name.strip() for name in (keep or "").split(",") if name.strip()]
    batches = read_batches(
        classifier, stored, data, text, id=id_column, keep=copied, **how
    )
    lines = as_json or out.lower().endswith((".jsonl", ".ndjson"))
    n_documents = n_open = n_foreign = n_unknown = 0
    among_rows = out == "-" and sys.stdout.isatty()
    with _output(out) as file, counting("labelled", hidden=among_rows) as advance:
        writer = _JsonLines(file) if lines else _Csv(file)
        for batch in batches:
            decision = classifier.decide(batch.texts)
            n_foreign += int(decision.foreign.sum())
            open_ = [label is None for label in decision.labels]
            n_open += sum(open_) - int(decision.foreign.sum())
            n_unknown += _without_known_words(classifier, batch, decision)
            rows = _records(classifier, batch, decision, explain)
            copies = _copies(batch, id_column, with_text)
            best = _likeliest(decision, top_k, lines)
            writer.write(a | b | c for a, b, c in zip(copies, rows, best, strict=True))
            advance(len(batch))
            n_documents += len(batch)
    if n_unknown:
        note(
            f"{number(n_unknown, 'document')} without any word that the model knows: "
            "the label is a guess."
        )
    _tell_unanswered(classifier, n_documents, n_open, n_foreign)


def _without_known_words(
    classifier: TextClassifier, batch: Documents, decision: Decision
) -> int:
    """How many documents are answered as an empty one would be."""
    blank = {name: [""] for name in batch.regions} if batch.regions else [""]
    same = (decision.scores == classifier.decide(blank).scores).all(axis=1)
    answered = [label is not None for label in decision.labels]
    return int((same & answered).sum())


def _tell_unanswered(
    classifier: TextClassifier, n_documents: int, n_open: int, n_foreign: int
) -> None:
    if n_foreign:
        note(
            f"{number(n_foreign, 'document')} {'is' if n_foreign == 1 else 'are'} "
            "unlike the training documents (novelty of "
            f"{classifier.max_novelty:g} or less): no answer."
        )
    if n_open:
        from earmark.decision.guarantee import several_words

        n_answered = n_documents - n_open - n_foreign
        share = 100 * n_answered / n_documents
        answered = f"Answered {n_answered:,} of {n_documents:,} ({share:.1f} %)"
        why = several_words(classifier.thresholds_, answered)
        note(f"{number(n_open, 'document')} without an answer. {why}")


def _require_kind(out: str, as_json: bool) -> None:
    """Refuse a name that promises another format than the one to be written."""
    lines = (".jsonl", ".ndjson", ".json")
    kinds = ("", ".txt", *lines) if as_json else ("", ".txt", ".csv", *lines[:2])
    if out.endswith("/"):
        raise typer.BadParameter(f"{out} is a folder; add --by-part, or name a file.")
    if Path(out).suffix.lower() not in kinds and not Path(out).exists():
        shown = "JSON lines: .jsonl" if as_json else "csv or JSON lines: .csv, .jsonl"
        raise typer.BadParameter(f"{out}: labels are written as {shown}.")


def told_of_labels(facts: dict[str, Any]) -> str:
    """One line for people, and one for each bad part."""
    again = f" ({facts['skipped']} were done before)" if facts["skipped"] else ""
    return "\n".join(
        [
            f"labelled {number(facts['documents'], 'document')}, "
            f"{facts['abstained']:,} without an answer, from "
            f"{number(facts['parts'] - len(facts['bad']), 'part')}{again} in "
            f"{facts['out']}",
            *(f"left out: {why}" for why in facts["bad"].values()),
        ]
    )


def _records(
    classifier: Any, batch: Any, decision: Any, explain: bool
) -> Iterator[dict[str, Any]]:
    reasons = classifier.explain(batch.texts) if explain else None
    leaves_open = decision.any_of and bool(classifier.thresholds_)
    answers = zip(decision.labels.tolist(), decision.confidence.tolist(), strict=True)
    for i, (label, confidence) in enumerate(answers):
        record = {"label": label, "confidence": round(confidence, 6)}
        if decision.novelty is not None:
            record["novelty"] = round(float(decision.novelty[i]), 6)
        if leaves_open:
            open_labels = classifier.classes_[decision.abstained[i]]
            record["undecided"] = [str(label) for label in open_labels]
        if reasons is not None:
            record["explanation"] = [
                [t.term if t.region is None else f"{t.region}:{t.term}", t.contribution]
                for t in reasons[i].terms[: reasons[i].top]
            ]
        yield record


def _copies(
    batch: Any, id_column: str | None, with_text: bool
) -> Iterator[dict[str, Any]]:
    """Row number or id, the columns to keep, and the text if asked for."""
    columns = {"row": batch.rows} if id_column is None else {id_column: batch.ids}
    columns |= batch.columns
    if with_text:
        texts = batch.texts
        columns |= texts if isinstance(texts, dict) else {"text": texts}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _likeliest(decision: Any, top_k: int, lines: bool) -> Iterator[dict[str, Any]]:
    """The labels with the highest scores: columns in csv, a mapping in JSON."""
    order = (-decision.scores).argsort(axis=1, kind="stable")[:, :top_k]
    for row, best in zip(decision.scores, order, strict=True):
        ranked = {str(decision.classes[c]): round(float(row[c]), 6) for c in best}
        if lines:
            yield {"scores": ranked} if ranked else {}
        else:
            yield {
                f"{kind}_{place}": value
                for place, pair in enumerate(ranked.items(), 1)
                for kind, value in zip(("label", "score"), pair, strict=True)
            }


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
    """stdout, a device or pipe, or a file that appears whole when the work is done."""
    if out == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(out)
    streams = path.exists() and not path.is_file()
    with (
        nullcontext(path) if streams else whole_file(path) as place,
        place.open("w", encoding="utf-8", newline="") as file,
    ):
        yield file
