"""What is known of a file format, and the registry of all formats.

A format is one module of ``documents/formats`` with a constant ``FORMAT``, or an entry
point of the group ``earmark.formats`` of another package. Nothing else lists formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from earmark.registry import Registry

if TYPE_CHECKING:
    from earmark.documents.exchange import Dialect
    from earmark.documents.stream import ReadOptions
    from earmark.documents.table import Request, Table

# From a file (None: stdin), what is asked for and how it is read, to its rows. The path
# is Any, because a format that is not streamed never gets None.
Tables: TypeAlias = "Callable[[Any, Request, ReadOptions], Iterator[Table]]"


@dataclass(frozen=True)
class Format:
    """One format: how its files are known and read."""

    name: str
    suffixes: tuple[str, ...]
    summary: str
    """One line for the tables of the documentation."""
    tables: Tables
    """Reads a file: its rows as columns, in batches."""
    streamed: bool = True
    """Whether it may come from stdin, or be compressed."""
    growth: float | None = None
    """Bytes in memory for a byte of the file; None if it is never read in parts."""
    extra: str | None = None
    """The extra of earmark to install for it."""
    begins: bytes | None = None
    """How a file without a known suffix begins."""
    header: bool = False
    """Whether a file names its columns apart from its rows."""
    document: Callable[[bytes], str] | None = None
    """The text of a file that is one document, so that folders of them are read too."""
    dialect: Dialect | None = None
    """How a labelling tool says it in JSON; such files are known by their contents."""


FORMATS: Registry[Format] = Registry(
    "earmark.documents.formats", "earmark.formats", "FORMAT"
)

COMPRESSED = (".gz", ".zst")


def format_by_suffix(path: Path) -> Format | None:
    """The format that the suffixes name, compressed or not."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    # A format that is named like the suffix comes first: others need no import then.
    names = sorted(FORMATS.names(), key=lambda name: name != last[1:])
    return next(
        (f for f in map(FORMATS.__getitem__, names) if last in f.suffixes), None
    )


def all_suffixes() -> list[str]:
    """Every suffix that is known."""
    return [suffix for one in FORMATS for suffix in one.suffixes]
