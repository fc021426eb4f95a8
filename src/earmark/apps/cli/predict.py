"""``earmark predict``, ``filter``, ``explain``: what a model says of documents."""

from __future__ import annotations

import json
import math
import os
import shlex
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from earmark.apps.cli import options
from earmark.apps.cli.console import (
    TerminalData,
    counting,
    data_stream,
    echo,
    note,
    number,
    show,
)
from earmark.apps.cli.options import (
    DATA,
    DECIDING,
    LARGE,
    OUTPUT,
    app,
    argument,
    examples,
    groups,
    option,
)
from earmark.exceptions import DataError
from earmark.whole_files import csv_line, json_line, whole_file

if TYPE_CHECKING:
    from earmark.decision import Decision
    from earmark.documents import Documents
    from earmark.documents.exchange import Task
    from earmark.pipeline import TextClassifier


_LINES = (".jsonl", ".ndjson", ".json")


@dataclass(frozen=True)
class Output:
    """What is written of each document, and where."""

    out: Annotated[
        str,
        option(
            ".csv or .jsonl; - is stdout. Suggestions for a labelling tool: "
            ".label-studio.json, .argilla.json, .prodigy.jsonl, .doccano.jsonl.",
            "--out",
            "-o",
            panel=OUTPUT,
            metavar="FILE",
        ),
    ] = "-"
    id: Annotated[
        str | None,
        option(
            "Column that identifies a row, copied first.", panel=OUTPUT, metavar="COL"
        ),
    ] = None
    keep: Annotated[
        str | None,
        option("More columns to copy.", panel=OUTPUT, metavar="COL[,COL...]"),
    ] = None
    with_text: Annotated[bool, option("Copy the text as well.", panel=OUTPUT)] = False
    top_k: Annotated[
        int,
        option(
            "Add the K likeliest labels.",
            panel=OUTPUT,
            metavar="K",
            read=options.whole(0),
        ),
    ] = 0
    explain: Annotated[
        bool, option("Add the words behind each label.", panel=OUTPUT)
    ] = False
    as_json: Annotated[
        bool, option("Write JSON lines instead of csv.", "--json", panel=OUTPUT)
    ] = False

    @property
    def are_lines(self) -> bool:
        """Whether they are JSON lines, not csv."""
        return self.as_json or self.out.lower().endswith(_LINES[:2])


@app.command(
    epilog=examples(
        "earmark predict model.earmark new.csv --out labels.csv",
        "cat new.jsonl | earmark predict model.earmark - --format jsonl",
        "earmark predict model.earmark new.csv --id ticket --keep customer --top-k 3",
        "earmark predict model.earmark new.csv --max-error 0.05 --explain",
        "earmark predict model.earmark new.csv --novelty 0.01",
        "earmark predict model.earmark new.csv --out tasks.label-studio.json",
        "earmark predict model.earmark parts/ --by-part --out labels/",
        "earmark predict model.earmark parts/ --dask local:4 --out labels/",
    )
)
@groups
def predict(
    model: options.Model,
    data: options.Data,
    files: options.Files,
    rows: Output,
    max_error: options.MaxError = None,
    max_novelty: options.Novelty = None,
    by_part: Annotated[
        bool,
        option(
            "A Parquet file of labels for every part of DATA, in the folder --out "
            "(DATA.predicted); parts that are there already are not done again.",
            panel=LARGE,
        ),
    ] = False,
    skip_bad: options.SkipBad = False,
    dask: options.Dask = None,
) -> None:
    """Predict the labels of documents, in constant memory.

    Writes one row per document: row number (or the column --id), label and confidence.
    The label is empty where the model abstains. A model trained with --novelty adds a
    p-value: small for documents unlike the training documents. With several labels per
    document and --max-error, the column undecided lists the labels left open. The
    output file appears when everything is done.
    """
    from earmark.apps.cli.data import load_model, predict_in_parts

    in_parts = {"by_part": by_part, "dask": dask, "skip_bad": skip_bad}
    out = Path(f"{data.rstrip('/')}.predicted" if rows.out == "-" else rows.out)
    if any(in_parts.values()):
        whole: dict[str, object] = {"--explain": rows.explain, "--top-k": rows.top_k}
        whole |= {"--id": rows.id, "--keep": rows.keep}
        whole |= {"--with-text": rows.with_text}
        options.refuse_with_parts(whole, **in_parts)
        _require_folder(out)
    elif rows.out != "-":
        _require_kind(rows.out, rows.as_json)
        options.require_output(out, data, model, streams=True)
    stored = load_model(model, max_error, max_novelty)
    if any(in_parts.values()):
        from earmark.distributed.predicting import SentModel

        sent = SentModel(model, max_error, stored.classifier, max_novelty)
        facts = predict_in_parts(stored, data, files, sent, out, dask, skip_bad)
        labelled = f"labelled {number(facts['documents'], 'document')}"
        labelled += f", {facts['abstained']:,} without an answer"
        show(rows.as_json, facts, _words_about_parts(labelled, facts), saved=out)
        return
    copied = options.comma_list(rows.keep)
    batches = stored.batches(data, files, id=rows.id, keep=copied)
    _label_all(stored.classifier, batches, rows)


def _is_file(stream: IO[str]) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return True


def _label_all(
    classifier: TextClassifier, batches: Iterator[Documents], rows: Output
) -> None:
    """Write a row for each document, and print a summary."""
    from earmark.documents.exchange import dialect_named, written

    dialect = dialect_named(rows.out)
    totals: Counter[str] = Counter()
    # Rows on the terminal, or on their way through a pipe, are not to be mixed.
    hidden = rows.out == "-" and not _is_file(sys.stdout)
    with _output(rows.out) as file, counting("labelled", hidden=hidden) as advance:
        records = _all_records(classifier, batches, rows, totals, advance)
        if dialect is not None:
            decided = _decided(classifier, batches, totals, advance)
            file.writelines(written(_suggestions(classifier, decided), dialect))
        elif rows.are_lines:
            file.writelines(map(json_line, records))
        else:
            for place, record in enumerate(records):
                if place == 0:
                    file.write(csv_line(record))
                file.write(csv_line(map(_cell, record.values())))
    if rows.out != "-":
        note(f"wrote {rows.out}: {number(totals['documents'], 'document')}")
    if totals["unknown"]:
        note(
            f"{number(totals['unknown'], 'document')} without any word that the model "
            "knows: the label is a guess."
        )
    _tell_unanswered(classifier, totals)


def _all_records(
    classifier: TextClassifier,
    batches: Iterator[Documents],
    rows: Output,
    totals: Counter[str],
    advance: Callable[[int], None],
) -> Iterator[dict[str, Any]]:
    """The rows to write, and how many documents got no answer."""
    for batch, decision in _decided(classifier, batches, totals, advance):
        copies = _copies(batch, rows.id, rows.with_text)
        answers = _answers(classifier, batch, decision, rows.explain)
        best = _likeliest(decision, rows.top_k, rows.are_lines)
        records = zip(copies, answers, best, strict=True)
        for place, (copied, answer, scores) in enumerate(records):
            if not totals and place == 0:  # before anything is written
                _refuse_clashes(rows, batch, {*answer, *scores})
            yield copied | answer | scores


def _decided(
    classifier: TextClassifier,
    batches: Iterator[Documents],
    totals: Counter[str],
    advance: Callable[[int], None],
) -> Iterator[tuple[Documents, Decision]]:
    """Documents and their answers; they are counted when they are written."""
    for batch in batches:
        decision = classifier.decide(batch.texts)
        yield batch, decision
        foreign = int(decision.foreign.sum())
        totals["documents"] += len(batch)
        totals["foreign"] += foreign
        totals["open"] += sum(label is None for label in decision.labels) - foreign
        totals["unknown"] += _without_known_words(classifier, batch, decision)
        advance(len(batch))


def _suggestions(
    classifier: TextClassifier, decided: Iterator[tuple[Documents, Decision]]
) -> Iterator[Task]:
    """Documents for a labelling tool, each with what the model suggests."""
    from earmark.documents.exchange import Task

    classes = list(map(str, classifier.classes_.tolist()))
    several = classifier.is_multi_label_
    for batch, decision in decided:
        confidence = decision.confidence.tolist()
        for i, label in enumerate(decision.labels.tolist()):
            some = label if several else (label,)
            known = [] if label is None else [str(one) for one in some]
            texts = batch.texts
            parts = texts if isinstance(texts, dict) else {"text": texts}
            yield Task(
                {name: column[i] for name, column in parts.items()},
                batch.rows[i] if batch.ids is None else batch.ids[i],
                suggested=known,
                score=None if math.isnan(confidence[i]) else round(confidence[i], 6),
                classes=classes,
                several=several,
            )


def _refuse_clashes(rows: Output, batch: Documents, own: set[str]) -> None:
    """Refuse to copy columns whose names the output already uses."""
    own |= {"row"} if rows.id is None else set()
    if rows.with_text and not batch.regions and batch.text_columns != ("text",):
        own.add("text")
    copies = [("--keep", name) for name in options.comma_list(rows.keep)]
    for flag, name in [*copies, ("--id", rows.id)]:
        if name in own:
            truth = "; earmark evaluate compares answers with labels"
            raise typer.BadParameter(
                f"the output has its own column {name}; rename that of the data"
                f"{truth if name == 'label' else ''}.",
                param_hint=f"{flag} {name}",
            )


def _without_known_words(
    classifier: TextClassifier, batch: Documents, decision: Decision
) -> int:
    """How many documents are answered though none of their words is known."""
    columns = classifier.columns_
    if any(block.kind == "piece" for block in columns.blocks):
        # Pieces of unknown words are known, and say little.
        texts: Any = batch.texts
        words = columns.words(texts if batch.regions else {columns.regions[0]: texts})
        guessed = words.indptr[1:] == words.indptr[:-1]  # rows without a known word
    else:
        blank = {name: [""] for name in batch.regions} if batch.regions else [""]
        empty = classifier.decide(blank).scores
        guessed = (decision.scores == empty).all(axis=1)
    answered = [label is not None for label in decision.labels]
    return int((guessed & answered).sum())


def _tell_unanswered(classifier: TextClassifier, totals: Counter[str]) -> None:
    n_foreign, n_open = totals["foreign"], totals["open"]
    if n_foreign:
        note(
            f"{number(n_foreign, 'document')} {'is' if n_foreign == 1 else 'are'} "
            "unlike the training documents (novelty of "
            f"{classifier.max_novelty:g} or less): no answer."
        )
    if n_open:
        from earmark.decision.guarantee import several_words

        n_all = totals["documents"]
        n_answered = n_all - n_open - n_foreign
        share = 100 * n_answered / n_all
        answered = f"Answered {n_answered:,} of {n_all:,} ({share:.1f} %)"
        why = several_words(classifier.thresholds_, answered)
        note(f"{number(n_open, 'document')} without an answer. {why}")


def _require_folder(out: Path) -> None:
    """Refuse the name of a file for results of parts."""
    if not out.is_dir() and out.suffix.lower() in (".csv", ".parquet", *_LINES):
        raise typer.BadParameter(
            f"{out}: every part becomes a file of its own; name a folder.",
            param_hint="--out",
        )


def _require_kind(out: str, as_json: bool) -> None:
    """Refuse a name that promises another format than the one to be written."""
    from earmark.documents.exchange import dialect_named

    if dialect_named(out) is not None:
        return
    kinds = ("", ".txt", *_LINES) if as_json else ("", ".txt", ".csv", *_LINES[:2])
    if out.endswith("/"):
        raise typer.BadParameter(f"{out} is a folder; add --by-part, or name a file.")
    if Path(out).suffix.lower() not in kinds and not Path(out).exists():
        formats = "JSON lines: .jsonl" if as_json else "csv or JSON lines: .csv, .jsonl"
        raise typer.BadParameter(f"{out}: labels are written as {formats}.")


def _words_about_parts(done: str, facts: dict[str, Any]) -> str:
    """What was done with how many parts, where they are, and which are bad."""
    n_parts, before = facts["parts"] - len(facts["bad"]), facts["skipped"]
    outcome = f"{done}, from {number(n_parts, 'part')}"
    outcome += f" ({before:,} done before)" if before else ""
    if before and before == n_parts:
        outcome = f"nothing left to do: {number(n_parts, 'part')}, done before,"
    bad = (f"left out: {why}" for why in facts["bad"].values())
    return "\n".join([f"{outcome} in {facts['out']}", *bad])


def _answers(
    classifier: TextClassifier, batch: Documents, decision: Decision, explain: bool
) -> Iterator[dict[str, Any]]:
    reasons = classifier.explain(batch.texts) if explain else None
    leaves_open = decision.any_of and bool(classifier.thresholds_)
    answers = zip(decision.labels.tolist(), decision.confidence.tolist(), strict=True)
    for i, (label, confidence) in enumerate(answers):
        known = None if math.isnan(confidence) else round(confidence, 6)
        record = {"label": label, "confidence": known}
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
    batch: Documents, id_column: str | None, with_text: bool
) -> Iterator[dict[str, Any]]:
    """What a row of the output repeats of its document: id, columns and text."""
    columns: dict[str, Any] = {"row": batch.rows}
    if id_column is not None:
        columns = {id_column: batch.ids}
    columns |= batch.columns
    if with_text:
        texts = batch.texts
        columns |= texts if isinstance(texts, dict) else {"text": texts}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _likeliest(decision: Decision, top_k: int, lines: bool) -> Iterator[dict[str, Any]]:
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


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return "|".join(value)
    if isinstance(value, list):
        return " ".join(f"{term}:{weight:+.3f}" for term, weight in value)
    return value


@contextmanager
def _output(out: str) -> Iterator[BinaryIO | TerminalData]:
    """stdout, a device or pipe, or a file that appears whole when the work is done."""
    if out == "-":
        yield data_stream()
        sys.stdout.flush()
        return
    path = Path(out)
    streams = path.exists() and not path.is_file()
    try:
        with (
            nullcontext(path) if streams else whole_file(path) as place,
            place.open("wb") as file,
        ):
            yield file
    except OSError as error:
        error.filename = error.filename or out
        raise


@app.command(
    "filter",
    epilog=examples(
        "earmark filter model.earmark crawl/ --keep good --min-confidence 0.9 -o out/",
        "earmark filter model.earmark crawl/ --keep good --unit paragraph -o out/",
    ),
)
@groups
def filter_documents(
    model: options.Model,
    data: options.DataParts,
    files: options.Files,
    keep: Annotated[
        str, option("Labels to keep.", panel=OUTPUT, metavar="LABEL[,LABEL...]")
    ],
    out: Annotated[
        Path,
        option("Folder for what is kept.", "--out", "-o", panel=OUTPUT, metavar="DIR"),
    ],
    min_confidence: Annotated[
        float,
        option(
            "Minimum probability of the label.",
            panel=DECIDING,
            read=options.decimal(0.0, 1.0),
            metavar="N",
        ),
    ] = 0.0,
    unit: Annotated[
        Any,
        option(
            "Judge documents, or paragraphs between empty lines.",
            panel=DATA,
            metavar="document|paragraph",
            read=options.one_of("document", "paragraph"),
        ),
    ] = "document",
    max_error: options.MaxError = None,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Keep the documents, or paragraphs, that the model gives a wanted label.

    Every part of DATA becomes a part of the same name in the folder --out, with all
    its columns: Parquet stays Parquet, the others become JSON lines. Memory stays
    constant. If it is stopped, the same command goes on.
    """
    from earmark.apps.cli.data import load_model
    from earmark.distributed.predicting import filter_parts
    from earmark.pipeline.text_filter import TextFilter

    _require_folder(out)
    stored = load_model(model, max_error)
    text = stored.texts(files)
    if isinstance(text, list):
        raise DataError(
            f"{model}: it was trained on several columns; a filter needs a model of "
            "one text column."
        )
    chosen = TextFilter(stored.classifier, options.comma_list(keep), min_confidence)
    error = "" if max_error is None else f" {max_error}"
    with counting("judged") as advance:
        report = filter_parts(
            chosen,
            data,
            out,
            text=text,
            unit=unit,
            fingerprint=f"{stored.fingerprint}{error}",
            progress=advance,
            skip_bad=skip_bad,
            **files.how,
        )
    facts = {**asdict(report), "out": str(out)}
    share = report.kept_characters / max(1, report.characters)
    outcome = f"kept {report.kept:,} of {number(report.documents, 'document')}"
    outcome += f", {share:.1%} of the text"
    show(as_json, facts, _words_about_parts(outcome, facts), saved=out)


@app.command(
    epilog=examples(
        'earmark explain model.earmark "cheap pills, only today"',
        "cat mail.txt | earmark explain model.earmark -",
        'earmark explain mails.earmark \'{"subject": "lunch?", "body": "noon"}\'',
    )
)
@groups
def explain(
    model: options.Model,
    text: Annotated[
        str,
        argument(
            "TEXT",
            "The document, or - for stdin. For a model with several columns: a JSON "
            "object.",
        ),
    ],
    top: Annotated[
        int,
        option(
            "Number of words to show.", panel=OUTPUT, read=options.whole(1), metavar="N"
        ),
    ] = 10,
    paths: Annotated[
        int,
        option(
            "Paths of words and training documents to show.",
            panel=OUTPUT,
            read=options.whole(0),
            metavar="N",
        ),
    ] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Show the words behind a prediction; their contributions add up to its score."""
    from earmark.apps.cli.data import load_model

    if _names_file(text):
        raise typer.BadParameter(
            f"TEXT is the name of a file, {text}, and not what to explain; for one "
            f"document: earmark explain {shlex.quote(str(model))} - "
            f"< {shlex.quote(text)}; for the rows of a table: earmark predict "
            f"{shlex.quote(str(model))} {shlex.quote(text)} --explain."
        )
    classifier = load_model(model).classifier
    texts = _one_document(sys.stdin.read() if text == "-" else text, classifier)
    (explanation,) = classifier.explain(texts, top=top, paths=paths)
    if classifier.thresholds_ and classifier.decide(texts).labels[0] is None:
        note(
            f"note: with --max-error {classifier.max_error:g} this document gets no "
            "answer; shown is the label that is likeliest."
        )
    if as_json:
        show(True, explanation.to_dict(), None)
        return
    echo(explanation)
    if any(term.labelled is not None for term in explanation.terms):
        note(
            "supervised: learned from labels and class names; unlabelled: from text "
            "without labels."
        )
    if explanation.constants:
        note("In parentheses: evidence that belongs to no single word.")


def _names_file(text: str) -> bool:
    """Whether a text is the name of a file with an ending: hardly a document."""
    try:
        return bool(Path(text).suffix) and Path(text).is_file()
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def _one_document(
    text: str, classifier: TextClassifier
) -> list[str] | dict[str, list[str]]:
    """A text; for regions a JSON object of them, or the whole text in each's place."""
    from earmark.inputs.regions import trained_columns

    names = classifier.region_names_
    columns = trained_columns(classifier.regions, names)
    try:
        content = None if names is None else json.loads(text)
    except ValueError:
        content = None
    is_mail = classifier.regions == "email" and isinstance(content, dict)
    if names is None or (columns is None and not is_mail):
        return [text]
    if not isinstance(content, dict) or not content:
        note(
            f"note: the text stands in for each of {', '.join(names)}; give a JSON "
            "object of them to tell them apart."
        )
        return {name: [text] for name in names}
    unknown = sorted(set(content) - set(names))
    if unknown:
        raise DataError(
            f"the document has {', '.join(unknown)}, expected only {', '.join(names)}, "
            "the columns that the model was trained on."
        )
    regions = {name: str(content.get(name) or "") for name in names}
    if is_mail:  # which the model splits by itself
        return ["Subject: {subject}\n\n{body}".format(**regions)]
    return {name: [words] for name, words in regions.items()}
