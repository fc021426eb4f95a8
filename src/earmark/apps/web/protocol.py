"""uvicorn's connections, with a time limit on heads and a drain at the end."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["patient_protocol"]

_CLOSE = (b"connection", b"close")


class _Patience:
    """Goes before one of uvicorn's protocol classes."""

    head_seconds: float
    grace_seconds: float
    loop: Any
    cycle: Any
    transport: Any
    _timer: asyncio.TimerHandle | None = None
    _ending = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)  # type: ignore[misc]
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)  # type: ignore[misc]

    def shutdown(self) -> None:
        self._ending = True
        if self._is_idle():
            self.loop.call_later(self.grace_seconds, self._close_if_idle)
        else:
            self._say_last()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        """Start or stop the clock: it runs while a head is incomplete."""
        if not self._is_idle():
            self._unwatch()
            if self._ending:
                self._say_last()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self._close_if_idle)

    def _say_last(self) -> None:
        """Close after the answer under way, and tell the client so in its head."""
        self.cycle.keep_alive = False
        headers = self.cycle.default_headers
        if not self.cycle.response_started and _CLOSE not in headers:
            self.cycle.default_headers = [*headers, _CLOSE]

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        self._timer = None
        if self._is_idle() and not self.transport.is_closing():
            self.transport.close()


def patient_protocol(
    base: type[Any], *, head_seconds: float = 10.0, grace_seconds: float = 0.5
) -> type[Any]:
    """A connection class for uvicorn.

    A connection that has not sent a whole request head ``head_seconds`` after its
    first byte is closed. On shutdown an idle connection stays open for
    ``grace_seconds``, since a request may be under way on it; it is answered, and
    only then is the connection closed.
    """
    times = {"head_seconds": head_seconds, "grace_seconds": grace_seconds}
    return type("PatientProtocol", (_Patience, base), times)
