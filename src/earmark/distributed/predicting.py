"""What a model does with parts: label them, be judged on them, keep some of them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from earmark._optional import require
from earmark.distributed.executor import Dataset, Executor
from earmark.documents.parts import Part, list_parts
from earmark.documents.table import listed
from earmark.evaluation import Report
from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.inputs.labels import label_array
from earmark.persistence import read_manifest
from earmark.pipeline import load
from earmark.pipeline.text_classifier import report_of
from earmark.pipeline.text_filter import TextFilter
from earmark.typing import FilePath, FloatMatrix
from earmark.whole_files import json_line, whole_file, write_whole

_JOB = "_job.json"
_ROWS = 4096


@dataclass(eq=False)
class SentModel:
    """A classifier by the path of its file; loaded once where it is used."""

    path: FilePath  # The model file, which every worker must see
    max_error: float | str | None = None
    """Abstain at this error rate, "never", or (None) as the model was trained to."""
    loaded: Any = None  # The same classifier, if it is in this process already
    max_novelty: float | str | None = None
    """Abstain on documents with so small a p-value, or as for ``max_error``."""

    def __post_init__(self) -> None:
        self.path = os.path.abspath(self.path)

    def __reduce__(self) -> tuple[Any, ...]:  # what was loaded stays here
        return type(self), (self.path, self.max_error, None, self.max_novelty)

    def classifier(self) -> Any:
        """The classifier, in this process."""
        if self.loaded is None:
            self.loaded = load(self.path)
            for name in ("max_error", "max_novelty"):
                share = getattr(self, name)
                if share is not None:
                    share = None if share == "never" else share
                    self.loaded.set_params(**{name: share})
        return self.loaded


class ResultFolder:
    """Results of one job, a file for each part of the input.

    The folder is made if it is not there; results of another job in it, which has other
    ``settings`` (plain data), are an error, and so are parts of the input. ``command``
    names the job in messages.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        parts: Sequence[Part],
        command: str,
    ) -> None:
        self.folder = folder
        taken: dict[str, str] = {}
        for part in parts:
            if part.path.parent.resolve() == folder.resolve():
                raise DataError(
                    f"{folder}: the results would lie among the data ({part.name}); "
                    "name another folder with --out."
                )
            other = taken.setdefault(_stem(part), part.name)
            if other != part.name:
                raise DataError(
                    f"{part.name}: its results would have the same name as those of "
                    f"{other}; rename one of them."
                )
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder}: expected a folder for the results, got a file.")
        folder.mkdir(parents=True, exist_ok=True)
        job = {"command": command, **settings}
        path = folder / _JOB
        if path.exists():
            if json.loads(path.read_bytes()) != json.loads(json.dumps(job)):
                raise DataError(
                    f"{folder}: it holds results of another model or other options; "
                    "name another folder with --out, or delete it."
                )
        elif any(not p.name.startswith((".", "_")) for p in folder.iterdir()):
            raise DataError(
                f"{folder}: expected an empty folder, or one that {command} began to "
                "fill; name another with --out."
            )
        else:
            write_whole(path, json.dumps(job, indent=1).encode())
        results = [p for p in folder.iterdir() if not p.name.startswith((".", "_"))]
        left = sorted(p.name for p in results if p.stem not in taken)
        if left:
            warnings.warn(
                f"{folder}: the data has no part for {listed(left)}; delete what is "
                "left of parts that are gone.",
                EarmarkWarning,
                stacklevel=2,
            )

    def target(self, part: Part, kind: str) -> Path | None:
        """The file for a part's results; None if it is there, whole and not older."""
        suffix = "parquet" if kind == "parquet" else "jsonl"
        target = self.folder / f"{_stem(part)}.{suffix}"
        new = target.exists() and target.stat().st_mtime_ns >= part.stamp[1]
        return None if new and _is_whole(target) else target


def _is_whole(path: Path) -> bool:
    """Whether a file is what is written for a part: Parquet, or JSON lines."""
    if path.suffix == ".jsonl":
        with path.open("rb") as file:
            first, size = file.read(1), file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return (first, file.read()) in ((b"", b""), (b"{", b"\n"))
    arrow = require("pyarrow", "read labels")
    try:
        require("pyarrow.parquet", "read labels").read_metadata(path)
    except (arrow.ArrowException, OSError):
        return False
    return True


def _stem(part: Part) -> str:
    """The name of a part without its endings."""
    name = part.path.name
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem


# -- labels --------------------------------------------------------------------------


@dataclass(frozen=True)
class PredictReport:
    """What was labelled."""

    parts: int
    skipped: int  # parts that an earlier run had done
    documents: int
    abstained: int
    bad: dict[str, str]  # part -> why it could not be read


def _labelled(
    model: SentModel, targets: dict[int, str], skip_bad: bool, part: Part
) -> tuple[int, int, str]:
    """Write the labels of a part; documents, abstentions, and what is wrong with it."""
    target = Path(targets[part.number])
    try:
        return (*_write_labels(model.classifier(), part, target), "")
    except DataError as error:
        if not skip_bad:
            raise
        return 0, 0, str(error)


def _write_labels(classifier: Any, part: Part, target: Path) -> tuple[int, int]:
    arrow = require("pyarrow", "write labels as Parquet")
    parquet = require("pyarrow.parquet", "write labels as Parquet")
    many = classifier.is_multi_label_
    kind = arrow.list_(arrow.string()) if many else arrow.string()
    fields = {"row": arrow.int64(), "label": kind, "confidence": arrow.float64()}
    if classifier.novelty_ is not None:
        fields["novelty"] = arrow.float64()
    leaves_open = many and bool(classifier.thresholds_)
    if leaves_open:
        fields["undecided"] = kind
    schema = arrow.schema(list(fields.items()))
    documents = abstained = 0
    with (
        whole_file(target) as temporary,
        parquet.ParquetWriter(temporary, schema) as writer,
    ):
        for batch in part.batches():
            decision = classifier.decide(batch.texts)
            labels = decision.labels.tolist()
            if many or classifier.classes_.dtype.kind != "U":
                labels = [_written(label, many) for label in labels]
            rows = np.arange(batch.first_row, batch.first_row + len(batch))
            columns = [rows, labels, decision.confidence]
            if decision.novelty is not None:
                columns.append(decision.novelty)
            if leaves_open:
                undecided = [classifier.classes_[row] for row in decision.abstained]
                columns.append([_written(some, many) for some in undecided])
            pairs = zip(columns, schema.types, strict=True)
            arrays = [
                arrow.array(column, kind, from_pandas=True) for column, kind in pairs
            ]
            writer.write_table(arrow.table(arrays, schema=schema))
            documents += len(batch)
            abstained += sum(label is None for label in labels)
    return documents, abstained


def _written(label: Any, many: bool) -> Any:
    """A label as it is written: a string, a list of strings, or None."""
    if label is None or not many:
        return None if label is None else str(label)
    return [str(one) for one in label]


def predict_parts(
    model: SentModel,
    parts: Sequence[Part],
    out: FilePath,
    *,
    executor: Executor | None = None,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PredictReport:
    """Label all parts; those that are in ``out`` already are left alone."""
    settings = {
        "model": read_manifest(model.path).fingerprint,
        "max_error": model.max_error,
        "columns": repr(parts[0].request),
    }
    if model.max_novelty is not None:
        settings["max_novelty"] = model.max_novelty
    folder = ResultFolder(
        Path(os.path.abspath(out)), settings, parts, "earmark predict"
    )
    targets = {part.number: folder.target(part, "parquet") for part in parts}
    todo = [part for part in parts if targets[part.number] is not None]
    written = {n: str(target) for n, target in targets.items() if target is not None}
    task = partial(_labelled, model, written, skip_bad)
    results: list[tuple[int, int, str]] = []
    if executor is not None and todo:
        results = executor.gather("labels", task, todo)
    for part in todo[len(results) :]:
        results.append(task(part))
        if progress is not None:
            progress(results[-1][0])
    documents, abstained = sum(r[0] for r in results), sum(r[1] for r in results)
    bad = {p.name: why for p, (_, _, why) in zip(todo, results, strict=True) if why}
    skipped = len(parts) - len(todo)
    return PredictReport(len(parts), skipped, documents, abstained, bad)


# -- accuracy ------------------------------------------------------------------------


def _judged(
    model: SentModel, part: Part
) -> tuple[list[str], list[Any], FloatMatrix, list[float]]:
    """Labels, answers, probabilities and novelty of a part's labelled documents."""
    classifier = model.classifier()
    true: list[str] = []
    answers: list[Any] = []
    novelty: list[float] = []
    blocks = [np.zeros((0, len(classifier.classes_)))]
    for batch in part.batches():
        if batch.labels is None:
            raise DataError(f"{part.name}: no label column; name it with --label.")
        decision = classifier.decide(batch.texts)
        is_labelled = batch.labels.codes >= 0
        true += [label for label in batch.labels.values() if label is not None]
        answers += compress(decision.labels.tolist(), is_labelled)
        blocks.append(decision.scores[is_labelled])
        if decision.novelty is not None:
            novelty += decision.novelty[is_labelled].tolist()
    return true, answers, np.concatenate(blocks), novelty


def report_of_parts(
    model: SentModel, parts: Sequence[Part], executor: Executor, title: str
) -> Report:
    """As ``TextClassifier.report``, without examples; n_classes numbers a document."""
    classifier = model.classifier()
    if classifier.is_multi_label_:
        raise NotSupportedError(
            "several labels per document are evaluated in memory only; leave out "
            "--dask."
        )
    judgments = executor.gather("judged", partial(_judged, model), parts)
    true, answers, scores, novelty = zip(*judgments, strict=True)
    if not any(true):
        raise DataError(
            "no labelled document in the parts; name the label with --label."
        )
    return report_of(
        classifier,
        np.asarray(list(chain(*true))),
        label_array(list(chain(*answers))),
        np.concatenate(scores),
        np.asarray(list(chain(*novelty))) if any(novelty) else None,
        title=title,
    )


# -- filter --------------------------------------------------------------------------


@dataclass
class FilterReport:
    """What went in and what came out, in documents and characters of text."""

    parts: int = 0
    skipped: int = 0  # parts that an earlier run had done
    documents: int = 0
    kept: int = 0
    characters: int = 0
    kept_characters: int = 0
    bad: dict[str, str] = field(default_factory=dict)  # part -> why it is not read


def filter_parts(
    chosen: TextFilter,
    dataset: Dataset,
    out: FilePath,
    *,
    text: str | None = None,
    unit: Literal["document", "paragraph"] = "document",
    fingerprint: str = "",
    progress: Callable[[int], None] | None = None,
    skip_bad: bool = False,
    **how: Any,
) -> FilterReport:
    """Write the documents that stay, part by part, in constant memory.

    Every part of the input becomes a part of the same name in ``out``, with all its
    columns: Parquet stays Parquet, other formats become JSON lines. A part is
    written atomically; one that is there already is not done again. With
    ``skip_bad`` a part that cannot be read is left out, and the report says why.
    """
    parts = list_parts(dataset, text=text, label=False, keep="all", **how)
    columns = parts[0].request.text
    if columns is None or len(columns) != 1:
        raise DataError("a filter reads one column of text; name it with --text.")
    settings = {
        "model": fingerprint,
        "keep": sorted(map(str, chosen.labels)),
        "min_confidence": chosen.min_confidence,
        "unit": unit,
        "text": list(columns),
    }
    folder = ResultFolder(Path(out), settings, parts, "earmark filter")
    report = FilterReport()
    for part in parts:
        report.parts += 1
        target = folder.target(part, part.format)
        if target is None:
            report.skipped += 1
            continue
        before = replace(report)
        work = _Filter(chosen, columns[0], unit == "paragraph", report, progress)
        try:
            (work.parquet if part.format == "parquet" else work.lines)(part, target)
        except DataError as error:
            if not skip_bad:
                raise
            report = replace(before, bad={**before.bad, part.name: str(error)})
    return report


@dataclass
class _Filter:
    """Judges the documents of one part and counts them."""

    chosen: TextFilter
    column: str
    by_paragraph: bool
    report: FilterReport
    progress: Callable[[int], None] | None

    def stays(self, texts: list[str]) -> list[str]:
        """What is left of each text; "" means that the document goes."""
        if self.by_paragraph:
            left = self.chosen.paragraphs(texts)
            gone = [not text for text in left]
        else:
            gone = (~self.chosen.mask(texts)).tolist()
            left = ["" if g else t for g, t in zip(gone, texts, strict=True)]
        self.report.documents += len(texts)
        self.report.kept += len(texts) - sum(gone)
        self.report.characters += sum(map(len, texts))
        self.report.kept_characters += sum(map(len, left))
        if self.progress is not None:
            self.progress(len(texts))
        self.gone = np.asarray(gone)
        return left

    def parquet(self, part: Part, target: Path) -> None:
        """One Parquet file to another, batch by batch."""
        arrow = require("pyarrow", "filter Parquet files")
        parquet = require("pyarrow.parquet", "filter Parquet files")
        try:
            with (
                parquet.ParquetFile(part.path) as file,
                whole_file(target) as temporary,
                parquet.ParquetWriter(temporary, file.schema_arrow) as writer,
            ):
                place = file.schema_arrow.get_field_index(self.column)
                kind = file.schema_arrow.field(place)
                for batch in file.iter_batches(_ROWS):
                    texts = [t or "" for t in batch.column(place).to_pylist()]
                    left = arrow.array(self.stays(texts), type=kind.type)
                    if self.by_paragraph:
                        batch = batch.set_column(place, kind, left)
                    some = batch.filter(arrow.array(~self.gone))
                    if some.num_rows:
                        writer.write_batch(some)
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # a disk, not a file
                raise
            raise DataError(
                f"{part.name}: the Parquet file cannot be read ({error}); it is cut "
                "off or damaged: get it again, or move it away."
            ) from error

    def lines(self, part: Part, target: Path) -> None:
        """Any text format to JSON lines."""
        with whole_file(target) as temporary, temporary.open("wb") as file:
            for documents in part.documents():
                left = self.stays(documents.joined())
                columns = {self.column: left, **documents.columns}
                rows = zip(*columns.values(), strict=True)
                for values in compress(rows, ~self.gone):
                    file.write(json_line(dict(zip(columns, values, strict=True))))
