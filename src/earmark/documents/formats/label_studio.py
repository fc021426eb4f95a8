"""Label Studio: an array of tasks with data, annotations and predictions."""

from __future__ import annotations

from functools import partial
from typing import Any

from earmark.documents.exchange import (
    AGENT,
    Dialect,
    Record,
    Task,
    as_list,
    labels_of,
    text_of,
)
from earmark.documents.format import Format
from earmark.documents.formats.json import tables

_NAME = "label"  # of the control with the choices


def _knows(record: Record) -> bool:
    judged = [record.get(name) for name in ("annotations", "predictions")]
    return isinstance(record.get("data"), dict) and any(
        isinstance(one, list) for one in judged
    )


def _read(record: Record) -> Record:
    """The data as columns, each control as a column, the first one as the label."""
    data = record.get("data") or {}
    meta = record.get("meta") or {}
    answers: dict[str, list[list[str]]] = {}
    for annotation in record.get("annotations") or ():
        if annotation.get("was_cancelled"):
            continue
        said: dict[str, list[str]] = {}
        for one in annotation.get("result") or ():
            if one.get("type") == "choices":
                choices = as_list((one.get("value") or {}).get("choices"))
                said.setdefault(str(one.get("from_name")), []).extend(choices)
        for name, choices in said.items():
            answers.setdefault(name, []).append(choices)
    controls = {name: labels_of(one)["label"] for name, one in answers.items()}
    first = next(iter(answers.values()), [])
    known = {"id": meta.get("id", record.get("id")), **labels_of(first)}
    return {**controls, **known, **text_of(data)}


def _write(task: Task) -> Record:
    record: Record = {"data": dict(task.texts)}
    if task.id is not None:
        record["meta"] = {"id": task.id}
    if task.labels is not None:
        record["annotations"] = [{"result": [_choices(task, task.labels)]}]
    else:
        result = _choices(task, task.suggested)
        one: Record = {"model_version": AGENT, "score": task.score, "result": [result]}
        record["predictions"] = [one] if task.suggested else []
    return record


def _choices(task: Task, labels: Any) -> Record:
    return {
        "from_name": _NAME,
        "to_name": next(iter(task.texts)),
        "type": "choices",
        "value": {"choices": list(labels)},
    }


_DIALECT = Dialect(_knows, _read, _write, ".json")
FORMAT = Format(
    "label-studio",
    (),
    "tasks of Label Studio: JSON with data, annotations, predictions",
    partial(tables, dialect=_DIALECT),
    dialect=_DIALECT,
)
