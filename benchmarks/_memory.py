"""Peak of resident memory while something runs, sampled from outside the code."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from pathlib import Path
from types import TracebackType

__all__ = ["PeakMemory"]

_STATM = Path("/proc/self/statm")
_INTERVAL = 0.002


class PeakMemory:
    """Context manager: ``extra_mb`` is the peak above the start, None if unknown.

    Reads the kernel's figure every two milliseconds, so it costs nothing but
    misses shorter peaks. Linux only.
    """

    extra_mb: float | None = None

    def __enter__(self) -> PeakMemory:
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        if _STATM.exists():
            _give_back()
            self._start = self._peak = _resident()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread is None:
            return
        self._peak = max(self._peak, _resident())
        self._done.set()
        self._thread.join()
        self.extra_mb = (self._peak - self._start) / 2**20

    def _watch(self) -> None:
        while not self._done.wait(_INTERVAL):
            self._peak = max(self._peak, _resident())


def _resident() -> int:
    pages = int(_STATM.read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _give_back() -> None:
    """Return freed memory to the system, or the start would be too high."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (AttributeError, OSError):
        pass
