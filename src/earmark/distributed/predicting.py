"""Label a directory of documents, part by part, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.distributed.executor import Executor
from earmark.distributed.local import LocalExecutor
from earmark.distributed.results import ResultFolder
from earmark.distributed.sent_model import SentModel
from earmark.documents.parts import Part
from earmark.exceptions import DataError
from earmark.persistence import read_manifest
from earmark.whole_files import whole_file

__all__ = ["PredictReport", "PredictTask", "predict_parts"]


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


class PredictTask:
    """Part -> a Parquet file of its labels; the model is loaded where it runs.

    Parameters
    ----------
    model : SentModel
        What labels the documents.
    targets : dict of int to str
        Part number -> file to write; a part that is not in it is done.
    skip_bad : bool
        Note a part that cannot be read, instead of raising.

    """

    def __init__(
        self, model: SentModel, targets: dict[int, str], skip_bad: bool
    ) -> None:
        self.model = model
        self.targets = targets
        self.skip_bad = skip_bad

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
        schema = arrow.schema(
            [("row", arrow.int64()), ("label", kind), ("confidence", arrow.float64())]
        )
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
    folder = ResultFolder(
        Path(os.path.abspath(out)), settings, parts, "earmark predict"
    )
    targets = {part.number: folder.target(part, "parquet") for part in parts}
    todo = [part for part in parts if targets[part.number] is not None]
    written = {n: str(target) for n, target in targets.items() if target is not None}
    task = PredictTask(model, written, skip_bad)
    found: list[tuple[int, int, str]] = []
    if todo and executor is None:
        for part in todo:
            found.append(LocalExecutor().gather("labels", task, [part])[0])
            if progress is not None:
                progress(found[-1][0])
    elif todo and executor is not None:
        found = executor.gather("labels", task, todo)
    bad = {p.name: why for p, (_, _, why) in zip(todo, found, strict=True) if why}
    return PredictReport(
        len(parts),
        len(parts) - len(todo),
        sum(row[0] for row in found),
        sum(row[1] for row in found),
        bad,
    )
