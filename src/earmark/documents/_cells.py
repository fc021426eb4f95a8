"""From raw columns to Documents: every cell checked, every fault given its row."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from earmark.documents.columns import Plan, Request, described, fault
from earmark.documents.document import Documents, Texts
from earmark.exceptions import DataError


@dataclass(frozen=True)
class Table:
    """Some rows of a file as columns; ``line_of(index)`` is a row's first line."""

    source: str
    plan: Plan
    data: dict[str, list[Any]]
    first_row: int
    line_of: Callable[[int], int] | None = None

    @property
    def rows(self) -> range:
        """Data rows of the entries, counted from 1."""
        n_rows = len(next(iter(self.data.values())))
        return range(self.first_row, self.first_row + n_rows)

    def fault(self, what: str, index: int, column: str) -> DataError:
        """An error about one cell."""
        line = None if self.line_of is None else self.line_of(index)
        row = self.first_row + index
        return fault(self.source, what, row=row, line=line, column=column)


class IdRegister:
    """Refuses an id that has been seen before."""

    def __init__(self) -> None:
        self._first: dict[Any, tuple[str, int]] = {}

    def add(self, table: Table, column: str, ids: list[Any]) -> None:
        """Take the ids of a table, or say which row repeats which."""
        for index, (row, name) in enumerate(zip(table.rows, ids, strict=True)):
            place = (table.source, row)
            first = self._first.setdefault(name, place)
            if first is not place:
                raise table.fault(
                    f"expected each id once, got {name!r} that {first[0]}, row "
                    f"{first[1]} has already; remove the copy, or read without id=.",
                    index,
                    column,
                )


def to_documents(
    table: Table, request: Request, register: IdRegister | None
) -> Documents:
    """Check and convert the columns of ``table``."""
    plan = table.plan
    parts = [_texts(table, name, request.null_text == "empty") for name in plan.texts]
    texts: Texts
    if plan.regions is not None:
        texts = dict(zip(plan.regions, parts, strict=True))
    elif len(parts) == 1:
        texts = parts[0]
    else:
        texts = ["\n".join(cells) for cells in zip(*parts, strict=True)]
    labels = None if plan.label is None else _labels(table, plan.label, request)
    ids = None if plan.id is None else _ids(table, plan.id)
    if register is not None and plan.id is not None and ids is not None:
        register.add(table, plan.id, ids)
    columns = {name: table.data[name] for name in plan.keep}
    return Documents(texts, labels, ids, table.rows, table.source, columns, plan.texts)


def _texts(table: Table, column: str, null_is_empty: bool) -> list[str]:
    """The cells of a text column, all str."""
    values: list[Any] = table.data[column]
    if set(map(type, values)) <= {str}:
        return values
    for index, value in enumerate(values):
        if isinstance(value, str) or (null_is_empty and _is_null(value)):
            continue
        hint = (
            "fill it in, remove the row, or read it as an empty document with "
            "null_text='empty'"
            if _is_null(value)
            else "write it as a string, or name another column with text="
        )
        raise table.fault(
            f"expected a text, got {described(value)}; {hint}.", index, column
        )
    return ["" if _is_null(value) else value for value in values]


def _labels(table: Table, column: str, request: Request) -> list[Any]:
    """The cells of the label column: str, list of str, or None if unlabelled."""
    values: list[Any] = table.data[column]
    simple = not request.multi_label and set(map(type, values)) == {str}
    if simple and all(map(str.strip, values)):
        return values
    labels: list[Any] = []
    for index, value in enumerate(values):
        try:
            many = request.multi_label
            label = _label_set(value, request.separator) if many else as_label(value)
        except ValueError as error:
            raise table.fault(str(error), index, column) from None
        if label is None and not request.allow_unlabelled:
            raise table.fault(
                f"expected a label, got {described(value)}; fill it in or remove the "
                f"row, or read it as unlabelled with allow_unlabelled=True.",
                index,
                column,
            )
        labels.append(label)
    return labels


def as_label(value: object) -> str | None:
    """One label as a string, whatever the format's type; None if missing."""
    if isinstance(value, str):
        return value if value.strip() else None
    if _is_null(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    if isinstance(value, list | tuple):
        raise ValueError(
            f"expected one label, got {described(value)}; for documents with several "
            f"labels give multi_label=True."
        )
    raise ValueError(
        f"expected a label (a string or a whole number), got {described(value)}; "
        f"name another column with label=."
    )


def _label_set(value: object, separator: str) -> list[str] | None:
    """The distinct labels of a list, a JSON list or a separated string."""
    if isinstance(value, str):
        if not value.strip():
            return None
        value = _split(value, separator)
    elif _is_null(value):
        return None
    elif not isinstance(value, list | tuple):
        value = [value]
    labels: dict[str, None] = {}
    for entry in value:
        label = as_label(entry)
        if label is None:
            raise ValueError(
                f"expected labels, got an empty one in {value!r}; remove it, or give "
                f"the separator between labels with separator= (now {separator!r})."
            )
        labels[label] = None
    return list(labels)


def _split(text: str, separator: str) -> list[Any]:
    """A cell with several labels: a JSON list, or labels with a separator.

    The separator alone, like ``[]``, says that none of the labels applies.
    """
    if text.strip() == separator:
        return []
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, list):
            return value
    return text.split(separator)


def _ids(table: Table, column: str) -> list[Any]:
    """The cells of the id column, all str or int."""
    values: list[Any] = table.data[column]
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise table.fault(
                f"expected an id (a string or a whole number), got {described(value)}; "
                f"fill it in, or read without id=.",
                index,
                column,
            )
    return values


def _is_null(value: object) -> bool:
    """None, or the NaN that stands for it in tables of floats."""
    return value is None or (isinstance(value, float) and math.isnan(value))
