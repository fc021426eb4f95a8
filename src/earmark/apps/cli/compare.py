"""``earmark compare``: which model is really better on your documents."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from earmark.apps.cli import _options as options

__all__ = ["run"]


_ALWAYS = "tf-idf + LR"
_WITH_ENCODER = ("auto", "semi-supervised")


def run(
    data: options.Data,
    label: str | None = None,
    text: str | None = None,
    unlabelled: str | None = None,
    multi_label: bool = False,
    models: str | None = None,
    analyzer: options.Analyzer = None,
    ngrams: options.Ngrams = None,
    encoder: options.Encoder = None,
    budget: options.Budget = None,
    repeats: Annotated[int, typer.Option(min=2)] = 5,
    test_size: Annotated[float, typer.Option(min=0.05, max=0.95)] = 0.3,
    seed: int = 0,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: bool = False,
    merge_labels: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare models on the same splits, with intervals and paired tests.

    tf-idf + linear SVM, tf-idf + logistic regression and Complement NB are always
    among them. Says "no difference shown" where there is none. Documents without a
    label, in DATA or in --unlabelled, go to the models that use them. With --encoder a
    logistic regression on its vectors joins.

      earmark compare mails.csv --label topic
      earmark compare few.csv --label topic --unlabelled many.jsonl
      earmark compare mails.csv --label topic --models multinomial,hybrid --repeats 10
      earmark compare phrases.csv --label language --analyzer char_wb --ngrams 1,4
      earmark compare few.csv --unlabelled many.jsonl --encoder model2vec:NAME

    --models NAME[,NAME...]  Names of `earmark info --models`. Default:
        auto,multinomial,hybrid.
    --repeats  Number of random splits.
    --test-size  Share tested in each split.
    --jobs  Number of processes.
    """
    from earmark.apps.cli._console import say, status
    from earmark.apps.cli._training_data import labelled_and_pool
    from earmark.evaluation import compare_classifiers

    features = options.text_options(None, None, None, ngrams, analyzer)
    contenders = _contenders(
        models,
        multi_label,
        encoder,
        features=features,
        budget=budget,
        random_state=seed,
    )
    documents, pool = labelled_and_pool(
        data,
        unlabelled,
        options.column_list(text) | options.reading(encoding, format, no_quotes),
        label=label,
        multi_label=multi_label,
        merge_labels=merge_labels,
    )
    with status(f"training {len(contenders)} models on {repeats} splits"):
        comparison = compare_classifiers(
            contenders,
            documents.texts,
            documents.labels or [],
            unlabelled=pool,
            n_repeats=repeats,
            test_size=test_size,
            n_jobs=jobs,
            random_state=seed,
        )
    if as_json:
        typer.echo(json.dumps(comparison.to_dict()))
    else:
        say(comparison)


def _contenders(
    models: str | None, several: bool, encoder: str | None, **parameters: Any
) -> dict[str, Any]:
    """The models asked for, and the baselines that belong in every table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from earmark.apps.cli._encoded import EncoderVectors
    from earmark.models import SoftmaxRegression
    from earmark.pipeline import TextClassifier

    # With several labels per document auto is the SVM, which is there anyway.
    usual = "multinomial,hybrid" if several else "auto,multinomial,hybrid"
    names = [name.strip() for name in (models or usual).split(",") if name.strip()]
    options.require_models(*names)
    wanted = list(dict.fromkeys([*names, "svm", "complement"]))
    contenders: dict[str, Any] = {
        name: TextClassifier(
            name, encoder=encoder if name in _WITH_ENCODER else None, **parameters
        )
        for name in wanted
    }
    # The optimum of scikit-learn's LogisticRegression(C=10), many times faster.
    regression = SoftmaxRegression(solver="dual", C=10.0)
    contenders[_ALWAYS] = TextClassifier(regression, **parameters)
    if encoder is not None and not several:
        contenders["encoder + LR"] = make_pipeline(
            EncoderVectors(encoder), LogisticRegression(C=10.0)
        )
    return contenders
