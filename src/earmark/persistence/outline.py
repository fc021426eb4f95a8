"""What can be said of a JSON tree without making the objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from earmark.exceptions import ModelFormatError

__all__ = ["callables", "parameters"]


def callables(tree: Any) -> Iterator[str]:
    """Places of the callables that the file leaves out, in no special order."""
    rest = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, list):
            rest += node
        elif isinstance(node, dict):
            # Attribute names and fields are never "$": only nodes have that key.
            if node.get("$") == "callable":
                path = node.get("path")
                if not isinstance(path, str):
                    raise ModelFormatError("a callable in the file has no place")
                yield path
            rest += node.values()


def parameters(node: dict[str, Any]) -> dict[str, Any]:
    """Constructor parameters of an object node: no underscore before or behind."""
    state = node.get("state")
    if not isinstance(state, dict):
        return {}
    return {
        name: _describe(value)
        for name, value in state.items()
        if not name.startswith("_") and not name.endswith("_")
    }


def _describe(node: Any) -> Any:
    """A plain value for people and for JSON; large data by their kind only."""
    if isinstance(node, list):
        return [_describe(item) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("$")
    if kind == "object":
        return {"class": node.get("class"), **parameters(node)}
    if kind in ("tuple", "set", "frozenset", "object_array"):
        return _describe(node.get("items"))
    if kind in ("type", "dtype"):
        return node.get("name")
    keys, values = node.get("keys"), node.get("values")
    if kind == "dict" and isinstance(keys, list) and isinstance(values, list):
        described = (str(_describe(key)) for key in keys)
        return dict(zip(described, map(_describe, values), strict=False))
    return f"<{kind}>"
