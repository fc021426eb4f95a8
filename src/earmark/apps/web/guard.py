"""What stands between the network and an application: one ASGI wrapper.

Every request gets an id, limits, safe headers and one line in the log, which is JSON
lines on stderr. The log never holds a word of a document: only sizes, times and
statuses. Bodies are JSON in UTF-8, counted as they come, also in chunks.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earmark.apps.web.replies import Refusal, refusal_response
from earmark.typing import JsonObject

__all__ = ["Guard", "Limits", "failure", "logger", "logs_to_stderr", "read_body"]

_Body = TypeVar("_Body", bound=BaseModel)

logger = logging.getLogger("earmark.web")

_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _CSP.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_JSON = (b"content-type", b"application/json")
_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
# A client that sends too much may go on for a while, so that it reads the refusal
# instead of a broken connection.
_DRAINED = 4
_DRAIN_SECONDS = 2.0


@dataclass(frozen=True)
class Limits:
    """How much one request, and all of them together, may ask for."""

    body: int = 8 * 2**20
    """Bytes of a body; one more is refused with 413."""
    text: int = 1_000_000
    """Characters of a text."""
    batch: int = 1000
    """Documents of a request."""
    concurrency: int = 256
    """Requests at work at a time; one more gets 503 with Retry-After."""
    body_seconds: float = 10.0
    """Time for a body to arrive, else 408."""
    answer_seconds: float = 30.0
    """Time for an answer to be found."""
    buffered: int = 256 * 2**20
    """Bytes of all bodies together that are read or worked on, else 503: no number of
    clients can fill the memory."""


@dataclass
class Guard:
    """Wraps an ASGI application."""

    app: ASGIApp
    limits: Limits = field(default_factory=Limits)
    token: str | None = None
    """Bearer token that every path but ``public`` asks for."""
    identify: Callable[[str], str | None] | None = None
    """Instead of one token: gives the name of the person whose token it is, or None.
    The name is put into ``scope["earmark.person"]``."""
    public: tuple[str, ...] = ()
    """Paths that need no token; one that ends in "/" stands for all below it."""
    hosts: frozenset[str] | None = None
    """Accepted host names (against DNS rebinding); None accepts all."""
    routes: frozenset[str] = frozenset()
    """Paths that are named in logs and metrics; all others are "other"."""
    observe: Callable[[str, int, float], None] | None = None
    """Called with (path, status, seconds) after each request."""

    def __post_init__(self) -> None:
        self.in_flight = self.buffered = 0
        self.is_stopping = False
        token = None if self.token is None else f"Bearer {self.token}"
        self._credentials = None if token is None else token.encode()
        folders = (path for path in self.public if path.endswith("/") and path != "/")
        self._public_folders = tuple(folders)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
                return
            await self.app(scope, receive, send)
            return
        stated = _header(scope, b"x-request-id")
        known = stated is not None and _GOOD_ID.fullmatch(stated)
        request_id = stated if stated is not None and known else secrets.token_hex(8)
        started = time.perf_counter()
        facts: JsonObject = {}
        scope["earmark"] = facts
        scope["app"] = self  # so that Starlette's router raises what it refuses
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _complete(message, request_id)
                if self.is_stopping:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            await self._admit(scope, receive, sending)
        except _ClientGoneError:
            status = 499
        except (Refusal, HTTPException) as refusal:
            await refusal_response(refusal, request_id)(scope, receive, sending)
        except Exception as error:
            failure(error, request_id)
            if not status:
                failed = Refusal(500, "internal", "earmark failed; see its log.")
                await refusal_response(failed, request_id)(scope, receive, sending)
        seconds = time.perf_counter() - started
        path = scope["path"] if scope["path"] in self.routes else "other"
        if self.observe is not None:
            self.observe(path, status, seconds)
        if logger.isEnabledFor(logging.INFO):
            line = {
                "id": request_id,
                "method": scope["method"],
                "path": path,
                "status": status,
                "ms": round(1000 * seconds, 2),
                **facts,
            }
            logger.info("request", extra={"facts": line})

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, read the body, take a place, and pass the request on."""
        try:
            self._check_sender(scope)
        except Refusal as refusal:
            if scope["method"] not in _SAFE:  # there may be no end of its body
                refusal.close = not await self._drain(scope, receive)
            raise
        if scope["method"] in _SAFE:
            await self.app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        scope["earmark"]["bytes"] = len(body)
        # Only now, so that slow senders cannot take the places of quick ones.
        full = self.buffered + len(body) > self.limits.buffered
        if full or self.in_flight >= self.limits.concurrency:
            raise Refusal(503, "busy", "too many requests at a time; try again soon.")
        self.in_flight += 1
        self.buffered += len(body)
        scope["earmark.body"] = body
        try:
            await self.app(scope, receive, send)
        finally:
            self.in_flight -= 1
            self.buffered -= len(body)

    # -- who asks ---------------------------------------------------------------------

    def _check_sender(self, scope: Scope) -> None:
        """Check the host that a request names, and its token."""
        host = _header(scope, b"host") or ""
        if self.hosts is not None and _host_name(host) not in self.hosts:
            raise Refusal(
                403,
                "host",
                f"expected the host name {' or '.join(sorted(self.hosts))}; "
                "`earmark serve` takes others with --allow-host.",
            )
        if scope["method"] not in _SAFE:
            _check_origin(scope)
        path = scope["path"]
        if path in self.public or path.startswith(self._public_folders):
            return
        stated = _header(scope, b"authorization") or ""
        known = True
        if self.identify is not None:
            person = self.identify(stated.removeprefix("Bearer "))
            scope["earmark.person"] = person
            known = person is not None
        elif self._credentials is not None:
            known = hmac.compare_digest(stated.encode("latin-1"), self._credentials)
        if not known:
            raise Refusal(401, "token", "a valid bearer token is needed.")

    # -- bodies -----------------------------------------------------------------------

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body within limits of size, time and memory, or a Refusal."""
        if _header(scope, b"content-encoding") not in (None, "identity"):
            raise Refusal(
                415, "encoding", "Content-Encoding is not accepted: send plain JSON."
            )
        length = _header(scope, b"content-length")
        if (length or "").isdecimal() and int(length or 0) > self.limits.body:
            await self._drain(scope, receive)
            raise self._too_large()
        seconds = self.limits.body_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._collected(scope, receive)
        except TimeoutError:
            words = f"the body was not complete after {seconds:g} s."
            raise Refusal(408, "slow_body", words, close=True) from None

    async def _collected(self, scope: Scope, receive: Receive) -> bytes:
        first, more = await _piece(receive)
        if not more and len(first) <= self.limits.body:  # nearly always
            return first
        pieces, size, counted = [first], len(first), 0
        try:
            while True:
                if size > self.limits.body:
                    pieces.clear()
                    if more:
                        await self._drain(scope, receive)
                    raise self._too_large()
                self.buffered += size - counted
                counted = size
                if self.buffered > self.limits.buffered:
                    words = "too much is being worked on; try again soon."
                    raise Refusal(503, "busy", words, close=True)
                if not more:
                    return b"".join(pieces)
                piece, more = await _piece(receive)
                pieces.append(piece)
                size += len(piece)
        finally:
            self.buffered -= counted

    async def _drain(self, scope: Scope, receive: Receive) -> bool:
        """Read and discard the rest of a body, for a while; whether it ended."""
        if _header(scope, b"expect") is not None:
            return False  # a client that asks first has not begun to send
        left, more = _DRAINED * self.limits.body, True
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while more and left > 0:
                    piece, more = await _piece(receive)
                    left -= len(piece)
        except TimeoutError:
            return False
        return not more

    def _too_large(self) -> Refusal:
        words = f"the body must have at most {self.limits.body:,} bytes."
        return Refusal(413, "too_large", words, close=True)


class _ClientGoneError(Exception):
    """The client closed the connection before its request was complete."""


async def _piece(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise _ClientGoneError
    return message.get("body", b""), message.get("more_body", False)


def _header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name (lower case), or None."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def read_body(
    kind: type[_Body],
    scope: Scope,
    in_words: Callable[[ErrorDetails], str | None] = lambda problem: None,
) -> _Body:
    """The body of a request as a pydantic model, or a Refusal.

    It says what is wrong where, never the input, which may be a text: ``in_words`` what
    pydantic, or one of our validators, would not say well.
    """
    _require_json(scope)
    try:
        return kind.model_validate_json(scope["earmark.body"])
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        where = details[0]["msg"].removeprefix("Invalid JSON: ")
        raise Refusal(400, "json", f"the body must be valid JSON in UTF-8: {where}.")
    problems = [
        {
            "where": ".".join(map(str, detail["loc"]))[:100] or "body",
            "what": in_words(detail) or detail["msg"].removeprefix("Value error, "),
        }
        for detail in details[:10]
    ]
    words = "{where}: {what}".format(**problems[0])
    raise Refusal(422, "invalid", words, problems=problems)


def _require_json(scope: Scope) -> None:
    """Refuse a body that is not called JSON in UTF-8, as forms of other sites are."""
    stated = _header(scope, b"content-type") or ""
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


@lru_cache(maxsize=64)
def _host_name(stated: str) -> str | None:
    """The name in a Host header; None if it is none."""
    try:
        return urlsplit(f"//{stated}").hostname
    except ValueError:  # such as "[", no address
        return None


def _place(origin: str) -> str | None:
    """Host and port of an Origin header; None if it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _check_origin(scope: Scope) -> None:
    """Refuse what a page of another site makes a browser send."""
    origin = _header(scope, b"origin")
    foreign = _header(scope, b"sec-fetch-site") in ("cross-site", "same-site")
    if origin is not None:
        foreign = foreign or _place(origin) != _header(scope, b"host")
    if foreign:
        raise Refusal(403, "origin", "requests from pages of other sites are refused.")


def _complete(message: Message, request_id: str) -> None:
    """Add the security headers of every reply; pages get more than JSON does."""
    headers = message.get("headers", [])
    more = [_NO_SNIFFING, (b"x-request-id", request_id.encode())]
    if _JSON not in headers:
        more += _HEADERS
    if not any(name == b"cache-control" for name, _ in headers):
        more.append((b"cache-control", b"no-store"))
    message["headers"] = [*headers, *more]


# -- the log --------------------------------------------------------------------------


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        return json.dumps(line)


def logs_to_stderr(level: str) -> None:
    """Send the log to stderr, from ``level`` on."""
    # Not in any line, so nobody need look them up.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(level.upper())
    # uvicorn's own lines may quote what clients sent: only its errors are kept.
    server = logging.getLogger("uvicorn")
    server.handlers[:] = [handler]
    server.setLevel(logging.CRITICAL)


def failure(error: BaseException, request_id: str | None = None) -> None:
    """Log where something failed, without the message, which may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    facts = {
        "error": type(error).__name__,
        "at": [f"{f.filename}:{f.lineno} {f.name}" for f in frames[-8:]],
    }
    if request_id is not None:
        facts["id"] = request_id
    logger.error("failure", extra={"facts": facts})
