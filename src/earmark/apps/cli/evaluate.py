"""``earmark evaluate``, ``compare``, ``learning-curve``, ``check``: how good it is."""

from __future__ import annotations

import shlex
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from earmark.apps.cli import options
from earmark.apps.cli.console import columns, echo, note, number, say, show, status
from earmark.apps.cli.options import (
    DATA,
    DECIDING,
    MODEL,
    OUTPUT,
    app,
    examples,
    groups,
    option,
)
from earmark.exceptions import EarmarkWarning
from earmark.tables import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earmark.documents import Documents
    from earmark.evaluation import Report
    from earmark.evaluation.label_errors import (
        SuspectedLabelError,
        SuspectedLabelErrors,
    )
    from earmark.evaluation.learning_curve import LearningCurve
    from earmark.evaluation.report import SideBySide
    from earmark.pipeline import TextClassifier
    from earmark.typing import IntVector, JsonObject

# Labels with or without so few documents are not judged: chance would speak.
_FEWEST = 3
# From so many documents on, two thirds of them judge as well as four fifths.
_MANY = 50_000
# Rows of contradicted labels: in the JSON, and in the words.
_MOST_ROWS, _SOME_ROWS = 100, 5
_REGRESSION, _MACHINE = "tf-idf + LR", "tf-idf + SVM"
# Columns of the file of doubtful labels, beside the texts.
_ABOUT = {"row", "labelled", "looks_like", "why"}
_WITH_ENCODER = ("auto", "linear", "semi-supervised")


@app.command(
    epilog=examples(
        "earmark evaluate model.earmark test.csv",
        "earmark evaluate model.earmark test.csv --report report.html",
        "earmark evaluate model.earmark test.csv --slices shop,sent",
        "earmark evaluate model.earmark test.csv --costs costs.csv",
        "earmark evaluate model.earmark test.csv --report r.html --doubtful fix.csv",
        "earmark evaluate old.earmark new.earmark test.csv --report both.html",
        "earmark evaluate model.earmark parts/ --dask local:4",
    )
)
@groups
def evaluate(
    *,
    models: options.Models = None,
    data: options.Data,
    files: options.LabelledFiles,
    report: Annotated[
        Path | None,
        option("Write one self-contained HTML page.", panel=OUTPUT, metavar="FILE"),
    ] = None,
    slices: Annotated[
        str | None,
        option(
            "Columns in which to look for documents that are misread more often; all "
            "but ids with --report.",
            panel=DATA,
            metavar="COL[,COL...]",
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        option(
            "What mistakes cost: a csv file with a row per label, a column per answer, "
            'and if you like a column "no answer".',
            panel=DECIDING,
            metavar="FILE",
        ),
    ] = None,
    doubtful: Annotated[
        Path | None,
        option(
            "Write the documents whose labels to check as csv, for `earmark label`.",
            panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    date: options.Day = None,
    max_error: options.MaxError = None,
    dask: options.Dask = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure one or more models on labelled documents they have not seen.

    The page of --report also says in which slices and with which words documents are
    misread more often, which labels to check, and what to do next.
    """
    from earmark.apps.cli.data import evaluate_in_parts

    if not models:
        raise typer.BadParameter(f"Missing argument 'DATA': {data} is taken as MODEL.")
    for file in (report, doubtful):
        if file is not None:
            options.require_output(file, data, *models)
    _refuse(models, dask, slices=slices, costs=costs, doubtful=doubtful)
    if doubtful is not None and doubtful.suffix.lower() != ".csv":
        raise typer.BadParameter(
            f"--doubtful writes csv: expected a name that ends in .csv, got {doubtful}."
        )
    if data == "-" and len(models) > 1:
        raise typer.BadParameter(
            "stdin can be read once; name a file to measure several models on."
        )
    if dask is not None:
        result: Report | SideBySide = evaluate_in_parts(
            models[0], data, files, max_error, dask
        )
    else:
        how: dict[str, Any] = {
            "text": files.text,
            "label": files.label,
            "encoding": files.encoding,
            "format": files.format,
            "max-error": max_error,
            "slices": slices,
            "costs": costs,
            "report": report,
        }
        header = _header([*models, data], how, date, dated=report is not None)
        asked = _Asked(
            *(files, max_error, header),
            columns=None if slices is None else options.comma_list(slices),
            costs=costs,
            doubtful=doubtful,
            with_checks=any(x is not None for x in (report, slices, doubtful)),
        )
        if len(models) == 1:
            result = _judged(models[0], data, asked)[0]
        else:
            result = _side_by_side(models, data, asked)
    echo(result.to_json() if as_json else result.to_text(columns() or WIDTH))
    if report is not None:
        result.to_html(report)
        note(f"wrote {report}")


def _refuse(models: list[Path], dask: str | None, **one_model: object) -> None:
    """Refuse what is for one model here, where it runs elsewhere or on several."""
    several = len(models) > 1
    if dask is not None and several:
        raise typer.BadParameter("--dask measures one model at a time.")
    for name, value in one_model.items():
        if value is not None and (dask is not None or several):
            where = "--dask" if dask is not None else "several models"
            raise typer.BadParameter(f"--{name} does not go with {where}.")


def _header(
    sources: list[Path | str], how: dict[str, Any], date: str | None, *, dated: bool
) -> dict[str, str]:
    """What stands under the title of a report, with the command that repeats it."""
    from earmark import __version__

    flags = [(f"--{name}", value) for name, value in how.items() if value is not None]
    words = [
        "earmark",
        "evaluate",
        *sources,
        *(word for flag in flags for word in flag),
    ]
    command = shlex.join(map(str, words))
    header = {"data": str(sources[-1]), "earmark": __version__, "command": command}
    if dated or date is not None:
        header = {"date": date or time.strftime("%Y-%m-%d"), **header}
    return header


@dataclass(frozen=True)
class _Asked:
    """What a report is asked to say."""

    files: options.LabelledFiles
    max_error: Any
    header: dict[str, str]
    columns: list[str] | None
    costs: Path | None
    doubtful: Path | None
    with_checks: bool

    @property
    def keep(self) -> list[str] | Literal["all"]:
        """The columns to read beside texts and labels."""
        if not self.with_checks:
            return []
        return "all" if self.columns is None else [*map(_asked_by_slices, self.columns)]


def _asked_by_slices(name: str) -> str:
    from earmark.documents.table import KnownColumn

    column = KnownColumn(name)
    column.origin = "asked for by --slices"
    return column


def _side_by_side(models: list[Path], data: str, asked: _Asked) -> SideBySide:
    from earmark.evaluation.report import SideBySide
    from earmark.pipeline.text_classifier import deciding_words

    names, asked = _names(models), replace(asked, with_checks=False)
    judged = [_judged(model, data, asked) for model in models]
    reports = {name: one[0] for name, one in zip(names, judged, strict=True)}
    both = SideBySide(reports, asked.header)
    for name, (report, classifier, documents) in [*zip(names, judged, strict=True)][1:]:
        rows = both.examples(name)
        words = deciding_words(classifier, documents.texts, rows)
        reports[name] = replace(report, words=words)
    return SideBySide(reports, asked.header)


def _names(models: list[Path]) -> list[str]:
    """Short names; the whole path where two would be alike."""
    short = [model.name for model in models]
    return short if len({*short}) == len(short) else [*map(str, models)]


def _judged(
    model: Path, data: str, asked: _Asked
) -> tuple[Report, TextClassifier, Documents]:
    """The report of a model, and the labelled documents that it is on."""
    from earmark.apps.changes import has_learned
    from earmark.apps.cli.data import labelled_only, load_model
    from earmark.evaluation import CostMatrix, check_documents, group_near_duplicates
    from earmark.evaluation.slices import without_ids
    from earmark.inputs.duplicates import DuplicateGroups

    costs = None if asked.costs is None else CostMatrix.from_csv(asked.costs)
    stored = load_model(model, asked.max_error)
    classifier = stored.classifier
    with status(f"reading {data}"):
        documents = stored.read(data, asked.files, keep=asked.keep)
    labelled, rest = labelled_only(documents)
    if has_learned(stored.metadata, documents, *([labelled] if len(rest) else [])):
        note(
            f"{model.name} was trained on the documents of {data}, so these figures "
            "are too good; evaluate documents that it has not seen."
        )
    _tell_new_labels(stored.classifier, labelled, data)
    with status(f"evaluating {len(documents):,} documents"), warnings.catch_warnings():
        # Said already, with the name of the file.
        warnings.filterwarnings("ignore", "y: the model has not", EarmarkWarning)
        parts: dict[str, Any] = {"costs": costs}
        if asked.with_checks:
            copies = group_near_duplicates(documents.joined())
            parts["findings"] = check_documents(
                documents.joined(),
                documents.labels,
                near_duplicates=copies,
                to_learn=False,
            )
            parts["label_errors"] = _suspects(classifier, labelled)
            has_label = [label is not None for label in documents.labels or ()]
            parts["copies"] = DuplicateGroups(copies.group[has_label])
            parts["columns"] = without_ids(labelled.columns)
            if asked.columns is not None:
                parts["columns"] = _to_slice(labelled, parts["columns"])
        report = classifier.report(
            labelled.texts,
            labelled.labels,
            title=f"{model.name} on {Path(data).name}",
            header={"model": f"{model} ({classifier.model_name_})", **asked.header},
            rows=labelled.rows or None,
            **parts,
        )
    if asked.doubtful is not None and not report.doubtful:
        note(f"no label is doubtful, so {asked.doubtful} is not written")
    elif asked.doubtful is not None:
        command = _write_doubtful(report, labelled, asked.doubtful)
        report = replace(report, label_command=command)
        todo = "" if command is None else f"; to fix them: {command}"
        many = number(len(report.doubtful), "doubtful label")
        note(f"wrote {many} to {asked.doubtful}{todo}")
    return report, classifier, labelled


def _to_slice(
    documents: Documents, columns: dict[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """The columns asked for, without ids and constant ones; each left out is named."""
    some: dict[str, Sequence[Any]] = {}
    for name, values in documents.columns.items():
        if name in documents.text_columns:
            raise typer.BadParameter(
                f"--slices: {name} is the text; the words of misread documents are in "
                "the report anyway."
            )
        if values == documents.labels:
            raise typer.BadParameter(
                f"--slices: {name} is the label; every label is a slice anyway."
            )
        if name not in columns:
            note(f"--slices: {name} is left out: nearly every document has its own")
        elif len({*map(str, values)}) < 2:
            note(f"--slices: {name} is left out: all documents have the same")
        else:
            some[name] = values
    return some


def _write_doubtful(report: Report, documents: Documents, path: Path) -> str | None:
    """Write the documents whose labels to check; the command that opens them."""
    from earmark.whole_files import csv_line, whole_file

    doubtful = report.doubtful
    some = documents.take(one.index for one in doubtful)
    texts = some.texts if isinstance(some.texts, dict) else {"text": some.texts}
    if not _ABOUT.isdisjoint(texts):
        texts = {"text": some.joined()}
    with whole_file(path) as temporary, temporary.open("wb") as file:
        file.write(csv_line(["row", *texts, "labelled", "looks_like", "why"]))
        for one, *regions in zip(doubtful, *texts.values(), strict=True):
            about = one.label, one.suggested, one.reason
            file.write(csv_line([report.row(one.index), *regions, *about]))
    command = ["earmark", "label", str(path), "--text", ",".join(texts)]
    labels = csv_line(report.classes).decode().rstrip("\n")
    command += ["--labels", labels]
    # A project needs two documents.
    return shlex.join([*command, "--check-share", "0"]) if len(some) > 1 else None


def _tell_new_labels(
    classifier: TextClassifier, documents: Documents, data: str
) -> None:
    """Say which labels of a file the model has not learned; an error if it has none."""
    import numpy as np

    from earmark.documents.labels import each_label
    from earmark.inputs.training import warn_of_new_labels

    labels = np.array([*each_label(documents.labels or ())], dtype=object)
    warn_of_new_labels(labels, classifier.classes_, data, required=True)


def _suspects(
    classifier: TextClassifier, documents: Documents
) -> list[SuspectedLabelError] | None:
    """Labels of the test documents that the model, which has not seen them, doubts."""
    from earmark.evaluation import suspected_label_errors

    if classifier.is_multi_label_:
        return None
    classes = classifier.classes_.tolist()
    labels = documents.labels or []
    texts = documents.joined()
    rows = [
        row
        for row, (label, text) in enumerate(zip(labels, texts, strict=True))
        if label in classes and text.strip()
    ]
    if not rows:
        return []
    some = documents.take(rows)
    errors = suspected_label_errors(
        some.labels or [],
        classifier.predict_log_proba(some.texts),
        classes,
        texts=some.joined(),
    )
    return [replace(error, index=rows[error.index]) for error in errors]


@app.command(
    epilog=examples(
        "earmark compare mails.csv --label topic",
        "earmark compare few.csv --label topic --unlabelled many.jsonl",
        "earmark compare mails.csv --label topic --models softmax,hybrid --repeats 10",
        "earmark compare phrases.csv --label language --analyzer char_wb --ngrams 1,4",
        "earmark compare few.csv --unlabelled many.jsonl --encoder minilm",
    )
)
@groups
def compare(
    data: options.Data,
    files: options.TrainingFiles,
    fitting: options.FittingOptions,
    unlabelled: options.Unlabelled = None,
    models: Annotated[
        str | None,
        option(
            "Names of `earmark info --models`. Usually auto,multinomial,hybrid.",
            panel=MODEL,
            metavar="NAME[,NAME...]",
        ),
    ] = None,
    n_repeats: options.Repeats = 5,
    test_size: Annotated[
        float,
        option(
            "Share tested in each split.",
            panel=MODEL,
            read=options.decimal(0.05, 0.95),
            metavar="N",
        ),
    ] = 0.3,
    as_json: options.AsJson = False,
) -> None:
    """Compare models on the same splits, with intervals and paired tests.

    tf-idf + linear SVM, tf-idf + logistic regression and Complement NB are always
    among them. Says "no difference shown" where there is none. Documents without a
    label, in DATA or in --unlabelled, go to the models that use them. With --encoder a
    logistic regression on its vectors joins.
    """
    from earmark.evaluation import compare_classifiers

    contenders = _contenders(models, files.multi_label, fitting)
    documents, pool = files.read_with_pool(data, unlabelled)
    with status(f"training {len(contenders)} models on {n_repeats} splits"):
        comparison = compare_classifiers(
            contenders,
            documents.texts,
            documents.labels or [],
            unlabelled=pool,
            n_repeats=n_repeats,
            test_size=test_size,
            n_jobs=fitting.n_jobs,
            random_state=fitting.random_state,
        )
    words = comparison.to_text(columns() or WIDTH)
    show(as_json, comparison.to_dict(), words, is_result=True)


def _contenders(
    models: str | None,
    several: bool,
    fitting: options.FittingOptions,
) -> dict[str, Any]:
    """The models asked for, and the baselines that belong in every table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from earmark.apps.cli.encoded import EncoderVectors
    from earmark.models import SoftmaxRegression
    from earmark.pipeline import TextClassifier

    names = options.comma_list(models or "auto,multinomial,hybrid")
    options.require_models(*names)
    parameters = fitting.parameters
    alone = parameters | {"encoder": None}
    wanted = list(dict.fromkeys([*names, "complement"]))
    contenders: dict[str, Any] = {
        name: TextClassifier(name, **parameters if name in _WITH_ENCODER else alone)
        for name in wanted
    }
    # The optimum of scikit-learn's LogisticRegression(C=10), many times faster.
    regression = SoftmaxRegression(solver="dual", C=10.0)
    contenders[_REGRESSION] = TextClassifier(regression, **alone)
    contenders[_MACHINE] = TextClassifier(LinearSVC(random_state=0), **alone)
    encoder = fitting.other_encoder
    if encoder is not None and not several:
        vectors, regression = EncoderVectors(encoder), LogisticRegression(C=10.0)
        contenders["encoder + LR"] = make_pipeline(vectors, regression)
    return contenders


@app.command(
    "learning-curve",
    epilog=examples(
        "earmark learning-curve mails.csv --label topic",
        "earmark learning-curve few.csv --unlabelled many.jsonl --chart curve.svg",
    ),
)
@groups
def learning_curve(
    data: options.Data,
    files: options.MergedFiles,
    fitting: options.FittingOptions,
    unlabelled: options.Unlabelled = None,
    model: options.ModelName = "auto",
    sizes: Annotated[
        Any,
        option(
            "Numbers of labels; seven if not given.",
            panel=MODEL,
            metavar="N[,N...]",
            read=options.whole_numbers,
        ),
    ] = None,
    n_repeats: options.Repeats = 5,
    chart: Annotated[
        Path | None,
        option("Draw it: .svg, .png or .pdf.", panel=OUTPUT, metavar="FILE"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure accuracy against the number of labels, and what more would bring.

    Fits the model on growing parts of the labelled documents, tests it on others, and
    says what more labels would buy. Documents without a label, in DATA or in
    --unlabelled, go to a model that uses them.
    """
    from earmark.evaluation import learning_curve
    from earmark.pipeline import TextClassifier

    options.require_models(model)
    if chart is not None:
        _require_chart(chart, data)
    classifier = TextClassifier(model, **fitting.parameters)
    documents, pool = files.read_with_pool(data, unlabelled)
    with status(f"training {model} {n_repeats} times per number of labels"):
        curve = learning_curve(
            classifier,
            documents.texts,
            documents.labels or [],
            unlabelled=pool,
            sizes=sizes,
            n_repeats=n_repeats,
            n_jobs=fitting.n_jobs,
            random_state=fitting.random_state,
        )
    show(as_json, curve.to_dict(), curve, is_result=True)
    if chart is not None:
        _draw(curve, model, chart)
        note(f"wrote {chart}")


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
    import numpy as np
    from matplotlib.figure import Figure

    from earmark.whole_files import whole_file

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    color = axes.plot(curve.sizes, curve.mean, label=name)[0].get_color()
    axes.fill_between(curve.sizes, curve.low, curve.high, color=color, alpha=0.2)
    axes.set(xscale="log", xlabel="Labelled documents", ylabel="Accuracy")
    if curve.horizon > curve.sizes[-1]:
        ahead = np.geomspace(curve.sizes[0], curve.horizon, 60)
        axes.plot(ahead, 1 - curve.law.error(ahead), ":", color=color, linewidth=1)
        axes.set_xlabel("Labelled documents (dotted: fitted law)")
    axes.legend()
    with whole_file(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:])


@app.command(
    epilog=examples(
        "earmark check mails.csv --label topic",
        "earmark check train.csv --label topic --test test.csv",
        "earmark check posts.csv --label tags --multi-label",
    )
)
@groups
def check(
    data: options.Data,
    files: options.TrainingFiles,
    test: Annotated[
        str | None,
        option("Test data, to check for leaks.", panel=DATA, metavar="DATA2"),
    ] = None,
    top: Annotated[
        int,
        option(
            "Suspected labels to show.",
            panel=OUTPUT,
            read=options.whole(0),
            metavar="N",
        ),
    ] = 10,
    as_json: options.AsJson = False,
) -> None:
    """Find common problems in labelled documents.

    Empty texts, repeated documents, equal documents with different labels, leaks
    between training and test part, sorted or very uneven classes, and labels that
    are more probably wrong than right, judged by a model that never saw them.
    """
    from earmark.apps.cli.data import ask_about_labels
    from earmark.documents.document import fingerprint
    from earmark.documents.labels import each_label
    from earmark.evaluation import check_documents, group_near_duplicates
    from earmark.evaluation.data_checks import Finding

    with status(f"reading {data}"):
        documents = files.read(data)
        other = None if test is None else files.read(test, documents)
    # Labels that are no classes, such as ids, cannot be judged.
    top = top if ask_about_labels(documents, files.label) else 0
    with status(f"checking {len(documents):,} documents"):
        texts, labels = documents.joined(), documents.labels
        copies = group_near_duplicates(texts)
        against = None if other is None else (other.joined(), other.labels)
        findings = check_documents(texts, labels, test=against, near_duplicates=copies)
        errors = _wrong_labels(documents, copies.group) if top else None
        if errors is not None and errors.warning is not None:
            rows = tuple(errors.contradicted[:_MOST_ROWS].tolist())
            first = ", ".join(str(documents.rows[row]) for row in rows[:_SOME_ROWS])
            warning = f"{errors.warning} The most doubtful: rows {first}."
            findings.append(Finding("contradicted", warning, rows))
    if as_json:
        listed = [
            {**one.to_dict(), "rows": [row + 1 for row in one.rows]} for one in findings
        ]
        facts = {"fingerprint": fingerprint(documents), "findings": listed}
        show(True, {**facts, **_as_json(documents, errors, top)}, None)
        return
    n_labels = len(set(each_label(labels or ())))
    say(f"{number(len(documents), 'document')}, {number(n_labels, 'label')}")
    say(f"fingerprint {fingerprint(documents)}")
    for finding in [*map(str, findings)] or ["no problems found"]:
        say(f"- {finding}", hang="  ")
    if errors is not None:
        say(f"\n{errors}")
        for one in errors[:top]:
            doubt = f"looks like {one.suggested} ({100 * one.probability:.0f} %)"
            place = f"  row {documents.rows[one.index]}: labelled {one.given}, {doubt}"
            say(f"{place}: {_beginning(texts[one.index])}", hang="    ")
        if len(errors) > top:
            say(f"  and {len(errors) - top:,} more (--top)")


def _beginning(text: str) -> str:
    return text[:80].replace("\n", " ")


def _as_json(
    documents: Documents, errors: SuspectedLabelErrors | None, top: int
) -> JsonObject:
    from earmark.evaluation.result import as_data

    if errors is None or not errors.informed:
        return {"suspected_label_errors": []}
    texts = documents.joined()
    lines = [
        {
            "row": documents.rows[one.index],
            "label": one.given,
            "suggested": one.suggested,
            "probability": round(one.probability, 3),
            "margin": round(one.margin, 3),
            "text": _beginning(texts[one.index]),
        }
        for one in errors[:top]
    ]
    interval = [round(end, 1) for end in errors.interval]
    wrong = {"estimate": round(errors.n_wrong, 1), "interval": interval}
    wrong["suspected"] = len(errors)
    listed = {"suspected_label_errors": lines, "wrong_labels": wrong}
    return {name: as_data(part) for name, part in listed.items()}


def _wrong_labels(
    documents: Documents, copies: IntVector
) -> SuspectedLabelErrors | None:
    """Labels that a model without the document contradicts, and how many are wrong."""
    import numpy as np

    from earmark.documents.labels import each_label

    every = zip(documents.labels or (), documents.joined(), strict=False)
    rows = [i for i, (y, text) in enumerate(every) if y is not None and text.strip()]
    labelled = documents.take(rows)
    several = any(isinstance(label, list) for label in labelled.labels or ())
    names = sorted(set(each_label(labelled.labels or ())))
    if len(names) < (1 if several else 2):
        return None
    if several:
        errors = _label_by_label(labelled, copies[rows], names)
    else:
        errors = _contradicted(labelled, copies[rows])
    low, high = errors.interval
    least = _conflicts(labelled)
    contradicted = np.asarray(rows, np.int64)[errors.contradicted % len(rows)]
    return replace(
        errors,
        errors=tuple(replace(one, index=rows[one.index]) for one in errors),
        n_wrong=max(least, errors.n_wrong),
        interval=(max(least, low), max(least, high)),
        contradicted=contradicted,
    )


def _conflicts(labelled: Documents) -> int:
    """How many labels are wrong at least, since equal texts have different ones."""
    by_text: dict[str, Counter[str]] = {}
    for text, label in zip(labelled.joined(), labelled.labels or (), strict=True):
        by_text.setdefault(" ".join(text.split()), Counter())[str(label)] += 1
    return sum(each.total() - max(each.values()) for each in by_text.values())


def _contradicted(labelled: Documents, groups: IntVector) -> SuspectedLabelErrors:
    from earmark.evaluation import left_out_log_proba, suspected_label_errors
    from earmark.pipeline import TextClassifier

    classes, log_proba = left_out_log_proba(
        TextClassifier("hybrid"),
        labelled.texts,
        labelled.labels,
        groups=groups,
        n_folds=5 if len(labelled) <= _MANY else 3,
    )
    return suspected_label_errors(labelled.labels, log_proba, classes)


def _label_by_label(
    labelled: Documents, groups: IntVector, names: list[str]
) -> SuspectedLabelErrors:
    """Whether each label is missing or too much; the texts are counted once."""
    import numpy as np

    from earmark.evaluation.label_errors import (
        SuspectedLabelErrors,
        left_out_log_proba,
        suspected_label_errors,
    )
    from earmark.features import WordCounter
    from earmark.models import HybridBayes

    counts = WordCounter().fit_transform(labelled.joined())
    sets = labelled.labels or []
    judged = []
    for name in names:
        has = [name if name in labels else f"not {name}" for labels in sets]
        if min(has.count(name), len(has) - has.count(name)) < _FEWEST:
            continue
        classes, log_proba = left_out_log_proba(
            HybridBayes(), counts, has, groups=groups
        )
        judged.append(suspected_label_errors(has, log_proba, classes))
    every = [one for errors in judged for one in errors]
    low, high = (sum(errors.interval[end] for errors in judged) for end in (0, 1))
    return SuspectedLabelErrors(
        tuple(sorted(every, key=lambda one: (-one.probability, -one.margin))),
        np.concatenate([np.zeros(0), *(errors.probability for errors in judged)]),
        sum(errors.n_wrong for errors in judged),
        (low, high),
        float(np.mean([errors.noise_rate for errors in judged] or [0.0])),
        any(errors.informed for errors in judged) or not judged,
        np.concatenate(
            [
                np.zeros(0, np.int64),
                *(
                    place * len(sets) + errors.contradicted
                    for place, errors in enumerate(judged)
                ),
            ]
        ),
    )
