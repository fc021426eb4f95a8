"""Save, load and describe model files: tensor file, encoder and decoder together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from earmark import __version__
from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.models.base.declaration import MODELS
from earmark.persistence import tensor_file
from earmark.persistence.decode import decode
from earmark.persistence.encode import encode
from earmark.persistence.nodes import Given, Table, class_name
from earmark.persistence.tensor_file import Json, dump_json, parse_json
from earmark.typing import FilePath, JsonObject

_FIELDS = ("earmark_version", "metadata", "models", "tree")
_MOST_MODELS = 100


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself."""

    class_name: str
    """Class of the saved object, by its name in the class table."""
    parameters: JsonObject
    """Its constructor parameters; nested objects as dicts with a ``class`` entry."""
    metadata: JsonObject
    """What the caller of ``save_model`` added: of a classifier its model, classes and,
    where they are known, the columns and facts of the training data."""
    callables: tuple[str, ...]
    """Places of callables that must be given again to load the file."""
    format_version: int
    """Version of the file format."""
    earmark_version: str
    """Version of earmark that wrote the file."""
    file_size: int
    """Bytes of the file."""
    fingerprint: str
    """SHA-256 that covers the whole content: equal models, equal fingerprints."""


def save_model(
    obj: object,
    path: FilePath,
    table: Table,
    metadata: Mapping[str, Json] | None = None,
    *,
    allow_callables: bool = False,
) -> None:
    """Write ``obj`` to one file, atomically, as ``encode`` takes it apart.

    The same object gives the same bytes: no time stamp, no counter. ``metadata``, plain
    JSON data, are kept in the manifest. NotSupportedError if the object holds what a
    file cannot; OSError if it cannot be written, and an older file is as it was.
    """
    name = class_name(type(obj), table)
    if name is None:
        raise NotSupportedError(
            f"a {type(obj).__name__} cannot be saved: its class is not in the table"
        )
    extra = _plain_metadata(metadata)
    parts = encode(obj, table, name=name, allow_callables=allow_callables)
    manifest = {
        "earmark_version": __version__,
        "metadata": extra,
        "models": sorted({*filter(None, map(MODELS.name_of, parts.kinds))}),
        "tree": parts.tree,
    }
    tensor_file.write(path, manifest, parts.tensors)


def load_model(path: FilePath, table: Table, given: Given = None) -> Any:
    """Read the object that ``save_model`` wrote; no code from the file is run.

    ``table`` and ``given`` are those of ``decode``; beside the table stand
    the linear models of scikit-learn in ``sklearn_linear``. ModelFormatError if the
    file is damaged, truncated, newer, foreign or hostile; NotSupportedError if it asks
    for another ``given``.
    """
    return open_model(path, table, given)[0]


def open_model(
    path: FilePath, table: Table, given: Given = None
) -> tuple[Any, ModelInfo]:
    """The object of ``load_model`` and the facts of ``read_manifest``, read once."""
    with _naming(path):
        file = tensor_file.read(path)
        tree = _checked_tree(file.manifest)
        _import_models(file.manifest["models"])
        functions = dict(given or {})
        _check_given(path, tree, functions)
        value = decode(
            tree,
            file.tensors,
            table,
            name=str(tree["class"]),
            given=functions,
        )
        return value, _info(file, tree)


def read_manifest(path: FilePath) -> ModelInfo:
    """Verify a file and say what is in it, without making the object.

    Memory stays small whatever the size of the file.
    """
    with _naming(path):
        file = tensor_file.read(path, keep=False)
        return _info(file, _checked_tree(file.manifest))


def _info(file: tensor_file.TensorFile, tree: dict[str, Json]) -> ModelInfo:
    return ModelInfo(
        class_name=str(tree["class"]),
        parameters=_parameters(tree),
        metadata=file.manifest["metadata"],
        callables=tuple(_callables(tree)),
        format_version=file.format_version,
        earmark_version=file.manifest["earmark_version"],
        file_size=file.length,
        fingerprint=file.digest,
    )


@contextmanager
def _naming(path: FilePath) -> Iterator[None]:
    """Put the file's name before the message of a ModelFormatError."""
    try:
        yield
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


def _plain_metadata(metadata: Mapping[str, Json] | None) -> dict[str, Json]:
    """The metadata, which must come back from JSON as they went in."""
    plain = dict(metadata or {})
    try:
        text = dump_json({"metadata": plain})
        same = parse_json(text, "the manifest") == {"metadata": plain}
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSupportedError(f"metadata must be plain JSON data: {error}") from error
    if not same:
        raise NotSupportedError(
            "metadata must be plain JSON data: dicts with string keys, lists, "
            "strings, finite numbers, truth values and None"
        )
    return plain


def _import_models(names: Json) -> None:
    """Import the modules of the models that a file names, if they are known here."""
    if not isinstance(names, list) or len(names) > _MOST_MODELS:
        raise ModelFormatError("the manifest must list the names of the models")
    for name in names:
        if not isinstance(name, str) or name not in MODELS:
            raise ModelFormatError(
                f"the file needs the model {str(name)[:80]!r}, which is not registered "
                "on this machine; install the package that brings it"
            )
        MODELS[name]


def _checked_tree(manifest: JsonObject) -> dict[str, Json]:
    """The tree of a manifest that has exactly the known fields, of the right types."""
    if tuple(sorted(manifest)) != _FIELDS:
        raise ModelFormatError(f"the manifest must have the fields {_FIELDS}")
    if not isinstance(manifest["earmark_version"], str):
        raise ModelFormatError("earmark_version must be a string")
    if not isinstance(manifest["metadata"], dict):
        raise ModelFormatError("metadata must be an object")
    tree = manifest["tree"]
    if not isinstance(tree, dict) or tree.get("$") != "object":
        raise ModelFormatError("the file holds no object of the class table")
    if not isinstance(tree.get("class"), str) or not isinstance(
        tree.get("state"), dict
    ):
        raise ModelFormatError("the object in the file lacks a class or attributes")
    return tree


def _check_given(path: FilePath, tree: Json, given: Mapping[str, object]) -> None:
    """Raise unless ``given`` holds a callable for each gap, and no other."""
    needed = set(_callables(tree))
    if needed != set(given):
        listed = ", ".join(sorted(needed)) or "none"
        raise NotSupportedError(
            f"{os.fspath(path)} was saved without its callables: give load a "
            f"callable for each of these places: {listed}; "
            f"given: {', '.join(sorted(given)) or 'none'}"
        )
    for place, value in given.items():
        if not callable(value):
            raise NotSupportedError(
                f"given[{place!r}] must be a callable, got {type(value).__name__}"
            )


def _callables(tree: Json) -> Iterator[str]:
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


def _parameters(node: Mapping[str, Json]) -> dict[str, Json]:
    """Constructor parameters of an object node: no underscore before or behind."""
    state = node.get("state")
    if not isinstance(state, dict):
        return {}
    return {
        name: _described(value)
        for name, value in state.items()
        if not name.startswith("_") and not name.endswith("_")
    }


def _described(node: Json) -> Json:
    """A plain value for people and for JSON; large data by their kind only."""
    if isinstance(node, list):
        return [_described(item) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("$")
    if kind == "object":
        return {"class": node.get("class"), **_parameters(node)}
    if kind in ("tuple", "set", "frozenset", "object_array"):
        return _described(node.get("items"))
    if kind == "type":
        return node.get("name")
    keys, values = node.get("keys"), node.get("values")
    if kind == "dict" and isinstance(keys, list) and isinstance(values, list):
        described = (str(_described(key)) for key in keys)
        return dict(zip(described, map(_described, values), strict=False))
    return f"<{kind}>"
