"""Object tree -> JSON tree, arrays and strings. What is no plain data is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import NotSupportedError
from earmark.persistence import leaves, nodes, tensors
from earmark.persistence.classes import class_name, is_attribute, transient
from earmark.persistence.nodes import Place
from earmark.persistence.strings import StringWriter

__all__ = ["Encoded", "encode"]

_KEYS = (str, int, float, bool, type(None), bytes)


class Encoded(NamedTuple):
    """A value taken apart: JSON tree, arrays in order of use, string blob.

    The offsets of the strings are the last array.
    """

    tree: Any
    arrays: list[NDArray[Any]]
    strings: bytes


def encode(
    value: object,
    table: Mapping[str, type],
    *,
    name: str | None = None,
    allow_callables: bool = False,
) -> Encoded:
    """Take ``value`` apart into data that ``decode`` puts together again.

    Parameters
    ----------
    value : object
        An instance of a class in the table, or plain data.
    table : mapping of str to type
        Class table: name in the file -> class.
    name : str, optional
        What messages call the value; its class name by default.
    allow_callables : bool, default=False
        Whether a callable is stored as a named gap that ``decode`` must be given
        again; otherwise it is refused.

    Returns
    -------
    Encoded
        JSON tree, arrays and string blob.

    Raises
    ------
    NotSupportedError
        If something in the tree is no plain data; the message names its place.

    Examples
    --------
    >>> encode({"a": (1, 2.5)}, {}).tree["keys"]
    ['a']

    """
    root = name or class_name(type(value), table) or type(value).__name__
    encoder = _Encoder(table, allow_callables)
    tree = encoder.value(value, Place(root))
    blob, offsets = encoder.strings.finish()
    return Encoded(tree, [*encoder.arrays, offsets], blob)


class _Encoder:
    """Walks the tree once; arrays and strings are numbered in order of the walk."""

    def __init__(self, table: Mapping[str, type], allow_callables: bool) -> None:
        self.table = table
        self.allow_callables = allow_callables
        self.arrays: list[NDArray[Any]] = []
        self.strings = StringWriter()

    def value(self, value: Any, place: Place) -> Any:
        """The JSON value or node for any value."""
        if place.depth > nodes.MAX_NESTING:
            raise NotSupportedError(
                f"{str(place)[:200]} is nested more than {nodes.MAX_NESTING} levels "
                "deep (does an object refer to itself?)"
            )
        if value is None or value is True or value is False:
            return value
        plain = _PLAIN.get(type(value))
        if plain is not None:
            return plain(self, value, place)
        name = class_name(type(value), self.table)
        if name is not None:
            return self.instance(value, name, place)
        for applies, convert in _OTHERS:
            if applies(value):
                return convert(self, value, place)
        raise _refusal(value, place)

    def string(self, value: str, place: Place) -> Any:
        # JSON would join two surrogates that stand side by side.
        if len(value) <= nodes.MAX_STRING and not _has_surrogate(value):
            return value
        return {"$": "str", "first": self.strings.add([value])}

    def sequence(
        self, items: list[Any], place: Place, keys: Iterable[Any] | None = None
    ) -> Any:
        """A list; long ones of one kind become an array or a run of strings."""
        if len(items) >= nodes.PACK_FROM:
            packed = self._packed(items)
            if packed is not None:
                return packed
        names = range(len(items)) if keys is None else keys
        return [
            self.value(item, place.item(key))
            for key, item in zip(names, items, strict=True)
        ]

    def _packed(self, items: list[Any]) -> Any:
        kinds = set(map(type, items))
        if len(kinds) > 1:
            return None
        (kind,) = kinds
        if kind is str:
            return self._run("strings", items)
        if kind is int and min(items) in nodes.INT64 and max(items) in nodes.INT64:
            return self._numbers(np.array(items, dtype=np.int64), numpy=False)
        if kind is float:
            return self._numbers(np.array(items, dtype=np.float64), numpy=False)
        if issubclass(kind, np.generic) and tensors.storable(np.dtype(kind)):
            return self._numbers(np.array(items, dtype=kind), numpy=True)
        if kind is list and all(type(s) is str for row in items for s in row):
            run = self._run("rows", [s for row in items for s in row])
            lengths = np.fromiter(map(len, items), np.int64, len(items))
            return {**run, "lengths": self._add(lengths)}
        return None

    def _numbers(self, array: NDArray[Any], *, numpy: bool) -> Any:
        return {"$": "numbers", "index": self._add(array), "numpy": numpy}

    def _run(self, kind: str, strings: Sequence[str]) -> dict[str, Any]:
        return {"$": kind, "first": self.strings.add(strings), "count": len(strings)}

    def _add(self, array: NDArray[Any]) -> int:
        # One place is kept for the offsets of the strings.
        if len(self.arrays) + 1 >= tensors.MAX_ARRAYS:
            raise NotSupportedError(
                f"a model file holds at most {tensors.MAX_ARRAYS} arrays"
            )
        little = array.dtype.newbyteorder("<")
        self.arrays.append(np.asarray(array, dtype=little, order="C"))
        return len(self.arrays) - 1

    def pair(self, value: tuple[Any, ...], place: Place) -> Any:
        return {"$": "tuple", "items": self.sequence(list(value), place)}

    def mapping(self, value: dict[Any, Any], place: Place) -> Any:
        """A dict, in its order, as keys beside values."""
        for key in value:
            whole = type(key) is int and key not in nodes.INT64
            if whole or not (type(key) in _KEYS or isinstance(key, np.generic)):
                raise NotSupportedError(
                    f"{place} is a dict with the key {key!r} of type "
                    f"{type(key).__name__}; keys must be strings or small numbers"
                )
        keys = self.sequence(list(value), place)
        values = self.sequence(list(value.values()), place, value)
        return {"$": "dict", "keys": keys, "values": values}

    def collection(self, value: set[Any] | frozenset[Any], place: Place) -> Any:
        if not all(type(item) is str for item in value):
            raise NotSupportedError(
                f"{place} is a {type(value).__name__} that holds more than strings; "
                "store a sorted list or an array"
            )
        items = self.sequence(sorted(value), place)
        return {"$": type(value).__name__, "items": items}

    def instance(self, value: Any, name: str, place: Place) -> Any:
        """An instance of a class in the table: its attributes, sorted by name."""
        hidden = transient(type(value), name)
        state = {}
        for key, item in sorted(_state(value, place).items()):
            if not is_attribute(key):
                raise NotSupportedError(
                    f"{place} has an attribute {key!r}; names must be identifiers "
                    "that do not begin with two underscores"
                )
            if key not in hidden:
                state[key] = self.value(item, place.attribute(key))
        return {"$": "object", "class": name, "state": state}

    def array(self, value: NDArray[Any], place: Place) -> Any:
        kind = value.dtype.kind
        if kind == "O":
            items = self.sequence(value.ravel(order="C").tolist(), place)
            return {"$": "object_array", "items": items, "shape": list(value.shape)}
        if kind in "US":
            node = "text_array" if kind == "U" else "bytes_array"
            return {"$": node, "index": self._add(_characters(value))}
        if tensors.storable(value.dtype) is None:
            raise NotSupportedError(
                f"{place} is an array of type {value.dtype}; a model file holds "
                "arrays of truth values, numbers up to 64 bits and strings"
            )
        return {"$": "array", "index": self._add(value)}

    def scalar(self, value: np.generic, place: Place) -> Any:
        if isinstance(value, np.str_):
            return {"$": "numpy_str", "value": self.string(str(value), place)}
        if isinstance(value, np.bytes_):
            return {
                "$": "numpy_bytes",
                "value": leaves.write_bytes(bytes(value), place),
            }
        node = leaves.write_scalar(value)
        if node is None:
            raise _refusal(value, place)
        return node

    def dtype(self, value: np.dtype[Any], place: Place) -> Any:
        node = leaves.write_dtype(value)
        if node is None:
            raise _refusal(value, place)
        return node

    def sparse(self, value: Any, place: Place) -> Any:
        """CSR or CSC as its three arrays."""
        name = type(value).__name__
        if name not in nodes.SPARSE or value.ndim != 2:
            raise NotSupportedError(
                f"{place} is a {name} of {value.ndim} dimensions; "
                "convert it with .tocsr() or .tocsc()"
            )
        parts = {
            part: self.array(getattr(value, part), place.attribute(part))["index"]
            for part in ("data", "indices", "indptr")
        }
        shape = [int(n) for n in value.shape]
        return {"$": "sparse", "class": name, "shape": shape, **parts}

    @staticmethod
    def _given(place: Place, what: str) -> str:
        """How ``load`` takes the function that stood in a place."""
        if str(place).endswith(".encoder"):
            return f"encoder={what}"
        return f"given={{{str(place)!r}: {what}}}"

    def function(self, value: Any, place: Place) -> Any:
        """A callable: a gap with a name if that is allowed."""
        if self.allow_callables:
            return {"$": "callable", "path": str(place)}
        what = getattr(value, "__name__", type(value).__name__)
        kind = "class" if isinstance(value, type) else "function"
        raise NotSupportedError(
            f"{place} is a {kind} ({what}); a model file holds no code: save with "
            "allow_callables=True and give it again to load, "
            f"{self._given(place, what)}"
        )


def _state(value: Any, place: Place) -> dict[Any, Any]:
    """The attributes to store, by the object's own account if it gives one."""
    kind = type(value)
    own = hasattr(kind, "__earmark_state__")
    if own != hasattr(kind, "__earmark_restore__"):
        raise NotSupportedError(
            f"{kind.__name__} must define both __earmark_state__ and "
            "__earmark_restore__, or neither"
        )
    if own:
        return dict(value.__earmark_state__())
    if not hasattr(value, "__dict__"):
        raise NotSupportedError(
            f"{place} is a {kind.__name__} without __dict__; define "
            "__earmark_state__ and __earmark_restore__"
        )
    return dict(vars(value))


def _has_surrogate(value: str) -> bool:
    return not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)


def _characters(value: NDArray[Any]) -> NDArray[Any]:
    """Strings of fixed width as one number a character, in a last axis."""
    unit = np.dtype("<u4" if value.dtype.kind == "U" else "u1")
    width = max(value.dtype.itemsize // unit.itemsize, 1)
    fixed = np.dtype(f"<{value.dtype.kind}{width}")
    plain = np.asarray(value, dtype=fixed, order="C")
    return plain.reshape(-1).view(unit).reshape(*value.shape, width)


def _is_sparse(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse")


def _refusal(value: Any, place: Place) -> NotSupportedError:
    """The error for a value that a file cannot hold, with what to do instead."""
    kind = type(value)
    advice = (
        "a model file holds numbers, strings, lists, dicts, arrays and the classes "
        "of its table; store such data instead, list the attribute in _transient, "
        "or define __earmark_state__ and __earmark_restore__"
    )
    bases = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)
    base = next((b for b in bases if isinstance(value, b)), None)
    if isinstance(value, ModuleType):
        advice = "a model file holds no code"
    elif kind.__module__.startswith("numpy.random"):
        advice = "store the seed, a whole number, instead"
    elif base is not None:
        advice = f"convert it to a plain {base.__name__}"
    elif isinstance(value, np.ndarray):
        advice = "convert it with numpy.asarray"
    return NotSupportedError(
        f"{place} is of type {kind.__module__}.{kind.__qualname__}; {advice}"
    )


_PLAIN: dict[type, Callable[[_Encoder, Any, Place], Any]] = {
    int: lambda _, value, place: leaves.write_int(value),
    float: lambda _, value, place: leaves.write_float(value),
    str: _Encoder.string,
    bytes: lambda _, value, place: leaves.write_bytes(value, place),
    list: _Encoder.sequence,
    tuple: _Encoder.pair,
    dict: _Encoder.mapping,
    set: _Encoder.collection,
    frozenset: _Encoder.collection,
    np.ndarray: _Encoder.array,
    np.memmap: _Encoder.array,
}
_OTHERS: tuple[
    tuple[Callable[[Any], Any], Callable[[_Encoder, Any, Place], Any]], ...
] = (
    (lambda value: isinstance(value, np.generic), _Encoder.scalar),
    (lambda value: isinstance(value, np.dtype), _Encoder.dtype),
    (leaves.type_name, lambda _, value, place: leaves.write_type(value)),
    (_is_sparse, _Encoder.sparse),
    (callable, _Encoder.function),
)
