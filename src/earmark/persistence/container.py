"""The ``*.earmark`` container: header, manifest, members, every byte accounted for.

docs/model-file.md describes the layout byte by byte. Nothing here knows what the
members mean; nothing is allocated before its declared size has been compared with
the size of the file.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from earmark.exceptions import ModelFormatError, NotSupportedError
from earmark.persistence import canonical
from earmark.persistence.atomic import write_atomically
from earmark.persistence.foreign import recognize

__all__ = [
    "FORMAT_VERSION",
    "MAX_MANIFEST",
    "MEMBERS",
    "Container",
    "Member",
    "build",
    "read",
    "write",
]

MAGIC = b"\x89earmark"
FORMAT_VERSION = 1
MAX_MANIFEST = 16 * 2**20
# The members of format version 1, in the order in which they lie in the file.
MEMBERS = ("arrays.safetensors", "strings.utf8")

# magic, format version, CRC-32 of the header with this field zero, length of the
# manifest, length of the file, SHA-256 of the manifest
_HEADER = struct.Struct("<8sIIQQ32s")
_ALIGN = 64
_CHUNK = 2**20
_DAMAGED = "the file is damaged: fetch it again, or save the model again"


@dataclass(frozen=True)
class Member:
    """One entry of the manifest's table of members."""

    name: str
    offset: int
    length: int
    sha256: str


@dataclass(frozen=True)
class Container:
    """What was read: the manifest, and the members' bytes unless only verified."""

    format_version: int
    file_length: int
    fingerprint: str
    manifest: dict[str, Any]
    members: tuple[Member, ...]
    data: dict[str, NDArray[np.uint8]]


def build(
    manifest: Mapping[str, Any], members: Mapping[str, Sequence[bytes | memoryview]]
) -> list[bytes | memoryview]:
    """The pieces of a file; ``manifest`` gains the table of members."""
    table: list[dict[str, Any]] = []
    body: list[bytes | memoryview] = []
    place = 0
    for name, pieces in members.items():
        body.append(bytes(-place % _ALIGN))
        place += -place % _ALIGN
        digest = hashlib.sha256()
        length = sum(map(len, pieces))
        for piece in pieces:
            digest.update(piece)
        body += pieces
        entry = {"name": name, "offset": place, "length": length}
        table.append({**entry, "sha256": digest.hexdigest()})
        place += length
    text = canonical.dump({**manifest, "members": table, "payload_length": place})
    padding = bytes(-(_HEADER.size + len(text)) % _ALIGN)
    total = _HEADER.size + len(text) + len(padding) + place
    return [_header(text, total), text, padding, *body]


def write(
    path: str | os.PathLike[str],
    manifest: Mapping[str, Any],
    members: Mapping[str, Sequence[bytes | memoryview]],
) -> None:
    """Write a file atomically."""
    pieces = build(manifest, members)
    if len(pieces[1]) > MAX_MANIFEST:
        raise NotSupportedError(
            f"the manifest would take {len(pieces[1])} bytes, at most {MAX_MANIFEST} "
            "are read back: keep large fitted state in arrays or lists of strings, "
            "not in many small values"
        )
    write_atomically(path, pieces)


def read(path: str | os.PathLike[str], *, keep: bool = True) -> Container:
    """Verify a file; ``keep=False`` hashes the members without holding them."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise ModelFormatError(f"this is {kind}; name a model file")
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        version, length, digest = _read_header(file, size)
        text = _take(file, length).tobytes()
        if hashlib.sha256(text).digest() != digest:
            raise ModelFormatError(f"the checksum of the manifest is wrong; {_DAMAGED}")
        manifest = canonical.parse(text, "the manifest")
        start = _HEADER.size + length + -(_HEADER.size + length) % _ALIGN
        members = _members(manifest, size - start)
        _skip(file, start - _HEADER.size - length)
        data = _read_members(file, members, keep)
    return Container(version, size, digest.hex(), manifest, members, data)


def _header(manifest: bytes, total: int) -> bytes:
    digest = hashlib.sha256(manifest).digest()
    parts = (len(manifest), total, digest)
    crc = zlib.crc32(_HEADER.pack(MAGIC, FORMAT_VERSION, 0, *parts))
    return _HEADER.pack(MAGIC, FORMAT_VERSION, crc, *parts)


def _read_header(file: BinaryIO, size: int) -> tuple[int, int, bytes]:
    """Format version, manifest length and manifest digest."""
    head = _take(file, min(size, _HEADER.size)).tobytes()
    if not head:
        raise ModelFormatError(f"the file is empty; {_DAMAGED}")
    if head[: len(MAGIC)] != MAGIC[: len(head)]:
        raise ModelFormatError(f"this is not an earmark model file{recognize(head)}")
    if len(head) < _HEADER.size:
        raise ModelFormatError(
            f"truncated at byte {size}, expected a header of {_HEADER.size} bytes; "
            f"{_DAMAGED}"
        )
    _, version, crc, length, total, digest = _HEADER.unpack(head)
    if zlib.crc32(head[:12] + bytes(4) + head[16:]) != crc:
        raise ModelFormatError(f"the checksum of the header is wrong; {_DAMAGED}")
    if version != FORMAT_VERSION:
        relation = "newer" if version > FORMAT_VERSION else "older"
        raise ModelFormatError(
            f"format version {version} is {relation} than this earmark reads "
            f"({FORMAT_VERSION}); install the earmark that wrote it"
        )
    if size < total:
        raise ModelFormatError(
            f"truncated at byte {size}, expected {total} bytes; {_DAMAGED}"
        )
    if size > total:
        raise ModelFormatError(
            f"{size - total} bytes follow the end of the model at byte {total}; "
            f"{_DAMAGED}"
        )
    if length > MAX_MANIFEST or _HEADER.size + length > size:
        raise ModelFormatError(
            f"the manifest declares {length} bytes, at most "
            f"{min(MAX_MANIFEST, size - _HEADER.size)} are possible"
        )
    return version, length, digest


def _members(manifest: Any, available: int) -> tuple[Member, ...]:
    """The table of members: the known names, one after the other, no gap, no rest."""
    table = manifest.get("members") if isinstance(manifest, dict) else None
    if not isinstance(table, list) or len(table) != len(MEMBERS):
        raise ModelFormatError(f"the manifest must list the members {MEMBERS}")
    place = 0
    members = []
    for name, entry in zip(MEMBERS, table, strict=True):
        member = _member(entry)
        place += -place % _ALIGN
        if member.name != name or member.offset != place:
            raise ModelFormatError(
                f"expected member {name!r} at {place}, "
                f"got {member.name[:80]!r} at {member.offset}"
            )
        place += member.length
        members.append(member)
    declared = manifest.get("payload_length")
    if type(declared) is not int or not place == declared == available:
        raise ModelFormatError(
            f"the members take {place} bytes, the manifest declares "
            f"{str(declared)[:40]} and the file has {available} for them"
        )
    return tuple(members)


def _member(entry: Any) -> Member:
    """One entry of the table, its types checked."""
    types = {"name": str, "offset": int, "length": int, "sha256": str}
    if not isinstance(entry, dict) or set(entry) != set(types):
        raise ModelFormatError(f"a member must be described by {', '.join(types)}")
    for field, kind in types.items():
        if type(entry[field]) is not kind:
            raise ModelFormatError(
                f"the {field} of a member is {str(entry[field])[:80]!r}, "
                f"expected {kind.__name__}"
            )
    if entry["length"] < 0:
        raise ModelFormatError(f"a member has the length {entry['length']}")
    return Member(**entry)


def _read_members(
    file: BinaryIO, members: Sequence[Member], keep: bool
) -> dict[str, NDArray[np.uint8]]:
    """Read and verify; a member's length is already known to lie within the file."""
    data = {}
    place = 0
    for member in members:
        _skip(file, member.offset - place)
        digest = hashlib.sha256()
        kept = np.empty(member.length if keep else 0, dtype=np.uint8)
        for start in range(0, member.length, _CHUNK):
            stop = min(start + _CHUNK, member.length)
            chunk = _take(file, stop - start, kept[start:stop] if keep else None)
            digest.update(chunk.data)
        if digest.hexdigest() != member.sha256:
            raise ModelFormatError(
                f"the checksum of member {member.name} is wrong; {_DAMAGED}"
            )
        place = member.offset + member.length
        data[member.name] = kept
    return data


def _take(
    file: BinaryIO, length: int, into: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Read exactly ``length`` bytes."""
    buffer = np.empty(length, dtype=np.uint8) if into is None else into
    done = 0
    while done < length:
        count = file.readinto(buffer[done:].data)  # type: ignore[attr-defined]
        if not count:
            raise ModelFormatError(f"the file shrank while it was read; {_DAMAGED}")
        done += count
    return buffer


def _skip(file: BinaryIO, length: int) -> None:
    """Read padding, which must be zero."""
    if _take(file, length).any():
        raise ModelFormatError(f"the padding between members is not zero; {_DAMAGED}")
