"""Which files a path means, and in which format they are."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from earmark.documents._folder import label_folders, visible
from earmark.documents._streams import STDIN, Format, ReadOptions, open_bytes
from earmark.documents.columns import fault, listed, near
from earmark.documents.mail import is_maildir
from earmark.exceptions import DataError, EarmarkWarning

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".ft": "fasttext",
    ".mbox": "mbox",
    ".eml": "eml",
}
# Formats that are read as they lie on the disk.
_WHOLE = ("parquet", "xlsx")
_COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class Source:
    """One file and its format; no path is stdin."""

    path: Path | None
    format: Format

    def without_rows(self) -> DataError:
        """The error for a source in which no data row was found."""
        header = self.format in ("csv", "tsv", "parquet", "xlsx")
        came = "the columns but no row" if header else "none: the file is empty"
        return fault(
            "stdin" if self.path is None else str(self.path),
            f"expected data rows, got {came}; check that it was written completely.",
        )


def find_sources(
    path: str | os.PathLike[str], options: ReadOptions
) -> list[Source] | None:
    """The files to read, or None for a folder of text files."""
    if os.fspath(path) == STDIN:
        if options.format is None or options.format in _WHOLE:
            came = "it has no name that tells"
            if options.format is not None:
                came = f"{options.format} cannot be read from a stream"
            what = f"expected the format of the data, {came}; give format='csv', or tsv"
            raise fault("stdin", f"{what} or jsonl.")
        return [Source(None, options.format)]
    where = Path(path)
    if where.is_dir():
        return _parts(where, options)
    if not where.exists():
        raise _missing(where)
    return [Source(where, _format(where, options))]


def _format_by_suffix(path: Path) -> Format | None:
    """The format that the suffixes name, compressed or not."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _format(path: Path, options: ReadOptions) -> Format:
    """The format of one file, stated or by its suffix."""
    kind = options.format or _format_by_suffix(path) or _format_by_content(path)
    if kind is None:
        hint = ""
        if path.suffix.lower() == ".xls":
            hint = " Save an old Excel file as .xlsx."
        raise fault(
            str(path),
            f"expected a file ending in {listed(_SUFFIXES)} (text formats also with "
            f".gz or .zst); rename it or give format=.{hint}",
        )
    if kind in _WHOLE and path.suffix.lower() in _COMPRESSED:
        name = "a Parquet" if kind == "parquet" else "an Excel"
        raise fault(
            str(path),
            f"expected {name} file as it is, got a compressed one; decompress it "
            f"first ({kind} compresses inside the file).",
        )
    return kind


def _format_by_content(path: Path) -> Format | None:
    """FastText's files and mailboxes often have no suffix of their own."""
    try:
        with open_bytes(path) as stream:
            start = stream.read(9)
    except OSError:
        return None
    if start == b"__label__":
        return "fasttext"
    return "mbox" if start.startswith(b"From ") else None


def _parts(folder: Path, options: ReadOptions) -> list[Source] | None:
    """The data files of a directory, all of one format; None if it has none."""
    files = [path for path in visible(folder) if path.is_file()]
    by_format: dict[Format, list[Path]] = {}
    for path in files:
        kind = _format_by_suffix(path)
        if kind is not None and kind != "eml" and options.format in (None, kind):
            by_format.setdefault(kind, []).append(path)
    if not by_format or is_maildir(folder):
        return None
    if options.format is None and len(label_folders(folder, options.pattern)) > 1:
        stray = listed(path.name for paths in by_format.values() for path in paths)
        warnings.warn(
            f"{folder}: {stray} beside the sub-folders of labels is not read; to read "
            "it instead, give its own path.",
            EarmarkWarning,
            stacklevel=2,
        )
        return None
    if len(by_format) > 1:
        raise fault(
            str(folder),
            f"expected parts of one format, got {listed(by_format)}; "
            f"say which to read with format=.",
        )
    return [
        Source(path, _format(path, options))
        for paths in by_format.values()
        for path in paths
    ]


def _missing(path: Path) -> DataError:
    """The file is not there; perhaps a neighbour is meant."""
    parent = path.parent
    if not parent.is_dir():
        return fault(str(path), f"there is no folder {str(parent)!r}; check the path.")
    try:
        slips = near(path.name, (entry.name for entry in parent.iterdir()))
    except OSError:
        slips = []
    hint = f" (did you mean {listed(slips)}?)" if slips else ""
    return fault(str(path), f"there is no such file{hint}; check the path.")
