"""What a client may ask: one request model per served model and limits.

The same pydantic model checks requests and describes them in OpenAPI.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from earmark.apps.serve.model import Job, ServedModel
from earmark.apps.web.guard import Limits
from earmark.apps.web.replies import Refusal

__all__ = ["RequestReader"]

_MOST_SCORES = 1_000_000
_CUSTOM = "Value error, "


def _whole(value: object) -> object:
    """JSON has one kind of number: 5.0 is 5."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


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
    """Reads the bodies of requests for one model.

    Attributes
    ----------
    request, labelled : type of pydantic.BaseModel
        Of POST /classify, and of what comes with labels.

    """

    def __init__(self, model: ServedModel, limits: Limits) -> None:
        self._model = model
        self.request, self.labelled = _request_models(model, limits)

    def _read(self, kind: type[BaseModel], body: bytes) -> Any:
        try:
            return kind.model_validate_json(body)
        except ValidationError as error:
            raise self._refusal(error) from None

    def lesson(self, body: bytes) -> tuple[dict[str, list[str]], list[Any]]:
        """Texts by region, and a label for each document."""
        asked = self._read(self.labelled, body)
        columns = self._columns(asked)
        n_documents = len(next(iter(columns.values())))
        if n_documents != len(asked.labels):
            raise Refusal(
                422,
                "invalid",
                f"expected a label for each document, got {n_documents} documents and "
                f"{len(asked.labels)} labels.",
            )
        return columns, asked.labels

    def job(self, body: bytes) -> Job:
        """The job that a body asks for, or a Refusal that says what is wrong."""
        asked = self._read(self.request, body)
        fields = asked.model_fields_set
        return Job(
            self._columns(asked),
            top_k=asked.top_k,
            explain=asked.explain,
            max_error=asked.max_error if "max_error" in fields else None,
        )

    def _columns(self, asked: Any) -> dict[str, list[str]]:
        names = self._model.regions
        if "texts" in asked.model_fields_set:
            return {names[0]: asked.texts}
        return {
            name: [getattr(document, f"region_{n}") for document in asked.documents]
            for n, name in enumerate(names)
        }

    def _refusal(self, error: ValidationError) -> Refusal:
        """What is wrong, without the input, which would be a text."""
        details = error.errors(
            include_url=False, include_context=False, include_input=False
        )
        if details[0]["type"] == "json_invalid":
            return Refusal(400, "json", "the body must be valid JSON in UTF-8.")
        problems = [
            {
                "where": ".".join(map(str, detail["loc"]))[:100] or "body",
                "what": self._words(detail),
            }
            for detail in details[:10]
        ]
        first = problems[0]
        return Refusal(
            422, "invalid", f"{first['where']}: {first['what']}", problems=problems
        )

    def _words(self, detail: Any) -> str:
        if detail["type"] != "extra_forbidden":
            return str(detail["msg"]).removeprefix(_CUSTOM)
        regions = ", ".join(self._model.regions)
        if detail["loc"][0] == "documents":
            return (
                f"has a region that this model does not know; it has the regions "
                f"{regions}."
            )
        return {
            "max_error": self._model.why_not_abstain,
            "texts": f'this model takes "documents" with the regions {regions}.',
            "text": 'is not an option; did you mean "texts"?',
            "document": 'is not an option; did you mean "documents"?',
        }.get(str(detail["loc"][0]), "is not an option of this service.")


def _request_models(
    model: ServedModel, limits: Limits
) -> tuple[type[BaseModel], type[BaseModel]]:
    text = Annotated[str, Field(max_length=limits.text)]
    regions: dict[str, Any] = {
        f"region_{n}": (text, Field(default="", alias=name))
        for n, name in enumerate(model.regions)
    }
    document: Any = create_model("Document", __base__=_Document, **regions)
    whole = Annotated[int, Field(ge=1, le=_MOST_SCORES), BeforeValidator(_whole)]
    documents: dict[str, Any] = {
        "documents": _batch(document, limits, "Documents by region.")
    }
    if model.takes_texts:
        documents["texts"] = _batch(text, limits, "Plain texts.")
    fields: dict[str, Any] = {
        **documents,
        "top_k": (whole, _optional("Return the scores of this many labels.")),
        "explain": _explain(model),
    }
    if model.can_abstain:
        fields["max_error"] = (
            Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)],
            _optional("Abstain so that at most this share of answers is wrong."),
        )
    kinds: Any = [{"required": [name]} for name in sorted(documents, reverse=True)]
    config = ConfigDict(json_schema_extra={"oneOf": kinds})
    base = type("_Base", (_Request,), {"model_config": config})
    labels = Annotated[list[Any], Field(description="The right label of each.")]
    request: Any = create_model("Request", __base__=base, **fields)
    documents["labels"] = labels, ...
    labelled: Any = create_model("Labelled", __base__=base, **documents)
    return request, labelled


def _batch(item: Any, limits: Limits, description: str) -> tuple[Any, Any]:
    kind = Annotated[list[item], Field(min_length=1, max_length=limits.batch)]
    return kind, _optional(description)


def _optional(description: str) -> Any:
    """A field that may be left out, but is never null."""
    return Field(default_factory=lambda: None, description=description)


def _explain(model: ServedModel) -> tuple[Any, Any]:
    words = "Return the words behind each label."
    if model.can_explain:
        return bool, Field(default=False, description=words)
    kind = Annotated[bool, AfterValidator(_refuse_explaining)]
    extra: Any = {"enum": [False]}
    return kind, Field(default=False, description=words, json_schema_extra=extra)


def _refuse_explaining(value: bool) -> bool:
    if value:
        raise ValueError("this model cannot be explained term by term.")
    return value
