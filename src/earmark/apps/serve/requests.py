"""What a client may ask: the request, checked strictly against the model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from earmark.apps.serve.model import Job, ServedModel
from earmark.apps.web.guard import Limits
from earmark.apps.web.replies import Refusal

__all__ = ["MOST_SCORES", "ClassifyRequest", "parse_request"]


MOST_SCORES = 1_000_000


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 5.0 is 5."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class ClassifyRequest(BaseModel):
    """The body of POST /classify."""

    model_config = ConfigDict(extra="forbid", strict=True)

    texts: Annotated[list[str], Field(min_length=1)] | None = None
    documents: (
        Annotated[
            list[Annotated[dict[str, str], Field(min_length=1)]], Field(min_length=1)
        ]
        | None
    ) = None
    top_k: (
        Annotated[int, Field(ge=1, le=MOST_SCORES), BeforeValidator(_whole)] | None
    ) = None
    explain: bool = False
    max_error: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None


def parse_request(body: bytes, model: ServedModel, limits: Limits) -> Job:
    """The job that a body asks for, or a Refusal that says what is wrong."""
    try:
        asked = ClassifyRequest.model_validate_json(body)
    except ValidationError as error:
        raise _refused(error) from None
    given = asked.model_fields_set
    if (asked.texts is None) == (asked.documents is None):
        raise _wrong("texts", 'give either "texts" or "documents".')
    if ("texts" in given and asked.texts is None) or (
        "documents" in given and asked.documents is None
    ):
        raise _wrong("texts", 'leave out the one of "texts" and "documents" not used.')
    if "top_k" in given and asked.top_k is None:
        raise _wrong("top_k", "must be a whole number.")
    if "max_error" in given and not model.can_abstain:
        raise _wrong("max_error", model.why_not_abstain)
    if "max_error" in given and asked.max_error is None:
        raise _wrong("max_error", "must be a number between 0 and 1.")
    if asked.explain and not model.can_explain:
        raise _wrong("explain", "this model cannot be explained term by term.")
    texts = _columns(asked, model, limits)
    return Job(
        texts,
        top_k=asked.top_k,
        explain=asked.explain,
        max_error=asked.max_error,
    )


def _columns(
    asked: ClassifyRequest, model: ServedModel, limits: Limits
) -> dict[str, list[str]]:
    """Region name -> texts, each within the limits."""
    names = model.regions
    if asked.texts is not None:
        if not model.takes_texts:
            raise _wrong(
                "texts",
                f'this model wants "documents" with the regions {", ".join(names)}.',
            )
        _check(len(asked.texts), "texts", limits)
        for row, text in enumerate(asked.texts):
            _check_text(text, f"texts.{row}", limits)
        return {names[0]: asked.texts}
    assert asked.documents is not None
    _check(len(asked.documents), "documents", limits)
    for row, document in enumerate(asked.documents):
        for name, text in document.items():
            if name not in names:
                raise _wrong(
                    f"documents.{row}",
                    f"has a region that this model does not know; it knows "
                    f"{', '.join(names)}.",
                )
            _check_text(text, f"documents.{row}.{name}", limits)
    return {name: [d.get(name, "") for d in asked.documents] for name in names}


def _check(number: int, where: str, limits: Limits) -> None:
    if number > limits.batch:
        raise _wrong(where, f"at most {limits.batch:,} in a request.")


def _check_text(text: str, where: str, limits: Limits) -> None:
    if len(text) > limits.text:
        raise _wrong(where, f"must have at most {limits.text:,} characters.")


def _wrong(where: str, what: str) -> Refusal:
    return Refusal(
        422, "invalid", f"{where}: {what}", problems=[{"where": where, "what": what}]
    )


def _refused(error: ValidationError) -> Refusal:
    """What pydantic found, without the input, which would be a text."""
    found: list[dict[str, Any]] = error.errors(
        include_url=False, include_context=False, include_input=False
    )  # type: ignore[assignment]
    if found[0]["type"] == "json_invalid":
        return Refusal(400, "json", "the body is no valid JSON in UTF-8.")
    problems = [
        {
            "where": ".".join(map(str, problem["loc"]))[:100] or "body",
            "what": problem["msg"],
        }
        for problem in found[:10]
    ]
    first = problems[0]
    return Refusal(
        422, "invalid", f"{first['where']}: {first['what']}", problems=problems
    )
