"""Label a directory of documents, part by part, here or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.distributed.executor import Executor
from earmark.distributed.local import LocalExecutor
from earmark.documents.parts import Part
from earmark.exceptions import DataError
from earmark.persistence import read_manifest
from earmark.pipeline import load
from earmark.whole_files import whole_file, write_whole


@dataclass(eq=False)
class SentModel:
    """A classifier by the path of its file; loaded once where it is used."""

    path: str | os.PathLike[str]
    """The model file, which every worker must see."""
    max_error: float | str | None = None
    """Abstain at this error rate, "never", or (None) as the model was trained to."""
    loaded: Any = None
    """The same classifier, if it is in this process already."""
    max_novelty: float | str | None = None
    """Abstain on documents with so small a p-value, or as for ``max_error``."""

    def __post_init__(self) -> None:
        self.path = os.path.abspath(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def classifier(self) -> Any:
        """The classifier, in this process."""
        if self.loaded is None:
            self.loaded = load(self.path)
            for name in ("max_error", "max_novelty"):
                share = vars(self)[name]
                if share is not None:
                    share = None if share == "never" else share
                    self.loaded.set_params(**{name: share})
        return self.loaded


_JOB = "_job.json"


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
        inside = [p.name for p in parts if p.path.parent.resolve() == folder.resolve()]
        if inside:
            raise DataError(
                f"{folder}: the results would lie among the data ({inside[0]}); name "
                "another folder with --out."
            )
        _check_names(parts)
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

    def target(self, part: Part, kind: str) -> Path | None:
        """The file for a part's results, or None if it is there and not older."""
        suffix = "parquet" if kind == "parquet" else "jsonl"
        target = self.folder / f"{_stem(part)}.{suffix}"
        done = target.exists() and target.stat().st_mtime_ns >= part.stamp[1]
        return None if done else target


def _stem(part: Part) -> str:
    """The name of a part without its endings."""
    name = part.path.name
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem


def _check_names(parts: Sequence[Part]) -> None:
    """Two parts whose results would have one name are an error."""
    taken: dict[str, str] = {}
    for part in parts:
        other = taken.setdefault(_stem(part), part.name)
        if other != part.name:
            raise DataError(
                f"{part.name}: its results would have the same name as those of "
                f"{other}; rename one of them."
            )


@dataclass(frozen=True)
class PredictReport:
    """What was labelled."""

    parts: int
    skipped: int
    """Parts that an earlier run had done."""
    documents: int
    abstained: int
    bad: dict[str, str]
    """Part -> why it could not be read."""


@dataclass(eq=False)
class PredictTask:
    """Part -> a Parquet file of its labels; the model is loaded where it runs."""

    model: SentModel
    """What labels the documents."""
    targets: dict[int, str]
    """Part number -> file to write; a part that is not in it is done."""
    skip_bad: bool
    """Note a part that cannot be read, instead of raising."""

    def __call__(self, part: Part) -> tuple[int, int, str]:
        """Documents, abstentions, and what is wrong with the part."""
        try:
            documents, abstained = self._write(part, Path(self.targets[part.number]))
        except DataError as error:
            if not self.skip_bad:
                raise
            return 0, 0, str(error)
        return documents, abstained, ""

    def _write(self, part: Part, target: Path) -> tuple[int, int]:
        arrow = require("pyarrow", "write labels as Parquet")
        parquet = require("pyarrow.parquet", "write labels as Parquet")
        classifier = self.model.classifier()
        many = classifier.is_multi_label_
        kind = arrow.list_(arrow.string()) if many else arrow.string()
        fields = [("row", arrow.int64()), ("label", kind)]
        fields.append(("confidence", arrow.float64()))
        if classifier.novelty_ is not None:
            fields.append(("novelty", arrow.float64()))
        schema = arrow.schema(fields)
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
                writer.write_table(
                    arrow.table(
                        [
                            arrow.array(c, t)
                            for c, t in zip(columns, schema.types, strict=True)
                        ],
                        schema=schema,
                    )
                )
                documents += len(batch)
                abstained += int(np.sum(decision.abstained))
        return documents, abstained


def _written(label: Any, many: bool) -> Any:
    """A label as it stands in the file: a string, strings, or nothing."""
    if label is None or not many:
        return None if label is None else str(label)
    return [str(one) for one in label]


def predict_parts(
    model: SentModel,
    parts: Sequence[Part],
    out: str | os.PathLike[str],
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
    task = PredictTask(model, written, skip_bad)
    results: list[tuple[int, int, str]] = []
    if todo and executor is None:
        for part in todo:
            results.append(LocalExecutor().gather("labels", task, [part])[0])
            if progress is not None:
                progress(results[-1][0])
    elif todo and executor is not None:
        results = executor.gather("labels", task, todo)
    bad = {p.name: why for p, (_, _, why) in zip(todo, results, strict=True) if why}
    return PredictReport(
        len(parts),
        len(parts) - len(todo),
        sum(row[0] for row in results),
        sum(row[1] for row in results),
        bad,
    )
