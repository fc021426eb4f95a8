"""Messages about data: where, what was expected, what came, what to do."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable

from earmark.exceptions import DataError

_LISTED_MOST = 20
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def fault(
    source: str,
    what: str,
    *,
    row: int | None = None,
    line: int | None = None,
    column: str | None = None,
) -> DataError:
    """A DataError that begins with the place; rows and lines count from 1."""
    place = source
    if row is not None:
        place += f", row {row}" + (f" (line {line})" if line is not None else "")
    elif line is not None:
        place += f", line {line}"
    if column is not None:
        place += f", column {column!r}"
    return DataError(f"{place}: {what}")


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
    text = ", ".join(repr(name) for name in known[:_LISTED_MOST])
    rest = len(known) - _LISTED_MOST
    return f"{text} and {rest} more" if rest > 0 else text


def near(name: str, names: Iterable[str]) -> list[str]:
    """Names that look like a slip of ``name``: same letters, or one typing error."""
    known = list(names)
    same = [other for other in known if other.strip().lower() == name.strip().lower()]
    return same or difflib.get_close_matches(name, known, n=3)
