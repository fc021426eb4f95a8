"""``earmark learning-curve``: what more labels would buy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.apps.cli import _options as options

if TYPE_CHECKING:
    from earmark.evaluation import LearningCurve

__all__ = ["run"]


def run(
    data: options.Data,
    label: str | None = None,
    text: str | None = None,
    unlabelled: str | None = None,
    model: str = "auto",
    analyzer: options.Analyzer = None,
    ngrams: options.Ngrams = None,
    budget: options.Budget = None,
    sizes: str | None = None,
    repeats: Annotated[int, typer.Option(min=2)] = 5,
    chart: Path | None = None,
    seed: int = 0,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    merge_labels: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure accuracy against the number of labels, and what more would bring.

    Fits the model on growing parts of the labelled documents, tests it on others, and
    says what more labels would buy. Documents without a label, in DATA or in
    --unlabelled, go to a model that uses them.

      earmark learning-curve mails.csv --label topic
      earmark learning-curve few.csv --label topic --unlabelled many.jsonl --chart c.svg

    --model NAME  One of `earmark info --models`.
    --sizes N[,N...]  Numbers of labels; seven if not given.
    --repeats  Curves to average.
    --chart FILE  Draw it: .svg, .png or .pdf.
    --jobs  Number of processes.
    """
    from earmark.apps.cli._console import note, say, status
    from earmark.apps.cli._training_data import labelled_and_pool
    from earmark.evaluation import learning_curve
    from earmark.pipeline import TextClassifier

    options.require_models(model)
    if chart is not None:
        _require_chart(chart, data)
    features = options.text_options(None, None, None, ngrams, analyzer)
    classifier = TextClassifier(
        model, features=features, budget=budget, random_state=seed
    )
    numbers = _numbers(sizes)
    documents, pool = labelled_and_pool(
        data,
        unlabelled,
        options.column_list(text) | options.reading(encoding, format, no_quotes),
        label=label,
        merge_labels=merge_labels,
    )
    with status(f"training {model} {repeats} times per number of labels"):
        curve = learning_curve(
            classifier,
            documents.texts,
            documents.labels or [],
            unlabelled=pool,
            sizes=numbers,
            n_repeats=repeats,
            n_jobs=jobs,
            random_state=seed,
        )
    if as_json:
        typer.echo(json.dumps(curve.to_dict()))
    else:
        say(curve)
    if chart is not None:
        _draw(curve, model, chart)
        note(f"wrote {chart}")


def _numbers(sizes: str | None) -> list[int] | None:
    if sizes is None:
        return None
    try:
        return [int(part) for part in sizes.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"expected whole numbers between commas, such as 50,100,200; got {sizes}.",
            param_hint="--sizes",
        ) from None


def _require_chart(chart: Path, data: str) -> None:
    from earmark._optional import require

    options.require_output(chart, data)
    if chart.suffix not in (".svg", ".png", ".pdf"):
        raise typer.BadParameter(
            f"expected a name that ends in .svg, .png or .pdf; got {chart.name}.",
            param_hint="--chart",
        )
    require("matplotlib", "draw the curve")


def _draw(curve: LearningCurve, name: str, path: Path) -> None:
    """The curve as a picture; the whole file or none."""
    from matplotlib.figure import Figure

    from earmark.evaluation import LearningCurveDisplay
    from earmark.whole_files import whole_file

    figure = Figure(figsize=(6, 4), layout="constrained")
    LearningCurveDisplay(curve, name=name).plot(figure.subplots())
    with whole_file(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:])
