"""Request bodies: JSON in UTF-8, counted as they come, also in chunks."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope

from earmark.apps.web.replies import Refusal

__all__ = ["BodyReader", "ClientGoneError", "header", "require_json"]

# A client that sends too much may go on for a while, so that it reads the refusal
# instead of a broken connection.
_DRAINED = 4
_DRAIN_SECONDS = 2.0


class ClientGoneError(Exception):
    """The client closed the connection before its request was complete."""


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name (lower case), or None."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def require_json(scope: Scope) -> None:
    """Refuse a body that does not say it is JSON in UTF-8.

    Also what keeps other sites' forms out: they cannot send this type.
    """
    stated = header(scope, b"content-type") or ""
    if stated == "application/json":  # nearly always
        return
    kind, _, rest = stated.partition(";")
    if kind.strip().lower() != "application/json":
        raise Refusal(415, "media_type", "Content-Type must be application/json.")
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
            if charset not in ("utf-8", "utf8"):
                raise Refusal(415, "charset", "the charset must be UTF-8.")


class BodyReader:
    """Reads whole bodies within limits of size, time and memory.

    Parameters
    ----------
    max_bytes : int
        Longest body; one byte more is refused with 413.
    seconds : float
        Time in which a body must be complete, else 408.
    max_buffered : int
        Bytes of all bodies together that are being read or worked on, else 503:
        no number of clients can fill the memory.

    """

    def __init__(self, max_bytes: int, seconds: float, max_buffered: int) -> None:
        self.max_bytes = max_bytes
        self.seconds = seconds
        self.max_buffered = max_buffered
        self.buffered = 0

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The body, or a Refusal."""
        if header(scope, b"content-encoding") not in (None, "identity"):
            raise Refusal(
                415, "encoding", "Content-Encoding is not accepted: send plain JSON."
            )
        length = header(scope, b"content-length")
        if (length or "").isdecimal() and int(length or 0) > self.max_bytes:
            await self.drain(scope, receive)
            raise self._too_large()
        try:
            async with asyncio.timeout(self.seconds):
                return await self._collect(scope, receive)
        except TimeoutError:
            raise Refusal(
                408,
                "slow_body",
                f"the body was not complete after {self.seconds:g} s.",
                close=True,
            ) from None

    async def _collect(self, scope: Scope, receive: Receive) -> bytes:
        first, more = await _piece(receive)
        if not more and len(first) <= self.max_bytes:  # nearly always
            return first
        pieces, size, counted = [first], len(first), 0
        try:
            while True:
                if size > self.max_bytes:
                    pieces.clear()
                    if more:
                        await self.drain(scope, receive)
                    raise self._too_large()
                self.buffered += size - counted
                counted = size
                if self.buffered > self.max_buffered:
                    raise Refusal(
                        503,
                        "busy",
                        "too much is being worked on; try again soon.",
                        close=True,
                    )
                if not more:
                    return b"".join(pieces)
                piece, more = await _piece(receive)
                pieces.append(piece)
                size += len(piece)
        finally:
            self.buffered -= counted

    async def drain(self, scope: Scope, receive: Receive) -> bool:
        """Read on and throw away, for a while; whether that was all of the body.

        A client that asks first (Expect) has not begun to send.
        """
        if header(scope, b"expect") is not None:
            return False
        left, more = _DRAINED * self.max_bytes, True
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while more and left > 0:
                    piece, more = await _piece(receive)
                    left -= len(piece)
        except TimeoutError:
            return False
        return not more

    def _too_large(self) -> Refusal:
        return Refusal(
            413,
            "too_large",
            f"the body must have at most {self.max_bytes:,} bytes.",
            close=True,
        )


async def _piece(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    return message.get("body", b""), message.get("more_body", False)
