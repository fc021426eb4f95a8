"""Model files and documents, as several commands read them; data in parts."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from earmark.apps.cli import options
from earmark.apps.cli.console import warn
from earmark.exceptions import DataError

if TYPE_CHECKING:
    from earmark.distributed.passes import Job
    from earmark.distributed.predicting import SentModel
    from earmark.documents import Documents
    from earmark.evaluation import Report
    from earmark.pipeline import TextClassifier
    from earmark.typing import JsonObject

# So many labels are not suspicious, even if each has one document.
_MANY_LABELS = 20
_MEANS_NONE = {"n/a", "na", "nan", "none", "null", "-", "?", "unknown", "tbd"}
# What documents may take of the memory of the machine before they are read in parts.
_SHARE = 1 / 8


@dataclass(frozen=True)
class Stored:
    """A classifier in a file, and what the file says beside it."""

    path: Path
    classifier: TextClassifier
    fingerprint: str
    metadata: JsonObject

    def column(self, name: str) -> str | None:
        """A column of the training data: text, label or guessed."""
        columns = self.metadata.get("columns")
        return columns.get(name) if isinstance(columns, dict) else None

    @property
    def label(self) -> str | None:
        """The column of labels in training."""
        from earmark.documents.table import KnownColumn

        name = self.column("label")
        return None if name is None else KnownColumn(name)

    def texts(self, files: options.Files) -> str | list[str] | None:
        """The text columns: asked for, as in training, or as guessed there."""
        from earmark.documents.table import KnownColumn
        from earmark.inputs.regions import trained_columns

        model = self.classifier
        columns = trained_columns(model.regions, model.region_names_)
        named = files.columns
        if named is not None:
            several = {*columns} if columns is not None and len(columns) > 1 else None
            if several != (None if isinstance(named, str) else {*named}):
                trained = ",".join(columns or ()) if several else "one text column"
                raise typer.BadParameter(
                    f"{self.path} was trained on {trained}, got {files.text}.",
                    param_hint="--text",
                )
            return named
        known, guessed = self.column("text"), self.column("guessed")
        if known is None and columns is None:
            return KnownColumn(guessed) if guessed else None
        names = [*map(KnownColumn, options.comma_list(known) or columns or ())]
        return names[0] if known and len(names) == 1 else [*names]

    def batches(
        self, data: str, files: options.Files, **more: Any
    ) -> Iterator[Documents]:
        """Batches of documents with the columns that the model wants."""
        from earmark.documents import iter_documents

        columns = options.column_arguments(self.texts(files))
        more |= {**files.how, **columns, "label": False, "null_text": "empty"}
        return iter_documents(data, **more)

    def read(self, data: str, files: options.LabelledFiles, **more: Any) -> Documents:
        """All documents of a file with their labels, for evaluation."""
        from earmark.documents import read_documents

        more |= {**files.how, **options.column_arguments(self.texts(files))}
        more |= {"null_text": "empty", "allow_unlabelled": True}
        more |= {"label": files.label or self.label}
        return read_documents(data, multi_label=self.classifier.is_multi_label_, **more)

    def parts(self, data: str, files: options.Files, label: str | bool | None) -> Any:
        """The parts of a dataset, with the columns that the model wants."""
        from earmark.distributed.fitting import as_parts

        return as_parts(data, self.texts(files), label, **files.how)


def load_model(
    path: Path,
    max_error: float | str | None = None,
    max_novelty: float | str | None = None,
) -> Stored:
    """The classifier in a file, abstaining as asked for, or as it was trained."""
    from earmark.pipeline.files import load_with_info

    require_model(path)
    classifier, info = load_with_info(path)
    for flag, asked, evidence, what in (
        (
            "--max-error",
            max_error,
            classifier.evidence_,
            "how accurate its answers are",
        ),
        ("--novelty", max_novelty, classifier.novelty_, "which documents are unusual"),
    ):
        if asked not in (None, options.NEVER) and evidence is None:
            raise DataError(
                f"{path}: the model does not know {what}; train it with {flag}."
            )
    if max_error is not None:
        classifier.set_params(max_error=options.error_rate(max_error))
    if max_novelty is not None:
        classifier.set_params(max_novelty=options.error_rate(max_novelty))
    return Stored(path, classifier, info.fingerprint, info.metadata)


def require_model(path: Path) -> None:
    """Refuse a model file that is not there."""
    from earmark.documents.source import broken_link

    if not path.exists():
        link = broken_link(path)
        if link is not None:
            raise DataError(f"{path}: {link}")
        raise DataError(
            f"{path}: no such model file; make one with: earmark train DATA --label COL"
        )


def labelled_only(documents: Documents) -> tuple[Documents, Documents]:
    """The documents that have a label, and those that have none."""
    rows = labelled_rows(documents)
    if len(rows) == len(documents):
        return documents, documents.take([])
    rest = sorted(set(range(len(documents))) - set(rows))
    return documents.take(rows), documents.take(rest)


def labelled_rows(documents: Documents) -> list[int]:
    """Positions of the documents that have a label; an error if none has."""
    from earmark.documents.table import LABEL_NAMES

    if documents.labels is None:
        raise DataError(
            f"{documents.source}: no column is named "
            f"{', '.join(LABEL_NAMES)}; name it with --label COL."
        )
    rows = [i for i, label in enumerate(documents.labels) if label is not None]
    if not rows:
        raise DataError(f"{documents.source}: no row has a label; label some rows.")
    return rows


def class_descriptions(file: str) -> dict[str, list[str]]:
    """Descriptions by label, from a table of two columns."""
    from earmark.documents import read_documents
    from earmark.documents.table import KnownColumn

    columns = KnownColumn("description"), KnownColumn("label")
    for column in columns:
        column.origin = ""
    try:
        table = read_documents(file, *columns, null_text="empty")
    except DataError as error:  # which columns they are is not for the user to say
        said = error.said(lambda name, value: None)
        raise DataError(f"--class-names {said}") from None
    texts: dict[str, list[str]] = {}
    labels = table.labels or ()
    for row, label, text in zip(table.rows, labels, table.joined(), strict=True):
        if not text.strip():
            raise DataError(
                f"{file}, row {row}, column 'description': expected what the class "
                f"{label!r} is about, got nothing; write a few words that its "
                "documents use."
            )
        texts.setdefault(str(label), []).append(text)
    return texts


def ask_about_labels(
    documents: Documents, column: str | None, wanted: Sequence[str] | None = None
) -> bool:
    """Ask about labels such as a|b and n/a; whether they look like classes at all."""
    labels = [label for label in documents.labels or () if isinstance(label, str)]
    distinct = set(labels)
    several = {label for label in distinct if "|" in label}
    if any(part in distinct - several for each in several for part in each.split("|")):
        warn(
            f"the label {min(several)!r} is taken as one label; `earmark train "
            "--multi-label` takes it as several."
        )
    others = sorted(distinct - {*wanted}) if wanted else []
    if others:
        warn(
            f"--classes does not name {', '.join(others[:5])}: learned as well, since "
            "there are documents with this label."
        )
    for label in sorted(label for label in distinct if label.lower() in _MEANS_NONE):
        warn(
            f"the label {label!r} is taken as a class; if it means that there is no "
            "label, leave the field empty."
        )
    are_many = len(distinct) > max(_MANY_LABELS, len(labels) / 2)
    if are_many:
        named = f"the column {column!r}" if column else "the column of labels"
        warn(
            f"{named} holds {len(distinct):,} different labels in {len(labels):,} "
            "documents: is it the one that is meant? (--label COL)"
        )
    return not are_many


def training_data(
    source: str, documents: Documents, pool: Any = None
) -> dict[str, Any]:
    """Numbers and fingerprint of the documents; no path and no text."""
    from earmark.documents.document import fingerprint
    from earmark.documents.labels import each_label

    labels = documents.labels or []
    n_labelled = sum(label is not None for label in labels)
    extra = next(iter(pool.values())) if isinstance(pool, dict) else pool
    return {
        "source": _name(source),
        "labelled": n_labelled,
        "unlabelled": len(documents) - n_labelled + len(extra or ()),
        "classes": dict(sorted(Counter(map(str, each_label(labels))).items())),
        "fingerprint": fingerprint(documents),
    }


def _parts_data(source: str, job: Job) -> dict[str, Any]:
    """Facts about data that was read in parts: numbers, but no fingerprint."""
    counts = job.counts
    assert counts is not None
    return {
        "source": _name(source),
        "labelled": counts.n_labelled,
        "unlabelled": counts.n_unlabelled,
        "classes": dict(sorted(job.classes.items())),
        "bad_parts": len(counts.bad),
    }


def _name(source: str) -> str:
    """The last part of a path; folders stay private."""
    return "standard input" if source == "-" else Path(source).name


def memory_for_large(data: str) -> int | None:
    """A limit in bytes for files that would take much of it; None for others."""
    from earmark.documents.parts import memory_needed

    limit = int(_SHARE * _machine_memory())
    return limit if memory_needed(data) > limit else None


def _machine_memory() -> int:
    """Memory of this machine in bytes; a huge number if it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 2**60


def train_in_parts(
    classifier: TextClassifier,
    data: str,
    unlabelled: str | None,
    files: options.LabelledFiles,
    large: options.PartsOptions,
    out: Path,
) -> dict[str, Any]:
    """Fit, save, and say what was done; goes on with a fit that was stopped."""
    from earmark.apps.cli.console import counting_parts
    from earmark.distributed.fitting import fitting

    started, cpu = time.perf_counter(), time.process_time()
    with (
        _place(large.dask) as client,
        counting_parts() as progress,
        fitting(
            classifier,
            data,
            client=client,
            text=files.columns,
            label=files.label,
            unlabelled=unlabelled,
            memory=large.memory,
            checkpoint=None if client is not None else f"{out}.parts",
            keep_checkpoint=large.keep_parts,
            skip_bad=large.skip_bad,
            progress=progress,
            **files.how,
        ) as (fitted, job),
    ):
        if job.documents is not None and fitted.evidence_ is None:
            fitted.measure_confidence(*job.documents, unlabelled=job.pool)
        columns = {"text": files.text, "label": files.label}
        known = {"columns": columns, "training_data": _parts_data(data, job)}
        fitted.save(out, metadata=known)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    counts = job.counts
    assert counts is not None
    return {
        **fitted_facts(fitted, counts.n_documents, counts.n_labelled, out, seconds),
        "parts": len(job.parts),
        "bad_parts": list(counts.bad.values()),
        "cpu_seconds": round(cpu, 3),
        "documents_per_second": round(counts.n_documents / seconds, 1),
    }


def fitted_facts(
    classifier: TextClassifier, n_documents: int, n_labelled: int, out: Path, s: float
) -> dict[str, Any]:
    """What was learned from how many documents in how many seconds."""
    return {
        "model": classifier.model_name_,
        "classes": classifier.classes_.tolist(),
        "documents": n_documents,
        "labelled": n_labelled,
        "summary": classifier.summary(),
        "file": str(out),
        "bytes": out.stat().st_size,
        "seconds": round(s, 3),
    }


def predict_in_parts(
    stored: Stored,
    data: str,
    files: options.Files,
    sent: SentModel,
    out: Path,
    dask: str | None,
    skip_bad: bool,
) -> dict[str, Any]:
    """Label every part, here or on a cluster, and say what was done."""
    from earmark.apps.cli.console import counting
    from earmark.distributed.executor import DaskExecutor
    from earmark.distributed.predicting import predict_parts

    parts = stored.parts(data, files, False)
    with _place(dask) as client, counting("labelled") as advance:
        executor = None if client is None else DaskExecutor(client)
        report = predict_parts(
            sent, parts, out, executor=executor, skip_bad=skip_bad, progress=advance
        )
    return {**asdict(report), "out": str(out)}


def evaluate_in_parts(
    model: Path, data: str, files: options.LabelledFiles, max_error: Any, dask: str
) -> Report:
    """A report of answers that were given on a cluster."""
    from earmark.distributed.executor import DaskExecutor
    from earmark.distributed.predicting import SentModel, report_of_parts

    stored = load_model(model, max_error)
    parts = stored.parts(data, files, files.label or stored.label)
    sent = SentModel(model, max_error, stored.classifier)
    with _place(dask) as client:
        title = f"{model.name} on {data}"
        return report_of_parts(sent, parts, DaskExecutor(client), title)


@contextmanager
def _place(dask: str | None) -> Iterator[Any]:
    """A Dask client for --dask, or None for this process."""
    if dask is None:
        yield None
        return
    from earmark.distributed.executor import connected

    with connected(dask) as client:
        yield client
