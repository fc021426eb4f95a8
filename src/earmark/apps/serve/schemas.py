"""What a client may ask and what it gets, as pydantic models, and OpenAPI from them.

There is one request model per served model and limits: it checks requests, and it
describes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import models_json_schema
from pydantic_core import ErrorDetails
from starlette.types import Scope

from earmark import __version__
from earmark.apps.web import replies
from earmark.apps.web.guard import Limits, read_body
from earmark.typing import JsonObject

if TYPE_CHECKING:
    from earmark.apps.serve.model import ServedModel

__all__ = ["Job", "RequestReader", "describe"]

_MOST_SCORES = 1_000_000


@dataclass(slots=True)
class Job:
    """Documents to classify, and how."""

    texts: dict[str, list[str]]
    top_k: int | None = None
    explain: bool = False
    max_error: float | None = None

    @property
    def n_documents(self) -> int:
        """How many documents."""
        return len(next(iter(self.texts.values())))

    @property
    def n_characters(self) -> int:
        """How much text in all."""
        return sum(len(t) for column in self.texts.values() for t in column)


# -- requests -------------------------------------------------------------------------


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Document(_Strict):
    """A document by region; at least one."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _has_a_region(self) -> _Document:
        if not self.model_fields_set:
            raise ValueError("must have at least one region.")
        return self


class _Request(_Strict):
    """Documents to label, and how."""

    @model_validator(mode="after")
    def _has_one_kind(self) -> _Request:
        fields = self.model_fields_set
        if ("texts" in fields) == ("documents" in fields):
            kinds = {"texts", "documents"} & set(type(self).model_fields)
            raise ValueError(f"give {' or '.join(map(repr, sorted(kinds)))}.")
        return self


class RequestReader:
    """Reads the bodies of requests for one model."""

    def __init__(self, model: ServedModel, limits: Limits) -> None:
        self._model = model
        self.request, self.labelled = _request_models(model, limits)

    def lesson(self, scope: Scope) -> tuple[dict[str, list[str]], list[Any]]:
        """Texts by region, and a label for each document."""
        asked = read_body(self.labelled, scope, self._in_words)
        columns = self._columns(asked)
        n_documents, n_labels = len(next(iter(columns.values()))), len(asked.labels)
        if n_documents != n_labels:
            raise replies.Refusal(
                422,
                "invalid",
                f"expected a label for each document, got {n_documents} documents and "
                f"{n_labels} labels.",
            )
        return columns, asked.labels

    def job(self, scope: Scope) -> Job:
        """The job that a request asks for, or a Refusal that says what is wrong."""
        asked = read_body(self.request, scope, self._in_words)
        limit = asked.max_error if "max_error" in asked.model_fields_set else None
        return Job(self._columns(asked), asked.top_k, asked.explain, limit)

    def _columns(self, asked: Any) -> dict[str, list[str]]:
        names = self._model.regions
        if "texts" in asked.model_fields_set:
            return {names[0]: asked.texts}
        return {
            name: [getattr(document, f"region_{n}") for document in asked.documents]
            for n, name in enumerate(names)
        }

    def _in_words(self, problem: ErrorDetails) -> str | None:
        """What to do about an option that this model does not have."""
        if problem["type"] != "extra_forbidden":
            return None
        regions = f"the regions {', '.join(self._model.regions)}."
        if problem["loc"][0] == "documents":
            return f"has a region that this model does not know; it has {regions}"
        return {
            "max_error": self._model.why_not_abstain,
            "texts": f'this model takes "documents" with {regions}',
            "text": 'is not an option; did you mean "texts"?',
            "document": 'is not an option; did you mean "documents"?',
        }.get(str(problem["loc"][0]), "is not an option of this service.")


def _request_models(model: ServedModel, limits: Limits) -> tuple[Any, ...]:
    """The models of POST /classify, and of what comes with labels."""
    text = Annotated[str, Field(max_length=limits.text)]
    regions: dict[str, Any] = {
        f"region_{n}": (text, Field(default="", alias=name))
        for n, name in enumerate(model.regions)
    }
    document: Any = create_model("Document", __base__=_Document, **regions)
    size = Field(min_length=1, max_length=limits.batch)
    documents: dict[str, Any] = {
        "documents": (
            Annotated[list[document], size],
            _optional("Documents by region."),
        )
    }
    if model.takes_texts:
        plain = Annotated[list[text], size]
        documents["texts"] = plain, _optional("Plain texts.")
    kinds: Any = [{"required": [name]} for name in sorted(documents, reverse=True)]
    config = ConfigDict(json_schema_extra={"oneOf": kinds})
    base: Any = type("_Base", (_Request,), {"model_config": config})
    options = _options(model)
    request = create_model("Request", __base__=base, **documents, **options)
    label: Any = Annotated[Any, AfterValidator(_one_label), WithJsonSchema(_LABEL)]
    labels = list[list[label]] if model.any_of else list[label]
    documents["labels"] = labels, Field(description="The right label of each.")
    labelled = create_model("Labelled", __base__=base, **documents)
    return request, labelled


def _options(model: ServedModel) -> dict[str, Any]:
    """The fields of a request that say how to classify, as far as the model can."""
    whole = Annotated[int, Field(ge=1, le=_MOST_SCORES), BeforeValidator(_whole)]
    words: JsonObject = {"description": "Return the words behind each label."}
    explain: Any = bool
    if not model.can_explain:
        explain = Annotated[bool, AfterValidator(_refuse_explaining)]
        words["json_schema_extra"] = {"enum": [False]}
    options: dict[str, Any] = {
        "top_k": (whole, _optional("Return the scores of this many labels.")),
        "explain": (explain, Field(default=False, **words)),
    }
    if model.can_abstain:
        options["max_error"] = (
            Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)],
            _optional("Abstain so that at most this share of answers is wrong."),
        )
    return options


def _optional(description: str | None = None) -> Any:
    """A field that may be left out, but is never null."""
    return Field(default_factory=lambda: None, description=description)


def _whole(value: object) -> object:
    """Turn 5.0 into 5, since JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_LABEL = {"type": ["string", "number", "boolean"]}


def _one_label(value: object) -> object:
    if not isinstance(value, str | float | int):
        raise ValueError("must be one label, a text or a number.")
    if isinstance(value, str) and not value.strip():
        raise ValueError("must not be blank.")
    return value


def _refuse_explaining(value: bool) -> bool:
    if value:
        raise ValueError("this model cannot be explained term by term.")
    return value


# -- replies --------------------------------------------------------------------------

Label = str | float | bool | None


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Term(_Reply):
    """A word and its share of the score."""

    term: str
    contribution: float | None
    region: str = _optional()


class Explanation(_Reply):
    """terms + rest + constants = score, for the label rather than the runner-up."""

    label: Label
    runner_up: Label
    score: float | None
    terms: list[Term]
    rest: float | None
    constants: dict[str, float | None]
    note: str = _optional()


class Result(_Reply):
    """The answer to one document."""

    label: Label | list[Label]
    confidence: float | None
    abstained: bool
    novelty: float | None = _optional()
    scores: dict[str, float | None] = _optional()
    explanation: Explanation = _optional()


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
    problems: list[Problem] = _optional()


class Facts(BaseModel):
    """Names and values."""

    model_config = ConfigDict(extra="allow")


# -- the description ------------------------------------------------------------------

_HOST = {403: "Sent by a page of another site, or to a host name that is not served."}
_REFUSALS = _HOST | {
    400: "The body is not valid JSON in UTF-8.",
    408: "The body took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not plain application/json in UTF-8.",
    422: "The body is JSON, but not a request that this model can answer.",
    503: "Too many requests at a time, or no answer in time; see Retry-After.",
}
_UNFIT = {409: "The model cannot learn documents one by one."}
_STOPPING = {503: "Shutting down."}
_TEXT = {"text/plain": {"schema": {"type": "string"}}}


def describe(
    reader: RequestReader, with_token: bool, learns: bool, keeps_feedback: bool
) -> JsonObject:
    """The OpenAPI description of what is switched on, for the model that is loaded."""
    labelled: dict[str, str] = {}
    if learns:
        labelled["/learn"] = "Learn documents with their labels, exactly"
        labelled["/forget"] = "Forget documents that were learned, exactly"
    if keeps_feedback:
        labelled["/feedback"] = "Keep documents with their right labels"
    closed = {
        "/classify": _operation("Label documents", "Request", "Reply", _REFUSALS),
        **{
            path: _operation(summary, "Labelled", "Facts", _REFUSALS | _UNFIT)
            for path, summary in labelled.items()
        },
        "/model": _operation("What is served", None, "Facts", _HOST),
        "/metrics": _operation("Numbers for Prometheus", None, None, _HOST),
    }
    public = {
        "/healthz": _operation("The process lives", None, "Facts", _HOST),
        "/readyz": _operation("A model answers", None, "Facts", _HOST | _STOPPING),
    }
    kinds: list[type[BaseModel]] = [reader.request, Reply, Refusal, Facts]
    kinds += [reader.labelled] if labelled else []
    _, schemas = models_json_schema(
        [(kind, "validation") for kind in kinds],
        ref_template="#/components/schemas/{model}",
    )
    components: JsonObject = {"schemas": schemas["$defs"]}
    if with_token:
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        needed = {"description": "A valid bearer token is needed."}
        for methods in closed.values():
            for operation in methods.values():
                operation["security"] = [{"bearer": []}]
                operation["responses"]["401"] = needed | {"content": _json("Refusal")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "earmark", "version": __version__},
        "paths": closed | public,
        "components": components,
    }


def _operation(
    summary: str, body: str | None, reply: str | None, refusals: dict[int, str]
) -> JsonObject:
    """Describe a path for OpenAPI: POST if it takes a body, else GET."""
    content = _TEXT if reply is None else _json(reply)
    responses: JsonObject = {"200": {"description": "OK", "content": content}}
    for status, words in refusals.items():
        responses[str(status)] = {"description": words, "content": _json("Refusal")}
    if 503 in refusals:
        retry = {"Retry-After": {"schema": {"type": "string"}}}
        responses["503"]["headers"] = retry
    operation: JsonObject = {"summary": summary, "responses": responses}
    if body is None:
        return {"get": operation}
    operation["requestBody"] = {"required": True, "content": _json(body)}
    return {"post": operation}


def _json(name: str) -> JsonObject:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
