"""``earmark train``, ``update``, ``forget``: make and change a model file."""

from __future__ import annotations

import shlex
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earmark.apps.cli import data as reading
from earmark.apps.cli import options
from earmark.apps.cli.console import file_size, note, number, show, status, warn
from earmark.apps.cli.options import (
    DATA,
    DECIDING,
    LARGE,
    MODEL,
    OUTPUT,
    app,
    examples,
    groups,
    option,
)
from earmark.exceptions import DataError, NotSupportedError, UnavailableError
from earmark.whole_files import changed_by_one

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.pipeline import TextClassifier


@dataclass(frozen=True)
class DecisionOptions:
    """When a classifier answers."""

    max_error: options.MaxError = None
    calibration: Annotated[
        str | None,
        option(
            "Labelled documents kept out of training. They turn the estimate of "
            "--max-error into a guarantee.",
            panel=DECIDING,
            metavar="DATA3",
        ),
    ] = None
    min_coverage: options.MinCoverage = None
    learn_confidence: Annotated[
        bool,
        option(
            "Learn a confidence score from left-out answers. Often lets --max-error "
            "answer more documents.",
            panel=DECIDING,
        ),
    ] = False
    max_novelty: options.Novelty = None

    @property
    def parameters(self) -> dict[str, Any]:
        """As ``TextClassifier`` takes them."""
        if self.min_coverage is not None and self.calibration is None:
            raise typer.BadParameter(
                "it says where the test on documents kept apart starts, and there are "
                "none: add --calibration DATA.",
                param_hint="--min-coverage",
            )
        return {
            "max_error": options.error_rate(self.max_error),
            "min_coverage": self.min_coverage,
            "learn_confidence": self.learn_confidence,
            "max_novelty": options.error_rate(self.max_novelty),
        }


@dataclass(frozen=True)
class TextOptions(options.FittingOptions):
    """What becomes of a text before its words are counted."""

    email: Annotated[
        bool, option("Texts are e-mails: regions subject, body.", panel=DATA)
    ] = False
    stem: Annotated[
        str | None,
        option("Count word stems, e.g. english.", panel=MODEL, metavar="LANGUAGE"),
    ] = None
    substitute: Annotated[
        str | None,
        option(
            "Replace each number or address by one token.",
            panel=MODEL,
            metavar="KIND[,KIND]",
        ),
    ] = None
    hashed: Annotated[
        int | None,
        option(
            "Hash words into 2^BITS columns.",
            panel=LARGE,
            metavar="BITS",
            read=options.whole(10, 30),
        ),
    ] = None

    @property
    def features(self) -> Any:
        """``TextClassifier.features``; None if no option is set."""
        prepared: dict[str, Any] = {"stemmer": self.stem} if self.stem else {}
        if self.substitute:
            prepared["substitutions"] = options.comma_list(self.substitute)
        if prepared:
            from earmark.features.preparation import TextPreparation

            try:
                TextPreparation(**prepared)("")
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
        features = super().features | prepared
        if self.hashed is None:
            return features or None
        if features:
            raise typer.BadParameter(
                "does not go with --stem, --substitute, --analyzer or --ngrams.",
                param_hint="--hashed",
            )
        from earmark.features import HashedCounter

        return HashedCounter(n_features=2**self.hashed, alternate_sign=False, norm=None)


@app.command(
    epilog=examples(
        "earmark train mails.csv --label topic",
        "earmark train mails.csv --label topic --text subject,body --model hybrid",
        "earmark train few.csv --label topic --unlabelled many.jsonl",
        "earmark train pool.csv --classes sport,politics,tech",
        "earmark train pool.csv --class-names names.csv",
        "earmark train phrases.csv --label language --analyzer char_wb --ngrams 1,4",
        "earmark train few.csv --unlabelled many.jsonl --encoder minilm",
        "earmark train parts/ --label topic --model multinomial --memory 2GB",
    )
)
@groups
def train(
    data: options.Data,
    files: options.TrainingFiles,
    deciding: DecisionOptions,
    wording: TextOptions,
    large: options.PartsOptions,
    unlabelled: options.Unlabelled = None,
    classes: Annotated[
        str | None,
        option(
            "Classes to learn by name, also without any label.",
            panel=DATA,
            metavar="LABEL[,LABEL]",
        ),
    ] = None,
    class_names: Annotated[
        str | None,
        option(
            "What the classes are about: a table with columns label and description.",
            panel=DATA,
            metavar="NAMES",
        ),
    ] = None,
    model: options.ModelName = "auto",
    out: Annotated[
        Path, option("The model file.", "--out", "-o", panel=OUTPUT, metavar="FILE")
    ] = Path("model.earmark"),
    class_weight: Annotated[
        str | None,
        option(
            "Weigh classes equally.",
            panel=MODEL,
            metavar="balanced",
            read=options.one_of("balanced"),
        ),
    ] = None,
    no_estimate: Annotated[
        bool, option("Do not estimate the accuracy: faster.", panel=OUTPUT)
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a classifier on labelled documents and save it.

    Rows without a label are used as unlabelled text. The model file is written
    atomically.
    """
    from earmark.pipeline import TextClassifier

    options.require_models(model)
    inputs = (data, unlabelled, deciding.calibration)
    options.require_output(out, *(name for name in inputs if name is not None))
    started = time.perf_counter()
    described = None if class_names is None else reading.class_descriptions(class_names)
    classifier = TextClassifier(
        model,
        **wording.parameters,
        **deciding.parameters,
        regions="email" if wording.email else None,
        class_names="auto" if described is None else described,
        multi_label=files.multi_label or "auto",
        class_weight=class_weight,
        n_jobs=wording.n_jobs,
        verbose=int(files.multi_label),  # label by label; shown on a terminal
    )
    whole = {"--calibration": deciding.calibration, "--classes": classes}
    whole |= {"--class-names": class_names, "--encoder": wording.other_encoder}
    large = _as_large(data, model, files, deciding, large, whole)
    if large != options.PartsOptions():
        _require_parts(large, classifier, whole)
        facts = reading.train_in_parts(classifier, data, unlabelled, files, large, out)
        show(as_json, facts, _words_about_parts(facts), saved=out)
        return
    documents, pool, held_out = _read(data, unlabelled, deciding.calibration, files)
    wanted = None if classes is None else options.class_list(classes)
    _ask_about_classes(documents, wanted, described)
    reading.ask_about_labels(documents, files.label, wanted)
    _learn(classifier, documents, pool, held_out, wanted, estimate=not no_estimate)
    guess = {} if files.text else {"guessed": ", ".join(documents.text_columns)}
    columns = {"text": files.text, "label": files.label, **guess}
    known = reading.training_data(data, documents, pool)
    classifier.save(out, metadata={"columns": columns, "training_data": known})
    seconds, n_labelled = time.perf_counter() - started, known["labelled"]
    facts = reading.fitted_facts(classifier, len(documents), n_labelled, out, seconds)
    show(as_json, facts, _words(facts, documents), saved=out)


def _as_large(
    data: str,
    model: str,
    files: options.TrainingFiles,
    deciding: DecisionOptions,
    large: options.PartsOptions,
    whole: dict[str, str | None],
) -> options.PartsOptions:
    """Set a limit of memory for large data that can be read in parts, and say so."""
    from earmark.models.base.declaration import MODELS

    together = (large.memory, files.multi_label, files.merge_labels, files.format)
    decided = (deciding.max_novelty, options.error_rate(deciding.max_error))
    can = data != "-" and (model == "auto" or MODELS[model].in_parts)
    if not can or any((*together, *decided, *whole.values())):
        return large
    memory = reading.memory_for_large(data)
    if memory is not None:
        note(
            f"{data} is large: read in parts, within {file_size(memory)} of memory and "
            "without an estimate of the accuracy; --memory sets another limit"
        )
    return replace(large, memory=memory)


def _require_parts(
    large: options.PartsOptions,
    classifier: TextClassifier,
    whole: dict[str, str | None],
) -> None:
    """Refuse options that do not go together with data in parts."""
    refused: dict[str, object] = {**whole}
    if classifier.model not in ("auto", "semi-supervised"):
        refused["--max-error"] = classifier.max_error
        refused["--novelty"] = classifier.max_novelty
    options.refuse_with_parts(refused, **asdict(large))
    if large.keep_parts and large.dask is not None:
        raise typer.BadParameter(
            "workers keep nothing: leave out --dask.", param_hint="--keep-parts"
        )


def _ask_about_classes(
    documents: Documents,
    wanted: list[str] | None,
    described: dict[str, list[str]] | None,
) -> None:
    """Refuse descriptions of classes nobody asked for; ask about misspelled ones."""
    from earmark.documents.labels import each_label
    from earmark.documents.table import listed, near

    if described is None:
        if wanted is None:
            reading.labelled_rows(documents)
        return
    labels = {*map(str, each_label(documents.labels or ()))}
    if len(labels | {*described}) < 2:
        raise DataError(
            f"{documents.source}: expected at least two classes, got "
            f"{listed(described)} by --class-names and no label; describe another "
            "class, or name the column of the labels with --label."
        )
    more = sorted({*described} - {*(wanted or described)} - labels)
    if more:
        raise typer.BadParameter(
            f"--class-names also describes {', '.join(more)}; add to --classes, or "
            "leave --classes out to learn every class described."
        )
    for name in sorted({*described} - labels):
        slips = near(name, sorted(labels - {*described}))
        if slips:
            warn(
                f"--class-names describes {name!r}, which no document has as its "
                f"label: did you mean {listed(slips)}? It is learned as another class."
            )


def _read(
    data: str,
    unlabelled: str | None,
    calibration: str | None,
    files: options.TrainingFiles,
) -> tuple[Documents, Any, Documents | None]:
    """The documents, more texts without labels, and documents to calibrate with."""
    pool = held_out = None
    with status(f"reading {data}"):
        documents = files.read(data)
        if unlabelled is not None:
            pool = files.read_pool(unlabelled, documents).texts
        if calibration is not None:
            held_out = files.read(calibration, documents, format=None)
            reading.labelled_rows(held_out)
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
    texts, labels = documents.texts, documents.labels
    with nullcontext() if classifier.verbose else said:
        try:
            calibration = held_out and (held_out.texts, held_out.labels)
            classifier.fit(
                texts, labels, classes=classes, unlabelled=pool, calibration=calibration
            )
        except DataError as error:
            source = documents.source
            if held_out is not None and str(error).startswith("calibration"):
                source = held_out.source
            raise error.at(source) from error
    known = any(label is not None for label in labels or ())
    wanted = estimate and known and not classifier.is_multi_label_
    if classifier.evidence_ is None and wanted:
        with status("estimating the accuracy"):
            classifier.measure_confidence(texts, labels, unlabelled=pool)
    blank = sum(not text.strip() for text in documents.joined())
    if blank:
        note(f"warning: {number(blank, 'document')} without text")
    evidence = classifier.evidence_
    if evidence is not None and evidence.n_copies:
        note(f"warning: {_copies(evidence.n_copies, evidence.held_out)}")


def _copies(count: int, held_out: bool) -> str:
    one = count == 1
    if held_out:
        return (
            f"{number(count, 'calibration document')} nearly "
            f"{'repeats' if one else 'repeat'} a training document or another one; "
            "what is promised holds with and without "
            f"{'it' if one else 'them'}."
        )
    alike = "is a near-duplicate of another" if one else "are near-duplicates of others"
    return (
        f"{number(count, 'labelled document')} {alike}; each counts once in the "
        "estimates. `earmark check` lists them."
    )


def _words_about_parts(facts: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"{_learned(facts)} in {number(facts['parts'], 'part')} in "
            f"{facts['seconds']:.1f} s ({facts['documents_per_second']:,.0f} "
            "documents/s)",
            *(f"left out: {name}" for name in facts["bad_parts"]),
            facts["summary"],
            f"saved {facts['file']} ({file_size(facts['bytes'])})",
        ]
    )


def _words(facts: dict[str, Any], documents: Documents) -> str:
    todo = f"try: earmark predict {shlex.quote(facts['file'])} NEW-DATA"
    if not facts["labelled"]:
        source, labels = documents.source, ",".join(map(str, facts["classes"]))
        words = f"{shlex.quote(source)} --labels {shlex.quote(labels)} --from-names"
        todo = f"to find out how accurate it is: earmark label {words}"
    saved = f"saved {facts['file']} ({file_size(facts['bytes'])}); {todo}"
    learned = f"{_learned(facts)} in {facts['seconds']:.1f} s"
    return "\n".join([learned, facts["summary"], saved])


def _learned(facts: dict[str, Any]) -> str:
    source = number(facts["documents"], "document")
    if facts["labelled"]:
        source = number(facts["labelled"], "labelled document")
    return f"learned {number(len(facts['classes']), 'class', 'classes')} from {source}"


Changed = Annotated[
    Path | None,
    option("Write here, not over MODEL.", "--out", "-o", panel=OUTPUT, metavar="FILE"),
]
AnswerAll = Annotated[
    bool,
    option(
        "Answer every document from now on; needed for a model that abstains, because "
        "what it knew about that does not hold after a change.",
        panel=DECIDING,
    ),
]


@app.command(
    epilog=examples(
        "earmark update model.earmark new.csv",
        "earmark update model.earmark new.csv --out newer.earmark",
    )
)
@groups
def update(
    model: options.Model,
    data: options.Data,
    files: options.MergedFiles,
    out: Changed = None,
    answer_all: AnswerAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Add labelled documents to a saved model, exactly.

    The model is then the one that training on all documents at once gives; `earmark
    info --models` says which models can be updated. Rows without a label are left out.
    MODEL is replaced as a whole, or left alone if something is wrong.
    """
    _change_file("partial_fit", model, data, files, out, answer_all, as_json)


@app.command(epilog=examples("earmark forget model.earmark leave.csv"))
@groups
def forget(
    model: options.Model,
    data: options.Data,
    files: options.MergedFiles,
    out: Changed = None,
    answer_all: AnswerAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Take documents out of a saved model, exactly.

    The model is then the one that training without them gives; `earmark info --models`
    says which models can be updated so. DATA holds the documents with their labels, as
    they were learned. The file keeps a record of time, number and a salted hash, and no
    text;
    `earmark info MODEL` shows it.
    """
    _change_file("forget", model, data, files, out, answer_all, as_json)


def _change_file(
    method: str,
    model: Path,
    data: str,
    files: options.MergedFiles,
    out: Path | None,
    answer_all: bool,
    as_json: bool,
) -> None:
    """Change a model by a method of TextClassifier; one process at a time."""
    replaced = out is None and model.is_file()
    with changed_by_one(model) if replaced else nullcontext():
        facts = _change(method, model, data, files, out or model, answer_all)
    done = "added to" if method == "partial_fit" else "forgotten by"
    amount = number(facts["documents"], "document")
    words = f"{amount} {done} {facts['file']}, exactly"
    show(as_json, facts, words, saved=out or model)


def _change(
    method: str,
    model: Path,
    data: str,
    files: options.MergedFiles,
    target: Path,
    answer_all: bool,
) -> dict[str, Any]:
    """Learn or forget the documents of ``data``, save, and say what was done."""
    from earmark.apps.changes import recorded

    added = method == "partial_fit"
    options.require_output(target, data)
    stored = reading.load_model(model)
    classifier = stored.classifier
    try:
        getattr(classifier, method)
    except UnavailableError as error:
        raise NotSupportedError(f"{model}: {error}") from None
    _stop_abstaining(classifier, model, answer_all)
    with status(f"reading {data}"):
        documents, labels = _known_labels(stored, data, files)
    with status(f"{'adding' if added else 'forgetting'} {len(documents):,} documents"):
        try:
            learn = classifier.partial_fit if added else classifier.forget
            learn(documents.texts, labels)
        except DataError as error:
            raise error.at(documents.source) from error
    metadata, record = recorded(stored.metadata, documents, added=added)
    classifier.save(target, metadata=metadata)
    facts = {"model": classifier.model_name_, "documents": len(documents)}
    return {**facts, "file": str(target), "record": record}


def _known_labels(
    stored: reading.Stored, data: str, files: options.MergedFiles
) -> tuple[Documents, list[Any]]:
    """The labelled documents, and their labels as the model has them."""
    from earmark.documents.labels import merge_with

    known = stored.classifier.classes_.tolist()
    documents = stored.read(data, files, merge_labels=files.merge_labels)
    if files.merge_labels:
        documents = merge_with(documents, known)
    documents, rest = reading.labelled_only(documents)
    if len(rest):
        note(f"left out {number(len(rest), 'document')} without a label")
    # Labels of a file are texts; those of a model may be numbers.
    by_name = {str(label): label for label in known}
    labels: list[str] = documents.labels or []
    new = sorted({*labels} - {*by_name})
    if new:
        raise DataError(
            f"{documents.source}: the model has not learned the label(s) "
            f"{', '.join(new[:5])}; it knows {', '.join([*by_name][:5])}. For new "
            "labels train again on all documents."
        )
    return documents, [by_name[label] for label in labels]


def _stop_abstaining(classifier: TextClassifier, model: Path, answer_all: bool) -> None:
    """Refuse to change a model that abstains; with ``answer_all`` it stops doing so."""
    abstains = classifier.max_error is not None or classifier.max_novelty is not None
    if abstains and not answer_all:
        raise NotSupportedError(
            f"{model}: the model abstains, and what it knows about its errors does not "
            "hold after a change; add --answer-all to have every document answered, "
            "or train again on all documents."
        )
    classifier.set_params(max_error=None, max_novelty=None)
