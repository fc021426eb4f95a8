"""Rows of a query: SQLite, DuckDB and PostgreSQL, batch by batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.documents.records import Record, record_tables
from earmark.documents.remote import scheme_of, without_secrets
from earmark.documents.stream import ReadOptions
from earmark.documents.table import Request, Table, fault
from earmark.exceptions import DataError, Try

_SUFFIXES = {
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
}


def database_of(path: str) -> str | None:
    """The kind of database that a URI or the name of a file means; None: none."""
    scheme = scheme_of(path)
    if scheme is None:
        return _SUFFIXES.get(Path(path).suffix.lower())
    return "postgresql" if scheme == "postgres" else scheme if scheme in _OPEN else None


def require_query(path: str, query: str | None) -> str:
    """The query of a database; refuse one without, and a query of what is none."""
    name = without_secrets(path)
    if query is None:
        example = Try("say which rows with", query="select text, label from documents")
        raise fault(name, "expected a query, since this is a database", example)
    if database_of(path) is None:
        raise fault(
            name,
            "expected a database for the query: sqlite:///FILE, duckdb:///FILE or "
            "postgresql://HOST/NAME; got something else.",
        )
    return query


def query_tables(
    uri: str, query: str, request: Request, options: ReadOptions
) -> Iterator[Table]:
    """The rows of a query as columns, fetched batch by batch."""
    kind, name = database_of(uri), without_secrets(uri)
    assert kind is not None
    try:
        with closing(_OPEN[kind](uri)) as connection:
            cursor = connection.cursor(*(("earmark",) if kind == "postgresql" else ()))
            with closing(cursor):
                cursor.execute(query)
                first = cursor.fetchmany(options.batch_size)
                if cursor.description is None:
                    raise fault(name, "expected a query that gives rows: select ...")
                names = [str(column[0]) for column in cursor.description]
                rows = _rows(cursor, first, names, options.batch_size)
                yield from record_tables(name, rows, request, options, names)
    except Exception as error:
        module = type(error).__module__.partition(".")[0].lstrip("_")
        if isinstance(error, DataError) or module not in (
            "sqlite3",
            "duckdb",
            "psycopg",
        ):
            raise
        said = " ".join(str(error).split())
        raise fault(
            name, f"the database refuses the query ({said:.300}); correct it."
        ) from error


def _rows(
    cursor: Any, first: list[Any], names: list[str], size: int
) -> Iterator[Record]:
    batch = first
    while batch:
        for row in batch:
            yield dict(zip(names, row, strict=True))
        batch = cursor.fetchmany(size)


def _file(uri: str) -> str:
    """The file of a URI such as sqlite:///mails.db, which has to be there."""
    path = uri if scheme_of(uri) is None else uri.partition("://")[2]
    if scheme_of(uri) is not None and path.startswith("/") and not Path(path).exists():
        path = path[1:]  # sqlite:///mails.db is a file of this folder
    if not Path(path).is_file():
        raise fault(uri, f"there is no file {path!r}; check the path.")
    return path


def _sqlite(uri: str) -> Any:
    # Opened to be read alone: a query cannot change it.
    path = Path(_file(uri)).absolute().as_uri()
    return sqlite3.connect(f"{path}?mode=ro", uri=True)


def _duckdb(uri: str) -> Any:
    return require("duckdb", "read a database of DuckDB").connect(
        _file(uri), read_only=True
    )


def _postgresql(uri: str) -> Any:
    connection = require("psycopg", "read a database of PostgreSQL").connect(uri)
    connection.read_only = True
    return connection


_OPEN: dict[str, Callable[[str], Any]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
}
