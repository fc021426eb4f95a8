"""Many strings as one UTF-8 blob and int64 offsets.

Lone surrogates survive (``surrogatepass``): a vocabulary may hold any Python string.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError

__all__ = ["StringReader", "StringWriter"]


class StringWriter:
    """Collect strings; each run of them is known by its first number and length."""

    def __init__(self) -> None:
        self._encoded: list[bytes] = []

    def add(self, strings: Sequence[str]) -> int:
        """Append ``strings`` and return the number of the first."""
        first = len(self._encoded)
        self._encoded += [s.encode("utf-8", "surrogatepass") for s in strings]
        return first

    def finish(self) -> tuple[bytes, NDArray[np.int64]]:
        """The blob, and where each string starts and the last one ends."""
        offsets = np.zeros(len(self._encoded) + 1, dtype=np.int64)
        lengths = np.fromiter(map(len, self._encoded), np.int64, len(self._encoded))
        np.cumsum(lengths, out=offsets[1:])
        return b"".join(self._encoded), offsets


class StringReader:
    """Hand out the strings run by run, each exactly once and in order."""

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[Any]) -> None:
        if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
            raise ModelFormatError("the string offsets must be a vector of int64")
        if (
            offsets[0] != 0
            or offsets[-1] != len(blob)
            or np.any(offsets[1:] < offsets[:-1])
        ):
            raise ModelFormatError(
                f"the string offsets must rise from 0 to {len(blob)}, "
                "the length of the string member"
            )
        self._offsets = offsets
        self._blob = blob
        self._next = 0

    def take(self, first: int, count: int) -> list[str]:
        """The ``count`` strings from number ``first``, which must be next."""
        end = first + count
        if first != self._next or count < 0 or end >= len(self._offsets):
            raise ModelFormatError(
                f"strings {first} to {end} are asked for, next are those from "
                f"{self._next} and there are {len(self._offsets) - 1}"
            )
        self._next = end
        offsets = self._offsets[first : end + 1]
        raw = self._blob[offsets[0] : offsets[-1]]
        try:
            text = str(raw.data, "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ModelFormatError(
                f"strings {first} to {end} are not valid UTF-8: {error.reason}"
            ) from error
        places = offsets - offsets[0]
        if len(text) != len(raw):
            places = _in_characters(raw, places)
        return [text[start:stop] for start, stop in pairwise(places.tolist())]

    def finish(self) -> None:
        """Raise unless every string was handed out."""
        if self._next != len(self._offsets) - 1:
            raise ModelFormatError(
                f"{len(self._offsets) - 1 - self._next} strings belong to nothing"
            )


def _in_characters(raw: NDArray[np.uint8], places: NDArray[Any]) -> NDArray[Any]:
    """Offsets in bytes -> offsets in characters, for UTF-8 text."""
    continues = (raw & 0xC0) == 0x80
    filled = places[1:] > places[:-1]
    starts = places[:-1][filled]
    if continues[starts].any():
        raise ModelFormatError("a string begins within a character")
    lengths = np.zeros(len(places), dtype=np.int64)
    extra = np.add.reduceat(continues, starts, dtype=np.int64)
    lengths[1:][filled] = np.diff(places)[filled] - extra
    return np.cumsum(lengths)
