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

__all__ = ["SPACE", "SPECIAL", "WORD", "code_point_tables", "install"]

WORD, SPACE, SPECIAL = 1, 2, 4
_N_CODE_POINTS = sys.maxunicode + 1
# Capital sigma becomes one of two letters by its place in the word; dotted
# capital I becomes two code points.
_IN_CONTEXT = (0x0130, 0x03A3)


def install(lib: Any) -> None:
    """Give the compiled extension the tables, once a process."""
    if not lib.unicode_tables_ready():
        lib.set_unicode_tables(*code_point_tables())


def code_point_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Flags (WORD, SPACE, SPECIAL) and lower case of every code point.

    A special code point, whose lower case is not one code point or depends on
    its neighbours, stands for itself in the second table.
    """
    numbers = np.arange(_N_CODE_POINTS, dtype="<u4")
    every = _decoded(numbers)
    flags = np.zeros(_N_CODE_POINTS, dtype=np.uint8)
    for pattern, bit in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, every):
            flags[run.start() : run.end()] |= bit
    special = list(_IN_CONTEXT)
    numbers[special] = ord(" ")
    lowered = _decoded(numbers).lower()
    if len(lowered) != _N_CODE_POINTS:  # a Unicode version with more of them
        special += [n for n, c in enumerate(every) if len(c.lower()) != 1]
        numbers[special] = ord(" ")
        lowered = _decoded(numbers).lower()
    lower = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lower = lower.astype(np.uint32)
    lower[special] = special
    flags[special] |= SPECIAL
    return flags, lower


def _decoded(numbers: NDArray[np.uint32]) -> str:
    return numbers.tobytes().decode("utf-32-le", "surrogatepass")
