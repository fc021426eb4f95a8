"""What the running interpreter says about every code point, as arrays.

The compiled scanner must agree with this interpreter's ``re`` and ``str.lower``,
whose Unicode version changes from one Python to the next; so the tables are
made here, at run time, and only once a document is not plain ASCII.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["code_point_flags", "install", "lower_case"]

WORD, SPACE, SPECIAL = 1, 2, 4
_N_CODE_POINTS = sys.maxunicode + 1
# Capital sigma becomes one of two letters by its place in the word; dotted
# capital I becomes two code points.
_IN_CONTEXT = "\u0130\u03a3"


def install(lib: Any) -> None:
    """Give the compiled extension the tables, once a process."""
    if not lib.unicode_tables_ready():
        lib.set_unicode_tables(code_point_flags(), lower_case())


def code_point_flags() -> NDArray[np.uint8]:
    """Bits WORD, SPACE and SPECIAL of every code point -> (0x110000,)."""
    every = _every_code_point()
    flags = np.zeros(_N_CODE_POINTS, dtype=np.uint8)
    for pattern, bit in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, every):
            flags[run.start() : run.end()] |= bit
    flags[[ord(c) for c in _special()]] |= SPECIAL
    return flags


def lower_case() -> NDArray[np.uint32]:
    """Lower case of every code point that has a single one, else itself."""
    every = _every_code_point()
    lowered = every.translate({ord(c): " " for c in _special()}).lower()
    table = np.frombuffer(_utf32(lowered), dtype="<u4").astype(np.uint32)
    special = [ord(c) for c in _special()]
    table[special] = special
    return table


def _special() -> str:
    """Characters that one table entry cannot lower-case."""
    every = _every_code_point()
    for c in _IN_CONTEXT:
        every = every.replace(c, " ")
    if len(every.lower()) == _N_CODE_POINTS:
        return _IN_CONTEXT
    return _IN_CONTEXT + "".join(c for c in every if len(c.lower()) != 1)


def _every_code_point() -> str:
    numbers = np.arange(_N_CODE_POINTS, dtype="<u4").tobytes()
    return numbers.decode("utf-32-le", "surrogatepass")


def _utf32(text: str) -> bytes:
    return text.encode("utf-32-le", "surrogatepass")
