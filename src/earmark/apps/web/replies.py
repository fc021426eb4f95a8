"""Replies in one shape, whatever went wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

__all__ = [
    "Endpoint",
    "Refusal",
    "as_json",
    "finite",
    "refusal_response",
    "router",
    "static_files",
]

# Answers a request.
Endpoint = Callable[..., Any]

_KNOWN = {
    404: ("not_found", "there is no such path."),
    405: ("method", "this path does not take this method; see the Allow header."),
}
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """A request that is answered with an error status and a sentence.

    ``error`` is a short name that programs can rely on; ``detail`` says what was
    expected, what came and what to do, never the text of a document; ``problems`` are
    places in the request (``where``) and what is wrong there (``what``). With
    ``close`` the connection ends with the reply.
    """

    def __init__(
        self,
        status: int,
        error: str,
        detail: str,
        *,
        problems: list[dict[str, str]] | None = None,
        close: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.error = error
        self.detail = detail
        self.problems = problems
        self.close = close


def as_json(
    data: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A JSON reply in pure ASCII, so that no text can break the encoding."""
    body = _encode(data).encode("ascii")
    return Response(body, status, headers, media_type="application/json")


def refusal_response(refusal: Refusal | HTTPException, request_id: str) -> Response:
    """The reply to a refused request; Starlette's own refusals look like ours."""
    headers: dict[str, str] = {}
    if isinstance(refusal, HTTPException):
        headers.update(refusal.headers or {})
        status = refusal.status_code
        error, words = _KNOWN.get(status, ("refused", str(refusal.detail)))
        refusal = Refusal(status, error, words)
    data: dict[str, Any] = {
        "error": refusal.error,
        "detail": refusal.detail,
        "request_id": request_id,
    }
    if refusal.problems:
        data["problems"] = refusal.problems
    if refusal.status == 503:
        headers["Retry-After"] = "1"
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.close:
        headers["Connection"] = "close"
    return as_json(data, refusal.status, headers)


def finite(value: float) -> float | None:
    """The number, or None for one that JSON has no word for."""
    return value if math.isfinite(value) else None


def static_files(app: str) -> StaticFiles:
    """The files of a page: its own, and the ones that all pages share."""
    return StaticFiles(
        packages=[(f"earmark.apps.{app}", "static"), ("earmark.apps.web", "static")]
    )


def router(
    posts: Mapping[str, Endpoint],
    gets: Mapping[str, Endpoint],
    files: StaticFiles,
    lifespan: Endpoint,
) -> Router:
    """The paths of an application, and its files below /static."""
    routes = [Route(path, act, methods=["POST"]) for path, act in posts.items()]
    routes += [Route(path, act) for path, act in gets.items()]
    below = Mount("/static", files)
    return Router([*routes, below], redirect_slashes=False, lifespan=lifespan)
