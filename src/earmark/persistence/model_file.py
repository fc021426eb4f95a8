"""Save, load and describe model files: container, encoder and decoder together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from earmark import __version__
from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import canonical, container, tensors
from earmark.persistence.classes import class_name
from earmark.persistence.decode import decode
from earmark.persistence.encode import encode
from earmark.persistence.outline import callables, parameters

__all__ = ["ModelInfo", "load_model", "read_manifest", "save_model"]

_ARRAYS, _STRINGS = container.MEMBERS
_FIELDS = ("earmark_version", "members", "metadata", "payload_length", "tree")


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself.

    Attributes
    ----------
    class_name : str
        Class of the saved object, by its name in the class table.
    parameters : dict
        Its constructor parameters; nested objects as dicts with a ``class`` entry.
    metadata : dict
        What the caller of ``save_model`` added.
    callables : tuple of str
        Places of callables that must be given again to load the file.
    format_version : int
        Version of the file format.
    earmark_version : str
        Version of earmark that wrote the file.
    file_size : int
        Bytes of the file.
    member_sizes : dict of str to int
        Bytes of each member.
    fingerprint : str
        SHA-256 that covers the whole content: equal models, equal fingerprints.

    """

    class_name: str
    parameters: dict[str, Any]
    metadata: dict[str, Any]
    callables: tuple[str, ...]
    format_version: int
    earmark_version: str
    file_size: int
    member_sizes: dict[str, int]
    fingerprint: str

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return asdict(self)


def save_model(
    obj: object,
    path: str | os.PathLike[str],
    table: Mapping[str, type],
    metadata: Mapping[str, Any] | None = None,
    *,
    allow_callables: bool = False,
) -> None:
    """Write ``obj`` to one file, whole or not at all.

    The same object gives the same bytes: no time stamp, no counter.

    Parameters
    ----------
    obj : object
        An instance of a class in the table.
    path : path-like
        The file; an existing one is replaced at the last moment.
    table : mapping of str to type
        Class table: name in the file -> class.
    metadata : mapping, optional
        Plain JSON data kept in the manifest.
    allow_callables : bool, default=False
        Store a callable as a named gap, to be given again to ``load_model``.

    Raises
    ------
    NotSupportedError
        If the object holds what a file cannot; the message names the place.
    OSError
        If the file cannot be written; an existing file is left as it was.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> class Scale:
    ...     def __init__(self, factor):
    ...         self.factor = factor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "scale.earmark"
    ...     save_model(Scale(2.5), path, {"Scale": Scale})
    ...     load_model(path, {"Scale": Scale}).factor
    2.5

    """
    name = class_name(type(obj), table)
    if name is None:
        raise NotSupportedError(
            f"a {type(obj).__name__} cannot be saved: its class is not in the table"
        )
    extra = _plain_metadata(metadata)
    parts = encode(obj, table, name=name, allow_callables=allow_callables)
    manifest = {"earmark_version": __version__, "metadata": extra, "tree": parts.tree}
    members: dict[str, Sequence[bytes | memoryview]] = {
        _ARRAYS: tensors.write(parts.arrays),
        _STRINGS: [parts.strings],
    }
    container.write(path, manifest, members)


def load_model(
    path: str | os.PathLike[str],
    table: Mapping[str, type],
    given: Mapping[str, Callable[..., Any]] | None = None,
) -> Any:
    """Read the object that ``save_model`` wrote; no code from the file is run.

    Parameters
    ----------
    path : path-like
        The file.
    table : mapping of str to type
        Class table: the only classes that are made, beside the linear models of
        scikit-learn in ``SKLEARN_LINEAR``.
    given : mapping of str to callable, optional
        Place -> callable, for each callable that the file leaves out.

    Raises
    ------
    ModelFormatError
        If the file is damaged, truncated, newer, foreign or hostile.
    NotSupportedError
        If ``given`` is not what the file asks for; the message lists the places.

    """
    with _naming(path):
        file = container.read(path)
        manifest = _checked(file.manifest)
        tree = manifest["tree"]
        given = dict(given or {})
        _check_given(path, tree, given)
        arrays = tensors.read(file.data.pop(_ARRAYS))
        strings = file.data.pop(_STRINGS)
        return decode(tree, arrays, strings, table, name=tree["class"], given=given)


def read_manifest(path: str | os.PathLike[str]) -> ModelInfo:
    """Verify a file and say what is in it, without making the object.

    Memory stays small whatever the size of the file.

    Raises
    ------
    ModelFormatError
        If the file is damaged, truncated, newer or foreign.

    """
    with _naming(path):
        file = container.read(path, keep=False)
        manifest = _checked(file.manifest)
        tree = manifest["tree"]
        return ModelInfo(
            class_name=tree["class"],
            parameters=parameters(tree),
            metadata=manifest["metadata"],
            callables=tuple(callables(tree)),
            format_version=file.format_version,
            earmark_version=manifest["earmark_version"],
            file_size=file.file_length,
            member_sizes={member.name: member.length for member in file.members},
            fingerprint=file.fingerprint,
        )


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before the message of a ModelFormatError."""
    try:
        yield
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


def _plain_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata, which must come back from JSON as they went in."""
    plain = dict(metadata or {})
    try:
        text = canonical.dump({"metadata": plain})
        same = canonical.parse(text, "the manifest")["metadata"] == plain
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSupportedError(f"metadata must be plain JSON data: {error}") from error
    if not same:
        raise NotSupportedError(
            "metadata must be plain JSON data: dicts with string keys, lists, "
            "strings, finite numbers, truth values and None"
        )
    return plain


def _checked(manifest: Any) -> dict[str, Any]:
    """The manifest of a model: exactly the known fields, of the right types."""
    if not isinstance(manifest, dict) or tuple(sorted(manifest)) != _FIELDS:
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
    return manifest


def _check_given(
    path: str | os.PathLike[str], tree: Any, given: Mapping[str, Any]
) -> None:
    """Raise unless ``given`` holds a callable for each gap, and no other."""
    needed = set(callables(tree))
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
