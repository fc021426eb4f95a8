"""What encoder and decoder share: places in the object tree, and the node kinds.

None, truth values, whole and finite numbers, short strings and short lists stand for
themselves in the JSON tree. Everything else is a node: a JSON object whose key ``$``
names the kind and whose other keys are exactly the fields listed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "FIELDS",
    "INT64",
    "MAX_BYTES",
    "MAX_NESTING",
    "MAX_STRING",
    "PACK_FROM",
    "SPARSE",
    "TYPES",
    "Place",
]

FIELDS = {
    "array": ("index",),
    "bytes": ("hex",),
    "bytes_array": ("index",),
    "callable": ("path",),
    "dict": ("keys", "values"),
    "dtype": ("name",),
    "float": ("bits",),
    "frozenset": ("items",),
    "int": ("hex",),
    "numbers": ("index", "numpy"),
    "numpy_bytes": ("value",),
    "numpy_str": ("value",),
    "object": ("class", "state"),
    "object_array": ("items", "shape"),
    "rows": ("count", "first", "lengths"),
    "scalar": ("dtype", "hex"),
    "set": ("items",),
    "sparse": ("class", "data", "indices", "indptr", "shape"),
    "str": ("first",),
    "strings": ("count", "first"),
    "text_array": ("index",),
    "tuple": ("items",),
    "type": ("name",),
}

MAX_NESTING = 40  # objects within objects; a node adds at most 3 JSON levels
MAX_BYTES = 2**16  # a bytes value
MAX_STRING = 4096  # a string in the manifest; longer ones go to the string member
PACK_FROM = 16  # a list of so many numbers or strings leaves the manifest
INT64 = range(-(2**63), 2**63)
SPARSE = ("csc_array", "csc_matrix", "csr_array", "csr_matrix")

_NUMPY = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
# Types that may be a parameter's value, such as dtype=np.float64.
TYPES: dict[str, type] = {
    "bool": bool,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    **{f"numpy.{name}": np.dtype(name).type for name in _NUMPY.split()},
}


class Place:
    """A place in the object tree, spelled out only when a message needs it."""

    __slots__ = ("depth", "is_attribute", "key", "parent")

    def __init__(
        self, key: Any, parent: Place | None = None, is_attribute: bool = False
    ) -> None:
        self.key = key
        self.parent = parent
        self.is_attribute = is_attribute
        self.depth: int = 0 if parent is None else parent.depth + 1

    def attribute(self, name: str) -> Place:
        """The attribute ``name`` of the object here."""
        return Place(name, self, is_attribute=True)

    def item(self, key: Any) -> Place:
        """The element at ``key`` of the container here."""
        return Place(key, self)

    def __str__(self) -> str:
        if self.parent is None:
            return str(self.key)
        if self.is_attribute:
            return f"{self.parent}.{self.key}"
        return f"{self.parent}[{self.key!r}]"
