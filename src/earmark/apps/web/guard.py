"""What stands between the network and an application: one ASGI wrapper.

Every request gets an id, limits, safe headers and one line in the log. The log
never holds a word of a document: only sizes, times and statuses.
"""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earmark.apps.web.bodies import BodyReader, ClientGoneError, header
from earmark.apps.web.logs import failure, logger
from earmark.apps.web.replies import Refusal, refusal_response
from earmark.typing import JsonObject

__all__ = ["Guard", "Limits"]

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


@dataclass(frozen=True)
class Limits:
    """How much one request, and all of them together, may ask for."""

    body: int = 8 * 2**20
    """Bytes of a body."""
    text: int = 1_000_000
    """Characters of a text."""
    batch: int = 1000
    """Documents of a request."""
    concurrency: int = 256
    """Requests at work at a time; one more gets 503 with Retry-After."""
    body_seconds: float = 10.0
    """Time for a body to arrive."""
    answer_seconds: float = 30.0
    """Time for an answer to be found."""
    buffered: int = 256 * 2**20
    """Bytes of all bodies together that are read or worked on."""


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
        self.in_flight = 0
        self.is_stopping = False
        self._bodies = BodyReader(
            self.limits.body, self.limits.body_seconds, self.limits.buffered
        )
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
        request_id = _request_id(scope)
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
        except ClientGoneError:
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
                refusal.close = not await self._bodies.drain(scope, receive)
            raise
        if scope["method"] in _SAFE:
            await self.app(scope, receive, send)
            return
        body = await self._bodies.read(scope, receive)
        scope["earmark"]["bytes"] = len(body)
        # Only now, so that slow senders cannot take the places of quick ones.
        full = self._bodies.buffered + len(body) > self.limits.buffered
        if full or self.in_flight >= self.limits.concurrency:
            raise Refusal(503, "busy", "too many requests at a time; try again soon.")
        self.in_flight += 1
        self._bodies.buffered += len(body)
        scope["earmark.body"] = body
        try:
            await self.app(scope, receive, send)
        finally:
            self.in_flight -= 1
            self._bodies.buffered -= len(body)

    def _check_sender(self, scope: Scope) -> None:
        """Whom the request was meant for, and who sent it."""
        self._check_host(scope)
        if scope["method"] not in _SAFE:
            _check_origin(scope)
        if self._is_public(scope["path"]):
            return
        stated = header(scope, b"authorization") or ""
        known = True
        if self.identify is not None:
            person = self.identify(stated.removeprefix("Bearer "))
            scope["earmark.person"] = person
            known = person is not None
        elif self._credentials is not None:
            known = hmac.compare_digest(stated.encode("latin-1"), self._credentials)
        if not known:
            raise Refusal(401, "token", "a valid bearer token is needed.")

    def _is_public(self, path: str) -> bool:
        return path in self.public or path.startswith(self._public_folders)

    def _check_host(self, scope: Scope) -> None:
        if self.hosts is None:
            return
        if _host_name(header(scope, b"host") or "") not in self.hosts:
            raise Refusal(
                403,
                "host",
                f"expected the host name {' or '.join(sorted(self.hosts))}; "
                "`earmark serve` takes others with --allow-host.",
            )


@lru_cache(maxsize=64)
def _host_name(stated: str) -> str | None:
    return urlsplit(f"//{stated}").hostname


def _check_origin(scope: Scope) -> None:
    """Refuse what a page of another site makes a browser send."""
    origin = header(scope, b"origin")
    site = header(scope, b"sec-fetch-site")
    foreign = site in ("cross-site", "same-site")
    if origin is not None:
        foreign = foreign or urlsplit(origin).netloc != header(scope, b"host")
    if foreign:
        raise Refusal(403, "origin", "requests from pages of other sites are refused.")


def _complete(message: Message, request_id: str) -> None:
    """Add the headers of every reply; a page is locked up as well."""
    headers = message.get("headers", [])
    more = [_NO_SNIFFING, (b"x-request-id", request_id.encode())]
    if _JSON not in headers:
        more += _HEADERS
    if not any(name == b"cache-control" for name, _ in headers):
        more.append((b"cache-control", b"no-store"))
    message["headers"] = [*headers, *more]


def _request_id(scope: Scope) -> str:
    stated = header(scope, b"x-request-id")
    if stated is not None and _GOOD_ID.fullmatch(stated):
        return stated
    return secrets.token_hex(8)
