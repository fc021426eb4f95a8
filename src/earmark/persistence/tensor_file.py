"""One safetensors file: tensors by name, and a manifest that covers every byte.

Its only metadata entry, ``earmark``, reads ``<format version> <SHA-256> <JSON>``. The
SHA-256 is that of the whole file with its own 64 digits written as zeros, so any
changed byte is noticed. docs/model-file.md describes the layout byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as tensor_bytes

from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.typing import FilePath, JsonObject
from earmark.whole_files import write_whole

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

FORMAT_VERSION = 3
MAX_MANIFEST = 16 * 2**20
MAX_HEADER = 64 * 2**20

MAX_DEPTH = 128
# No number that we write in JSON is longer than -9223372036854775808.
_MAX_DIGITS = 20
_NOT_BRACKETS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[^\[\]{}"]+', re.DOTALL)

_OPENING = b'{"__metadata__":{"earmark":"'
_ZEROS = b"0" * 64
_CHUNK = 2**20
_DAMAGED = "the file is damaged: fetch it again, or save the model again"
_FORMAT_1 = b"\x89earmark"
_DTYPES = frozenset(map(np.dtype, ["?", *"bhilBHILefd"]))

_PICKLE = "a pickle (from pickle or joblib)"
_ZLIB = "a zlib stream (perhaps a joblib file)"
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive (perhaps a torch, skops or npz file)"),
    (b"\x89PNG", "a PNG image"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a zstandard file"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF document"),
    *((bytes([0x80, protocol]), _PICKLE) for protocol in range(2, 6)),
    *((bytes([0x78, level]), _ZLIB) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)
_TEXT = frozenset(b"\t\n\r") | frozenset(range(32, 127))


@dataclass(frozen=True)
class TensorFile:
    """What was read: the manifest, and the tensors unless only verified."""

    format_version: int
    length: int
    digest: str
    manifest: JsonObject
    tensors: dict[str, NDArray[np.generic]]


def storable(dtype: np.dtype[np.generic]) -> bool:
    """Whether a file can hold numbers of this type."""
    return dtype.newbyteorder("=") in _DTYPES


def build(
    manifest: JsonObject, tensors: Mapping[str, NDArray[np.generic]]
) -> list[bytes | memoryview]:
    """The bytes of a file, in pieces."""
    text = dump_json(manifest)
    if len(text) > MAX_MANIFEST:
        raise NotSupportedError(
            f"the manifest would take {len(text)} bytes, at most {MAX_MANIFEST} "
            "are read back: keep large fitted state in arrays or lists of strings, "
            "not in many small values"
        )
    opening = f"{FORMAT_VERSION} {_ZEROS.decode()} "
    metadata = {"earmark": opening + text.decode("ascii")}
    raw = memoryview(tensor_bytes(dict(tensors), metadata=metadata))
    place = 8 + len(_OPENING) + opening.index(" ") + 1
    assert raw[8:place] == _OPENING + b"%d " % FORMAT_VERSION
    digest = hashlib.sha256(raw).hexdigest().encode()
    return [raw[:place], digest, raw[place + len(digest) :]]


def write(
    path: FilePath, manifest: JsonObject, tensors: Mapping[str, NDArray[np.generic]]
) -> None:
    """Write a file atomically."""
    write_whole(path, build(manifest, tensors))


def read(path: FilePath, *, keep: bool = True) -> TensorFile:
    """Verify a file; ``keep=False`` hashes the tensors without keeping them."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise ModelFormatError(f"this is {kind}; name a model file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _take(file, min(size, 8 + len(_OPENING) + 90))
        version, digest, place = _opening(header)
        header += _take(file, _header_end(header, size) - len(header))
        sha256 = hashlib.sha256(header[:place] + _ZEROS + header[place + 64 :])
        raw = b""
        if keep:
            file.seek(0)
            raw = _take(file, size)
            sha256.update(memoryview(raw)[len(header) :])
            intact = raw.startswith(header)
        else:
            for start in range(len(header), size, _CHUNK):
                sha256.update(_take(file, min(_CHUNK, size - start)))
            intact = True
    if not intact or sha256.hexdigest() != digest:
        raise ModelFormatError(_fault(header, size))
    if version != FORMAT_VERSION:
        newer = version > FORMAT_VERSION
        what = "install the earmark that wrote it" if newer else "train the model again"
        raise ModelFormatError(
            f"format version {version} is {'newer' if newer else 'older'} than this "
            f"earmark reads ({FORMAT_VERSION}); {what}"
        )
    manifest = _manifest(header)
    return TensorFile(version, size, digest, manifest, _tensors(raw) if keep else {})


def _opening(header: bytes) -> tuple[int, str, int]:
    """Format version, digest and the digest's place; nothing else has this opening."""
    if not header:
        raise ModelFormatError(f"the file is empty; {_DAMAGED}")
    if header.startswith(_FORMAT_1):
        raise ModelFormatError(
            "this model was written by an earlier earmark, in format version 1, which "
            "is not read any more: train the model again with this earmark, or go on "
            "using it with the earmark that wrote it"
        )
    if header[8 : 8 + len(_OPENING)] != _OPENING[: max(len(header) - 8, 0)]:
        raise ModelFormatError(f"this is not an earmark model file{recognize(header)}")
    version, _, rest = header[8 + len(_OPENING) :].partition(b" ")
    digest = rest[:64]
    if len(rest) < 65:
        raise ModelFormatError(
            f"truncated at byte {len(header)}, or not an earmark model file"
            f"{recognize(header)}; {_DAMAGED}"
        )
    if not version.isdigit() or rest[64:65] != b" ":
        raise ModelFormatError(f"the checksum is not where it should be; {_DAMAGED}")
    place = 8 + len(_OPENING) + len(version) + 1
    return int(version), digest.decode("ascii", "replace"), place


def _header_end(header: bytes, size: int) -> int:
    """Where the safetensors header ends, by its declared length."""
    end = 8 + int.from_bytes(header[:8], "little")
    if end > size:
        raise ModelFormatError(
            f"truncated at byte {size}, expected a header of {end} bytes; {_DAMAGED}"
        )
    if not len(header) <= end <= MAX_HEADER:
        raise ModelFormatError(
            f"the header declares {end} bytes, at least {len(header)} and at most "
            f"{MAX_HEADER} are possible; {_DAMAGED}"
        )
    return end


def _fault(header: bytes, size: int) -> str:
    """Why the checksum is wrong, as far as the header can still be read."""
    try:
        table = json.loads(header[8:])
        ends = [
            entry["data_offsets"][1] for entry in table.values() if "dtype" in entry
        ]
        total = len(header) + max(ends, default=0)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        total = size
    if size < total:
        return f"truncated at byte {size}, expected {total} bytes; {_DAMAGED}"
    if size > total:
        after = f"{size - total} bytes follow the end of the model at byte {total}"
        return f"{after}; {_DAMAGED}"
    return f"the checksum is wrong; {_DAMAGED}"


def _manifest(header: bytes) -> JsonObject:
    """The manifest in the metadata of a header whose checksum is right."""
    table = _parsed(header[8:], "the header")
    metadata = table.get("__metadata__") if isinstance(table, dict) else None
    if not isinstance(metadata, dict) or list(metadata) != ["earmark"]:
        raise ModelFormatError("the header must have one metadata entry, earmark")
    text = metadata["earmark"]
    if not isinstance(text, str) or not text.isascii() or len(text) > MAX_MANIFEST + 90:
        raise ModelFormatError(f"the manifest must be at most {MAX_MANIFEST} of ASCII")
    manifest = parse_json(text.split(" ", 2)[2].encode(), "the manifest")
    if not isinstance(manifest, dict):
        raise ModelFormatError("the manifest must be a JSON object")
    return manifest


def _tensors(raw: bytes) -> dict[str, NDArray[np.generic]]:
    """The tensors; the package refuses gaps, overlaps and sizes that do not fit."""
    try:
        tensors: dict[str, NDArray[np.generic]] = read_tensors(raw)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise ModelFormatError(f"the tensors cannot be read: {error}") from error
    for name, tensor in tensors.items():
        if not storable(tensor.dtype):
            raise ModelFormatError(f"tensor {name[:200]} has type {tensor.dtype}")
        if tensor.dtype.kind == "b" and tensor.view(np.uint8).max(initial=0) > 1:
            raise ModelFormatError(
                f"tensor {name[:200]} holds truth values other than 0 and 1"
            )
    return tensors


def _take(file: BinaryIO, length: int) -> bytes:
    """Read exactly ``length`` bytes."""
    data = file.read(length)
    if len(data) < length:
        raise ModelFormatError(f"the file shrank while it was read; {_DAMAGED}")
    return data


def recognize(head: bytes) -> str:
    """A clause such as ``: it looks like a PNG image``, empty if nothing is known."""
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            advice = "; earmark never loads pickles" if name == _PICKLE else ""
            return f": it looks like {name}{advice}"
    return ": it looks like text" if _TEXT.issuperset(head) else ""


# -- canonical JSON: one value has one spelling, and only that spelling is read ------


def dump_json(value: object) -> bytes:
    """Spell ``value`` with sorted keys, no spaces and ASCII only."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def parse_json(text: bytes, what: str) -> Json:
    """Read canonical JSON; ``what`` names the text in the error message."""
    value = _parsed(text, what)
    if dump_json(value) != text:
        raise ModelFormatError(
            f"{what} is not spelled canonically (sorted keys, no spaces); "
            "it was not written by earmark"
        )
    return value


def _parsed(text: bytes, what: str) -> Json:
    """Read JSON, but refuse deep nesting, long numbers and repeated names."""
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise ModelFormatError(
            f"{what} is nested {depth} levels deep, at most {MAX_DEPTH} are read"
        )
    try:
        value: Json = json.loads(
            text.decode(),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_int=_small_int,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not valid JSON: {error}") from error
    return value


def _depth(text: bytes) -> int:
    """How deep the brackets outside strings nest, without recursion."""
    brackets = np.frombuffer(_NOT_BRACKETS.sub(b"", text), dtype=np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    steps = np.where(opening, 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice")
    return table


def _small_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
