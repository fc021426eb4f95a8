"""``earmark demo``: the whole story on text that every machine has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["HELP", "NAME", "run"]

NAME = "demo"
HELP = """Show what earmark does, on the docstrings of the installed Python packages.

Compares models, shows which answers to trust, explains one of them, and writes
an HTML report. Takes under a minute and downloads nothing.
"""

_LABELS_PER_CLASS = 20
_BASELINES = {
    "tf-idf + linear SVM": "svm",
    "Complement NB": "complement",
}


def run(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for report and model.")
    ] = Path("earmark-report"),
    labels: Annotated[
        int, typer.Option(min=2, help="Labelled documents for each class.")
    ] = _LABELS_PER_CLASS,
) -> None:
    """Show what earmark does on the docstrings of the installed packages."""
    from earmark.documents import docstring_corpus, labelled_per_class, stratified_split

    started = time.perf_counter()
    corpus = docstring_corpus()
    y = corpus.labels
    typer.echo(
        f"The task: from which of {len(set(y))} Python packages is a docstring? "
        f"{len(corpus):,} documents,\nbut only {labels} labels for each package."
    )
    train, test = stratified_split(y, test_size=0.3, random_state=0)
    chosen, pool = labelled_per_class([y[i] for i in train], labels, random_state=0)
    parts = {
        "labelled": corpus.take(train[chosen]),
        "pool": corpus.take(train[pool]),
        "test": corpus.take(test),
    }
    best = _compare(parts)
    _coverage(best, parts["test"])
    _explain(best, parts["test"])
    out.mkdir(parents=True, exist_ok=True)
    report, model = out / "report.html", out / "demo.earmark"
    best.report(
        parts["test"].texts, parts["test"].labels, title="Docstrings by package"
    ).to_html(report)
    best.save(model)
    typer.echo(
        f"\nWrote {report} (open it in a browser) and {model}.\n"
        f"Next: earmark explain {model} 'Return the eigenvalues of a matrix'\n"
        f"      earmark train your.csv --label COLUMN\n"
        f"All of this took {time.perf_counter() - started:.0f} s."
    )
