"""Which kernels serve: the compiled extension, or the plain twins."""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

__all__ = ["describe", "native"]


@functools.cache
def _extension() -> Any | None:
    try:
        return importlib.import_module("earmark._native")
    except ImportError:
        return None


def native() -> Any | None:
    """The compiled extension, or None when it is absent or EARMARK_NO_NATIVE is set."""
    if os.environ.get("EARMARK_NO_NATIVE", "") not in ("", "0"):
        return None
    return _extension()


def describe() -> str:
    """One line for people: which kernels serve, and why."""
    if native() is not None:
        return "compiled (C++)"
    if _extension() is not None:
        return "plain Python (EARMARK_NO_NATIVE is set)"
    return "plain Python (the extension was not built: no working C++ compiler)"
