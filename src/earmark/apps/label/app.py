"""The labelling page's server: JSON in, JSON out, one project."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from earmark.apps.label.map import BackgroundMap
from earmark.apps.label.project import EXPORTS, export
from earmark.apps.label.session import Session
from earmark.apps.label.views import (
    Browser,
    Coloring,
    Question,
    document_data,
    project_data,
    state_data,
)
from earmark.apps.web.guard import Guard, Limits, read_body
from earmark.apps.web.replies import Endpoint, Refusal, as_json, router, static_files
from earmark.apps.web.run import LOOPBACK
from earmark.typing import JsonObject

__all__ = ["make_app"]

_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "html": "text/html; charset=utf-8",
}
_MOST_AT_ONCE = 200_000

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Number = Annotated[int, Field(ge=0, le=2**53)]
Label = Annotated[str, Field(max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    client: Name
    person: Annotated[str, Field(max_length=60)] = ""


class _Answer(_Body):
    key: Name
    document: Number
    labels: list[Label] | None
    how: Literal["asked", "browse", "settled"] = "asked"


class _Key(_Body):
    key: Name


class _Audit(_Body):
    begin: bool


class _Document(_Body):
    document: Number


class _Note(_Document):
    text: Annotated[str, Field(max_length=5000)] = ""
    flagged: bool = False


class _Label(_Body):
    name: Label


class _Meaning(_Label):
    description: Annotated[str, Field(max_length=2000)] = ""
    shortcut: Annotated[str, Field(pattern=r"^[a-z0-9]?$")] = ""
    group: Label = ""


class _Change(_Body):
    action: Literal["rename", "merge", "split", "delete"]
    old: Annotated[list[Label], Field(max_length=500)]
    new: Annotated[list[Label], Field(max_length=50)] = []


class _Number(_Body):
    number: Number


class _Guidelines(_Body):
    text: Annotated[str, Field(max_length=50_000)]


class _Browse(_Body, Question):
    """A request to list documents: the question, and who asks."""


class _Colors(_Body):
    by: Coloring


class _Many(_Browse):
    """A request to label several documents; without a list, all that are shown.

    Those with an answer are left out unless ``over``.
    """

    key: Name
    labels: list[Label]
    documents: Annotated[list[Number], Field(max_length=_MOST_AT_ONCE)] | None = None
    over: bool = False


def make_app(
    session: Session,
    *,
    hosts: frozenset[str] | None = LOOPBACK,
    with_tokens: bool = False,
) -> Guard:
    """An ASGI application around a session; closes it at the end.

    Requests to other ``hosts`` are refused, so that no page of another site can reach
    the project by a name of its own. ``with_tokens`` everybody must send the token they
    were invited with; without, people say who they are.
    """
    labelling = _Labelling(session)
    return Guard(
        labelling.router,
        limits=Limits(body=2**21),
        hosts=hosts,
        identify=session.store.person_of if with_tokens else None,
        public=("/", "/static/"),
        routes=labelling.paths,
    )


class _Labelling:
    """The routes; an action gives what it found, its reply holds the state as well."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.browser = Browser(session)
        self.map = BackgroundMap(session.loop.collection)
        self.files = static_files("label")
        actions: dict[str, tuple[type[_Body], Callable[[Any], JsonObject | None]]] = {
            "next": (_Body, self.next),
            "answer": (_Answer, self.answer),
            "undo": (_Body, self.undo),
            "release": (_Body, lambda b: session.release(b.client)),
            "alive": (_Body, lambda b: session.renew(b.client)),
            "label": (_Label, lambda b: session.add_label(b.name)),
            "describe": (_Meaning, self.describe),
            "change": (_Change, self.change),
            "unchange": (_Number, self.unchange),
            "guidelines": (_Guidelines, self.guidelines),
            "note": (_Note, self.note),
            "browse": (_Browse, lambda b: self.browser.listed(b, b.person)),
            "colors": (_Colors, lambda b: self.browser.colors(b.by, b.person)),
            "many": (_Many, self.many),
            "document": (_Document, lambda b: self._document(b.document, "chosen", b)),
            "accept": (_Key, self.accept),
            "audit": (_Audit, self.audit),
            "keep": (_Document, lambda b: session.confirm(b.document)),
        }
        posts = {f"/api/{name}": self._posted(*act) for name, act in actions.items()}
        gets: dict[str, Endpoint] = {
            "/": self.page,
            "/api/state": lambda _: as_json(state_data(session)),
            "/api/map": lambda _: as_json(self.map.data()),
            "/api/confusion": lambda _: as_json(self.browser.confusion()),
            "/api/project": self.project,
            "/export/{name}": self.exported,
        }
        self.router = router(posts, gets, self.files, self._lifespan)
        self.paths = frozenset({*posts, *gets})

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(self.session.close)

    def _posted(
        self, kind: type[_Body], act: Callable[[Any], JsonObject | None]
    ) -> Endpoint:
        """A route that checks the body and acts in a thread."""

        def reply(body: _Body) -> Response:
            return as_json({**(act(body) or {}), "state": state_data(self.session)})

        async def route(request: Request) -> Response:
            body = read_body(kind, request.scope)
            if "earmark.person" in request.scope:  # a token says who it is
                body.person = request.scope["earmark.person"]
            try:
                return await run_in_threadpool(reply, body)
            except sqlite3.OperationalError as error:
                raise self._not_written(error) from None

        return route

    def _not_written(self, error: sqlite3.OperationalError) -> Refusal:
        """What to say where the disk is full, or the project lies locked."""
        return Refusal(
            503,
            "disk",
            f"nothing was changed: {self.session.store.path} cannot be written "
            f"({error}); make room, then do the same again.",
        )

    # -- actions -----------------------------------------------------------------

    def _document(self, document: int, why: str, body: _Body) -> JsonObject:
        self.session.check_document(document)
        data = document_data(self.session, document, why, person=body.person)
        return {"document": data}

    def next(self, body: _Body) -> JsonObject:
        pick = self.session.next_document(body.client, body.person)
        return {"document": None} if pick is None else self._document(*pick, body)

    def answer(self, body: _Answer) -> JsonObject:
        new = self.session.answer(
            *(body.key, body.client, body.document, body.labels, body.how),
            person=body.person,
        )
        return {"new": new} | (self.next(body) if body.how == "asked" else {})

    def undo(self, body: _Body) -> JsonObject:
        documents = self.session.undo(body.client)
        if len(documents) == 1:
            return {"undone": 1, **self._document(documents[0], "undone", body)}
        return {"undone": len(documents), **self.next(body)}

    def describe(self, body: _Meaning) -> JsonObject:
        facts = body.name, body.description, body.shortcut, body.group
        self.session.describe_label(*facts)
        return {"project": project_data(self.session)}

    def change(self, body: _Change) -> JsonObject:
        self.session.change_labels(body.action, body.old, body.new, body.person)
        return {"project": project_data(self.session)}

    def unchange(self, body: _Number) -> JsonObject:
        self.session.undo_label_change(body.number, body.person)
        return {"project": project_data(self.session)}

    def guidelines(self, body: _Guidelines) -> JsonObject:
        self.session.store.set_fact("guidelines", body.text)
        return {"project": project_data(self.session)}

    def note(self, body: _Note) -> JsonObject:
        self.session.note(body.document, body.person, body.text, body.flagged)
        return {"notes": self.session.store.notes(body.document)}

    def many(self, body: _Many) -> JsonObject:
        documents = body.documents
        if documents is None:
            documents = self.browser.rows(body, body.person)[0].tolist()
        n_answered = 0
        if not body.over:
            open_ = [d for d in documents if not self.session.is_answered(d)]
            n_answered = len(documents) - len(open_)
            documents = open_
        n_given = self.session.answer_many(
            body.key, body.client, documents, body.labels, body.person
        )
        left_out = len(documents) - n_given
        return {"given": n_given, "left_out": left_out, "answered": n_answered}

    def audit(self, body: _Audit) -> JsonObject:
        if body.begin:
            self.session.begin_audit()
        else:
            self.session.end_audit()
        return self.next(body)

    def accept(self, body: _Key) -> JsonObject:
        return {"accepted": self.session.accept(body.key, body.client, body.person)}

    # -- pages and downloads -------------------------------------------------------

    def project(self, request: Request) -> Response:
        me = request.scope.get("earmark.person")
        return as_json(project_data(self.session) | {"me": me})

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
