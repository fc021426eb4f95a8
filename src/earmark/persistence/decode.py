"""JSON tree and tensors -> object tree. The file chooses among data only.

Every tensor is used exactly once, by the place whose name it has, so a small file
cannot ask for more than it holds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from earmark.exceptions import ModelFormatError
from earmark.persistence import nodes
from earmark.persistence.nodes import Array, Given, Place, Table, unpack_strings
from earmark.persistence.tensor_file import Json
from earmark.stored import Checker, is_declared, parameter_defaults
from earmark.typing import SparseMatrix

_KEYS = (str, int, float, bool, type(None), np.generic)
_LAST_CHARACTER = 0x10FFFF
_Node = dict[str, Json]


def decode(
    tree: Json,
    tensors: Mapping[str, Array],
    table: Table,
    *,
    name: str = "model",
    given: Given = None,
) -> Any:
    """Put together what ``encode`` took apart and called ``name``.

    Only the classes of ``table`` are made. ``given`` has, by place, the callables that
    the file leaves out. The state of a class that is declared is checked by
    its annotations. A tree that ``encode`` does not write is a ModelFormatError.
    """
    checker = Checker()
    decoder = _Decoder(dict(tensors), table, given or {}, checker)
    value = decoder.value(tree, Place(name))
    if decoder.tensors:
        unused = sorted(decoder.tensors)
        raise ModelFormatError(
            f"{len(unused)} tensors belong to nothing: {', '.join(unused)[:200]}"
        )
    return value


@dataclass(eq=False)
class _Decoder:
    """Makes objects of JSON nodes and tensors, in the order of the encoder."""

    tensors: dict[str, Array]
    table: Table
    given: Mapping[str, Callable[..., object]]
    checker: Checker

    def value(self, node: Json, place: Place) -> Any:
        """The value of a JSON value or node."""
        if isinstance(node, list):
            return self.items(node, place)
        if not isinstance(node, dict):
            return node
        kind = node.get("$")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ModelFormatError(f"{place} is of the unknown kind {str(kind)[:80]!r}")
        handler, fields = _KINDS[kind]
        if len(node) != len(fields) + 1 or not all(field in node for field in fields):
            raise ModelFormatError(
                f"{place} ({kind}) must have the fields {', '.join(fields) or 'none'}, "
                f"got {', '.join(map(str, node))[:200]}"
            )
        return handler(self, node, place)

    def items(
        self, node: list[Json], place: Place, keys: Iterable[object] | None = None
    ) -> list[Any]:
        names = range(len(node)) if keys is None else keys
        return [
            self.value(item, place.item(key))
            if isinstance(item, (list, dict))
            else item
            for key, item in zip(names, node, strict=True)
        ]

    def sequence(
        self,
        node: Json,
        place: Place,
        keys: Sequence[object] | None = None,
        tensor_at: Place | None = None,
    ) -> list[Any]:
        """A node that must give a list."""
        if isinstance(node, list):
            if keys is not None and len(keys) != len(node):
                raise ModelFormatError(
                    f"{place} has {len(keys)} keys for {len(node)} values"
                )
            return self.items(node, place, keys)
        value = self.value(node, tensor_at or place)
        if type(value) is not list:
            raise ModelFormatError(f"{place} must hold a list")
        return value

    def tensor(self, place: Place) -> Array:
        """The tensor of this place, which nothing else can have then."""
        name = str(place)
        if name not in self.tensors:
            raise ModelFormatError(f"{name[:200]} has no tensor of that name")
        return self.tensors.pop(name)

    def number(self, node: _Node, place: Place) -> float:
        digits = text_field(node, "bits", place)
        try:
            (value,) = struct.unpack(">d", bytes.fromhex(digits))
        except (ValueError, struct.error):
            value = None
        if value is None or digits != struct.pack(">d", value).hex():
            raise ModelFormatError(f"the bits of {place} is wrong: {digits[:80]!r}")
        return float(value)

    def string(self, node: _Node, place: Place) -> str:
        blob = self.tensor(place)
        return unpack_strings(blob, np.array([0, len(blob.ravel())]), place)[0]

    def strings(self, node: _Node, place: Place) -> list[str]:
        blob = self.tensor(place)
        return unpack_strings(blob, self.tensor(place.part("offsets")), place)

    def numbers(self, node: _Node, place: Place) -> list[Any]:
        array = self.tensor(place)
        if array.ndim != 1:
            raise ModelFormatError(
                f"{place} needs a vector of numbers, got {array.dtype} {array.shape}"
            )
        if type(node["numpy"]) is not bool:
            raise ModelFormatError(f"{place} must say whether its numbers are numpy's")
        return list(array) if node["numpy"] else array.tolist()

    def scalar(self, node: _Node, place: Place) -> Any:
        value = self.value(node["value"], place)
        if not isinstance(value, np.ndarray) or value.ndim or value.dtype.kind == "O":
            raise ModelFormatError(f"{place} must be a numpy number or string")
        return value[()]

    def type_(self, node: _Node, place: Place) -> type:
        name = text_field(node, "name", place)
        if name not in nodes.TYPES:
            raise ModelFormatError(f"{place} names the unknown type {name[:80]!r}")
        return nodes.TYPES[name]

    def mapping(self, node: _Node, place: Place) -> dict[Any, Any]:
        keys = self.sequence(node["keys"], place.part("keys"))
        kinds = set(map(type, keys))
        # Very large whole numbers can be chosen to share one hash.
        if not all(issubclass(kind, _KEYS) for kind in kinds) or (
            int in kinds
            and any(type(key) is int and key not in nodes.INT64 for key in keys)
        ):
            raise ModelFormatError(f"{place} has keys that are no strings or numbers")
        values = self.sequence(node["values"], place, keys, place.part("values"))
        if len(values) != len(keys):
            raise ModelFormatError(
                f"{place} has {len(keys)} keys for {len(values)} values"
            )
        table = dict(zip(keys, values, strict=True))
        if len(table) != len(keys):
            raise ModelFormatError(f"{place} has a key twice")
        return table

    def collection(self, node: _Node, place: Place) -> set[str] | frozenset[str]:
        items = self.sequence(node["items"], place)
        if not all(type(item) is str for item in items) or any(
            a >= b for a, b in pairwise(items)
        ):
            raise ModelFormatError(f"{place} must hold sorted strings, each once")
        return set(items) if node["$"] == "set" else frozenset(items)

    def text_array(self, node: _Node, place: Place) -> Array:
        codes = self.tensor(place)
        if codes.dtype != np.dtype("<u4") or codes.ndim == 0 or codes.shape[-1] == 0:
            raise ModelFormatError(
                f"{place} needs characters as uint32, got {codes.dtype} {codes.shape}"
            )
        if int(codes.astype(np.uint32, copy=False).max(initial=0)) > _LAST_CHARACTER:
            raise ModelFormatError(f"{place} holds numbers that are no characters")
        return codes.view(f"<U{codes.shape[-1]}")[..., 0]

    def object_array(self, node: _Node, place: Place) -> Array:
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

    def sparse(self, node: _Node, place: Place) -> SparseMatrix:
        name = text_field(node, "class", place)
        data, indices, indptr = (
            self.tensor(place.part(part)) for part in ("data", "indices", "indptr")
        )
        return _compressed(name, _shape(node, place), data, indices, indptr, place)

    def callable(self, node: _Node, place: Place) -> Callable[..., object]:
        """A callable that the file left out: only the one given for this place."""
        path = str(place)
        if node["path"] != path or path not in self.given:
            raise ModelFormatError(
                f"{path} stands for a callable of another place: "
                f"{str(node['path'])[:200]!r}"
            )
        return self.given[path]

    def instance(self, node: _Node, place: Place) -> object:
        """An instance of a class in the table, made without running its __init__."""
        name, state = text_field(node, "class", place), node["state"]
        kind = nodes.find_class(name, self.table)
        if kind is None:
            raise ModelFormatError(
                f"{place} is of the class {name[:80]!r}, which is not in the class "
                "table; was it written by a newer earmark?"
            )
        if not isinstance(state, dict) or not all(map(nodes.is_attribute, state)):
            raise ModelFormatError(f"{place} has attributes of forbidden names")
        values = {
            key: self.value(state[key], place.attribute(key)) for key in sorted(state)
        }
        values |= dict.fromkeys(nodes.NOT_OBEYED & values.keys())
        declared = is_declared(kind)
        if declared:
            # A parameter that came later has its default.
            values = {**parameter_defaults(kind), **values}
            self.checker.check_state(kind, values, place)
        value = _restore(kind, values, place)
        if declared:
            self.checker.remember(value)
        return value


def _restore(kind: type, state: dict[str, Any], place: Place) -> object:
    """A new instance with this state, as pickle would give it."""
    try:
        value: Any = kind.__new__(kind)  # type: ignore[call-overload]
        # scikit-learn's own __setstate__ compares versions, which are not stored.
        if hasattr(kind, "__setstate__") and not kind.__module__.startswith("sklearn."):
            value.__setstate__(state)
        else:
            vars(value).update(state)
    except Exception as error:
        raise ModelFormatError(
            f"{place} cannot be restored: {type(error).__name__}: {error}"
        ) from error
    return value


def _compressed(
    name: str,
    shape: tuple[int, ...],
    data: Array,
    indices: Array,
    indptr: Array,
    place: Place,
) -> SparseMatrix:
    """The CSR or CSC matrix of these arrays, checked as compiled code will not."""
    if name not in nodes.SPARSE or len(shape) != 2:
        raise ModelFormatError(
            f"{place} is no sparse matrix that is read: {name[:80]!r} {shape}"
        )
    if not all(part.ndim == 1 for part in (data, indices, indptr)):
        raise ModelFormatError(f"the parts of {place} must be vectors")
    for part in (indices, indptr):
        if part.dtype not in (np.int32, np.int64):
            raise ModelFormatError(f"the indices of {place} must be int32 or int64")
    columns = indices.astype(np.int64, copy=False)
    rows = indptr.astype(np.int64, copy=False)
    major, minor = shape if name.startswith("csr") else shape[::-1]
    if len(rows) != major + 1 or rows[0] != 0 or rows[-1] != len(columns):
        raise ModelFormatError(f"the row pointers of {place} do not fit {shape}")
    if np.any(rows[1:] < rows[:-1]) or len(data) != len(columns):
        raise ModelFormatError(f"the rows of {place} are not one after the other")
    if len(columns) and (columns.min() < 0 or columns.max() >= minor):
        raise ModelFormatError(f"the indices of {place} do not fit {shape}")
    from scipy import sparse

    matrix = getattr(sparse, name)(shape, dtype=data.dtype)
    # Set one by one: the constructor would narrow int64 indices.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def text_field(node: _Node, field: str, place: Place) -> str:
    """A field of a node that must be a string."""
    value = node[field]
    if not isinstance(value, str):
        raise ModelFormatError(f"the {field} of {place} must be a string")
    return value


def _shape(node: _Node, place: Place) -> tuple[int, ...]:
    shape = node["shape"]
    if isinstance(shape, list):
        lengths = tuple(n for n in shape if type(n) is int and 0 <= n < 2**48)
        if len(lengths) == len(shape):
            return lengths
    raise ModelFormatError(f"{place} has no valid shape: {str(shape)[:80]}")


# Kind of node -> what decodes it, and its fields beside the kind.
_KINDS: dict[str, tuple[Callable[[_Decoder, _Node, Place], Any], tuple[str, ...]]] = {
    "array": (lambda file, _, at: file.tensor(at), ()),
    "callable": (_Decoder.callable, ("path",)),
    "dict": (_Decoder.mapping, ("keys", "values")),
    "float": (_Decoder.number, ("bits",)),
    "frozenset": (_Decoder.collection, ("items",)),
    "numbers": (_Decoder.numbers, ("numpy",)),
    "object": (_Decoder.instance, ("class", "state")),
    "object_array": (_Decoder.object_array, ("items", "shape")),
    "scalar": (_Decoder.scalar, ("value",)),
    "set": (_Decoder.collection, ("items",)),
    "sparse": (_Decoder.sparse, ("class", "shape")),
    "str": (_Decoder.string, ()),
    "strings": (_Decoder.strings, ()),
    "text_array": (_Decoder.text_array, ()),
    "tuple": (
        lambda file, n, place: tuple(file.sequence(n["items"], place)),
        ("items",),
    ),
    "type": (_Decoder.type_, ("name",)),
}
