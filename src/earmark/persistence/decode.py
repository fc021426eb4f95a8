"""JSON tree, arrays and strings -> object tree. The file chooses among data only.

Every array and every string is used exactly once and in order, so a small file
cannot ask for more than it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError
from earmark.persistence import leaves, nodes
from earmark.persistence.classes import find_class, is_attribute, transient
from earmark.persistence.leaves import text_field
from earmark.persistence.nodes import Place
from earmark.persistence.sparse import compressed
from earmark.persistence.strings import StringReader

__all__ = ["decode"]

_KEYS = (str, int, float, bool, type(None), bytes, np.generic)
_LAST_CHARACTER = 0x10FFFF


def decode(
    tree: Any,
    arrays: Sequence[NDArray[Any]],
    strings: NDArray[np.uint8],
    table: Mapping[str, type],
    *,
    name: str = "model",
    given: Mapping[str, Callable[..., Any]] | None = None,
) -> Any:
    """Put together what ``encode`` took apart.

    Parameters
    ----------
    tree, arrays, strings : as in ``Encoded``
        The strings as an array of bytes; their offsets are the last array.
    table : mapping of str to type
        Class table: only these classes are made.
    name : str, default="model"
        What messages call the value, and what the names in ``given`` begin with.
    given : mapping of str to callable, optional
        Place -> callable, for the callables that the file leaves out.

    Returns
    -------
    object
        The value; its arrays are views of those given.

    Raises
    ------
    ModelFormatError
        If the tree is not one that ``encode`` writes.

    Examples
    --------
    >>> from earmark.persistence.encode import encode
    >>> parts = encode((1, {"a": [2.5]}), {})
    >>> blob = np.frombuffer(parts.strings, dtype=np.uint8)
    >>> decode(parts.tree, parts.arrays, blob, {})
    (1, {'a': [2.5]})

    """
    if not arrays:
        raise ModelFormatError("the string offsets are missing")
    decoder = _Decoder(arrays[:-1], StringReader(strings, arrays[-1]), table, given)
    value = decoder.value(tree, Place(name))
    decoder.finish()
    return value


class _Decoder:
    """Walks the tree in the encoder's order."""

    def __init__(
        self,
        arrays: Sequence[NDArray[Any]],
        strings: StringReader,
        table: Mapping[str, type],
        given: Mapping[str, Callable[..., Any]] | None,
    ) -> None:
        self.arrays = arrays
        self.strings = strings
        self.table = table
        self.given = given or {}
        self.next_array = 0

    def finish(self) -> None:
        """Raise unless all arrays and strings were used."""
        if self.next_array != len(self.arrays):
            unused = len(self.arrays) - self.next_array
            raise ModelFormatError(f"{unused} arrays belong to nothing")
        self.strings.finish()

    def value(self, node: Any, place: Place) -> Any:
        """The value of a JSON value or node."""
        if isinstance(node, list):
            return self.items(node, place)
        if not isinstance(node, dict):
            return node
        kind = node.get("$")
        if not isinstance(kind, str) or kind not in nodes.FIELDS:
            raise ModelFormatError(f"{place} is of the unknown kind {str(kind)[:80]!r}")
        fields = nodes.FIELDS[kind]
        if len(node) != len(fields) + 1 or not all(field in node for field in fields):
            raise ModelFormatError(
                f"{place} ({kind}) must have the fields {', '.join(fields)}, "
                f"got {', '.join(map(str, node))[:200]}"
            )
        if kind in leaves.READ:
            return leaves.READ[kind](node, place)
        return _HANDLERS[kind](self, node, place)

    def items(
        self, node: list[Any], place: Place, keys: Iterable[Any] | None = None
    ) -> list[Any]:
        names = range(len(node)) if keys is None else keys
        return [
            self.value(item, place.item(key))
            if isinstance(item, (list, dict))
            else item
            for key, item in zip(names, node, strict=True)
        ]

    def sequence(
        self, node: Any, place: Place, keys: Sequence[Any] | None = None
    ) -> list[Any]:
        """A node that must give a list."""
        if isinstance(node, list):
            if keys is not None and len(keys) != len(node):
                raise ModelFormatError(
                    f"{place} has {len(keys)} keys for {len(node)} values"
                )
            return self.items(node, place, keys)
        value = self.value(node, place)
        if type(value) is not list:
            raise ModelFormatError(f"{place} must hold a list")
        return value

    def next(self, index: Any, place: Place) -> NDArray[Any]:
        """The array of this number, which must be the next."""
        if type(index) is not int or index != self.next_array:
            raise ModelFormatError(
                f"{place} asks for array {str(index)[:40]}, "
                f"next is array {self.next_array}"
            )
        if index >= len(self.arrays):
            raise ModelFormatError(f"{place} asks for array {index}, which is missing")
        self.next_array += 1
        return self.arrays[index]

    def vector(self, index: Any, place: Place, kinds: str) -> NDArray[Any]:
        array = self.next(index, place)
        if array.ndim != 1 or array.dtype.kind not in kinds:
            raise ModelFormatError(
                f"{place} needs a vector of numbers, got {array.dtype} {array.shape}"
            )
        return array

    def run(self, node: dict[str, Any], place: Place, count: Any) -> list[str]:
        first = node["first"]
        if type(first) is not int or type(count) is not int:
            raise ModelFormatError(f"{place} names no run of strings")
        return self.strings.take(first, count)

    def string(self, node: dict[str, Any], place: Place) -> str:
        return self.run(node, place, 1)[0]

    def numpy_str(self, node: dict[str, Any], place: Place) -> Any:
        value = self.value(node["value"], place)
        if type(value) is not str:
            raise ModelFormatError(f"{place} must be a string")
        return np.str_(value)

    def numpy_bytes(self, node: dict[str, Any], place: Place) -> Any:
        value = self.value(node["value"], place)
        if type(value) is not bytes:
            raise ModelFormatError(f"{place} must be bytes")
        return np.bytes_(value)

    def numbers(self, node: dict[str, Any], place: Place) -> list[Any]:
        array = self.vector(node["index"], place, "biuf")
        if type(node["numpy"]) is not bool:
            raise ModelFormatError(f"{place} must say whether its numbers are numpy's")
        return list(array) if node["numpy"] else array.tolist()

    def run_of_strings(self, node: dict[str, Any], place: Place) -> list[str]:
        return self.run(node, place, node["count"])

    def rows(self, node: dict[str, Any], place: Place) -> list[list[str]]:
        strings = self.run(node, place, node["count"])
        lengths = self.vector(node["lengths"], place, "i").tolist()
        if any(n < 0 for n in lengths) or sum(lengths) != len(strings):
            raise ModelFormatError(f"the rows of {place} do not add up")
        rest = iter(strings)
        return [[next(rest) for _ in range(n)] for n in lengths]

    def pair(self, node: dict[str, Any], place: Place) -> tuple[Any, ...]:
        return tuple(self.sequence(node["items"], place))

    def mapping(self, node: dict[str, Any], place: Place) -> dict[Any, Any]:
        keys = self.sequence(node["keys"], place)
        kinds = set(map(type, keys))
        # Very large whole numbers can be chosen to share one hash.
        if not all(issubclass(kind, _KEYS) for kind in kinds) or (
            int in kinds
            and any(type(key) is int and key not in nodes.INT64 for key in keys)
        ):
            raise ModelFormatError(f"{place} has keys that are no strings or numbers")
        values = self.sequence(node["values"], place, keys)
        if len(values) != len(keys):
            raise ModelFormatError(
                f"{place} has {len(keys)} keys for {len(values)} values"
            )
        found = dict(zip(keys, values, strict=True))
        if len(found) != len(keys):
            raise ModelFormatError(f"{place} has a key twice")
        return found

    def collection(self, node: dict[str, Any], place: Place) -> Any:
        items = self.sequence(node["items"], place)
        if not all(type(item) is str for item in items) or any(
            a >= b for a, b in pairwise(items)
        ):
            raise ModelFormatError(f"{place} must hold sorted strings, each once")
        return set(items) if node["$"] == "set" else frozenset(items)

    def array(self, node: dict[str, Any], place: Place) -> NDArray[Any]:
        return self.next(node["index"], place)

    def text_array(self, node: dict[str, Any], place: Place) -> NDArray[Any]:
        codes = self.characters(node, place, np.dtype("<u4"))
        if codes.max(initial=0) > _LAST_CHARACTER:
            raise ModelFormatError(f"{place} holds numbers that are no characters")
        return codes.view(f"<U{codes.shape[-1]}")[..., 0]

    def bytes_array(self, node: dict[str, Any], place: Place) -> NDArray[Any]:
        codes = self.characters(node, place, np.dtype("u1"))
        return codes.view(f"S{codes.shape[-1]}")[..., 0]

    def characters(
        self, node: dict[str, Any], place: Place, unit: np.dtype[Any]
    ) -> NDArray[Any]:
        codes = self.next(node["index"], place)
        if codes.dtype != unit or codes.ndim == 0 or codes.shape[-1] == 0:
            raise ModelFormatError(
                f"{place} needs characters as {unit}, got {codes.dtype} {codes.shape}"
            )
        return codes

    def object_array(self, node: dict[str, Any], place: Place) -> NDArray[Any]:
        items = self.sequence(node["items"], place)
        shape = _shape(node, place)
        if len(shape) > 32 or prod(shape) != len(items):
            raise ModelFormatError(
                f"{place} has {len(items)} elements for shape {str(shape)[:80]}"
            )
        flat = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            flat[i] = item
        return flat.reshape(shape)

    def sparse(self, node: dict[str, Any], place: Place) -> Any:
        name = text_field(node, "class", place)
        data, indices, indptr = (
            self.next(node[part], place) for part in ("data", "indices", "indptr")
        )
        return compressed(name, _shape(node, place), data, indices, indptr, place)

    def callable(self, node: dict[str, Any], place: Place) -> Any:
        """A callable that the file left out: only the one given for this place."""
        path = str(place)
        if node["path"] != path or path not in self.given:
            raise ModelFormatError(
                f"{path} stands for a callable of another place: "
                f"{str(node['path'])[:200]!r}"
            )
        return self.given[path]

    def instance(self, node: dict[str, Any], place: Place) -> Any:
        """An instance of a class in the table, made without running its __init__."""
        name, state = text_field(node, "class", place), node["state"]
        kind = find_class(name, self.table)
        if kind is None:
            raise ModelFormatError(
                f"{place} is of the class {name[:80]!r}, which is not in the class "
                "table; was it written by a newer earmark?"
            )
        if not isinstance(state, dict) or not all(map(is_attribute, state)):
            raise ModelFormatError(f"{place} has attributes of forbidden names")
        hidden = transient(kind, name)
        values = {
            key: self.value(state[key], place.attribute(key)) for key in sorted(state)
        }
        values = {key: value for key, value in values.items() if key not in hidden}
        return _restore(kind, values, place)


def _restore(kind: type, state: dict[str, Any], place: Place) -> Any:
    """A new instance with this state."""
    made: Any = kind.__new__(kind)  # type: ignore[call-overload]
    restore = getattr(kind, "__earmark_restore__", None)
    if restore is None:
        if not hasattr(made, "__dict__"):
            raise ModelFormatError(f"{place}: a {kind.__name__} holds no attributes")
        vars(made).update(state)
        return made
    try:
        restore(made, state)
    except Exception as error:
        raise ModelFormatError(
            f"{place} cannot be restored: {type(error).__name__}: {error}"
        ) from error
    return made


def _shape(node: dict[str, Any], place: Place) -> tuple[int, ...]:
    shape = node["shape"]
    if not isinstance(shape, list) or not all(
        type(n) is int and 0 <= n < 2**48 for n in shape
    ):
        raise ModelFormatError(f"{place} has no valid shape: {str(shape)[:80]}")
    return tuple(shape)


_HANDLERS: dict[str, Callable[[_Decoder, dict[str, Any], Place], Any]] = {
    "array": _Decoder.array,
    "bytes_array": _Decoder.bytes_array,
    "callable": _Decoder.callable,
    "dict": _Decoder.mapping,
    "frozenset": _Decoder.collection,
    "numbers": _Decoder.numbers,
    "numpy_bytes": _Decoder.numpy_bytes,
    "numpy_str": _Decoder.numpy_str,
    "object": _Decoder.instance,
    "object_array": _Decoder.object_array,
    "rows": _Decoder.rows,
    "set": _Decoder.collection,
    "sparse": _Decoder.sparse,
    "str": _Decoder.string,
    "strings": _Decoder.run_of_strings,
    "text_array": _Decoder.text_array,
    "tuple": _Decoder.pair,
}
