"""``earmark train``: documents in, a model file out."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import confirm, note, number, status
from earmark.exceptions import DataError

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.pipeline import TextClassifier

__all__ = ["run"]


def run(
    data: options.Data,
    label: str | None = None,
    text: str | None = None,
    unlabelled: str | None = None,
    classes: str | None = None,
    class_names: str | None = None,
    model: str = "auto",
    multi_label: bool = False,
    out: Path = Path("model.earmark"),
    max_error: options.MaxError = None,
    calibration: str | None = None,
    min_coverage: str | None = None,
    learn_confidence: bool = False,
    novelty: options.Novelty = None,
    budget: options.Budget = None,
    class_weight: Literal["balanced"] | None = None,
    email: bool = False,
    stem: str | None = None,
    analyzer: options.Analyzer = None,
    ngrams: options.Ngrams = None,
    substitute: str | None = None,
    encoder: options.Encoder = None,
    seed: int = 0,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    memory: options.Memory = None,
    skip_bad: bool = False,
    keep_parts: bool = False,
    hashed: Annotated[int | None, typer.Option(min=10, max=30)] = None,
    dask: str | None = None,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    merge_labels: bool = False,
    no_estimate: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a classifier on labelled documents and save it.

    Rows without a label are used as unlabelled text. The model file is written
    atomically.

      earmark train mails.csv --label topic
      earmark train mails.csv --label topic --text subject,body --model hybrid
      earmark train few.csv --label topic --unlabelled many.jsonl
      earmark train pool.csv --classes sport,politics,tech
      earmark train pool.csv --class-names names.csv
      earmark train phrases.csv --label language --analyzer char_wb --ngrams 1,4
      earmark train few.csv --unlabelled many.jsonl --encoder model2vec:NAME
      earmark train parts/ --label topic --model multinomial --memory 2GB

    --classes LABEL[,LABEL]  Classes to learn by name, also without any label.
    --class-names NAMES  What the classes are about: a table with columns label and
        description.
    --model NAME  One of `earmark info --models`.
    -o, --out FILE  The model file.
    --calibration DATA3  Labelled documents kept out of training. They turn the estimate
        of --max-error into a guarantee.
    --learn-confidence  Learn from the training documents, each left out, which answers
        are right, and rank by that where it helps: more answers for --max-error.
    --class-weight balanced  Weigh classes equally.
    --email  Texts are e-mails: regions subject, body.
    --stem LANGUAGE  Count word stems, e.g. english.
    --substitute KIND[,KIND]  Replace each number or address by one token.
    --jobs  Threads for counting.
    --keep-parts  Keep what each part gave in MODEL.parts: training again, with parts
        added to the folder, reads only the new ones.
    --hashed BITS  Hash words into 2^BITS columns.
    --no-estimate  Do not estimate the accuracy: faster.
    """
    from earmark.apps.cli._training_data import ask_about_labels, training_data
    from earmark.pipeline import TextClassifier

    options.require_models(model)
    if min_coverage is not None and calibration is None:
        raise typer.BadParameter(
            "it says where the test on documents kept apart starts, and there are "
            "none: add --calibration DATA.",
            param_hint="--min-coverage",
        )
    given = [name for name in (data, unlabelled, calibration) if name is not None]
    options.require_output(out, *given)
    started = time.perf_counter()
    described = None if class_names is None else options.names_of(class_names)
    classifier = TextClassifier(
        model,
        regions="email" if email else None,
        class_names="auto" if described is None else described,
        features=options.text_options(stem, substitute, hashed, ngrams, analyzer),
        encoder=encoder,
        multi_label=multi_label or "auto",
        max_error=options.error_rate(max_error),
        min_coverage=options.share_list(min_coverage),
        learn_confidence=learn_confidence,
        max_novelty=options.error_rate(novelty),
        budget=budget,
        class_weight=class_weight,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(multi_label),  # label by label; shown on a terminal
    )
    how = options.reading(encoding, format, no_quotes)
    alone = (multi_label, merge_labels, calibration, classes, class_names, novelty)
    if not any((*alone, memory, options.error_rate(max_error), format)):
        memory = _memory(data, model)
    if memory is not None or dask is not None or skip_bad or keep_parts:
        from earmark.apps.cli._parts import train_in_parts

        whole: dict[str, object] = {
            "--calibration": calibration,
            "--classes": classes,
        }
        whole |= {"--class-names": class_names, "--encoder": encoder}
        if model not in ("auto", "semi-supervised"):
            whole["--max-error"] = options.error_rate(max_error)
            whole["--novelty"] = options.error_rate(novelty)
        options.refuse_with_parts(whole)
        if keep_parts and dask is not None:
            raise typer.BadParameter(
                "workers keep nothing: leave out --dask.", param_hint="--keep-parts"
            )
        where = (data, unlabelled, text, label, out)
        facts = train_in_parts(
            classifier, *where, memory, dask, skip_bad, keep_parts, how
        )
        if as_json:
            typer.echo(json.dumps(facts))
        else:
            confirm(_told_of_parts(facts))
        return
    how |= {"null_text": "empty", **options.column_list(text)}
    labels = {
        "label": label,
        "multi_label": multi_label,
        "allow_unlabelled": True,
        "merge_labels": merge_labels,
    }
    documents, pool, held_out = _read(data, unlabelled, calibration, how, labels)
    wanted = None if classes is None else options.listed(classes)
    if wanted is not None and described is not None:
        _require_same(wanted, described, documents)
    if wanted is None and class_names is None:
        options.labelled_rows(documents)
    if not multi_label:
        ask_about_labels(documents, label, wanted)
    _learn(classifier, documents, pool, held_out, wanted, estimate=not no_estimate)
    metadata = {
        "columns": {"text": text, "label": label, **_guessed(text, documents)},
        "training_data": training_data(data, documents, pool),
    }
    classifier.save(out, metadata=metadata)
    seconds = time.perf_counter() - started
    if as_json:
        typer.echo(json.dumps(_facts(classifier, documents, out, seconds)))
    else:
        confirm(_sentences(classifier, documents, out, seconds))


def _guessed(text: str | None, documents: Documents) -> dict[str, str]:
    """The text column that nobody named, for `earmark info`."""
    columns = documents.text_columns if text is None else ()
    return {"guessed": ", ".join(columns)} if columns else {}


def _require_same(
    classes: list[str], described: dict[str, list[str]], documents: Documents
) -> None:
    """Refuse descriptions of classes that nobody asked for."""
    from earmark.documents.labels import each_label

    more = sorted({*described} - {*classes} - {*each_label(documents.labels or ())})
    if more:
        raise typer.BadParameter(
            f"--class-names also describes {', '.join(more)}; add to --classes, or "
            "leave --classes out to learn every class described."
        )


def _memory(data: str, model: str) -> int | None:
    """A limit for large data that can be read in parts, and that is said."""
    from earmark.apps.cli._parts import memory_for_large
    from earmark.models.registry import MODELS

    if data == "-" or not (model == "auto" or MODELS[model].in_parts):
        return None
    memory = memory_for_large(data)
    if memory is not None:
        note(
            f"{data} is large: read in parts, within {_size(memory)} of memory and "
            "without an estimate of the accuracy; --memory sets another limit"
        )
    return memory


def _read(
    data: str,
    unlabelled: str | None,
    calibration: str | None,
    how: dict[str, Any],
    labels: dict[str, Any],
) -> tuple[Documents, Any, Documents | None]:
    """The documents, more texts without labels, and documents to calibrate with."""
    from earmark.documents import read_documents
    from earmark.documents.labels import merge_with

    pool = held_out = None
    with status(f"reading {data}"):
        documents = read_documents(data, **labels, **how)
        how = {**how, "format": None}  # --format is that of DATA
        if unlabelled is not None:
            pool = read_documents(unlabelled, label=False, **how).texts
        if calibration is not None:
            held_out = read_documents(calibration, **labels, **how)
            options.labelled_rows(held_out)
            if labels["merge_labels"]:
                held_out = merge_with(held_out, documents.labels or ())
    return documents, pool, held_out


def _learn(
    classifier: TextClassifier,
    documents: Documents,
    pool: Any,
    held_out: Documents | None,
    classes: list[str] | None,
    *,
    estimate: bool,
) -> None:
    """Fit, and estimate the accuracy if nothing else tells."""
    said = status(f"training on {number(len(documents), 'document')}")
    with nullcontext() if classifier.verbose else said:
        try:
            classifier.fit(
                documents.texts,
                documents.labels,
                classes=classes,
                unlabelled=pool,
                calibration=held_out and (held_out.texts, held_out.labels),
            )
        except DataError as error:
            source = documents.source
            if held_out is not None and str(error).startswith("calibration"):
                source = held_out.source
            raise DataError(f"{source}: {error}") from error
    known = any(label is not None for label in documents.labels or ())
    wanted = estimate and known and not classifier.is_multi_label_
    if classifier.evidence_ is None and wanted:
        with status("estimating the accuracy"):
            classifier.measure_confidence(
                documents.texts, documents.labels, unlabelled=pool
            )
    evidence = classifier.evidence_
    if evidence is not None and evidence.n_copies:
        note(f"warning: {_copies(evidence.n_copies, evidence.held_out)}")


def _copies(count: int, held_out: bool) -> str:
    one = count == 1
    if held_out:
        return (
            f"{number(count, 'calibration document')} nearly "
            f"{'repeats' if one else 'repeat'} a training document or another one; "
            f"{'it is' if one else 'they are'} left out."
        )
    alike = "is a near-duplicate of another" if one else "are near-duplicates of others"
    return (
        f"{number(count, 'labelled document')} {alike}; each counts once in the "
        "estimates. `earmark check` lists them."
    )


def _told_of_parts(facts: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"learned {number(len(facts['classes']), 'class', 'classes')} from "
            f"{number(facts['labelled'], 'labelled document')} in "
            f"{number(facts['parts'], 'part')} in {facts['seconds']:.1f} s "
            f"({facts['documents_per_second']:,.0f} documents/s)",
            *(f"left out: {name}" for name in facts["bad_parts"]),
            facts["summary"],
            f"saved {facts['file']} ({_size(facts['bytes'])})",
        ]
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def _facts(
    classifier: TextClassifier, documents: Documents, out: Path, seconds: float
) -> dict[str, Any]:
    return {
        "model": classifier.model_name_,
        "classes": classifier.classes_.tolist(),
        "documents": len(documents),
        "labelled": sum(label is not None for label in documents.labels or ()),
        "summary": classifier.summary(),
        "file": str(out),
        "bytes": out.stat().st_size,
        "seconds": round(seconds, 3),
    }


def _sentences(
    classifier: TextClassifier, documents: Documents, out: Path, seconds: float
) -> str:
    n_labelled = sum(label is not None for label in documents.labels or ())
    shown = _size(out.stat().st_size)
    source = number(len(documents), "document")
    if n_labelled:
        source = number(n_labelled, "labelled document")
    todo = f"try: earmark predict {out} NEW-DATA"
    if not n_labelled:
        todo = f"to find out how accurate it is: earmark label {documents.source}"
    return "\n".join(
        [
            f"learned {number(len(classifier.classes_), 'class', 'classes')} from "
            f"{source} in {seconds:.1f} s",
            classifier.summary(),
            f"saved {out} ({shown}); {todo}",
        ]
    )
