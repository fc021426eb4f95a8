"""Every error of an application in the one shape."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from earmark.apps.web.replies import Refusal, refusal_response

__all__ = ["answer_refusals"]

_KNOWN = {
    404: ("not_found", "there is no such path."),
    405: ("method", "this path has other methods."),
}


def answer_refusals(app: Any) -> None:
    """Let a FastAPI application answer refusals and its own errors alike."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _failed)


async def _refused(request: Any, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_response(error, request.scope["earmark.id"])


async def _http(request: Any, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    name, words = _KNOWN.get(status, ("refused", str(error.detail)))
    reply = refusal_response(Refusal(status, name, words), request.scope["earmark.id"])
    reply.headers.update(error.headers or {})
    return reply


async def _failed(request: Any, error: Exception) -> Response:
    """The wrapper around the application logs it."""
    refusal = Refusal(500, "internal", "earmark failed; see its log.")
    return refusal_response(refusal, request.scope["earmark.id"])
