"""The labelling page's server: JSON in, JSON out, one project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from earmark.apps.label.browse import Browser, Question
from earmark.apps.label.export import EXPORTS, export
from earmark.apps.label.payloads import document_data, state_data
from earmark.apps.label.session import Session
from earmark.apps.web.bodies import require_json
from earmark.apps.web.guard import Guard, Limits
from earmark.apps.web.replies import EXCEPTION_HANDLERS, Refusal, as_json, static_files
from earmark.apps.web.run import LOOPBACK

__all__ = ["make_app"]

_ACTIONS = (
    *("next", "answer", "undo", "release"),
    *("label", "browse", "document", "accept", "keep"),
)
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "html": "text/html; charset=utf-8",
}

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    client: Name


class _Answer(_Body):
    key: Name
    document: Annotated[int, Field(ge=0, le=2**53)]
    labels: Annotated[list[Annotated[str, Field(max_length=100)]], Field()] | None
    how: Literal["asked", "browse"] = "asked"


class _Key(_Body):
    key: Name


class _Document(_Body):
    document: Annotated[int, Field(ge=0, le=2**53)]


class _Label(_Body):
    name: Annotated[str, Field(max_length=200)]


class _Browse(_Body):
    search: Annotated[str, Field(max_length=1000)] = ""
    show: Literal["all", "open", "answered", "accepted", "sure", "suspects"] = "all"
    guess: Annotated[str, Field(max_length=100)] | None = None
    given: Annotated[str, Field(max_length=100)] | None = None
    page: Annotated[int, Field(ge=0, le=10**6)] = 0


def make_app(session: Session, *, hosts: frozenset[str] | None = LOOPBACK) -> Guard:
    """An ASGI application around a session; closes it at the end.

    Parameters
    ----------
    session : Session
        What is labelled.
    hosts : frozenset of str or None
        Host names to answer to; others are refused, so that no page of another
        site can reach the project by a name of its own.

    """
    labelling = _Labelling(session)
    actions = {f"/api/{name}" for name in (*_ACTIONS, "state", "confusion")}
    return Guard(
        labelling.application(),
        limits=Limits(body=2**20),
        hosts=hosts,
        routes=frozenset({"/", *actions}),
    )


class _Labelling:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.browser = Browser(session)
        self.files = static_files("label")

    def application(self) -> Starlette:
        actions: dict[str, tuple[type[_Body], Callable[[Any], Any]]] = {
            "next": (_Body, self.next),
            "answer": (_Answer, self.answer),
            "undo": (_Body, self.undo),
            "release": (_Body, self.release),
            "label": (_Label, self.label),
            "browse": (_Browse, self.browse),
            "document": (_Document, self.document),
            "accept": (_Key, self.accept),
            "keep": (_Document, self.keep),
        }
        posts = [
            Route(f"/api/{name}", _posted(*actions[name]), methods=["POST"])
            for name in _ACTIONS
        ]
        app = Starlette(
            routes=[
                *posts,
                Route("/", self.page),
                Route("/api/state", self.state),
                Route("/api/confusion", self.confusion),
                Route("/export/{name}", self.exported),
                Mount("/static", self.files),
            ],
            exception_handlers=EXCEPTION_HANDLERS,
            lifespan=self._lifespan,
        )
        app.router.redirect_slashes = False
        return app

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(self.session.close)

    # -- actions; each gives the state with what it found ------------------------

    def next(self, body: _Body) -> dict[str, Any]:
        pick = self.session.next_document(body.client)
        data = None if pick is None else document_data(self.session, *pick)
        return {"document": data, "state": state_data(self.session)}

    def answer(self, body: _Answer) -> dict[str, Any]:
        new = self.session.answer(
            body.key, body.client, body.document, body.labels, body.how
        )
        if body.how == "browse":
            return {"new": new, "state": state_data(self.session)}
        return {"new": new, **self.next(body)}

    def undo(self, body: _Body) -> dict[str, Any]:
        documents = self.session.undo(body.client)
        reply = {"undone": len(documents), **self.next(body)}
        if len(documents) == 1:
            reply["document"] = document_data(self.session, documents[0], "undone")
        return reply

    def release(self, body: _Body) -> dict[str, Any]:
        self.session.release(body.client)
        return {}

    def label(self, body: _Label) -> dict[str, Any]:
        self.session.add_label(body.name)
        return {"state": state_data(self.session)}

    def browse(self, body: _Browse) -> dict[str, Any]:
        asked = body.model_dump(exclude={"client"})
        return self.browser.listed(Question(**asked))

    def document(self, body: _Document) -> dict[str, Any]:
        if body.document >= len(self.session.documents):
            raise Refusal(404, "document", "there is no such document.")
        return {"document": document_data(self.session, body.document, "chosen")}

    def accept(self, body: _Key) -> dict[str, Any]:
        n_accepted = self.session.accept(body.key, body.client)
        return {"accepted": n_accepted, "state": state_data(self.session)}

    def keep(self, body: _Document) -> dict[str, Any]:
        self.session.confirm(body.document)
        return {}

    # -- pages and downloads -------------------------------------------------------

    def state(self, request: Request) -> Response:
        return as_json(state_data(self.session))

    def confusion(self, request: Request) -> Response:
        return as_json(self.browser.confusion())

    def exported(self, request: Request) -> Response:
        name = request.path_params["name"]
        which = request.query_params.get("which", "answered")
        if name not in EXPORTS or which not in ("answered", "all"):
            raise Refusal(404, "export", f"there are {', '.join(EXPORTS)}.")
        data = export(self.session, name, all_documents=which == "all")
        kind = _TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, headers=headers, media_type=kind)

    async def page(self, request: Request) -> Response:
        return await self.files.get_response("label.html", request.scope)


def _posted(kind: type[_Body], act: Callable[[Any], Any]) -> Callable[..., Any]:
    """A route that checks the body and acts in a thread."""

    async def route(request: Request) -> Response:
        require_json(request.scope)
        try:
            body = kind.model_validate_json(request.scope["earmark.body"])
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))[:100] or "body"
            raise Refusal(422, "invalid", f"{where}: {first['msg']}") from None
        return as_json(await run_in_threadpool(act, body))

    return route
