"""Records, such as the objects of a JSON file, as tables of columns, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

from earmark.documents.stream import ReadOptions, TextSource
from earmark.documents.table import Plan, Request, Table, listed, near, place
from earmark.exceptions import DataError

Record: TypeAlias = dict[str, Any]
# Records, and the line of each where lines are counted.
Numbered: TypeAlias = tuple[list[Record], list[int] | None]

_MOST_LEVELS = 8


def record_tables(
    source: TextSource | str,
    records: Iterable[Record],
    request: Request,
    options: ReadOptions,
    names: list[str] | None = None,
) -> Iterator[Table]:
    """Records as columns; ``names`` are all columns, where the format knows them."""
    name = source if isinstance(source, str) else source.name
    try:
        yield from batch_tables(name, _batches(records, options), request, names)
    except TextSource.failures as error:
        if isinstance(source, str):
            raise
        raise source.refused(error, 0) from error


def _batches(records: Iterable[Record], options: ReadOptions) -> Iterator[Numbered]:
    rest = iter(records)
    while batch := list(islice(rest, options.batch_size)):
        yield batch, None


def batch_tables(
    source: str,
    batches: Iterable[Numbered],
    request: Request,
    names: list[str] | None = None,
) -> Iterator[Table]:
    """Batches of records as columns; the first batch settles which ones."""
    plan: Plan | None = None
    first_row = 1
    for batch, lines in batches:
        if plan is None:
            plan = _plan(batch, request, source, names)
        data = {
            name: _column(batch, name, plan, first_row, lines, source)
            for name in plan.needed
        }
        line_of = None if lines is None else lines.__getitem__
        yield Table(source, plan, data, first_row, line_of)
        first_row += len(batch)


def _plan(
    batch: list[Record], request: Request, source: str, names: list[str] | None
) -> Plan:
    """Choose the columns from every field of the first batch, nested ones by path."""
    examples: Record = {}
    for record in batch:
        for name, value in _fields(record):
            if examples.get(name) is None:
                examples[name] = value
    strings = [name for name, value in examples.items() if isinstance(value, str)]
    if names is not None:
        return request.resolve(names, [n for n in names if n in strings], source)
    plan = request.resolve(list(examples), strings, source, sparse=True)
    if request.keep != "all":
        return plan
    whole = {name for record in batch for name in record}
    return replace(plan, keep=tuple(name for name in plan.keep if name in whole))


def _fields(
    record: Record, path: str = "", level: int = 0
) -> Iterator[tuple[str, Any]]:
    """Names and values of a record; of an object in it also those of its fields."""
    for name, value in record.items():
        yield f"{path}{name}", value
        if isinstance(value, dict) and level < _MOST_LEVELS:
            yield from _fields(value, f"{path}{name}.", level + 1)


def _has(record: Record, name: str) -> bool:
    return name in record or ("." in name and _nested(record, name) is not None)


def _nested(record: Record, name: str) -> Any:
    """The value of a field by its name or, in objects within objects, by its path."""
    if name in record:
        return record[name]
    head, dot, rest = name.partition(".")
    inner = record.get(head) if dot else None
    return _nested(inner, rest) if isinstance(inner, dict) else None


def _column(
    batch: list[Record],
    name: str,
    plan: Plan,
    first_row: int,
    lines: list[int] | None,
    source: str,
) -> list[Any]:
    """One field of every record; only texts and ids must be there."""
    try:
        return [record[name] for record in batch]
    except KeyError:
        pass
    if name in plan.texts or name == plan.id:
        for index, record in enumerate(batch):
            if not _has(record, name):
                slips = near(name, record)
                hint = f" (did you mean {listed(slips)}?)" if slips else ""
                line = None if lines is None else lines[index]
                raise DataError(
                    f"expected the field, the object has {listed(record) or 'none'}"
                    f"{hint}; add it or remove the line."
                ).at(place(source, first_row + index, line, name))
    return [_nested(record, name) for record in batch]
