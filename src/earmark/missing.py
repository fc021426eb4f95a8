"""What stands for a missing value, in texts, labels and cells of tables alike."""

from __future__ import annotations

import math

import numpy as np


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, pandas' NA, any NaN, any NaT.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]

    """
    if value is None:
        return True
    if isinstance(value, str):
        return False
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    kind = type(value)  # pandas need not be installed
    return kind.__name__ in ("NAType", "NaTType") and kind.__module__[:6] == "pandas"
