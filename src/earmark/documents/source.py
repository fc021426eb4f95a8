"""Which files a path means, and in which format they are; folders of text files."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from earmark.documents.databases import database_of, query_tables, require_query
from earmark.documents.document import Documents
from earmark.documents.format import (
    COMPRESSED,
    FORMATS,
    Format,
    all_suffixes,
    format_by_suffix,
)
from earmark.documents.mail import is_maildir, mail_text
from earmark.documents.remote import fetched, scheme_of, without_secrets
from earmark.documents.stream import (
    STDIN,
    ReadOptions,
    decode,
    open_bytes,
    unreadable,
)
from earmark.documents.table import KnownColumn, Request, Table, fault, listed, near
from earmark.exceptions import DataError, EarmarkWarning, Try, only_in_python
from earmark.kernels.text import LONGEST_TEXT, too_long

_TEXT = "*.txt"


@dataclass(frozen=True)
class Source:
    """One file and its format; no path is stdin, or the rows of a query."""

    path: Path | None
    format: Format
    named: str | None = None
    """The database of a query."""

    def without_rows(self) -> DataError:
        """The error for a source in which no data row was found."""
        came = "the columns but no row"
        if not self.format.header:
            came = "none: the file is empty"
        return fault(
            self.named or ("stdin" if self.path is None else str(self.path)),
            f"expected data rows, got {came}; check that it was written completely.",
        )


def find_sources(
    path: str | os.PathLike[str], options: ReadOptions
) -> list[Source] | None:
    """The files to read, or None for a folder of text files."""
    if os.fspath(path) == STDIN:
        return [Source(None, _format_of_stdin(options.format))]
    if not os.fspath(path):
        raise DataError(
            "expected the path of a file or folder, got an empty one; if it comes from "
            "a variable of the shell, that is not set."
        )
    text = os.fspath(path)
    kind = database_of(text)
    if options.query is not None or (kind is not None and scheme_of(text)):
        return [_query_source(text, options)]
    if scheme_of(text) == "file":
        text = url2pathname(urlsplit(text).path)
    elif scheme_of(text) is not None:
        return [Source(one, _format(one, options)) for one in fetched(text)]
    where = Path(text)
    if where.is_dir():
        return _parts(where, options)
    if not where.exists():
        raise _missing(where)
    return [Source(where, _format(where, options))]


def _query_source(uri: str, options: ReadOptions) -> Source:
    """The rows of a query as a source; a database needs one."""
    query = require_query(uri, options.query)

    def tables(_: object, request: Request, options: ReadOptions) -> Iterator[Table]:
        return query_tables(uri, query, request, options)

    rows = Format("query", (), "rows of a query", tables, header=True)
    return Source(None, rows, without_secrets(uri))


def _format_of_stdin(name: str | None) -> Format:
    """The format that was stated, if it can be streamed."""
    if name is not None and FORMATS[name].streamed:
        return FORMATS[name]
    what = "the format of the data is not known"
    if name is not None:
        what = f"expected a format that can be streamed, got {name!r}"
    names = ", ".join(one.name for one in FORMATS if one.streamed)
    raise fault("stdin", what, Try("give", f": {names}", format=...))


def _format(path: Path, options: ReadOptions) -> Format:
    """The format of one file, stated, by its suffix, or by how it begins."""
    stated = None if options.format is None else FORMATS[options.format]
    if stated is None and database_of(str(path)) is not None:
        require_query(str(path), None)
    kind = stated or format_by_suffix(path) or _format_by_content(path)
    if kind is None:
        is_old = path.suffix.lower() == ".xls"
        raise fault(
            str(path),
            f"expected a file ending in {listed(all_suffixes())} (text formats also "
            f"with {' or '.join(COMPRESSED)})",
            Try("rename it or give", format=...),
            *([Try("Save an old Excel file as .xlsx.")] if is_old else ()),
        )
    if not kind.streamed and path.suffix.lower() in COMPRESSED:
        raise fault(
            str(path),
            f"expected the {kind.name} file as it is, got a compressed one; decompress "
            f"it first ({kind.name} compresses inside the file).",
        )
    return kind


def _format_by_content(path: Path) -> Format | None:
    """The format of a file without a suffix of its own, by how it begins."""
    marks = {one.begins: one for one in FORMATS if one.begins is not None}
    try:
        with open_bytes(path) as stream:
            start = stream.read(max(map(len, marks)))
    except OSError:
        return None
    return next((one for mark, one in marks.items() if start.startswith(mark)), None)


def _parts(folder: Path, options: ReadOptions) -> list[Source] | None:
    """The data files of a directory, all of one format; None if it has none."""
    files = [path for path in _visible(folder) if path.is_file()]
    by_format: dict[str, list[Path]] = {}
    for path in files:
        kind = format_by_suffix(path)
        if kind is None or kind.document is not None:
            continue
        if options.format in (None, kind.name):
            by_format.setdefault(kind.name, []).append(path)
    if not by_format or is_maildir(folder):
        return None
    if options.format is None and len(_label_folders(folder, options.pattern)) > 1:
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
            f"expected parts of one format, got {listed(by_format)}",
            Try("say which to read with", format=...),
        )
    (paths,) = by_format.values()
    return [Source(path, _format(path, options)) for path in paths]


def _missing(path: Path) -> DataError:
    """The error for a file that does not exist, with a similar name if there is one."""
    parent = path.parent
    if not parent.is_dir():
        return fault(str(path), f"there is no folder {str(parent)!r}; check the path.")
    link = broken_link(path)
    if link is not None:
        return fault(str(path), link)
    names = os.listdir(parent) if os.access(parent, os.R_OK) else []
    slips = near(path.name, names)
    hint = f" (did you mean {listed(slips)}?)" if slips else ""
    return fault(str(path), f"there is no such file{hint}; check the path.")


def broken_link(path: Path) -> str | None:
    """What is wrong with a link that leads to no file; None if it is no link."""
    if not path.is_symlink():
        return None
    target = os.readlink(path)
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return f"it is a link that leads to itself (by {target!r}); name the file."
    return f"it is a link to {target!r}, which is not there; name the file itself."


def _visible(folder: Path) -> list[Path]:
    """Entries of a folder in a fixed order, without hidden and marker files."""
    try:
        entries = [p for p in folder.iterdir() if not p.name.startswith((".", "_"))]
    except OSError as error:
        raise unreadable(folder, error) from error
    return sorted(entries, key=lambda path: path.name)


def folder_documents(
    folder: Path, request: Request, options: ReadOptions
) -> Iterator[Documents]:
    """Batches of documents; labels are the sub-folders, ids the relative paths."""
    files = list(_labelled_files(folder, request, options.pattern))
    named = {
        "text": None if isinstance(request.text, KnownColumn) else request.text,
        "label": request.label or None,
        "regions": request.regions,
        "id": request.id,
        "keep": request.keep or None,
    }
    asked = [f"{name}=" for name, value in named.items() if value is not None]
    if asked:
        raise fault(
            str(folder),
            f"expected no column names for a folder of text files, got "
            f"{', '.join(asked)}; the sub-folder is the label and the path the id.",
        )
    return _folder_batches(folder, files, request, options)


def _folder_batches(
    folder: Path,
    files: list[tuple[Path, str | None]],
    request: Request,
    options: ReadOptions,
) -> Iterator[Documents]:
    """The files in order, ``batch_size`` or ``batch_bytes`` at a time."""
    size, first, texts = 0, 0, []
    for end, (path, _) in enumerate(files, start=1):
        texts.append(_document(path, options.codec))
        if len(texts[-1]) >= LONGEST_TEXT:
            raise fault(str(path), too_long(len(texts[-1])))
        size += len(texts[-1])
        full = len(texts) == options.batch_size or size > options.batch_bytes
        if full or end == len(files):
            names = [
                path.relative_to(folder).as_posix() for path, _ in files[first:end]
            ]
            labels: list[Any] = [label for _, label in files[first:end]]
            if request.multi_label:
                labels = [None if one is None else [one] for one in labels]
            known = None if request.label is False else labels
            rows = range(first + 1, end + 1)
            yield Documents(texts, known, names, rows, str(folder))
            size, first, texts = 0, end, []


def _document(path: Path, codec: str) -> str:
    """The text of one file; a mail is decoded, with its subject as only header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if is_maildir(path.parent.parent):
        return mail_text(data)
    text_of = _text_of_file(path)
    return decode(data, str(path), codec) if text_of is None else text_of(data)


def _files(folder: Path, pattern: str) -> list[Path]:
    """The documents of a folder, which may be a Maildir."""
    if is_maildir(folder):
        parts = [*_visible(folder / "cur"), *_visible(folder / "new")]
        return [path for path in parts if path.is_file()]
    with_mails = pattern == _TEXT
    return [
        path
        for path in _visible(folder)
        if path.match(pattern) or (with_mails and _text_of_file(path) is not None)
        if path.is_file()
    ]


def _text_of_file(path: Path) -> Callable[[bytes], str] | None:
    """The reader of one file's text, for formats with one document in each file."""
    kind = format_by_suffix(path)
    if kind is None or path.suffix.lower() not in kind.suffixes:
        return None
    return kind.document


def _label_folders(folder: Path, pattern: str) -> list[Path]:
    """The sub-folders that hold documents."""
    if is_maildir(folder):
        return []
    return [sub for sub in _visible(folder) if sub.is_dir() and _files(sub, pattern)]


def _labelled_files(
    folder: Path, request: Request, pattern: str
) -> Iterator[tuple[Path, str | None]]:
    """Files with their label; files without sub-folders are unlabelled."""
    labelled = _label_folders(folder, pattern)
    for sub in labelled:
        yield from ((path, sub.name) for path in _files(sub, pattern))
    if labelled:
        return
    loose = _files(folder, pattern)
    if not loose:
        came = "none" if _visible(folder) else "an empty folder"
        raise fault(
            str(folder),
            f"expected one sub-folder per label with files {pattern!r} in it, or "
            f"parts of a data set, got {came}",
            Try("give the pattern of the file names, for example", pattern="*"),
        )
    if request.label is not False and not request.allow_unlabelled:
        raise fault(
            str(folder),
            f"expected one sub-folder per label, got {len(loose)} files without one",
            Try("sort them into sub-folders"),
            only_in_python("or read them as unlabelled with label=False"),
        )
    yield from ((path, None) for path in loose)
