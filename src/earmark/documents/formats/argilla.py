"""Argilla: an array of records with fields, responses and suggestions."""

from __future__ import annotations

from functools import partial

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

_QUESTION = "label"


def _knows(record: Record) -> bool:
    judged = [record.get(name) for name in ("responses", "suggestions")]
    return isinstance(record.get("fields"), dict) and any(
        isinstance(one, dict) for one in judged
    )


def _read(record: Record) -> Record:
    """The fields as columns, each question as a column, the first one as the label."""
    answers = {
        question: [
            as_list(response.get("value"))
            for response in responses or ()
            if response.get("status") not in ("discarded", "draft")
        ]
        for question, responses in (record.get("responses") or {}).items()
    }
    controls = {name: labels_of(one)["label"] for name, one in answers.items()}
    first = next(iter(answers.values()), [])
    fields = text_of(record.get("fields") or {})
    return {**controls, "id": record.get("id"), **labels_of(first), **fields}


def _write(task: Task) -> Record:
    record: Record = {"fields": dict(task.texts), "responses": {}, "suggestions": {}}
    if task.id is not None:
        record = {"id": str(task.id), **record}
    known = task.suggested if task.labels is None else task.labels
    value = list(known) if task.several else next(iter(known), None)
    if task.labels is not None:
        said: Record = {"value": value, "user_id": None, "status": "submitted"}
        record["responses"][_QUESTION] = [said]
    elif task.suggested:
        suggestion = {"value": value, "score": task.score, "agent": AGENT}
        record["suggestions"][_QUESTION] = suggestion
    return record


_DIALECT = Dialect(_knows, _read, _write, ".json")
FORMAT = Format(
    "argilla",
    (),
    "records of Argilla: JSON with fields, responses, suggestions",
    partial(tables, dialect=_DIALECT),
    dialect=_DIALECT,
)
