"""Canonical JSON: one value has one spelling, and only that spelling is read."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TypeAlias

import numpy as np

from earmark.exceptions import ModelFormatError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 128
# No number that we write in JSON is longer than -9223372036854775808.
_MAX_DIGITS = 20
_NOT_BRACKETS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[^\[\]{}"]+', re.DOTALL)


def dump(value: object) -> bytes:
    """Spell ``value`` with sorted keys, no spaces and ASCII only."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def parse(text: bytes, what: str) -> Json:
    """Read canonical JSON; ``what`` names the text in the error message."""
    value = parse_any(text, what)
    if dump(value) != text:
        raise ModelFormatError(
            f"{what} is not spelled canonically (sorted keys, no spaces); "
            "it was not written by earmark"
        )
    return value


def parse_any(text: bytes, what: str) -> Json:
    """Read JSON in any spelling, with bounds on nesting and digits."""
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise ModelFormatError(
            f"{what} is nested {depth} levels deep, at most {MAX_DEPTH} are read"
        )
    try:
        value: Json = json.loads(
            text.decode(),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_int=_small_int,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not valid JSON: {error}") from error
    return value


def _depth(text: bytes) -> int:
    """How deep the brackets outside strings nest, without recursion."""
    brackets = np.frombuffer(_NOT_BRACKETS.sub(b"", text), dtype=np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    steps = np.where(opening, 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice")
    return table


def _small_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
