"""The OpenAPI description of the service, for the model that is loaded."""

from __future__ import annotations

from typing import Any

from earmark import __version__
from earmark.apps.serve.model import ServedModel
from earmark.apps.serve.requests import MOST_SCORES
from earmark.apps.web.guard import Limits

__all__ = ["describe"]

_LABEL = {"type": ["string", "number", "boolean", "null"]}
_NUMBER = {"type": ["number", "null"]}
_REFUSALS = {
    400: "The body is no valid JSON in UTF-8.",
    403: "Sent by a page of another site, or to a host name that is not served.",
    408: "The body took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not plain application/json in UTF-8.",
    422: "The body is JSON, but not what is asked for.",
    503: "Too many requests at a time, or no answer in time; see Retry-After.",
}
_TERM = {
    "type": "object",
    "properties": {
        "term": {"type": "string"},
        "contribution": _NUMBER,
        "region": {"type": "string"},
    },
    "required": ["term", "contribution"],
}
_EXPLANATION = {
    "type": "object",
    "description": "terms + rest + constants = score, over the runner-up.",
    "properties": {
        "label": _LABEL,
        "runner_up": _LABEL,
        "score": _NUMBER,
        "terms": {"type": "array", "items": _TERM},
        "rest": _NUMBER,
        "constants": {"type": "object", "additionalProperties": _NUMBER},
        "note": {"type": "string"},
    },
    "required": ["label", "runner_up", "score", "terms", "rest", "constants"],
}
_RESULT = {
    "type": "object",
    "properties": {
        "label": {"anyOf": [_LABEL, {"type": "array", "items": _LABEL}]},
        "confidence": _NUMBER,
        "abstained": {"type": "boolean"},
        "scores": {"type": "object", "additionalProperties": _NUMBER},
        "explanation": {"$ref": "#/components/schemas/Explanation"},
    },
    "required": ["label", "confidence", "abstained"],
    "additionalProperties": False,
}


def _request(model: ServedModel, limits: Limits) -> dict[str, Any]:
    text = {"type": "string", "maxLength": limits.text}
    document = {
        "type": "object",
        "properties": dict.fromkeys(model.regions, text),
        "additionalProperties": False,
        "minProperties": 1,
    }

    def listed(items: Any) -> dict[str, Any]:
        return {
            "type": "array",
            "items": items,
            "minItems": 1,
            "maxItems": limits.batch,
        }

    properties: dict[str, Any] = {
        "documents": {
            **listed(document),
            "description": "Documents as regions of text.",
        },
        "top_k": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_SCORES,
            "description": "Return the scores of so many labels.",
        },
        "explain": {
            "type": "boolean",
            **({} if model.can_explain else {"enum": [False]}),
            "description": "Return the words behind each label.",
        },
    }
    if model.can_abstain:
        properties["max_error"] = {
            "type": "number",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
            "description": "Abstain so that at most this share of answers is wrong.",
        }
    kinds = ["documents"]
    if model.takes_texts:
        properties["texts"] = {**listed(text), "description": "Plain texts."}
        kinds = ["texts", "documents"]
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "oneOf": [{"required": [kind]} for kind in kinds],
    }


def _schemas(model: ServedModel, limits: Limits) -> dict[str, Any]:
    return {
        "Request": _request(model, limits),
        "Explanation": _EXPLANATION,
        "Result": _RESULT,
        "Reply": {
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "items": {"$ref": "#/components/schemas/Result"},
                }
            },
            "required": ["results"],
        },
        "Refusal": {
            "type": "object",
            "properties": {
                "error": {"type": "string"},
                "detail": {"type": "string"},
                "request_id": {"type": "string"},
                "problems": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["error", "detail", "request_id"],
        },
        "Facts": {"type": "object"},
    }


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _refusals(statuses: dict[int, str]) -> dict[str, Any]:
    found = {
        str(status): {"description": words, "content": _content("Refusal")}
        for status, words in statuses.items()
    }
    if "503" in found:
        found["503"]["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
    return found


def describe(model: ServedModel, limits: Limits, with_token: bool) -> dict[str, Any]:
    """The whole description."""
    token = {401: "A valid bearer token is needed."} if with_token else {}
    secured: dict[str, Any] = {"security": [{"bearer": []}]} if with_token else {}

    def get(summary: str, open_to_all: bool = False, **more: str) -> dict[str, Any]:
        content = more.get("plain")
        shown = (
            {content: {"schema": {"type": "string"}}} if content else _content("Facts")
        )
        responses = {"200": {"description": "OK", "content": shown}}
        responses |= _refusals({403: "A host name that is not served."})
        if not open_to_all:
            responses |= _refusals(token)
        if more.get("ready"):
            responses |= _refusals({503: "Shutting down."})
        return {
            "get": {
                "summary": summary,
                "responses": responses,
                **({} if open_to_all else secured),
            }
        }

    classify = {
        "summary": "Label documents",
        "requestBody": {"required": True, "content": _content("Request")},
        "responses": {
            "200": {
                "description": "One result a document",
                "content": _content("Reply"),
            }
        }
        | _refusals(_REFUSALS | token),
        **secured,
    }
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "earmark", "version": __version__},
        "paths": {
            "/classify": {"post": classify},
            "/model": get("What is served"),
            "/metrics": get("Numbers for Prometheus", plain="text/plain"),
            "/healthz": get("The process lives", open_to_all=True),
            "/readyz": get("A model answers", open_to_all=True, ready="yes"),
        },
        "components": {"schemas": _schemas(model, limits)},
    }
    if with_token:
        made["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"}
        }
    return made
