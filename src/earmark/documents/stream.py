"""How a file is read, and its lines of text with exact places for bad bytes."""

from __future__ import annotations

import codecs
import gzip
import io
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.documents.format import FORMATS
from earmark.documents.table import fault
from earmark.exceptions import DataError, Try
from earmark.parameters import Limits, require_number, require_one_of

STDIN = "-"
AUTO = "auto"
# Larger than the default of 8 kB: fewer calls a gigabyte, still small memory.
_CHUNK = 1 << 16
# Bytes of one row or mail, and of an array that is read whole: a compressed file can
# hold a thousand times its size. Nobody writes so much; memory stays bounded by it.
_LONGEST_ROW = 1 << 27
_LARGEST_WHOLE = 1 << 29
_BYTES_OF_CHARACTER = 4


@dataclass(frozen=True)
class ReadOptions:
    """Checked options of one reading, the same for every part of a directory."""

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = '"'
    names: Sequence[str] | None = None
    pattern: str = "*.txt"
    field_limit: int = 1 << 24
    batch_size: int = 4096
    batch_bytes: int = 1 << 24
    query: str | None = None

    def __post_init__(self) -> None:
        require_one_of(self, "format", (None, *FORMATS.names()))
        for name in ("field_limit", "batch_size", "batch_bytes"):
            require_number(self, name, Limits(1), whole=True)
        for name in ("delimiter", "quote"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or len(value) != 1):
                raise ValueError(
                    f"ReadOptions.{name} must be one character or None, got {value!r}."
                )
        text_encoding(self.encoding)

    @property
    def codec(self) -> str:
        """The encoding to decode with."""
        return text_encoding(self.encoding)

    @property
    def longest_row(self) -> int:
        """Most bytes of one row; more for one who asks for longer fields."""
        return max(_LONGEST_ROW, 2 * _BYTES_OF_CHARACTER * self.field_limit)

    @property
    def largest_whole(self) -> int:
        """Most bytes of what is read whole."""
        return max(_LARGEST_WHOLE, self.longest_row)


class TooLongError(Exception):
    """A row goes on and on: a file without line breaks, or a compressed bomb."""


class _CountedBytes(io.BufferedIOBase):
    """A byte stream that knows how much it gave and stops at a NUL byte.

    It also stops when it gave more than ``most`` bytes since the reader of rows last
    set ``mark`` to the count: after each whole row.
    """

    def __init__(
        self, pull: Callable[[int], bytes], name: str, refuse_nul: bool, most: float
    ) -> None:
        self.pull, self.name, self.refuse_nul = pull, name, refuse_nul
        self.count = self.mark = 0
        self.most = most

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """The next chunk; its size is ours to choose."""
        if self.count - self.mark > self.most:
            raise TooLongError
        try:
            chunk = self.pull(_CHUNK)
        except (EOFError, OSError, zlib.error) as error:
            raise fault(
                self.name,
                f"the file cannot be read on after {self.count} bytes of data "
                f"({error}); it is cut off or damaged, get it again.",
            ) from error
        self.count += len(chunk)
        if self.refuse_nul and b"\0" in chunk:
            at = chunk.index(b"\0")
            raise UnicodeDecodeError("utf-8", chunk, at, at + 1, "NUL byte")
        return chunk

    def read(self, size: int | None = -1, /) -> bytes:
        return self.read1()


class TextSource:
    """Lines of one file: iterate ``lines``; ``refused`` explains a failure.

    Where rows have a longest length, their reader sets ``bytes.mark`` to
    ``bytes.count`` after each.
    """

    failures = (UnicodeDecodeError, TooLongError)

    def __init__(
        self,
        pull: Callable[[int], bytes],
        name: str,
        encoding: str,
        newline: str | None,
        most: float = math.inf,
    ) -> None:
        self.name, self.encoding = name, encoding
        self.bytes = _CountedBytes(pull, name, not _is_wide(encoding), most)
        # Typed as BinaryIO in the stubs; any BufferedIOBase serves.
        buffer: Any = self.bytes
        self.lines = io.TextIOWrapper(buffer, encoding=encoding, newline=newline)

    def head(self) -> list[str]:
        """Lines up to the first that is not blank."""
        lines: list[str] = []
        try:
            for line in self.lines:
                lines.append(line)
                if line.strip():
                    break
        except self.failures as error:
            raise self.refused(error, len(lines)) from error
        self.bytes.mark = self.bytes.count
        return lines

    def refused(
        self, error: Exception, lines_read: int, row: int | None = None
    ) -> DataError:
        """The message for a failure, met after ``lines_read`` whole lines."""
        if not isinstance(error, UnicodeDecodeError):
            return fault(
                self.name,
                f"expected rows of at most {self.bytes.most:,} bytes, got a longer "
                "one; check that the file is text with line breaks, and that each "
                "quote is closed",
                Try("or raise", " of read_documents", field_limit=...),
                row=row,
                line=lines_read + 1,
            )
        # error.object ends where the stream stands, whatever the decoder kept back.
        offset = self.bytes.count - len(error.object) + error.start
        return bad_bytes(self.name, self.encoding, error, offset, lines_read)


def bad_bytes(
    name: str, encoding: str, error: UnicodeDecodeError, offset: int, lines_read: int
) -> DataError:
    """A byte that is no text in ``encoding``: where it is and what to try."""
    line = lines_read + error.object.count(b"\n", 0, error.start) + 1
    place = f"byte {offset} (0x{error.object[error.start]:02x})"
    if error.reason == "NUL byte":
        return fault(
            name,
            f"expected text, got a NUL byte at {place}; the file is binary",
            Try("or UTF-16: then give", encoding="utf-16"),
            line=line,
        )
    return fault(
        name,
        f"expected {encoding.removesuffix('-sig')} text, got {place}: {error.reason}",
        Try("give the file's encoding, perhaps", encoding=_likely(error)),
        line=line,
    )


def _likely(error: UnicodeDecodeError) -> str:
    """An encoding to try after UTF-8 failed."""
    data = error.object
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    # C1 controls are no text in latin-1; in cp1252 they are quotes and dashes.
    around = data[error.start : error.start + 2000]
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in around) else "latin-1"


def text_encoding(encoding: str | None) -> str:
    """The codec to use: UTF-8 unless stated; a byte-order mark is taken off."""
    if encoding is None:
        return "utf-8-sig"
    if encoding == AUTO:
        return AUTO
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)
    except LookupError as error:
        raise ValueError(
            f"encoding must be a text encoding that Python knows, such as 'utf-8', "
            f"'latin-1', 'cp1252' or 'utf-16', got {encoding!r}."
        ) from error
    return "utf-8-sig" if codec.name == "utf-8" else encoding


def _is_wide(encoding: str) -> bool:
    """Whether plain letters contain NUL bytes in this encoding."""
    return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def decode(data: bytes, name: str, encoding: str) -> str:
    """A whole small file as text."""
    if encoding == AUTO:
        encoding = _found_encoding(iter([data]))
    try:
        if b"\0" in data and not _is_wide(encoding):
            at = data.index(b"\0")
            raise UnicodeDecodeError(encoding, data, at, at + 1, "NUL byte")
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise bad_bytes(name, encoding, error, error.start, 0) from error


def _found_encoding(chunks: Iterator[bytes]) -> str:
    """The encoding of one file: by its byte-order mark, else UTF-8 if it can be."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    first = True
    for chunk in chunks:
        if first and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        first = False
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return _likely(error)
    return "utf-8-sig"


def _encoding_of(path: Path | None, encoding: str) -> str:
    """The encoding as it was stated, or that of this file."""
    if encoding != AUTO:
        return encoding
    if path is None:
        raise fault(
            "stdin",
            "the encoding 'auto' reads a file twice, and stdin can be read only once",
            Try("give its own with", encoding=...),
        )
    with open_bytes(path) as stream:
        return _found_encoding(iter(lambda: stream.read(_CHUNK), b""))


@contextmanager
def open_text(
    path: Path | None,
    encoding: str,
    newline: str | None,
    longest: float = math.inf,
) -> Iterator[TextSource]:
    """Lines of ``path`` (None: stdin), decompressed by its last suffix.

    Who gives the ``longest`` row in bytes sets the mark of the source after each row.
    """
    if path is None:
        # read1 gives what a slow pipe has, instead of waiting for a full chunk.
        encoding = _encoding_of(path, encoding)
        stdin: Any = sys.stdin.buffer
        yield TextSource(stdin.read1, "stdin", encoding, newline, longest)
        return
    try:
        encoding = _encoding_of(path, encoding)
        opened = open_bytes(path)
    except OSError as error:
        raise unreadable(path, error) from error
    with opened as stream:
        yield TextSource(stream.read, str(path), encoding, newline, longest)


def unreadable(path: Path, error: OSError) -> DataError:
    """The system does not let us read a file or folder."""
    reason = error.strerror or error
    return fault(str(path), f"it cannot be opened ({reason}); check its permissions.")


def open_bytes(path: Path) -> Any:
    """A byte stream of the decompressed file."""
    suffix = path.suffix.lower()
    if suffix == ".zst":
        arrow = require("pyarrow", f"read {path.name} (zstd compression)")
        # Buffered, since a stream of Arrow has no lines.
        return io.BufferedReader(arrow.input_stream(str(path), compression="zstd"))
    return gzip.open(path) if suffix == ".gz" else path.open("rb")
