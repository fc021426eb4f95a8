"""The OpenAPI description of the service, for the model that is loaded."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from earmark import __version__
from earmark.typing import JsonObject

__all__ = ["describe"]

_REFUSALS = {
    400: "The body is not valid JSON in UTF-8.",
    403: "Sent by a page of another site, or to a host name that is not served.",
    408: "The body took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not plain application/json in UTF-8.",
    422: "The body is JSON, but not a request that this model can answer.",
    503: "Too many requests at a time, or no answer in time; see Retry-After.",
}
_TOKEN = {401: "A valid bearer token is needed."}

Label = str | float | bool | None
# Present in some answers only; never null.
_OPTIONAL: Any = Field(default_factory=lambda: None)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Term(_Reply):
    """A word and its share of the score."""

    term: str
    contribution: float | None
    region: str = _OPTIONAL


class Explanation(_Reply):
    """terms + rest + constants = score, for the label rather than the runner-up."""

    label: Label
    runner_up: Label
    score: float | None
    terms: list[Term]
    rest: float | None
    constants: dict[str, float | None]
    note: str = _OPTIONAL


class Result(_Reply):
    """The answer to one document."""

    label: Label | list[Label]
    confidence: float | None
    abstained: bool
    novelty: float | None = _OPTIONAL
    scores: dict[str, float | None] = _OPTIONAL
    explanation: Explanation = _OPTIONAL


class Reply(_Reply):
    """One result per document, in their order."""

    results: list[Result]


class Problem(_Reply):
    """A place in the request and what is wrong there."""

    where: str
    what: str


class Refusal(_Reply):
    """Why a request was not answered."""

    error: str
    detail: str
    request_id: str
    problems: list[Problem] = _OPTIONAL


class Facts(BaseModel):
    """Names and values."""

    model_config = ConfigDict(extra="allow")


def describe(
    request: type[BaseModel],
    labelled: type[BaseModel],
    *,
    with_token: bool,
    learns: bool,
    keeps_feedback: bool,
) -> JsonObject:
    """The whole description, of what is switched on.

    ``request`` is the model of POST /classify, ``labelled`` that of documents with
    their labels.
    """
    kinds: list[type[BaseModel]] = [request, Reply, Refusal, Facts]
    changes = {
        "/learn": "Learn documents with their labels, exactly",
        "/forget": "Forget documents that were learned, exactly",
    }
    paths = changes if learns else {}
    if keeps_feedback:
        paths = {**paths, "/feedback": "Keep documents with their right labels"}
    if paths:
        kinds.append(labelled)
    _, schemas = models_json_schema(
        [(kind, "validation") for kind in kinds],
        ref_template="#/components/schemas/{model}",
    )
    components: JsonObject = {"schemas": schemas["$defs"]}
    if with_token:
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "earmark", "version": __version__},
        "paths": _paths(with_token, paths),
        "components": components,
    }


def _paths(with_token: bool, labelled: dict[str, str]) -> JsonObject:
    token = _TOKEN if with_token else {}
    host = {403: "A host name that is not served."}
    unfit = {409: "The model cannot learn documents one by one."}
    posts = {"/classify": _post("Label documents", "Request", "Reply", token)}
    for path, summary in labelled.items():
        posts[path] = _post(summary, "Labelled", "Facts", token | unfit)
    numbers = {"text/plain": {"schema": {"type": "string"}}}
    secured: JsonObject = {"security": [{"bearer": []}]} if with_token else {}
    closed: JsonObject = {
        **posts,
        "/model": _get("What is served", _json("Facts"), host | token),
        "/metrics": _get("Numbers for Prometheus", numbers, host | token),
    }
    for methods in closed.values():
        for operation in methods.values():
            operation |= secured
    stopping = {503: "Shutting down."}
    return closed | {
        "/healthz": _get("The process lives", _json("Facts"), host),
        "/readyz": _get("A model answers", _json("Facts"), host | stopping),
    }


def _post(summary: str, body: str, reply: str, more: dict[int, str]) -> JsonObject:
    operation = {
        "summary": summary,
        "requestBody": {"required": True, "content": _json(body)},
        "responses": _responses(_json(reply), _REFUSALS | more),
    }
    return {"post": operation}


def _get(summary: str, content: JsonObject, refusals: dict[int, str]) -> JsonObject:
    return {"get": {"summary": summary, "responses": _responses(content, refusals)}}


def _responses(content: JsonObject, refusals: dict[int, str]) -> JsonObject:
    responses: JsonObject = {"200": {"description": "OK", "content": content}}
    for status, words in refusals.items():
        responses[str(status)] = {"description": words, "content": _json("Refusal")}
    if 503 in refusals:
        retry = {"Retry-After": {"schema": {"type": "string"}}}
        responses["503"]["headers"] = retry
    return responses


def _json(name: str) -> JsonObject:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
