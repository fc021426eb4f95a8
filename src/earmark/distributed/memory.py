"""Sizes as people write them."""

from __future__ import annotations

import re

__all__ = ["as_bytes"]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LEAST = 50_000_000


def as_bytes(size: int | str) -> int:
    """Bytes of "2GB", "500 MB", "1.5G" or a plain number.

    Examples
    --------
    >>> as_bytes("1.5GB")
    1500000000

    """
    if isinstance(size, int):
        value = size
    else:
        found = re.fullmatch(
            r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", size, re.IGNORECASE
        )
        if found is None:
            raise ValueError(f"memory must be a size such as '2GB', got {size!r}.")
        number, unit, binary = found.groups()
        factor = _UNITS[unit.upper()]
        if binary:
            factor = 1024 ** ("KMGT".index(unit.upper()) + 1) if unit else 1
        value = int(float(number) * factor)
    if value < _LEAST:
        raise ValueError(
            f"memory must be at least 50 MB, got {size!r}; earmark itself takes more "
            "than that."
        )
    return value
