"""How a file is read: everything that is not about columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from earmark._checks import require_integer, require_one_of
from earmark.documents._streams import text_encoding

__all__ = ["FORMATS", "Format", "ReadOptions"]

Format: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet")


@dataclass(frozen=True)
class ReadOptions:
    """Checked options of one reading, the same for every part of a directory."""

    format: Format | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = '"'
    names: Sequence[str] | None = None
    pattern: str = "*.txt"
    field_limit: int = 1 << 24
    batch_size: int = 4096
    batch_bytes: int = 1 << 24

    def __post_init__(self) -> None:
        require_one_of(self, "format", (None, *FORMATS))
        require_integer(self, "field_limit", low=1)
        require_integer(self, "batch_size", low=1)
        require_integer(self, "batch_bytes", low=1)
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
