"""Object tree -> JSON tree and tensors. What is no plain data is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from math import isfinite
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from earmark.exceptions import NotSupportedError
from earmark.kernels.term_merge import pack_terms
from earmark.persistence import nodes
from earmark.persistence.nodes import Array, Place, Table, class_name
from earmark.persistence.tensor_file import Json, storable
from earmark.stored import (
    declared_by,
    derived_names,
    is_declared,
    parameter_names,
)
from earmark.typing import SparseMatrix

_KEYS = (str, int, float, bool, type(None))
_NUMPY_TYPES = frozenset(np.sctypeDict.values())


class Encoded(NamedTuple):
    """A value taken apart: JSON tree, and tensors by the place they belong to."""

    tree: Json
    tensors: dict[str, Array]
    kinds: set[type]
    """The classes of the objects in it."""


def encode(
    value: object,
    table: Table,
    *,
    name: str | None = None,
    allow_callables: bool = False,
) -> Encoded:
    """Take ``value`` apart into data that ``decode`` puts together again.

    It is plain data, or an instance of a class in ``table``: name in the file -> class.
    With ``allow_callables`` a callable is stored as a named gap. What is no plain data
    is a NotSupportedError that names its place, which begins with ``name``.
    """
    root = name or class_name(type(value), table) or type(value).__name__
    encoder = _Encoder(table, allow_callables)
    tree = encoder.value(value, Place(root))
    return Encoded(tree, encoder.tensors, encoder.kinds)


class _Encoder:
    """Turns an object into JSON nodes and tensors, in one walk over its tree."""

    def __init__(self, table: Table, allow_callables: bool) -> None:
        self.table = table
        self.allow_callables = allow_callables
        self.tensors: dict[str, Array] = {}
        self.kinds: set[type] = set()

    def value(self, value: object, place: Place) -> Json:
        """The JSON value or node for any value."""
        if place.depth > nodes.MAX_NESTING:
            raise NotSupportedError(
                f"{str(place)[:200]} is nested more than {nodes.MAX_NESTING} levels "
                "deep (does an object refer to itself?)"
            )
        if value is None or isinstance(value, bool):
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

    def tensor(self, array: Array, place: Place) -> None:
        """Keep an array under the name of its place, in C order."""
        name = str(place)
        if name in self.tensors:
            raise NotSupportedError(f"{name} occurs twice (a key that is not itself?)")
        little = array.dtype.newbyteorder("<")
        self.tensors[name] = np.asarray(array, dtype=little, order="C")

    def whole(self, value: int, place: Place) -> Json:
        if value not in nodes.INT64:
            raise NotSupportedError(f"{place} is a whole number beyond 64 bits")
        return value

    def number(self, value: float, place: Place) -> Json:
        # JSON has no nan and no infinity: they are stored by their bits.
        if isfinite(value):
            return value
        return {"$": "float", "bits": struct.pack(">d", value).hex()}

    def string(self, value: str, place: Place) -> Json:
        # JSON would join two surrogates that stand side by side.
        if len(value) <= nodes.MAX_STRING and (
            value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
        ):
            return value
        self.tensor(pack_terms([value])[0], place)
        return {"$": "str"}

    def sequence(
        self,
        items: list[Any],
        place: Place,
        keys: Iterable[object] | None = None,
        tensor_at: Place | None = None,
    ) -> Json:
        """A list; long ones of one kind become an array or packed strings."""
        if len(items) >= nodes.PACK_FROM:
            packed = self._packed(items, tensor_at or place)
            if packed is not None:
                return packed
        names = range(len(items)) if keys is None else keys
        return [
            self.value(item, place.item(key))
            for key, item in zip(names, items, strict=True)
        ]

    def _packed(self, items: list[Any], place: Place) -> Json:
        kinds = set(map(type, items))
        if len(kinds) > 1:
            return None
        (kind,) = kinds
        if kind is str:
            blob, offsets = pack_terms(items)
            self.tensor(blob, place)
            self.tensor(offsets, place.part("offsets"))
            return {"$": "strings"}
        numpy = issubclass(kind, np.generic) and storable(np.dtype(kind))
        small = kind is int and min(items) in nodes.INT64 and max(items) in nodes.INT64
        if not (numpy or small or kind is float):
            return None
        dtype = kind if numpy else np.int64 if small else np.float64
        self.tensor(np.array(items, dtype=dtype), place)
        return {"$": "numbers", "numpy": numpy}

    def mapping(self, value: dict[object, object], place: Place) -> Json:
        """A dict, in its order, as keys beside values."""
        for key in value:
            large = isinstance(key, int) and int(key) not in nodes.INT64
            if large or not (type(key) in _KEYS or isinstance(key, np.generic)):
                raise NotSupportedError(
                    f"{place} is a dict with the key {key!r} of type "
                    f"{type(key).__name__}; keys must be strings or small numbers"
                )
        keys = self.sequence(list(value), place.part("keys"))
        values = self.sequence(list(value.values()), place, value, place.part("values"))
        return {"$": "dict", "keys": keys, "values": values}

    def collection(self, value: set[object] | frozenset[object], place: Place) -> Json:
        if not all(type(item) is str for item in value):
            raise NotSupportedError(
                f"{place} is a {type(value).__name__} that holds more than strings; "
                "store a sorted list or an array"
            )
        items = self.sequence(sorted(map(str, value)), place)
        return {"$": type(value).__name__, "items": items}

    def instance(self, value: object, name: str, place: Place) -> Json:
        """An instance of a class in the table: its state, sorted by name."""
        state = {}
        kind: type = type(value)
        self.kinds.add(kind)
        known: set[str] | None = None
        derived = derived_names(kind)
        if is_declared(kind):
            declared = declared_by(kind)
            known = {*declared.rules, *parameter_names(kind)}
            derived = derived | declared.derived
        for key, item in sorted(_state(value, place).items()):
            if key in derived:
                continue
            if not nodes.is_attribute(key):
                raise NotSupportedError(
                    f"{place} has an attribute {key!r}; names must be identifiers "
                    "that do not begin with two underscores"
                )
            if known is not None and key not in known:
                raise NotSupportedError(
                    f"{place} has an attribute {key!r} that {type(value).__name__} "
                    "does not declare; annotate it in the class"
                )
            stored = None if key in nodes.NOT_OBEYED else item
            state[key] = self.value(stored, place.attribute(key))
        return {"$": "object", "class": name, "state": state}

    def array(self, value: Array, place: Place) -> Json:
        kind = value.dtype.kind
        if kind == "O":
            items = self.sequence(value.ravel(order="C").tolist(), place)
            return {"$": "object_array", "items": items, "shape": list(value.shape)}
        if kind == "U":
            self.tensor(_characters(value), place)
            return {"$": "text_array"}
        if not storable(value.dtype):
            raise NotSupportedError(
                f"{place} is an array of type {value.dtype}; a model file holds "
                "arrays of truth values, numbers up to 64 bits and strings"
            )
        self.tensor(value, place)
        return {"$": "array"}

    def scalar(self, value: np.generic, place: Place) -> Json:
        if not isinstance(value, np.str_) and not storable(value.dtype):
            raise _refusal(value, place)
        return {"$": "scalar", "value": self.array(np.asarray(value), place)}

    def sparse(self, value: SparseMatrix, place: Place) -> Json:
        """CSR or CSC as its three arrays."""
        name = type(value).__name__
        if name not in nodes.SPARSE or value.ndim != 2:
            raise NotSupportedError(
                f"{place} is a {name} of {value.ndim} dimensions; "
                "convert it with .tocsr() or .tocsc()"
            )
        for part in ("data", "indices", "indptr"):
            self.array(getattr(value, part), place.part(part))
        return {"$": "sparse", "class": name, "shape": [int(n) for n in value.shape]}

    def function(self, value: Callable[..., object], place: Place) -> Json:
        """A node in place of a callable; refused unless that is allowed."""
        if self.allow_callables:
            return {"$": "callable", "path": str(place)}
        what = getattr(value, "__name__", type(value).__name__)
        kind = "class" if isinstance(value, type) else "function"
        again = f"given={{{str(place)!r}: {what}}}"
        if str(place).endswith(".encoder"):
            again = f"encoder={what}"
        raise NotSupportedError(
            f"{place} is a {kind} ({what}); a model file holds no code: save with "
            f"allow_callables=True and give it again to load, {again}"
        )


def _state(value: object, place: Place) -> dict[Any, Any]:
    """The attributes to store: those that the object gives to pickle."""
    state = value.__getstate__()
    if state is None:  # an object that has no attributes yet
        state = {}
    restorable = hasattr(value, "__dict__") or hasattr(value, "__setstate__")
    if not isinstance(state, dict) or not restorable:
        raise NotSupportedError(
            f"{place} is a {type(value).__name__} without __dict__; define "
            "__getstate__, which returns a dict, and __setstate__"
        )
    return state


def _type_name(value: object) -> str | None:
    """The name of a type that may be a parameter's value, such as np.float64."""
    if not isinstance(value, type):
        return None
    if value in _NUMPY_TYPES:
        # np.longlong and the like are other names for the same numbers.
        name = f"numpy.{np.dtype(value).name}"
        return name if name in nodes.TYPES else None
    return value.__name__ if nodes.TYPES.get(value.__name__) is value else None


def _characters(value: Array) -> Array:
    """Strings of fixed width as one number per character, in a last axis."""
    width = max(value.dtype.itemsize // 4, 1)
    plain = np.asarray(value, dtype=np.dtype(f"<U{width}"), order="C")
    return plain.reshape(-1).view(np.dtype("<u4")).reshape(*value.shape, width)


def _refusal(value: object, place: Place) -> NotSupportedError:
    """The error for a value that a file cannot hold, with what to do instead."""
    kind = type(value)
    advice = (
        "a model file holds numbers, strings, lists, dicts, arrays and the classes "
        "that earmark stores; if it is an estimator of your own, save it with joblib, "
        "or name one of earmark's models."
    )
    bases = (bool, int, float, str, list, tuple, dict, set, frozenset)
    base = next((b for b in bases if isinstance(value, b)), None)
    if isinstance(value, ModuleType):
        advice = "a model file holds no code"
    elif kind.__module__.startswith("numpy.random"):
        advice = "store the seed, a whole number, instead"
    elif base is not None:
        advice = f"convert it to a plain {base.__name__}"
    elif isinstance(value, bytes):
        advice = "convert it to a string, or to an array of uint8"
    elif isinstance(value, np.ndarray):
        advice = "convert it with numpy.asarray"
    return NotSupportedError(
        f"{place} is of type {kind.__module__}.{kind.__qualname__}; {advice}"
    )


_PLAIN: dict[type, Callable[[_Encoder, Any, Place], Json]] = {
    int: _Encoder.whole,
    float: _Encoder.number,
    str: _Encoder.string,
    list: _Encoder.sequence,
    tuple: lambda encoder, value, place: {
        "$": "tuple",
        "items": encoder.sequence(list(value), place),
    },
    dict: _Encoder.mapping,
    set: _Encoder.collection,
    frozenset: _Encoder.collection,
    np.ndarray: _Encoder.array,
    np.memmap: _Encoder.array,
}
_OTHERS: tuple[
    tuple[Callable[[object], object], Callable[[_Encoder, Any, Place], Json]], ...
] = (
    (lambda value: isinstance(value, np.generic), _Encoder.scalar),
    (_type_name, lambda _, value, place: {"$": "type", "name": _type_name(value)}),
    (lambda value: type(value).__module__.startswith("scipy.sparse"), _Encoder.sparse),
    (callable, _Encoder.function),
)
