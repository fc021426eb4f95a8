"""Files and folders of documents: read at once, or in batches of bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal

from earmark.documents.document import Documents, concatenate
from earmark.documents.labels import merged_labels, warn_about_labels
from earmark.documents.remote import without_secrets
from earmark.documents.source import Source, find_sources, folder_documents
from earmark.documents.stream import ReadOptions
from earmark.documents.table import IdRegister, Request, to_documents

__all__ = ["iter_documents", "read_documents"]


def read_documents(
    path: str | os.PathLike[str],
    text: str | Sequence[str] | None = None,
    label: str | Literal[False] | None = None,
    regions: Sequence[str] | Mapping[str, str] | bool | None = None,
    *,
    id: str | None = None,  # noqa: A002
    keep: Sequence[str] | Literal["all"] = (),
    multi_label: bool = False,
    separator: str = "|",
    allow_unlabelled: bool = False,
    null_text: Literal["error", "empty"] = "error",
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = '"',
    names: Sequence[str] | None = None,
    query: str | None = None,
    pattern: str = "*.txt",
    field_limit: int = 1 << 24,
    batch_size: int = 4096,
    merge_labels: bool = False,
) -> Documents:
    r"""Read all documents of a file or folder.

    The format goes by the suffix, such as .csv, .jsonl, .parquet, .xlsx or .mbox; those
    that are text may be compressed (.gz, or .zst with ``earmark[io]``). A directory is
    a Maildir, or one sub-folder per label with text files or mails (.eml), or parts of
    one format (read in the order of their names). "-" is stdin. The guide lists all
    formats, and what to install for some of them.

    A mail is decoded. Its columns are text (subject and body as a plain mail, which
    ``regions="email"`` of a classifier takes apart), subject, body, from, to and
    date. The name of a nested JSON field is its path, as in ``text="body.text"``.

    Whatever is wrong with the data raises ``DataError``, which names the file,
    the data row (from 1, without the header), the line and the column.

    Parameters
    ----------
    path : str or path
        File, folder, "-" for stdin, or the URL of a file or folder, such as
        ``s3://bucket/mails.csv``, which fsspec fetches.
    text : str or list of str, default=None
        Text column. Several columns are joined by a line break, or become
        regions with ``regions=True``. None: the column named text, or the only
        one named body, content, message, review, sentence or document, or the
        only column of strings.
    label : str, False or None, default=None
        Label column. None: the column named label, or the only one named labels,
        class, category, target or topic, or no labels. False: read no labels.
        Labels become strings in every format (3 and 3.0 are "3", true is "true"),
        so that the same data give the same classes from CSV and from Parquet.
    regions : list of str, dict of region name to column, or True, default=None
        Keep these columns apart as regions; ``texts`` is then a dict.
    id : str, default=None
        Column that names each document; an id that comes twice is an error.
    keep : list of str or "all", default=()
        Further columns to bring along in ``columns``.
    multi_label : bool, default=False
        Labels are sets: lists in JSON and Parquet; in a CSV cell a JSON list or
        labels between ``separator``. An empty list, or a cell with the separator
        alone, is a document to which no label applies; an empty cell is one that
        is unlabelled.
    separator : str, default="|"
        What stands between the labels of a cell.
    allow_unlabelled : bool, default=False
        Read a missing or blank label as None instead of refusing the row.
    null_text : {"error", "empty"}, default="error"
        What a null in a text column is. An empty string is always a legal text.
    format : str, default=None
        Name of the format, such as "csv": overrides the suffix; needed for stdin.
    encoding : str, default=None
        Encoding of text files. None is UTF-8, with or without byte-order mark;
        "auto" looks at each file: UTF-16 by its mark, UTF-8 if it can be, else
        Windows-1252 or Latin-1.
    delimiter : str, default=None
        Between CSV fields. None is a tab for .tsv; for .csv a comma, or if the
        header has none, the semicolon, tab or bar that it has instead.
    quote : str or None, default='"'
        Quote of CSV fields; None if quotes are ordinary characters.
    names : list of str, default=None
        Column names of a CSV file that has no header.
    query : str, default=None
        SQL, for ``path`` the URI of a database: ``sqlite:///FILE``, ``duckdb:///FILE``
        or ``postgresql://HOST/NAME``. Rows are fetched batch by batch.
    pattern : str, default="*.txt"
        Which files of a folder are documents.
    field_limit : int, default=16777216
        Longest CSV field in characters; stops a quote that is never closed.
    batch_size : int, default=4096
        Rows read and checked together.
    merge_labels : bool, default=False
        Take labels that differ only by case, blanks or a final .0 as one, in the
        spelling that most documents have. Otherwise they are pointed out by a warning.

    Returns
    -------
    documents : Documents
        Texts, labels, ids and kept columns. In a directory of parts the rows are
        numbered through.

    See Also
    --------
    iter_documents : The same in batches, for files larger than memory.

    Notes
    -----
    Bytes that are no text in the encoding, and NUL bytes in text files, are errors
    that give the line and the offset in the file. A NUL or a lone surrogate that a
    JSON string spells out (``\u0000``, ``\ud800``) is kept as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from earmark.documents import read_documents
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "reviews.csv")
    >>> _ = path.write_text('review,class\n"good, very good",pos\nbad,neg\n')
    >>> documents = read_documents(path)
    >>> documents.texts, documents.labels
    (['good, very good', 'bad'], ['pos', 'neg'])
    >>> folder.cleanup()

    """
    options = {k: v for k, v in locals().items() if k not in ("path", "merge_labels")}
    batches = iter_documents(path, **options, unique_ids=True)
    documents = concatenate(batches, without_secrets(os.fspath(path)))
    if merge_labels:
        return replace(documents, labels=merged_labels(documents.labels))
    warn_about_labels(documents)
    return documents


def iter_documents(
    path: str | os.PathLike[str],
    text: str | Sequence[str] | None = None,
    label: str | Literal[False] | None = None,
    regions: Sequence[str] | Mapping[str, str] | bool | None = None,
    *,
    id: str | None = None,  # noqa: A002
    keep: Sequence[str] | Literal["all"] = (),
    multi_label: bool = False,
    separator: str = "|",
    allow_unlabelled: bool = False,
    null_text: Literal["error", "empty"] = "error",
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = '"',
    names: Sequence[str] | None = None,
    query: str | None = None,
    pattern: str = "*.txt",
    field_limit: int = 1 << 24,
    batch_size: int = 4096,
    batch_bytes: int = 1 << 24,
    unique_ids: bool = False,
) -> Iterator[Documents]:
    r"""Read documents in batches: memory holds one batch, however long the file.

    Takes what ``read_documents`` takes, and two more. Arguments are checked and
    files looked up at once; the data are read as the batches are asked for. In a
    directory of parts a batch never spans two files, and its ``source`` and
    ``rows`` are the part's own.

    Parameters
    ----------
    path, text, label, regions, id, keep, multi_label, separator
        As in ``read_documents``.
    allow_unlabelled, null_text, format, encoding, delimiter, quote, names
        As in ``read_documents``.
    query, pattern, field_limit
        As in ``read_documents``.
    batch_size : int, default=4096
        Most documents in a batch.
    batch_bytes : int, default=16777216
        A batch of a text format also ends after about so many bytes.
    unique_ids : bool, default=False
        Refuse an id that came before. It costs memory for every id read.

    Yields
    ------
    documents : Documents
        At least one document each.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from earmark.documents import iter_documents
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "lines.jsonl")
    >>> _ = path.write_text('{"text": "one"}\n{"text": "two"}\n{"text": "three"}\n')
    >>> [batch.texts for batch in iter_documents(path, batch_size=2)]
    [['one', 'two'], ['three']]
    >>> folder.cleanup()

    """
    arguments = locals()
    request, options = (
        kind(**{f.name: arguments[f.name] for f in fields(kind) if f.name in arguments})
        for kind in (Request, ReadOptions)
    )
    assert isinstance(request, Request)
    assert isinstance(options, ReadOptions)
    register = IdRegister() if unique_ids and id is not None else None
    sources = find_sources(path, options)
    if sources is None:
        return folder_documents(Path(path), request, options)
    return _from_sources(sources, request, options, register)


def _from_sources(
    sources: list[Source],
    request: Request,
    options: ReadOptions,
    register: IdRegister | None,
) -> Iterator[Documents]:
    """The batches of all parts; the first part settles the columns."""
    n_documents = 0
    for source in sources:
        for table in source.format.tables(source.path, request, options):
            if n_documents == 0:
                request = request.settled(table)
            batch = to_documents(table, request, register)
            n_documents += len(batch)
            yield batch
    if n_documents == 0:
        raise sources[0].without_rows()
