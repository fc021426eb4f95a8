"""``earmark compare``: which model is really better on your documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.apps.cli import _options as options

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.pipeline import TextClassifier

__all__ = ["HELP", "NAME", "run"]

NAME = "compare"
HELP = """Compare models on the same splits, with intervals and paired tests.

tf-idf + linear SVM, tf-idf + logistic regression and Complement NB are always
among them. Says "no difference shown" where there is none.

  earmark compare mails.csv --label topic
  earmark compare mails.csv --label topic --models multinomial,hybrid --repeats 10
"""

_ALWAYS = "tf-idf + LR"


def run(
    data: options.Data,
    label: options.LabelColumn = None,
    text: options.TextColumns = None,
    models: Annotated[
        str,
        typer.Option(metavar="NAME[,NAME...]", help="See `earmark info --models`."),
    ] = "multinomial,hybrid",
    repeats: Annotated[int, typer.Option(min=2, help="Number of random splits.")] = 5,
    test_size: Annotated[
        float, typer.Option(min=0.05, max=0.95, help="Share tested in each split.")
    ] = 0.3,
    seed: Annotated[int, typer.Option(help="Same seed, same table.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: options.NoQuotes = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare models on the same splits, with intervals and paired tests."""
    from earmark.apps.cli._console import say, status
    from earmark.apps.cli._labels import ask_about_labels
    from earmark.documents import read_documents
    from earmark.evaluation import compare_classifiers

    contenders = _contenders(models, seed)
    with status(f"reading {data}"):
        documents = read_documents(
            data,
            label=label,
            null_text="empty",
            allow_unlabelled=True,
            **options.reading(encoding, format, no_quotes),
            **options.column_list(text),
        )
    documents = _labelled(documents)
    ask_about_labels(documents, label)
    with status(f"fitting {len(contenders)} models {repeats} times"):
        comparison = compare_classifiers(
            contenders,
            documents.texts,
            documents.labels or [],
            n_repeats=repeats,
            test_size=test_size,
            n_jobs=jobs,
            random_state=seed,
        )
    if as_json:
        typer.echo(json.dumps(comparison.to_dict()))
    else:
        say(comparison)


def _labelled(documents: Documents) -> Documents:
    """The documents that have a label; says so if some have none."""
    rows = options.labelled_rows(documents)
    if len(rows) < len(documents):
        n_left_out = len(documents) - len(rows)
        typer.echo(f"left out {n_left_out:,} documents without a label", err=True)
    return documents.take(rows)


def _contenders(models: str, seed: int) -> dict[str, TextClassifier]:
    """The models asked for, and the baselines that belong in every table."""
    from earmark.models import SoftmaxRegression
    from earmark.pipeline import TextClassifier

    names = [name.strip() for name in models.split(",") if name.strip()]
    options.require_models(*names)
    wanted = list(dict.fromkeys([*names, "svm", "complement"]))
    contenders = {name: TextClassifier(name, random_state=seed) for name in wanted}
    # The optimum of scikit-learn's LogisticRegression(C=10), many times faster.
    regression = SoftmaxRegression(solver="dual", C=10.0)
    contenders[_ALWAYS] = TextClassifier(regression, random_state=seed)
    return contenders
