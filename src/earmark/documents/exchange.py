"""Labelled documents as other labelling tools write and read them, in JSON.

Each tool is a file of ``documents/formats`` whose ``FORMAT`` has a ``Dialect``. A file
of JSON is known by its first object; a file to write by its name, such as
``tasks.label-studio.json``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from earmark.exceptions import EarmarkError

if TYPE_CHECKING:
    from earmark.documents.table import Request

Record: TypeAlias = dict[str, Any]

AGENT = "earmark"
"""Who made a suggestion, in the files of others."""


@dataclass(frozen=True)
class Task:
    """A document for people, with what they said of it or what a model suggests."""

    texts: Mapping[str, str]
    id: Any = None
    labels: Sequence[str] | None = None
    """What people said; None: nobody was asked."""
    suggested: Sequence[str] = ()
    """What a model would say, where people said nothing."""
    score: float | None = None
    """How sure the model is of that."""
    classes: Sequence[str] = ()
    """All labels there are."""
    several: bool = False
    """Whether a document may have several labels."""


@dataclass(frozen=True)
class Dialect:
    """How one tool writes documents as objects of JSON."""

    knows: Callable[[Record], bool]
    """Whether an object is of this tool."""
    read: Callable[[Record], Record]
    """From such an object to columns: text, label (a list or None), votes, id."""
    write: Callable[[Task], Record]
    suffix: str = ".jsonl"
    """.json for one array, .jsonl for lines."""


def labels_of(answers: Iterable[Sequence[str]]) -> Record:
    """The columns label and votes of what several people said of a document."""
    said = [tuple(dict.fromkeys(answer)) for answer in answers if answer]
    if not said:
        return {"label": None, "votes": {}}
    most, _ = Counter(said).most_common(1)[0]  # the first among equals
    votes = Counter(label for answer in said for label in answer)
    return {"label": list(most), "votes": dict(votes)}


def text_of(fields: Mapping[str, Any]) -> Record:
    """The columns of a document's fields; one string is the text."""
    strings = [name for name, value in fields.items() if isinstance(value, str)]
    if "text" in fields or len(strings) != 1:
        return dict(fields)
    return {**fields, "text": fields[strings[0]]}


def as_list(value: Any) -> list[str]:
    """A label or several as a list of strings."""
    if value is None:
        return []
    return list(map(str, value)) if isinstance(value, list | tuple) else [str(value)]


def translated(
    records: Iterable[Record], dialect: Dialect | None, request: Request
) -> Iterator[Record]:
    """Objects of JSON as columns, where they are of a labelling tool."""
    rest = iter(records)
    first = list(islice(rest, 1))
    dialect = dialect or (dialect_of(first[0], request) if first else None)
    every = chain(first, rest)
    return every if dialect is None else map(dialect.read, every)


def dialect_of(record: Record, request: Request) -> Dialect | None:
    """The dialect of an object, unless its own fields are asked for by name."""
    asked = request.text if isinstance(request.text, str) else None
    if asked is not None and asked.partition(".")[0] in record and asked != "text":
        return None
    return next((one for one in _dialects().values() if one.knows(record)), None)


def dialect_named(name: str) -> Dialect | None:
    """The dialect that the name of a file to write asks for."""
    suffixes = PurePath(name).suffixes[-2:]
    if len(suffixes) < 2:
        return None
    dialect = _dialects().get(suffixes[0][1:])
    return dialect if dialect is not None and dialect.suffix == suffixes[1] else None


def endings() -> list[str]:
    """How names of files end that are written for labelling tools."""
    return [f".{name}{one.suffix}" for name, one in _dialects().items()]


def written(tasks: Iterable[Task], dialect: Dialect) -> Iterator[bytes]:
    """The bytes of a file of these documents, piece by piece."""
    is_array = dialect.suffix == ".json"
    before = "[\n" if is_array else ""
    for task in tasks:
        line = json.dumps(dialect.write(task), ensure_ascii=False)
        yield f"{before}{line}".encode("utf-8", "replace")
        before = ",\n" if is_array else "\n"
    yield b"\n]\n" if is_array and before != "[\n" else b"[]\n" if is_array else b"\n"


def _dialects() -> dict[str, Dialect]:
    from earmark.documents.format import FORMATS

    known: dict[str, Dialect] = {}
    for name in FORMATS.names():
        with suppress(EarmarkError):  # a broken package of others does not matter here
            dialect = FORMATS[name].dialect
            if dialect is not None:
                known[name] = dialect
    return known
