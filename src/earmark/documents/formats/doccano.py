"""doccano: lines with a list of labels."""

from __future__ import annotations

from functools import partial

from earmark.documents.exchange import Dialect, Record, Task, as_list, labels_of
from earmark.documents.format import Format
from earmark.documents.formats.json import tables


def _knows(record: Record) -> bool:
    # A text and a list of labels is what other tools write as well: nothing to do.
    return False


def _read(record: Record) -> Record:
    text = record.get("text", record.get("data"))
    labels = record.get("label", record.get("labels", record.get("cats")))
    return {**record, "text": text, **labels_of([as_list(labels)])}


def _write(task: Task) -> Record:
    known = task.suggested if task.labels is None else task.labels
    record: Record = {"text": "\n".join(task.texts.values()), "label": list(known)}
    if task.id is not None:
        record["id"] = task.id
    if task.labels is None and task.score is not None:
        record["score"] = task.score
    return record


_DIALECT = Dialect(_knows, _read, _write)
FORMAT = Format(
    "doccano",
    (),
    'documents of doccano: lines of JSON with `"label": [...]`',
    partial(tables, dialect=_DIALECT),
    dialect=_DIALECT,
)
