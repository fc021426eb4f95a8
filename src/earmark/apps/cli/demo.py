"""``earmark demo``: the whole story on text that every machine has."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from earmark.apps.cli.console import confirm, echo, say, status
from earmark.apps.cli.options import (
    DATA,
    OUTPUT,
    app,
    examples,
    groups,
    option,
    whole,
)

if TYPE_CHECKING:
    from earmark.decision import Decision
    from earmark.documents import Documents
    from earmark.evaluation.coverage import AccuracyCoverage
    from earmark.pipeline import TextClassifier

_LABELS_PER_CLASS = 20


@app.command(epilog=examples("earmark demo", "earmark demo --data messages"))
@groups
def demo(
    out: Annotated[
        Path, option("Folder for report and model.", panel=OUTPUT, metavar="DIR")
    ] = Path("earmark-report"),
    labels: Annotated[
        int,
        option(
            "Labelled documents per class.",
            panel=DATA,
            read=whole(2),
            metavar="N",
        ),
    ] = _LABELS_PER_CLASS,
    data: Annotated[
        Path | None,
        option(
            "Write train.csv and test.csv (180 messages to a shop's support) into DIR, "
            "and stop.",
            panel=DATA,
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Show what earmark does, on the docstrings of the installed Python packages.

    Compares models, shows which answers to trust, explains one of them, and writes
    an HTML report. Takes under a minute and downloads nothing.
    """
    from earmark.documents import docstring_corpus, labelled_per_class, stratified_split

    if data is not None:
        _write_data(data)
        return
    started = time.perf_counter()
    corpus = docstring_corpus()
    y: list[str] = corpus.labels or []
    say(
        f"The task: which of {len(set(y))} Python packages does a docstring come "
        f"from? {len(corpus):,} documents, but only {labels} labels for each package."
    )
    train, test = stratified_split(y, test_size=0.3, random_state=0)
    chosen, pool = labelled_per_class([y[i] for i in train], labels, random_state=0)
    parts = {
        "labelled": corpus.take(train[chosen]),
        "pool": corpus.take(train[pool]),
        "test": corpus.take(test),
    }
    with status("training 3 models"):
        best, table, decision, curve = _compare(parts)
    echo(f"\n{table}")
    echo("* share of the documents that can be answered at 95 % accuracy")
    echo("\nWhich answers to trust: accuracy of the most confident answers")
    for share in (0.1, 0.25, 0.5, 0.75, 1.0):
        accuracy = curve.accuracy_at(share)
        echo(f"{share:>6.0%}  {accuracy:.3f}  {'█' * round(40 * accuracy)}")
    _explain(best, parts["test"].take([int(decision.confidence.argmax())]))
    out.mkdir(parents=True, exist_ok=True)
    report, model = out / "report.html", out / "demo.earmark"
    best.report(
        parts["test"].texts,
        parts["test"].labels,
        title="Docstrings by package",
        columns={},
    ).to_html(report)
    best.save(model)
    # `make demo` puts the command where the path does not lead to yet.
    command = "earmark" if shutil.which("earmark") else sys.argv[0]
    echo(
        f"\nWrote {report} (open it in a browser) and {model}.\n"
        f"Next: {command} explain {model} 'Return the eigenvalues of a matrix'\n"
        f"      {command} train your.csv --label COLUMN\n"
        f"All of this took {time.perf_counter() - started:.0f} s."
    )


def _write_data(folder: Path) -> None:
    from earmark.documents.support import write_support_corpus

    train, test = write_support_corpus(folder)
    confirm(
        f"Wrote {train} and {test}: messages to a shop's support, by topic.\n"
        f"Next: earmark train {train} --label topic"
    )


def _compare(
    parts: dict[str, Documents],
) -> tuple[TextClassifier, str, Decision, AccuracyCoverage]:
    """Fit a few models: the automatic one with its answers, and a table of all."""
    import numpy as np
    from sklearn.svm import LinearSVC

    from earmark.evaluation import accuracy_coverage
    from earmark.pipeline import TextClassifier
    from earmark.progress import tracked
    from earmark.tables import text_table

    labelled, test = parts["labelled"], parts["test"]
    truth = np.asarray(test.labels)
    rows = []
    # What people would take otherwise, on the same labels, and then ours.
    models: dict[str, Any] = {
        "Complement NB": "complement",
        "tf-idf + linear SVM": LinearSVC(random_state=0),
        "earmark with unlabelled text": "auto",
    }
    classifier = TextClassifier()
    for title, model in tracked("model", models.items(), len(models)):
        started = time.perf_counter()
        pool = parts["pool"].texts if model == "auto" else None
        classifier = TextClassifier(model, random_state=0)
        classifier.fit(labelled.texts, labelled.labels, unlabelled=pool)
        seconds = time.perf_counter() - started
        decision = classifier.decide(test.texts)
        curve = accuracy_coverage(truth, decision.labels, decision.confidence)
        accuracy = float(np.mean(decision.labels == truth))
        covered = curve.coverage_at(0.95)
        rows.append([title, f"{accuracy:.3f}", f"{covered:.0%}", f"{seconds:.1f}"])
    head = ["model", "accuracy", "trusted*", "seconds"]
    return classifier, text_table(head, rows), decision, curve


def _explain(classifier: TextClassifier, chosen: Documents) -> None:
    """The words behind one answer."""
    (explanation,) = classifier.explain(chosen.texts, top=8)
    assert isinstance(chosen.texts, dict)  # docstrings have regions
    name = chosen.texts["name"][0]
    echo(f"\nWhy {name!r} was classified as {explanation.label}:")
    echo(str(explanation))
