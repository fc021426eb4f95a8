"""A folder with one sub-folder per label, one document or mail per file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from earmark.documents._streams import ReadOptions, decode, unreadable
from earmark.documents.columns import Request, fault
from earmark.documents.document import Documents
from earmark.documents.mail import is_maildir, mail_record

_TEXT = "*.txt"
_MAIL = ".eml"


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
        text = _document(path, options.codec)
        batch.append((path, label, text))
        size += len(text)
        if len(batch) == options.batch_size or size > options.batch_bytes:
            yield _documents(folder, request, batch, first_row)
            first_row += len(batch)
            batch, size = [], 0
    if batch:
        yield _documents(folder, request, batch, first_row)


def _document(path: Path, codec: str) -> str:
    """The text of one file; a mail is decoded, with its subject as only header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if path.suffix.lower() == _MAIL or is_maildir(path.parent.parent):
        return str(mail_record(data)["text"])
    return decode(data, str(path), codec)


def _files(folder: Path, pattern: str) -> list[Path]:
    """The documents of a folder, which may be a Maildir."""
    if is_maildir(folder):
        parts = [*visible(folder / "cur"), *visible(folder / "new")]
        return [path for path in parts if path.is_file()]
    return [path for path in visible(folder) if path.is_file() and _fits(path, pattern)]


def _fits(path: Path, pattern: str) -> bool:
    return path.match(pattern) or (pattern == _TEXT and path.suffix.lower() == _MAIL)


def label_folders(folder: Path, pattern: str) -> list[Path]:
    """The sub-folders that hold documents."""
    if is_maildir(folder):
        return []
    return [sub for sub in visible(folder) if sub.is_dir() and _files(sub, pattern)]


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
    labelled = label_folders(folder, pattern)
    for sub in labelled:
        yield from ((path, sub.name) for path in _files(sub, pattern))
    if labelled:
        return
    loose = _files(folder, pattern)
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
