"""A folder with one sub-folder per label, one document a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from earmark.documents._columns import Request
from earmark.documents._options import ReadOptions
from earmark.documents._places import fault
from earmark.documents._streams import decode, unreadable
from earmark.documents.document import Documents

__all__ = ["folder_documents", "visible"]


def visible(folder: Path) -> list[Path]:
    """Entries of a folder in a fixed order, without hidden and marker files."""
    try:
        entries = [p for p in folder.iterdir() if not p.name.startswith((".", "_"))]
    except OSError as error:
        raise unreadable(folder, error) from error
    return sorted(entries, key=lambda path: path.name)


def folder_documents(
    folder: Path, request: Request, options: ReadOptions
) -> Iterator[Documents]:
    """Batches of documents; labels are the sub-folders, ids the relative paths.

    Arguments and file names are checked now, the files read as batches are asked for.
    """
    named = {
        "text": request.text,
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
    files = list(_labelled_files(folder, request, options.pattern))
    return _batches(folder, files, request, options)


def _batches(
    folder: Path,
    files: list[tuple[Path, str | None]],
    request: Request,
    options: ReadOptions,
) -> Iterator[Documents]:
    """The files in order, ``batch_size`` or ``batch_bytes`` at a time."""
    size = 0
    batch: list[tuple[Path, str | None, str]] = []
    first_row = 1
    for path, label in files:
        text = decode(_content(path), str(path), options.codec)
        batch.append((path, label, text))
        size += len(text)
        if len(batch) == options.batch_size or size > options.batch_bytes:
            yield _documents(folder, request, batch, first_row)
            first_row += len(batch)
            batch, size = [], 0
    if batch:
        yield _documents(folder, request, batch, first_row)


def _content(path: Path) -> bytes:
    """The bytes of one document."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def _documents(
    folder: Path,
    request: Request,
    batch: list[tuple[Path, str | None, str]],
    first_row: int,
) -> Documents:
    """One batch; for multi-label reading a label is a list of one."""
    labels: list[str | list[str] | None] = [label for _, label, _ in batch]
    if request.multi_label:
        labels = [None if label is None else [label] for _, label, _ in batch]
    return Documents(
        texts=[text for *_, text in batch],
        labels=None if request.label is False else labels,
        ids=[path.relative_to(folder).as_posix() for path, *_ in batch],
        rows=range(first_row, first_row + len(batch)),
        source=str(folder),
    )


def _labelled_files(
    folder: Path, request: Request, pattern: str
) -> Iterator[tuple[Path, str | None]]:
    """Files with their label; files without sub-folders are unlabelled."""
    entries = visible(folder)
    found = False
    for sub in (entry for entry in entries if entry.is_dir()):
        for path in visible(sub):
            if path.is_file() and path.match(pattern):
                found = True
                yield path, sub.name
    if found:
        return
    loose = [path for path in entries if path.is_file() and path.match(pattern)]
    if not loose:
        raise fault(
            str(folder),
            f"expected one sub-folder per label with files {pattern!r} in it, or "
            f"Parquet, JSONL or CSV parts, got none; give the pattern of the file "
            f"names with pattern=, for example pattern='*'.",
        )
    if request.label is not False and not request.allow_unlabelled:
        raise fault(
            str(folder),
            f"expected one sub-folder per label, got {len(loose)} files without one; "
            f"sort them into sub-folders, or read them as unlabelled with label=False.",
        )
    yield from ((path, None) for path in loose)
