"""Prodigy: lines with the options accepted, or with one label and an answer."""

from __future__ import annotations

from functools import partial

from earmark.documents.exchange import Dialect, Record, Task, as_list, labels_of
from earmark.documents.format import Format
from earmark.documents.formats.json import tables

_MARKS = ("accept", "answer", "_task_hash")


def _knows(record: Record) -> bool:
    is_hashed = "_task_hash" in record and "_input_hash" in record
    chosen = isinstance(record.get("accept"), list) and "options" in record
    judged = record.get("answer") in ("accept", "reject", "ignore")
    return "text" in record and (is_hashed or chosen or judged)


def _read(record: Record) -> Record:
    """What was accepted; a task that was rejected, ignored or not done has no label."""
    labels = record.get("accept", record.get("label"))
    said = as_list(labels) if record.get("answer") == "accept" else []
    meta = record.get("meta") or {}
    known = {"id": meta.get("id", record.get("_task_hash")), **labels_of([said])}
    return {**{n: v for n, v in record.items() if n not in _MARKS}, **known}


def _write(task: Task) -> Record:
    meta = {} if task.id is None else {"id": task.id}
    if task.labels is None and task.score is not None:
        meta["score"] = task.score
    record: Record = {
        "text": "\n".join(task.texts.values()),
        "options": [{"id": label, "text": label} for label in task.classes],
        "accept": list(task.suggested if task.labels is None else task.labels),
        "meta": meta,
    }
    if task.labels is not None:
        record["answer"] = "accept"
    return record


_DIALECT = Dialect(_knows, _read, _write)
FORMAT = Format(
    "prodigy",
    (),
    "tasks of Prodigy: lines of JSON with `accept` and `answer`",
    partial(tables, dialect=_DIALECT),
    dialect=_DIALECT,
)
