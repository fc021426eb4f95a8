"""Which kernels serve: the compiled extension, or the plain twins. The one switch."""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from earmark.exceptions import EarmarkWarning

_SOURCES = Path(__file__).parents[3] / "cpp"  # in a checkout only
_KINDS = (".cpp", ".hpp")


@functools.cache
def _extension() -> ModuleType | None:
    try:
        return importlib.import_module("earmark._native")
    except ImportError:
        return None


def native() -> ModuleType | None:
    """The compiled extension; None if absent, stale or off (EARMARK_NO_NATIVE)."""
    if os.environ.get("EARMARK_NO_NATIVE", "") not in ("", "0"):
        return None
    return None if _is_stale() else _extension()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Many small products are quicker on one thread than on some that wait."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@functools.cache
def _is_stale() -> bool:
    lib = _extension()
    if lib is None or lib.__file__ is None or not _SOURCES.is_dir():
        return False
    changed = max(
        file.stat().st_mtime for file in _SOURCES.iterdir() if file.suffix in _KINDS
    )
    if changed <= Path(lib.__file__).stat().st_mtime:
        return False
    warnings.warn(
        f"the compiled kernels are older than {_SOURCES}, so the plain ones serve: "
        "rebuild with make",
        EarmarkWarning,
        stacklevel=3,
    )
    return True


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
    if _is_stale():
        return "plain Python (the extension is older than its sources: rebuild)"
    if _extension() is not None:
        return "plain Python (EARMARK_NO_NATIVE is set)"
    return "plain Python (the extension was not built: no working C++ compiler)"
