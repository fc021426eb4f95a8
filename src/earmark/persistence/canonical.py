"""Canonical JSON: one value has one spelling, and only that spelling is read."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from earmark.exceptions import ModelFormatError

__all__ = ["MAX_DEPTH", "dump", "parse"]

MAX_DEPTH = 128
# No number that we write in JSON is longer than -9223372036854775808.
_MAX_DIGITS = 20
_NOT_BRACKETS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[^\[\]{}"]+', re.DOTALL)


def dump(value: Any) -> bytes:
    """Spell ``value`` with sorted keys, no spaces and ASCII only."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def parse(text: bytes, what: str) -> Any:
    """Read canonical JSON; ``what`` names the text in the error message."""
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise ModelFormatError(
            f"{what} is nested {depth} levels deep, at most {MAX_DEPTH} are read"
        )
    try:
        value = json.loads(
            text.decode("ascii"),
            object_pairs_hook=_unique,
            parse_int=_small_int,
            parse_constant=_no_constant,
        )
        same = dump(value) == text
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not valid JSON: {error}") from error
    if not same:
        raise ModelFormatError(
            f"{what} is not spelled canonically (sorted keys, no spaces); "
            "it was not written by earmark"
        )
    return value


def _depth(text: bytes) -> int:
    """How deep the brackets outside strings nest, without recursion."""
    brackets = np.frombuffer(_NOT_BRACKETS.sub(b"", text), dtype=np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    steps = np.where(opening, 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice")
    return found


def _small_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
