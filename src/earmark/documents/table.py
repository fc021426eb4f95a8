"""Which columns hold text, label and the rest, and their cells, each checked.

And messages about data: where, what was expected, what came, what to do.
"""

from __future__ import annotations

import difflib
import json
import os
import reprlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from earmark.documents.document import Documents, Texts
from earmark.exceptions import DataError, EarmarkWarning, Named, Text, Try
from earmark.kernels.text import LONGEST_TEXT, longest_text, too_long
from earmark.missing import is_missing
from earmark.parameters import require_one_of

# The first name wins outright; of the others exactly one must be there.
_TEXT_NAMES = ["text", "body", "content", "message", "review", "sentence", "document"]
LABEL_NAMES = ("label", "labels", "class", "category", "target", "topic")
_LISTED_MOST = 20
# A slip is looked for among so many names, none of them longer.
_COMPARED_MOST, _NAME_MOST = 10_000, 200
_MOST_WORDS = 3  # of the name of a column; more are a sentence
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


class KnownColumn(str):
    """A column that the caller did not name: the model's, or that of another part."""

    origin = "the model's column"
    """Why it is looked for; "" where that need not be said."""

    @classmethod
    def of_part(cls, name: str, source: str) -> KnownColumn:
        """A column of the first part."""
        column = cls(name)
        column.origin = f"as in {os.path.basename(source)}"
        return column


class UsualColumn(KnownColumn):
    """A text column to take if a file has it; otherwise the column is guessed."""


@dataclass(frozen=True)
class Plan:
    """Columns of a file; ``regions`` is None when the texts are joined to one."""

    texts: tuple[str, ...]
    regions: tuple[str, ...] | None
    label: str | None
    id: str | None
    keep: tuple[str, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """Every column to read, once each."""
        single = (name for name in (self.label, self.id) if name is not None)
        return tuple(dict.fromkeys((*self.texts, *single, *self.keep)))


@dataclass(frozen=True)
class Request:
    """What the caller asked for, before any file is opened."""

    text: str | Sequence[str] | None = None
    label: str | Literal[False] | None = None
    regions: Sequence[str] | Mapping[str, str] | bool | None = None
    id: str | None = None
    keep: Sequence[str] | Literal["all"] = ()
    multi_label: bool = False
    separator: str = "|"
    allow_unlabelled: bool = False
    null_text: Literal["error", "empty"] = "error"

    def __post_init__(self) -> None:
        require_one_of(self, "null_text", ("error", "empty"))
        if isinstance(self.regions, str):
            raise TypeError(
                f"regions must be a list of columns or a dict of region name to "
                f"column, got the string {self.regions!r}; "
                f"write regions=[{self.regions!r}]."
            )
        named = self.regions not in (None, True, False)
        if named and self.text is not None:
            raise ValueError(
                "give the columns either by text= or by regions=, not by both; "
                "regions=True makes each column of text= a region."
            )
        if named and not self.regions:
            raise ValueError("regions= is empty; name at least one column.")
        if self.regions is True and self.text is None:
            raise ValueError("regions=True needs the columns in text=[...].")
        if self.text is not None and not self.text:
            raise ValueError("text= is empty; name at least one column.")
        if self.multi_label and not self.separator:
            raise ValueError("separator= must be at least one character.")

    def resolve(
        self,
        names: Sequence[str],
        strings: Sequence[str],
        source: str,
        *,
        sparse: bool = False,
    ) -> Plan:
        """Choose the columns; ``strings`` may be text, rows lack some if ``sparse``."""
        if self.id is not None:
            _require_column(self.id, "id", names, source)
        label = self._label(names, source, sparse=sparse)
        taken = {label, self.id}
        usual = isinstance(self.text, UsualColumn)
        regions: tuple[str, ...] | None = None
        if isinstance(self.regions, Mapping):
            regions, texts = tuple(self.regions), tuple(self.regions.values())
        elif self.regions and not isinstance(self.regions, bool):
            texts = tuple(self.regions)
            regions = tuple(map(str, texts))
        elif self.text is not None and (not usual or names.count(self.text) == 1):
            texts = (self.text,) if isinstance(self.text, str) else tuple(self.text)
            regions = texts if self.regions else None
        else:
            texts = (_guess_text(names, strings, taken, source, self.text),)
        flag = "text" if self.text is not None else "regions"
        for column in texts:
            _require_column(column, flag, names, source)
            if column in (label, self.id):
                use = "label" if column == label else "id"
                raise fault(
                    source,
                    f"column {column!r} is asked for as text and as {use}; "
                    f"the {use} must be another column.",
                )
        keep = self._columns_to_keep(names, {*texts, *taken}, source)
        return Plan(tuple(map(str, texts)), regions, label, self.id, keep)

    def settled(self, table: Table) -> Request:
        """The same request with the columns of ``table`` named: for the next part."""
        plan, label = table.plan, table.plan.label
        texts: tuple[str, ...] = plan.texts
        asked = self.text or self.regions
        first = asked[0] if isinstance(asked, list) else asked
        if isinstance(first, KnownColumn | None):
            texts = tuple(KnownColumn.of_part(name, table.source) for name in texts)
        if label is not None and self.label is None:
            label = KnownColumn.of_part(label, table.source)
        regions = plan.regions and dict(zip(plan.regions, texts, strict=True))
        return replace(
            self,
            text=texts if regions is None else None,
            regions=regions,
            label=label or False,
            keep=plan.keep,
        )

    def _label(self, names: Sequence[str], source: str, *, sparse: bool) -> str | None:
        if self.label is False:
            return None
        if self.label is None:
            name = _guess(names, LABEL_NAMES, "label", source)
            return None if name == self.id else name
        if self.label not in names:
            absent_is_unlabelled = sparse and self.allow_unlabelled
            if not absent_is_unlabelled or near(self.label, names):
                _require_column(self.label, "label", names, source)
        elif names.count(self.label) > 1:
            _require_column(self.label, "label", names, source)
        return self.label

    def _columns_to_keep(
        self, names: Sequence[str], used: set[str | None], source: str
    ) -> tuple[str, ...]:
        if self.keep == "all":
            return tuple(name for name in names if name not in used)
        for column in self.keep:
            _require_column(column, "keep", names, source)
        return tuple(self.keep)


def _require_column(column: str, flag: str, names: Sequence[str], source: str) -> None:
    """Raise unless ``column`` is there exactly once."""
    count = names.count(column)
    if count == 1:
        return
    if count > 1:
        raise fault(
            source,
            f"expected one column {column!r}, the header has {count}; "
            f"rename them so that each name stands once.",
        )
    slips = near(column, names)
    hint = [Try(f"Did you mean {listed(slips)}?")] if slips else []
    asked: list[str | Named] = [" (asked for by ", Named(flag, is_argument=True), ")"]
    if isinstance(column, KnownColumn):
        asked = [column.origin and f" ({column.origin})"]
    if len(names) == 1:
        hint = _delimiter_hint(names[0]) or hint
    if isinstance(column, KnownColumn) and flag == "text":
        hint.append(Try(f"{'or ' * bool(hint)}name the text with", text=...))
        if len(names) == 1:
            hint.append(Try("If that is a document, the file has no header: add one."))
    expected = f"expected a column {_short.repr(str(column))}"
    known = f", the columns are {listed(names)}."
    raise fault(source, [expected, *asked, known], *hint)


def _delimiter_hint(header: str) -> list[Try]:
    """Advice for a header of one column: another delimiter was probably meant."""
    for delimiter in (";", "\t", "|", ","):
        if delimiter in header:
            seen = f"The header looks split by {delimiter!r}: give"
            return [Try(seen, delimiter=delimiter)]
    return []


def _guess(
    names: Sequence[str], candidates: Sequence[str], flag: str, source: str
) -> str | None:
    """The first candidate if it is there, else the only other one, else None."""
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.strip().lower(), []).append(name)
    best = by_lower.get(candidates[0], [])
    likely = best or [n for c in candidates[1:] for n in by_lower.get(c, [])]
    if len(likely) > 1:
        advice = Try("name one with", **{flag: ...})
        if len(set(likely)) < len(likely):
            advice = Try("rename them so that each name stands once")
        what = f"more than one column may be the {flag}: {listed(likely)}"
        raise fault(source, what, advice)
    return likely[0] if likely else None


def _guess_text(
    names: Sequence[str],
    strings: Sequence[str],
    taken: set[str | None],
    source: str,
    usual: str | Sequence[str] | None,
) -> str:
    """The text column by its name, or because no other column holds strings."""
    free = [name for name in strings if name not in taken]
    name = _guess(free, _TEXT_NAMES, "text", source)
    if name is not None:
        return name
    if len(free) == 1:
        is_sentence = len(names) == 1 and len(free[0].split()) > _MOST_WORDS
        if usual is not None or is_sentence:
            lacks = f"there is no column {usual!r}; " if usual is not None else ""
            warnings.warn(
                f"{source}: {lacks}{_short.repr(free[0])} is read as the name of the "
                "text column. If it is a document, the file has no header: add one.",
                EarmarkWarning,
                stacklevel=2,
            )
        return free[0]
    what = "several columns hold strings" if free else "no column holds strings"
    named = [name for name in names if name.strip().lower() == _TEXT_NAMES[0]]
    if named and not free:
        what = f"column {named[0]!r} holds no strings"
    raise fault(
        source,
        f"expected a column named {listed(_TEXT_NAMES)} or one string column; "
        f"{what} and the columns are {listed(names)}",
        Try("name the text with", text=...),
        *(_delimiter_hint(names[0]) if len(names) == 1 else ()),
    )


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

    def fault(self, what: str, index: int, column: str, *tries: Try) -> DataError:
        """An error about one cell."""
        return DataError(what, *tries).at(self.place(index, column))

    def place(self, index: int, column: str) -> str:
        """Where a cell is."""
        line = None if self.line_of is None else self.line_of(index)
        return place(self.source, self.first_row + index, line, column)


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
                    f"{first[1]} has already",
                    index,
                    column,
                    Try("remove the copy"),
                    Try("or read without", id=...),
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
        parts = [texts]
    for name, column in zip(plan.texts, parts, strict=False):
        length, index = longest_text(column)
        if length >= LONGEST_TEXT:
            raise table.fault(too_long(length), index, name)
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
        if isinstance(value, str) or (null_is_empty and is_missing(value)):
            continue
        tries = [
            Try("write it as a string"),
            Try("or name another column with", text=...),
        ]
        if is_missing(value):
            empty = Try("or read it as an empty document with", null_text="empty")
            tries = [Try("fill it in, remove the row"), empty]
        what = f"expected a text, got {described(value)}"
        raise table.fault(what, index, column, *tries)
    return ["" if is_missing(value) else value for value in values]


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
            label = _label_set(value, request.separator) if many else _one_label(value)
        except DataError as error:
            raise error.at(table.place(index, column)) from None
        if label is None and not request.allow_unlabelled:
            raise table.fault(
                f"expected a label, got {described(value)}",
                index,
                column,
                Try("fill it in or remove the row"),
                Try("or read it as unlabelled with", allow_unlabelled=True),
            )
        labels.append(label)
    return labels


def as_label(value: object) -> str | None:
    """One label as a string, whatever the format's type; None if missing."""
    if isinstance(value, str):
        return value if value.strip() else None
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    if isinstance(value, list | tuple):
        raise DataError(
            f"expected one label, got {described(value)}",
            Try("for documents with several labels give", multi_label=True),
        )
    raise DataError(
        f"expected a label (a string or a whole number), got {described(value)}",
        Try("name another column with", label=...),
    )


def _one_label(value: object) -> str | None:
    """A label, also as the only one of a list, as tools write it that allow several."""
    if isinstance(value, list | tuple) and len(value) < 2:
        return as_label(value[0]) if value else None
    return as_label(value)


def _label_set(value: object, separator: str) -> list[str] | None:
    """The distinct labels of a list, a JSON list or a separated string."""
    if isinstance(value, str):
        if not value.strip():
            return None
        value = _split(value, separator)
    elif is_missing(value):
        return None
    elif not isinstance(value, list | tuple):
        value = [value]
    labels: dict[str, None] = {}
    for entry in value:
        label = as_label(entry)
        if label is None:
            raise DataError(
                f"expected labels, got an empty one in {value!r}",
                Try("remove it"),
                Try(
                    "or give the separator between labels with",
                    f" (now {separator!r})",
                    separator=...,
                ),
            )
        labels[label] = None
    return list(labels)


def _split(text: str, separator: str) -> list[Any]:
    """A cell with several labels: a JSON list, or labels with a separator."""
    # The separator alone, like [], says that none of the labels applies.
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
                f"expected an id (a string or a whole number), got {described(value)}",
                index,
                column,
                Try("fill it in"),
                Try("or read without", id=...),
            )
    return values


def fault(
    source: str,
    what: Text,
    *tries: Try,
    row: int | None = None,
    line: int | None = None,
) -> DataError:
    """A DataError that begins with the place; rows and lines count from 1."""
    return DataError(what, *tries).at(place(source, row, line))


def place(
    source: str,
    row: int | None = None,
    line: int | None = None,
    column: str | None = None,
) -> str:
    """Where something is in a file."""
    text = source
    if row is not None:
        text += f", row {row}" + (f" (line {line})" if line is not None else "")
    elif line is not None:
        text += f", line {line}"
    return text if column is None else f"{text}, column {column!r}"


def described(value: object) -> str:
    """What came, in words that fit JSON, CSV and Parquet alike."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f"the string {_short.repr(value)}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    return f"{type(value).__name__} {_short.repr(value)}"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, separated by commas; a long list is cut."""
    known = list(names)
    text = ", ".join(_short.repr(str(name)) for name in known[:_LISTED_MOST])
    rest = len(known) - _LISTED_MOST
    return f"{text} and {rest} more" if rest > 0 else text


def near(name: str, names: Iterable[str]) -> list[str]:
    """Names that look like a slip of ``name``: same letters, or one typing error."""
    known = [one for one in islice(names, _COMPARED_MOST) if len(one) < _NAME_MOST]
    name = name[:_NAME_MOST]
    same = [other for other in known if other.strip().lower() == name.strip().lower()]
    return same or difflib.get_close_matches(name, known, n=3)
