"""``earmark train``: documents in, a model file out."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "run"]

NAME = "train"
HELP = """Learn a classifier from labelled documents and save it.

Rows without a label are used as unlabelled text. The model file is written
whole or not at all.

  earmark train mails.csv --label topic
  earmark train mails.csv --label topic --text subject,body --model hybrid
  earmark train few.csv --label topic --unlabelled many.jsonl
"""


def run(
    data: options.Data,
    label: options.LabelColumn = None,
    text: options.TextColumns = None,
    unlabelled: Annotated[
        str | None,
        typer.Option(metavar="DATA2", help="More documents, without labels."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="See `earmark info --models`.")
    ] = "auto",
    multi_label: Annotated[
        bool,
        typer.Option(
            "--multi-label", help="Several labels a document, as a|b or lists."
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The model file.")
    ] = Path("model.earmark"),
    max_error: options.MaxError = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="DATA3",
            help="Labelled documents kept out of training: --max-error is then a "
            "guarantee, not an estimate.",
        ),
    ] = None,
    class_weight: Annotated[
        Literal["balanced"] | None,
        typer.Option(metavar="balanced", help="Weigh classes equally."),
    ] = None,
    email: Annotated[
        bool,
        typer.Option("--email", help="Texts are mails: subject and body are regions."),
    ] = False,
    stem: Annotated[
        str | None,
        typer.Option(metavar="LANGUAGE", help="Count stems, such as of english."),
    ] = None,
    substitute: Annotated[
        str | None,
        typer.Option(
            metavar="KIND[,KIND]", help="One token for every number, address (mail)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of whatever is random.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Threads for counting.")] = 1,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    as_json: options.AsJson = False,
) -> None:
    """Learn a classifier from labelled documents and save it."""
    from earmark.apps.cli._console import status
    from earmark.documents import read_documents
    from earmark.pipeline import TextClassifier

    options.require_models(model)
    options.require_folder(out)
    features = options.text_options(stem, substitute)
    started = time.perf_counter()
    with status(f"reading {data}"):
        documents = read_documents(
            data,
            label=label,
            multi_label=multi_label,
            allow_unlabelled=True,
            null_text="empty",
            encoding=encoding,
            format=format,
            **options.column_list(text),
        )
        pool = None
        if unlabelled is not None:
            pool = read_documents(
                unlabelled,
                label=False,
                null_text="empty",
                encoding=encoding,
                **options.column_list(text),
            ).texts
        held_out = None
        if calibration is not None:
            held_out = read_documents(
                calibration,
                label=label,
                multi_label=multi_label,
                allow_unlabelled=True,
                null_text="empty",
                encoding=encoding,
                **options.column_list(text),
            )
    options.labelled_rows(documents)
    classifier = TextClassifier(
        model,
        regions="email" if email else None,
        features=features,
        multi_label=multi_label or "auto",
        max_error=max_error,
        class_weight=class_weight,
        random_state=seed,
        n_jobs=jobs,
    )
    with status(f"learning from {len(documents):,} documents"):
        classifier.fit(
            documents.texts,
            documents.labels,
            unlabelled=pool,
            calibration=held_out and (held_out.texts, held_out.labels),
        )
    if classifier.evidence_ is None and not classifier.is_multi_label_:
        with status("estimating how right it is"):
            classifier.measure_confidence(documents.texts, documents.labels)
    classifier.columns_ = {"text": text, "label": label}
    classifier.save(out)
    seconds = time.perf_counter() - started
    typer.echo(
        json.dumps(_facts(classifier, documents, out, seconds))
        if as_json
        else _sentences(classifier, documents, out, seconds)
    )


def _facts(
    classifier: Any, documents: Any, out: Path, seconds: float
) -> dict[str, Any]:
    return {
        "model": classifier.model_name_,
        "classes": classifier.classes_.tolist(),
        "documents": len(documents),
        "labelled": sum(label is not None for label in documents.labels),
        "summary": classifier.summary(),
        "file": str(out),
        "bytes": out.stat().st_size,
        "seconds": round(seconds, 3),
    }


def _sentences(classifier: Any, documents: Any, out: Path, seconds: float) -> str:
    n_labelled = sum(label is not None for label in documents.labels)
    size = out.stat().st_size / 1e6
    return "\n".join(
        [
            f"learned {len(classifier.classes_)} classes from {n_labelled:,} labelled "
            f"documents in {seconds:.1f} s",
            classifier.summary(),
            f"saved {out} ({size:.1f} MB); try: earmark predict {out} NEW-DATA",
        ]
    )
