"""Arrays <-> one member in the safetensors layout, without copying on read.

Layout: header length (uint64, little-endian), JSON header, array bytes. Wider
items come first, so every array is aligned. The member can be opened with the
``safetensors`` package; our reader is stricter: it knows the one layout that our
writer makes and refuses every other.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError
from earmark.persistence import canonical

__all__ = ["DTYPES", "MAX_ARRAYS", "read", "storable", "write"]

MAX_ARRAYS = 100_000
_MAX_HEADER = 16 * 2**20
_MAX_DIMENSIONS = 32
_MAX_ITEMS = 2**48
_ALIGN = 64

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def storable(dtype: np.dtype[Any]) -> str | None:
    """The name of a numeric type in the file; None if the file cannot hold it."""
    return _NAMES.get(dtype.newbyteorder("<"))


def write(arrays: Sequence[NDArray[Any]]) -> list[memoryview]:
    """The member's bytes in pieces, for arrays in C order and of a type in DTYPES."""
    shapes = [(_NAMES[array.dtype], array.shape) for array in arrays]
    order, spans = _layout(shapes)
    entries = {
        _name(i): {"dtype": dtype, "shape": list(shape), "data_offsets": list(spans[i])}
        for i, (dtype, shape) in enumerate(shapes)
    }
    header = canonical.dump(entries)
    header += b" " * (-(8 + len(header)) % _ALIGN)
    pieces = [memoryview(struct.pack("<Q", len(header)) + header)]
    pieces += [arrays[i].reshape(-1).view(np.uint8).data for i in order]
    return pieces


def read(buffer: NDArray[np.uint8]) -> list[NDArray[Any]]:
    """The arrays as views of ``buffer``, every declared size checked first."""
    header, data = _split(buffer)
    if not isinstance(header, dict) or len(header) > MAX_ARRAYS:
        raise ModelFormatError(
            f"the array table must be an object of at most {MAX_ARRAYS} arrays"
        )
    names = [_name(i) for i in range(len(header))]
    if sorted(header) != names:
        raise ModelFormatError("the arrays are not numbered from 0 without a gap")
    shapes = [_declared(name, header[name]) for name in names]
    order, spans = _layout(shapes)
    for name, span in zip(names, spans, strict=True):
        if header[name]["data_offsets"] != list(span):
            raise ModelFormatError(
                f"array {name} lies at {header[name]['data_offsets']}, its type and "
                f"those of the other arrays place it at {list(span)}"
            )
    end = spans[order[-1]][1] if order else 0
    if end != len(data):
        raise ModelFormatError(f"the arrays need {end} bytes, {len(data)} are there")
    return [
        _view(name, data[start:stop], *shape)
        for name, (start, stop), shape in zip(names, spans, shapes, strict=True)
    ]


def _name(index: int) -> str:
    return f"{index:06d}"


def _layout(
    shapes: Sequence[tuple[str, tuple[int, ...]]],
) -> tuple[list[int], list[tuple[int, int]]]:
    """Order of the arrays in the member (widest items first) and their spans."""
    widths = [DTYPES[dtype].itemsize for dtype, _ in shapes]
    order = sorted(range(len(shapes)), key=lambda i: (-widths[i], i))
    spans = [(0, 0)] * len(shapes)
    place = 0
    for i in order:
        end = place + widths[i] * math.prod(shapes[i][1])
        spans[i] = (place, end)
        place = end
    return order, spans


def _split(buffer: NDArray[np.uint8]) -> tuple[Any, NDArray[np.uint8]]:
    """JSON header and array bytes of a member."""
    if len(buffer) < 8:
        raise ModelFormatError(f"the array member has {len(buffer)} bytes, not even 8")
    (length,) = struct.unpack("<Q", buffer[:8].tobytes())
    if length > _MAX_HEADER or 8 + length > len(buffer) or (8 + length) % _ALIGN:
        raise ModelFormatError(
            f"the array table declares {length} bytes in a member of {len(buffer)}"
        )
    padded = buffer[8 : 8 + length].tobytes()
    text = padded.rstrip(b" ")
    if len(padded) - len(text) >= _ALIGN:
        raise ModelFormatError("the array table is padded with too many spaces")
    return canonical.parse(text, "the array table"), buffer[8 + length :]


def _declared(name: str, entry: Any) -> tuple[str, tuple[int, ...]]:
    """Type and shape of one entry of the array table."""
    fields = {"dtype", "shape", "data_offsets"}
    if not isinstance(entry, dict) or set(entry) != fields:
        raise ModelFormatError(f"array {name} must have dtype, shape and data_offsets")
    dtype, shape = entry["dtype"], entry["shape"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFormatError(
            f"array {name} has type {dtype!r}; read are {', '.join(DTYPES)}"
        )
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        raise ModelFormatError(f"array {name} has no valid shape: {str(shape)[:80]}")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ModelFormatError(f"array {name} has shape {str(shape)[:80]}")
    if math.prod(n for n in shape if n) > _MAX_ITEMS:
        raise ModelFormatError(f"array {name} is too large: shape {str(shape)[:80]}")
    return dtype, tuple(shape)


def _view(
    name: str, data: NDArray[np.uint8], dtype: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """One array in place."""
    if dtype == "BOOL" and data.max(initial=0) > 1:
        raise ModelFormatError(f"array {name} holds truth values other than 0 and 1")
    return data.view(DTYPES[dtype]).reshape(shape)
