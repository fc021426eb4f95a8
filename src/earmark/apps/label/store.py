"""The project on disk: every answer is there before the next document is shown.

An append-only log in SQLite. An entry carries a key of the client's choice, so that
sending it again after a crash changes nothing. What counts for a document follows
from its entries that were not undone (``settled``). Labels that were renamed, merged,
split or deleted are a log of their own: entries keep what was said, and are read
through the changes made after them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from earmark.exceptions import DataError
from earmark.typing import JsonObject

__all__ = ["Entry", "Given", "Store", "opinions", "settled"]

# Documents and their labels; None is a skip.
Given = Sequence[tuple[int, tuple[str, ...] | None]]

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
CREATE TABLE IF NOT EXISTS label_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL,
    old TEXT NOT NULL, new TEXT NOT NULL, person TEXT NOT NULL, at REAL NOT NULL,
    entry INTEGER NOT NULL, undone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS notes (
    document INTEGER NOT NULL, person TEXT NOT NULL, text TEXT NOT NULL,
    flagged INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (document, person)
);
CREATE TABLE IF NOT EXISTS people (
    name TEXT PRIMARY KEY, digest TEXT NOT NULL, at REAL NOT NULL
);
"""
# Columns that projects of earlier versions lack.
_ADDED = {
    "log": {"person": "TEXT NOT NULL DEFAULT ''"},
    "labels": {
        "description": "TEXT NOT NULL DEFAULT ''",
        "key": "TEXT NOT NULL DEFAULT ''",
        "family": "TEXT NOT NULL DEFAULT ''",
        "gone": "INTEGER NOT NULL DEFAULT 0",
    },
}
_ENTRY = "SELECT number, document, labels, how, client, at, person FROM log "
_MAKE_LABEL = (
    "INSERT INTO labels (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET gone = 0"
)
# Answers of people who could not see each other's.
_INDEPENDENT = ("asked", "data")


@dataclass(frozen=True)
class Entry:
    """One line of the log; ``labels`` is None for a skipped document."""

    number: int
    document: int
    labels: tuple[str, ...] | None
    how: str
    client: str
    at: float
    person: str = ""


@dataclass(frozen=True)
class LabelChange:
    """Labels renamed or merged into ``new``, deleted, or split into several."""

    number: int
    action: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    person: str
    at: float
    entry: int
    undone: bool

    def applied(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """What an earlier answer means after the change."""
        if not set(labels) & set(self.old):
            return labels
        into = self.new if self.action in ("rename", "merge") else ()
        moved = [
            n for label in labels for n in (into if label in self.old else (label,))
        ]
        return tuple(dict.fromkeys(moved))


def opinions(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The last independent answer of each person, in the order of their first."""
    said: dict[str, Entry] = {}
    for entry in entries:
        if entry.how in _INDEPENDENT:
            said[entry.person] = entry
    return said


def settled(entries: Sequence[Entry]) -> Entry | None:
    """The entry that counts for a document, of all that were not undone.

    An answer by somebody who saw the others (from the list, or settling a
    disagreement) counts before independent ones, the latest first. Among those, what
    most people said; between equals, what was said first. An answer counts before a
    skip, a person before the model.
    """
    by_people = [entry for entry in entries if entry.how != "bulk"]
    if not by_people:
        return entries[-1] if entries else None
    seen = [entry for entry in by_people if entry.how not in _INDEPENDENT]
    if seen:
        return seen[-1]
    said = list(opinions(by_people).values())
    answers = [entry for entry in said if entry.labels is not None]
    if not answers:
        return said[-1]
    votes = Counter(entry.labels for entry in answers)
    return max(answers, key=lambda entry: votes[entry.labels])


class Store:
    """The log of a project in a folder; safe for several threads."""

    def __init__(self, folder: Path, facts: JsonObject) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "answers.sqlite"
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(
                self.path, check_same_thread=False, isolation_level=None, timeout=10
            )
        except sqlite3.DatabaseError as error:
            raise self._foreign(error) from None
        try:
            self._prepare(facts)
        except BaseException:
            self._db.close()
            raise

    def _foreign(self, error: sqlite3.DatabaseError) -> DataError:
        return DataError(f"{self.path}: no project of earmark label: {error}")

    def _prepare(self, facts: JsonObject) -> None:
        """Make the tables that lack, and check that it is the same project."""
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            # A commit is on the disk when it returns, also if the power fails.
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_TABLES)
            for table, columns in _ADDED.items():
                there = {row[1] for row in self._all(f"PRAGMA table_info({table})")}
                for name, kind in columns.items():
                    if name not in there:
                        self._run(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
        except sqlite3.DatabaseError as error:
            raise self._foreign(error) from None
        # Fingerprint of the data and settings: the same in every session.
        for name, value in {**facts, "version": _VERSION}.items():
            stored = self.fact(name)
            if stored is None:
                self.set_fact(name, value)
            elif stored != value:
                begun = f"{name} {stored!r}, now it is {value!r}"
                if name == "documents":  # digests: of no use to people
                    begun = "other documents: texts were added, taken out or changed"
                raise DataError(
                    f"{self.path}: this project was begun with {begun}; choose another "
                    "folder with --project."
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
        return [label["name"] for label in self.label_facts()]

    def label_facts(self) -> list[JsonObject]:
        """Name, description, key and group of each label, in the order of making."""
        return self._dicts(
            'SELECT name, description, key, family AS "group" FROM labels '
            "WHERE NOT gone ORDER BY place"
        )

    def add_labels(self, names: Iterable[str], *, again: bool = True) -> None:
        """Make labels; unless ``again``, none that was changed into others before."""
        changes = [] if again else self.label_changes()
        replaced = {old for change in changes for old in change.old}
        with self._transaction():
            for name in names:
                if name not in replaced:
                    self._db.execute(_MAKE_LABEL, (name,))

    def describe_label(
        self, name: str, description: str, key: str, group: str = ""
    ) -> None:
        """Set what a label means, the key that gives it, and its group."""
        self._run(
            "UPDATE labels SET description = ?, key = ?, family = ? WHERE name = ?",
            *(description, key, group, name),
        )

    def change_labels(
        self, action: str, old: Sequence[str], new: Sequence[str], person: str
    ) -> None:
        """Rename or merge ``old`` into ``new``, delete it, or split it, all or none."""
        with self._transaction():
            run = self._db.execute
            if action == "rename":
                run("DELETE FROM labels WHERE name = ? AND gone", new)
                run("UPDATE labels SET name = ? WHERE name = ?", (*new, *old))
            else:
                for name in set(old) - set(new):
                    run("UPDATE labels SET gone = 1 WHERE name = ?", (name,))
            for name in new:
                run(_MAKE_LABEL, (name,))
            (last,) = run("SELECT max(number) FROM log").fetchone()
            names = json.dumps(list(old)), json.dumps(list(new))
            run(
                "INSERT INTO label_changes (action, old, new, person, at, entry) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (action, *names, person, time.time(), last or 0),
            )

    def undo_label_change(self, change: LabelChange) -> None:
        """Take back a merge, a split or a deletion; answers mean what they did."""
        with self._transaction():
            undone = "UPDATE label_changes SET undone = 1 WHERE number = ?"
            self._db.execute(undone, (change.number,))
            for name in change.old:
                self._db.execute("UPDATE labels SET gone = 0 WHERE name = ?", (name,))

    def label_changes(self, *, undone: bool = False) -> list[LabelChange]:
        """What became of labels, oldest first."""
        rows = self._all(
            "SELECT number, action, old, new, person, at, entry, undone "
            "FROM label_changes WHERE ? OR NOT undone ORDER BY number",
            undone,
        )
        return [
            LabelChange(
                n, action, tuple(json.loads(old)), tuple(json.loads(new)), *rest
            )
            for n, action, old, new, *rest in rows
        ]

    # -- notes and people --------------------------------------------------------

    def set_note(self, document: int, person: str, text: str, flagged: bool) -> None:
        """Keep a person's note on a document; an empty one without a flag goes."""
        if text or flagged:
            self._run(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?)",
                *(document, person, text, flagged, time.time()),
            )
        else:
            self._run(
                "DELETE FROM notes WHERE document = ? AND person = ?", document, person
            )

    def notes(self, document: int | None = None) -> list[JsonObject]:
        """Notes and flags of one document, or of all."""
        rows = self._dicts(
            "SELECT document, person, text, flagged, at FROM notes "
            "WHERE ?1 IS NULL OR document = ?1 ORDER BY at",
            document,
        )
        return [row | {"flagged": bool(row["flagged"])} for row in rows]

    def invite(self, name: str) -> str:
        """A new token for a person; only its digest is kept."""
        token = secrets.token_urlsafe(24)
        self._run(
            "INSERT OR REPLACE INTO people VALUES (?, ?, ?)",
            *(name, _digest(token), time.time()),
        )
        return token

    def revoke(self, name: str) -> bool:
        """Make a person's token worthless; what the person said stays."""
        return self._run("DELETE FROM people WHERE name = ?", name) > 0

    def person_of(self, token: str) -> str | None:
        """Whose token it is, or None."""
        digest, owner = _digest(token), None
        for name, stored in self._all("SELECT name, digest FROM people"):
            if hmac.compare_digest(stored, digest):
                owner = name
        return owner

    def people(self) -> list[JsonObject]:
        """Everybody who was invited or said something: answers and last time."""
        rows = self._dicts(
            "SELECT person AS name, count(*) AS answers, max(at) AS last FROM log "
            "WHERE NOT undone AND how NOT IN ('bulk', 'data') AND labels IS NOT NULL "
            "GROUP BY person"
        )
        said = {row["name"]: row for row in rows}
        invited = [name for (name,) in self._all("SELECT name FROM people")]
        return [
            {"name": name, "answers": 0, "last": None, "invited": name in invited}
            | said.get(name, {})
            for name in sorted({*said, *invited})
        ]

    # -- answers ---------------------------------------------------------------

    def write(
        self, key: str, answers: Given, how: str, client: str, person: str = ""
    ) -> bool:
        """Add entries, all or none, on disk; False if the client asked twice."""
        same = (how, client, time.time(), person)
        rows = [
            (key, document, None if labels is None else json.dumps(labels), *same)
            for document, labels in answers
        ]
        try:
            with self._transaction():
                self._db.executemany(
                    "INSERT INTO log (key, document, labels, how, client, at, person) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
        except sqlite3.IntegrityError:
            return False
        return True

    def undo(self, client: str) -> list[int]:
        """Undo the last entry of a tab, or else of its browser; gives its documents."""
        browser = client.partition("-")[0]  # a client is "browser-tab"
        with self._lock:
            last = self._all(
                "SELECT key FROM log "
                "WHERE NOT undone AND (client = ?1 OR substr(client, 1, ?2) = ?3) "
                "ORDER BY client = ?1 DESC, number DESC LIMIT 1",
                *(client, len(browser) + 1, f"{browser}-"),
            )
            if not last:
                return []
            documents = self._all("SELECT document FROM log WHERE key = ?", *last[0])
            self._run("UPDATE log SET undone = 1 WHERE key = ?", *last[0])
            return [document for (document,) in documents]

    def entries(self) -> dict[int, list[Entry]]:
        """Entries of each document that were not undone, oldest first."""
        rows = self._all(f"{_ENTRY} WHERE NOT undone ORDER BY document, number")
        return {
            document: self._read(group)
            for document, group in groupby(rows, key=lambda row: row[1])
        }

    def entries_of(self, document: int) -> list[Entry]:
        """The entries of one document that were not undone, oldest first."""
        return self._read(
            self._all(
                f"{_ENTRY} WHERE NOT undone AND document = ? ORDER BY number", document
            )
        )

    def _read(self, rows: Iterable[Any]) -> list[Entry]:
        """Read entries, with labels renamed as they were since."""
        changes = self.label_changes()
        entries = []
        for number, document, labels, *rest in rows:
            names = before = None if labels is None else tuple(json.loads(labels))
            for change in changes:
                if names is not None and change.entry >= number:
                    names = change.applied(names)
            if names or not before:  # else all it said is gone: the document is open
                entries.append(Entry(number, document, names, *rest))
        return entries

    # -- learning curve ----------------------------------------------------------

    def add_point(self, **point: Any) -> None:
        """Remember what was estimated after so many answers."""
        self._run(
            "INSERT OR REPLACE INTO curve "
            f"({', '.join(point)}) VALUES ({', '.join('?' * len(point))})",
            *point.values(),
        )

    def curve(self) -> list[JsonObject]:
        """All points, by number of answers."""
        return self._dicts("SELECT * FROM curve ORDER BY n_answers")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise

    def _all(self, command: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(command, values).fetchall()

    def _dicts(self, command: str, *values: Any) -> list[JsonObject]:
        """Rows by the names of their columns."""
        with self._lock:
            cursor = self._db.execute(command, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _run(self, command: str, *values: Any) -> int:
        """Run a command; how many rows it changed."""
        with self._lock:
            return self._db.execute(command, values).rowcount


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
