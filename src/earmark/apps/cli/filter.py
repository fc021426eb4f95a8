"""``earmark filter``: keep the documents of a corpus that are wanted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from earmark.apps.cli import _options as options

__all__ = ["run"]


def run(
    model: options.Model,
    data: options.Data,
    keep: Annotated[str, typer.Option()],
    out: Annotated[Path, typer.Option()],
    min_confidence: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.0,
    unit: Literal["document", "paragraph"] = "document",
    max_error: options.MaxError = None,
    text: str | None = None,
    skip_bad: bool = False,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Keep the documents, or paragraphs, that the model gives a wanted label.

    Every part of DATA becomes a part of the same name in the folder --out, with all
    its columns: Parquet stays Parquet, the others become JSON lines. Memory stays
    constant. If it is stopped, the same command goes on.

      earmark filter model.earmark crawl/ --keep good --min-confidence 0.9 --out clean/
      earmark filter model.earmark crawl/ --keep good --unit paragraph --out clean/

    --keep LABEL[,LABEL...]  Labels to keep.
    -o, --out DIR  Folder for what is kept.
    --min-confidence  Minimum probability of the label.
    --unit  Judge documents, or paragraphs between empty lines.
    --text COL  Column with the text.
    """
    from earmark.apps.cli._console import confirm, counting, number
    from earmark.apps.cli._models import load_for
    from earmark.distributed.predicting import filter_parts
    from earmark.exceptions import DataError
    from earmark.pipeline.text_filter import TextFilter

    classifier, stored = load_for(model, max_error)
    if text is None:
        text = stored.text
    if classifier.region_names_ is not None or "," in (text or ""):
        raise DataError(
            f"{model}: it was trained on several columns; a filter needs a model of "
            "one text column."
        )
    labels = [label.strip() for label in keep.split(",") if label.strip()]
    chosen = TextFilter(classifier, labels, min_confidence)
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
            **options.reading(encoding, format, no_quotes),
        )
    if as_json:
        typer.echo(json.dumps({**asdict(report), "out": str(out)}))
        return
    again = f" ({report.skipped} were done before)" if report.skipped else ""
    share = report.kept_characters / max(1, report.characters)
    bad = [f"left out: {why}" for why in report.bad.values()]
    kept = (
        f"kept {report.kept:,} of {number(report.documents, 'document')}, {share:.1%} "
        f"of the text, from {number(report.parts, 'part')}{again} in {out}"
    )
    confirm("\n".join([kept, *bad]))
