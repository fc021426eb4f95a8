"""Which kernels serve: the compiled extension, or the plain twins. The one switch."""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType

__all__ = ["describe", "extension", "native"]


@functools.cache
def _extension() -> ModuleType | None:
    try:
        return importlib.import_module("earmark._native")
    except ImportError:
        return None


def native() -> ModuleType | None:
    """The compiled extension, or None when it is absent or EARMARK_NO_NATIVE is set."""
    if os.environ.get("EARMARK_NO_NATIVE", "") not in ("", "0"):
        return None
    return _extension()


def extension() -> ModuleType:
    """The compiled extension, for those who have asked ``native`` before."""
    lib = native()
    if lib is None:
        raise RuntimeError(f"this kernel needs the extension; kernels: {describe()}.")
    return lib


def describe() -> str:
    """One line for people: which kernels serve, and why."""
    if native() is not None:
        return "compiled (C++)"
    if _extension() is not None:
        return "plain Python (EARMARK_NO_NATIVE is set)"
    return "plain Python (the extension was not built: no working C++ compiler)"
