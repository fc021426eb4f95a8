"""The project on disk: every answer is there before the next document is shown.

An append-only log in SQLite. What counts for a document is its latest entry that was
not undone, so nothing can be counted twice; an entry carries a key of the client's
choice, so that sending it again after a crash changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earmark.exceptions import DataError

__all__ = ["Entry", "Store"]

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
    place INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL
);
CREATE TABLE IF NOT EXISTS log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    document INTEGER NOT NULL,
    labels TEXT,
    how TEXT NOT NULL,
    client TEXT NOT NULL,
    at REAL NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    UNIQUE (key, document)
);
CREATE INDEX IF NOT EXISTS log_document ON log (document, number);
CREATE TABLE IF NOT EXISTS curve (
    n_answers INTEGER PRIMARY KEY, n_checks INTEGER, accuracy REAL, low REAL,
    high REAL, coverage REAL
);
"""


@dataclass(frozen=True)
class Entry:
    """One line of the log; ``labels`` is None for a skipped document."""

    number: int
    document: int
    labels: tuple[str, ...] | None
    how: str
    client: str
    at: float


class Store:
    """The log of a project; safe for several threads.

    Parameters
    ----------
    folder : Path
        The project; created if need be.
    facts : dict
        What must not change between sessions: the data's fingerprint and the
        settings. Another value than the stored one is a DataError.

    """

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "answers.sqlite"
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(
                self.path, check_same_thread=False, isolation_level=None, timeout=10
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            # A commit is on the disk when it returns, also if the power fails.
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{self.path}: no project of earmark label: {error}"
            ) from None
        self._agree(dict(facts, version=_VERSION))

    def _agree(self, facts: dict[str, Any]) -> None:
        for name, value in facts.items():
            stored = self.fact(name)
            if stored is None:
                self.set_fact(name, value)
            elif stored != value:
                raise DataError(
                    f"{self.path}: this project was begun with {name} {stored!r}, now "
                    f"it is {value!r}; choose another folder with --project."
                )

    def fact(self, name: str) -> Any:
        """A stored fact, or None."""
        rows = self._all("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def set_fact(self, name: str, value: Any) -> None:
        """Store a fact."""
        self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def confirmed(self) -> set[int]:
        """Documents whose suspected answer somebody has called right."""
        return set(self.fact("confirmed") or [])

    def confirm(self, document: int) -> None:
        """Remember that the answer to a document is right; it is not asked again."""
        self.set_fact("confirmed", sorted({*self.confirmed(), document}))

    # -- labels ----------------------------------------------------------------

    def labels(self) -> list[str]:
        """All labels in the order they were made."""
        return [name for (name,) in self._all("SELECT name FROM labels ORDER BY place")]

    def add_labels(self, names: Iterable[str]) -> None:
        """Make labels; those that exist stay as they are."""
        with self._lock, self._db:
            for name in names:
                self._db.execute(
                    "INSERT OR IGNORE INTO labels (name) VALUES (?)", (name,)
                )

    # -- answers ---------------------------------------------------------------

    def write(
        self,
        key: str,
        answers: Sequence[tuple[int, tuple[str, ...] | None]],
        how: str,
        client: str,
    ) -> bool:
        """Add entries, all or none, on disk when it returns.

        False if they were there already: the client asked twice.
        """
        now = time.time()
        rows = [
            (
                key,
                document,
                None if labels is None else json.dumps(labels),
                how,
                client,
                now,
            )
            for document, labels in answers
        ]
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(
                    "INSERT INTO log (key, document, labels, how, client, at) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    rows,
                )
                self._db.execute("COMMIT")
            except sqlite3.IntegrityError:
                self._db.execute("ROLLBACK")
                return False
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        return True

    def undo(self, client: str) -> list[int]:
        """Undo the last entry of a tab, or else of its browser; gives its documents.

        A client is "browser-tab", so a new tab of the same browser still undoes.
        """
        browser = client.partition("-")[0]
        with self._lock:
            last = self._all(
                "SELECT key FROM log "
                "WHERE NOT undone AND (client = ? OR substr(client, 1, ?) = ?) "
                "ORDER BY client = ? DESC, number DESC LIMIT 1",
                client,
                len(browser) + 1,
                f"{browser}-",
                client,
            )
            if not last:
                return []
            (key,) = last[0]
            documents = [
                d for (d,) in self._all("SELECT document FROM log WHERE key = ?", key)
            ]
            self._run("UPDATE log SET undone = 1 WHERE key = ?", key)
            return documents

    def current(self) -> dict[int, Entry]:
        """The entry that counts for each document, oldest first."""
        found: dict[int, Entry] = {}
        for row in self._all(
            "SELECT number, document, labels, how, client, at FROM log "
            "WHERE NOT undone ORDER BY number"
        ):
            entry = _entry(row)
            if entry.how == "bulk" and entry.document in found:
                continue  # a person's answer is worth more than the model's
            found.pop(entry.document, None)
            found[entry.document] = entry
        return found

    def current_of(self, document: int) -> Entry | None:
        """The entry that counts for one document."""
        rows = self._all(
            "SELECT number, document, labels, how, client, at FROM log "
            "WHERE NOT undone AND document = ? "
            "ORDER BY how = 'bulk', number DESC LIMIT 1",
            document,
        )
        return _entry(rows[0]) if rows else None

    # -- learning curve ----------------------------------------------------------

    def add_point(self, **point: Any) -> None:
        """Remember what was estimated after so many answers."""
        names = ("n_answers", "n_checks", "accuracy", "low", "high", "coverage")
        self._run(
            "INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?, ?, ?)",
            *(point[name] for name in names),
        )

    def curve(self) -> list[dict[str, Any]]:
        """All points, by number of answers."""
        names = ("n_answers", "n_checks", "accuracy", "low", "high", "coverage")
        rows = self._all("SELECT * FROM curve ORDER BY n_answers")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _all(self, command: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(command, values).fetchall()

    def _run(self, command: str, *values: Any) -> None:
        with self._lock:
            self._db.execute(command, values)


def _entry(row: Any) -> Entry:
    number, document, labels, how, client, at = row
    given = None if labels is None else tuple(json.loads(labels))
    return Entry(number, document, given, how, client, at)
