"""``earmark evaluate``: accuracy of a model on labelled documents."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import note, status

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.evaluation import Report, SuspectedLabelError
    from earmark.pipeline import TextClassifier
    from earmark.typing import JsonObject

__all__ = ["run"]


def run(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Model files.", show_default=False),
    ],
    data: options.Data,
    label: str | None = None,
    text: str | None = None,
    report: Path | None = None,
    date: str | None = None,
    max_error: options.MaxError = None,
    dask: str | None = None,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure a model on labelled documents it has not seen, or several.

      earmark evaluate model.earmark test.csv
      earmark evaluate model.earmark test.csv --report report.html
      earmark evaluate old.earmark new.earmark test.csv
      earmark evaluate model.earmark parts/ --dask local:4

    --report FILE  Write one self-contained HTML page.
    --date DAY  The date at the top of the page, instead of today's.
    """
    from earmark import __version__
    from earmark.evaluation import SideBySide

    if report is not None:
        options.require_output(report, data, *models)
    how = options.reading(encoding, format, no_quotes)
    if dask is not None:
        if len(models) > 1:
            raise typer.BadParameter("--dask measures one model at a time.")
        from earmark.apps.cli._parts import evaluate_in_parts

        result: Report | SideBySide = evaluate_in_parts(
            models[0], data, text, label, max_error, dask, how
        )
    else:
        command = f"earmark evaluate {' '.join(map(str, models))} {data}"
        header = {"data": data, "earmark": __version__, "command": command}
        if report is not None or date is not None:
            header = {"date": date or time.strftime("%Y-%m-%d"), **header}
        reports = {
            name: _judged(
                model, data, text, label, max_error, how, header, report is not None
            )
            for name, model in zip(_names(models), models, strict=True)
        }
        result = (
            SideBySide(reports, header)
            if len(models) > 1
            else next(iter(reports.values()))
        )
    typer.echo(result.to_json() if as_json else str(result))
    if report is not None:
        result.to_html(report)
        note(f"wrote {report}")


def _names(models: list[Path]) -> list[str]:
    """Short names; the whole path where two would be alike."""
    short = [model.name for model in models]
    alike = len(set(short)) < len(short)
    return [str(model) if alike else model.name for model in models]


def _judged(
    model: Path,
    data: str,
    text: str | None,
    label: str | None,
    max_error: float | str | None,
    how: JsonObject,
    header: dict[str, str],
    with_checks: bool,
) -> Report:
    from earmark.apps.cli._models import load_for, read_all
    from earmark.documents.document import fingerprint
    from earmark.evaluation import check_documents

    classifier, stored = load_for(model, max_error)
    with status(f"reading {data}"):
        documents = read_all(classifier, stored, data, text, label, **how)
    options.labelled_rows(documents)
    known = stored.metadata.get("training_data")
    if isinstance(known, dict) and known.get("fingerprint") == fingerprint(documents):
        note(
            f"{model.name} was trained on {data}, so these figures are too good; "
            "evaluate documents that it has not seen."
        )
    with status(f"evaluating {len(documents):,} documents"):
        return classifier.report(
            documents.texts,
            documents.labels,
            title=f"{model.name} on {Path(data).name}",
            header={"model": f"{model} ({classifier.model_name_})", **header},
            label_errors=_suspects(classifier, documents) if with_checks else None,
            findings=check_documents(documents.joined(), documents.labels)
            if with_checks
            else None,
        )


def _suspects(
    classifier: TextClassifier, documents: Documents
) -> list[SuspectedLabelError] | None:
    """Labels of the test documents that the model, which has not seen them, doubts."""
    from dataclasses import replace

    from earmark.evaluation import suspected_label_errors

    if classifier.is_multi_label_:
        return None
    classes = classifier.classes_.tolist()
    labels = documents.labels or []
    rows = [row for row, label in enumerate(labels) if label in classes]
    some = documents.take(rows)
    errors = suspected_label_errors(
        some.labels or [],
        classifier.predict_log_proba(some.texts),
        classes,
        texts=some.joined(),
    )
    return [replace(error, index=rows[error.index]) for error in errors]
