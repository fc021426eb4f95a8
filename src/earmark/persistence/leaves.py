"""Values without parts, each written beside how it is read."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from math import isfinite
from typing import Any, cast

import numpy as np

from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import tensors
from earmark.persistence.nodes import INT64, MAX_BYTES, TYPES, Place

__all__ = [
    "READ",
    "text_field",
    "type_name",
    "write_bytes",
    "write_dtype",
    "write_float",
    "write_int",
    "write_scalar",
    "write_type",
]

_HEX_BYTES = re.compile(r"(?:[0-9a-f]{2})*")
_HEX_INT = re.compile(r"-?[0-9a-f]+")
_NUMPY_TYPES = frozenset(np.sctypeDict.values())


def write_int(value: int) -> Any:
    """A whole number; beyond 64 bits in hexadecimal."""
    return value if value in INT64 else {"$": "int", "hex": f"{value:x}"}


def _read_int(node: dict[str, Any], place: Place) -> int:
    digits = text_field(node, "hex", place)
    if not _HEX_INT.fullmatch(digits):
        raise ModelFormatError(f"{place} is no whole number: {digits[:80]!r}")
    return int(digits, 16)


def write_float(value: float) -> Any:
    """A number; nan and the infinities, which JSON lacks, by their bits."""
    if isfinite(value):
        return value
    return {"$": "float", "bits": struct.pack(">d", value).hex()}


def _read_float(node: dict[str, Any], place: Place) -> float:
    (value,) = struct.unpack(">d", _octets(node, "bits", place, 8))
    return cast(float, value)


def write_bytes(value: bytes, place: Place) -> Any:
    """A short bytes value."""
    if len(value) > MAX_BYTES:
        raise NotSupportedError(
            f"{place} is a bytes value of {len(value)} bytes, at most {MAX_BYTES} "
            "are stored; use an array of uint8"
        )
    return {"$": "bytes", "hex": value.hex()}


def _read_bytes(node: dict[str, Any], place: Place) -> bytes:
    return _octets(node, "hex", place)


def write_scalar(value: np.generic) -> Any:
    """A numpy number by its bytes; None if the file cannot hold its type."""
    name = tensors.storable(value.dtype)
    if name is None:
        return None
    raw = np.asarray(value, dtype=tensors.DTYPES[name]).tobytes()
    return {"$": "scalar", "dtype": name, "hex": raw.hex()}


def _read_scalar(node: dict[str, Any], place: Place) -> Any:
    dtype = tensors.DTYPES.get(text_field(node, "dtype", place))
    if dtype is None:
        raise ModelFormatError(f"{place} has the unknown type {node['dtype'][:80]!r}")
    raw = _octets(node, "hex", place, dtype.itemsize)
    if dtype.kind == "b" and raw[0] > 1:
        raise ModelFormatError(f"{place} is a truth value other than 0 and 1")
    return np.frombuffer(raw, dtype=dtype)[0]


def type_name(value: Any) -> str | None:
    """The name of a type that may be a parameter's value, such as np.float64."""
    if not isinstance(value, type):
        return None
    if value in _NUMPY_TYPES:
        # np.longlong and the like are other names for the same numbers.
        name = f"numpy.{np.dtype(value).name}"
        return name if name in TYPES else None
    return value.__name__ if TYPES.get(value.__name__) is value else None


def write_type(value: type) -> Any:
    """A type that ``type_name`` knows."""
    return {"$": "type", "name": type_name(value)}


def _read_type(node: dict[str, Any], place: Place) -> Any:
    name = text_field(node, "name", place)
    if name not in TYPES:
        raise ModelFormatError(f"{place} names the unknown type {name[:80]!r}")
    return TYPES[name]


def write_dtype(value: np.dtype[Any]) -> Any:
    """A numpy dtype; None if the file cannot hold such numbers."""
    if tensors.storable(value) is None:
        return None
    return {"$": "dtype", "name": f"numpy.{value.name}"}


def _read_dtype(node: dict[str, Any], place: Place) -> Any:
    kind = _read_type(node, place)
    if not issubclass(kind, np.generic):
        raise ModelFormatError(f"{place} names no numpy type: {node['name']!r}")
    return np.dtype(kind)


def text_field(node: dict[str, Any], field: str, place: Place) -> str:
    """A field of a node that must be a string."""
    value = node[field]
    if not isinstance(value, str):
        raise ModelFormatError(f"the {field} of {place} must be a string")
    return value


def _octets(
    node: dict[str, Any], field: str, place: Place, length: int | None = None
) -> bytes:
    """Bytes in hexadecimal, of a given length if there is one."""
    digits = text_field(node, field, place)
    fits = len(digits) == 2 * length if length else len(digits) <= 2 * MAX_BYTES
    if not fits or not _HEX_BYTES.fullmatch(digits):
        raise ModelFormatError(f"the {field} of {place} is wrong: {digits[:80]!r}")
    return bytes.fromhex(digits)


READ: dict[str, Callable[[dict[str, Any], Place], Any]] = {
    "bytes": _read_bytes,
    "dtype": _read_dtype,
    "float": _read_float,
    "int": _read_int,
    "scalar": _read_scalar,
    "type": _read_type,
}
