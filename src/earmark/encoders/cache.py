"""Vectors on disk, each text once per encoder: shared by processes, safe to kill.

One SQLite file per encoder name, in WAL mode: a writer that is killed leaves whole
rows only, and readers never wait. Who encodes first takes the lock of the texts'
stripe, which the system drops with the process; a second process works on another
stripe meanwhile and then finds the vectors. Texts are not stored, only their hashes.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earmark.encoders.encoder import Vectors, text_key
from earmark.exceptions import DataError
from earmark.parameters import parse_size
from earmark.whole_files import cache_folder, locked_file

logger = logging.getLogger("earmark")

_N_STRIPES = 8
_FIRST_BATCH, _LARGEST_BATCH, _BATCH_SECONDS = 32, 4096, 1.0
_DEFAULT_LIMIT = 4 * 2**30
# Probe vectors that differ by more than this, of their length, are another encoder's.
_SAME = 1e-4
_SCHEMA = """
CREATE TABLE IF NOT EXISTS encoders(
  id INTEGER PRIMARY KEY, name TEXT, stamp TEXT, width INTEGER, probes BLOB);
CREATE TABLE IF NOT EXISTS vectors(
  number INTEGER PRIMARY KEY, encoder INTEGER, text BLOB, vector BLOB,
  UNIQUE(encoder, text));
"""


class Entry(NamedTuple):
    """What the cache holds of one encoder."""

    path: Path
    name: str
    n_texts: int
    n_bytes: int


def cache_limit() -> int:
    """Bytes per encoder, by EARMARK_ENCODER_CACHE; 0 if that is "off"."""
    stated = os.environ.get("EARMARK_ENCODER_CACHE", "").strip()
    if not stated:
        return _DEFAULT_LIMIT
    if stated.lower() in ("off", "no", "false"):
        return 0
    size = parse_size(stated)
    if size is None:
        raise DataError(
            "EARMARK_ENCODER_CACHE must be off or a size such as 2GB, "
            f"got {stated!r}: set another, or none."
        )
    return size


class VectorCache:
    """The vectors of one encoder; stamp and probe vectors tell it from others."""

    def __init__(self, name: str, stamp: str, probes: Vectors) -> None:
        self.name, self.stamp, self.probes = name, stamp, probes
        digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
        self.path = _folder() / f"{digest}.sqlite"
        self._limit = cache_limit()

    def encoded(
        self,
        texts: Sequence[str],
        encode: Callable[[list[str]], Vectors],
        *,
        store: bool,
        advance: Callable[[int], None],
    ) -> Vectors:
        """The vectors of distinct texts; with ``store`` new ones are kept for others.

        ``advance`` is called with how many more are there.
        """
        vectors = np.zeros((len(texts), self.probes.shape[1]), dtype=np.float32)
        work = _Work(texts, vectors, encode, advance)
        if self._limit and (store or self.path.exists()):
            try:
                with self._opened() as database:
                    self._fill(database, work, store)
            except (sqlite3.Error, OSError) as error:
                logger.warning("vectors are not cached in %s: %s", self.path, error)
                if _is_spoiled(error):
                    _remove(self.path)
        for batch in _batches(work.missing()):
            work.encode(batch)
        return vectors

    @contextlib.contextmanager
    def _opened(self) -> Iterator[_Rows]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(_connected(self.path)) as connection:
            rows = _Rows(connection)
            rows.adopt(self.name, self.stamp, self.probes)
            yield rows

    def _fill(self, rows: _Rows, work: _Work, store: bool) -> None:
        """Take what is known; then encode stripe by stripe, free ones first."""
        rows.read_into(work, work.missing())
        if not store:
            return
        stripes: dict[int, list[int]] = {}
        for place in work.missing():
            stripes.setdefault(work.keys[place][0] % _N_STRIPES, []).append(place)
        start = os.getpid() % _N_STRIPES  # two processes begin at different ones
        waiting = sorted(stripes, key=lambda stripe: (stripe - start) % _N_STRIPES)
        while waiting:
            busy: list[int] = []
            for stripe in waiting:
                lock = self.path.with_suffix(f".{stripe}.lock")
                # When all that is left is being encoded elsewhere: wait for one.
                wait = len(busy) == len(waiting) - 1
                with locked_file(lock, wait=wait) as taken:
                    if not taken:
                        busy.append(stripe)
                        continue
                    self._encode_stripe(rows, work, stripes[stripe])
            waiting = busy
        rows.make_room(self._limit)

    def _encode_stripe(self, rows: _Rows, work: _Work, places: list[int]) -> None:
        rows.read_into(work, places)  # another process may have been here
        for batch in _batches([i for i in places if not work.done[i]]):
            work.encode(batch)
            rows.write_from(work, batch)


@dataclass(eq=False)
class _Work:
    """Texts, and the vectors they have so far."""

    texts: Sequence[str]
    vectors: Vectors
    encoder: Callable[[list[str]], Vectors]
    advance: Callable[[int], None]

    def __post_init__(self) -> None:
        self.keys = [text_key(text) for text in self.texts]
        self.done = np.zeros(len(self.texts), dtype=bool)

    def missing(self) -> list[int]:
        return np.flatnonzero(~self.done).tolist()

    def encode(self, places: list[int]) -> None:
        self.vectors[places] = self.encoder([self.texts[i] for i in places])
        self.done[places] = True
        self.advance(len(places))


class _Rows:
    """The tables of one file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._encoder = 0

    def adopt(self, name: str, stamp: str, probes: Vectors) -> None:
        """Find the encoder by its name, files and probe vectors, or enter it."""
        width = probes.shape[1]
        length = float(np.linalg.norm(probes, axis=1).max(initial=0.0))
        with self._connection as writing:
            writing.execute("BEGIN IMMEDIATE")
            query = "SELECT id, probes FROM encoders WHERE stamp = ? AND width = ?"
            for number, blob in writing.execute(query, (stamp, width)):
                known = np.frombuffer(blob, dtype=np.float32).reshape(-1, width)
                if known.shape == probes.shape and np.allclose(
                    known, probes, rtol=0.0, atol=_SAME * length
                ):
                    self._encoder = number
                    return
            entry = (name, stamp, width, probes.tobytes())
            query = "INSERT INTO encoders(name, stamp, width, probes) VALUES(?,?,?,?)"
            self._encoder = writing.execute(query, entry).lastrowid or 0

    def read_into(self, work: _Work, places: list[int]) -> None:
        size = work.vectors.shape[1] * 4
        query = "SELECT vector FROM vectors WHERE encoder = ? AND text = ?"
        n_found = 0
        for place in places:
            row = self._connection.execute(
                query, (self._encoder, work.keys[place])
            ).fetchone()
            if row is not None and len(row[0]) == size:
                work.vectors[place] = np.frombuffer(row[0], dtype=np.float32)
                work.done[place] = True
                n_found += 1
        work.advance(n_found)

    def write_from(self, work: _Work, places: list[int]) -> None:
        query = "INSERT OR REPLACE INTO vectors(encoder, text, vector) VALUES(?,?,?)"
        entries = [
            (self._encoder, work.keys[i], work.vectors[i].tobytes()) for i in places
        ]
        with self._connection as writing:
            writing.execute("BEGIN IMMEDIATE")
            writing.executemany(query, entries)

    def make_room(self, limit: int) -> None:
        """Drop the oldest vectors of a file that has grown beyond its limit."""
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used = (pages - free) * size
        if used <= limit:
            return
        query = "SELECT min(number), max(number) FROM vectors"
        first, last = self._connection.execute(query).fetchone()
        if first is None:
            return
        # A quarter below the limit, so that this is rare.
        share = 1.0 - 0.75 * limit / used
        with self._connection as writing:
            writing.execute("BEGIN IMMEDIATE")
            bound = first + int(share * (last - first + 1))
            writing.execute("DELETE FROM vectors WHERE number < ?", (bound,))


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _batches(places: list[int]) -> Iterator[list[int]]:
    """Batches that take about a second each, as far as the encoder's speed is known."""
    start, size = 0, _FIRST_BATCH
    while start < len(places):
        began = time.monotonic()
        yield places[start : start + size]
        start += size
        slow = time.monotonic() - began > _BATCH_SECONDS
        size = max(size // 2, 8) if slow else min(2 * size, _LARGEST_BATCH)


def _folder() -> Path:
    return cache_folder() / "encoders"


def _is_spoiled(error: Exception) -> bool:
    """Whether a file is no longer a database, such as after a fault of the disk."""
    return "malformed" in str(error) or "not a database" in str(error)


def _remove(path: Path) -> None:
    for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with contextlib.suppress(OSError):
            name.unlink()


def cache_entries() -> list[Entry]:
    """What is cached, encoder by encoder."""
    return [_entry(path) for path in sorted(_folder().glob("*.sqlite"))]


def _entry(path: Path) -> Entry:
    n_bytes = sum(part.stat().st_size for part in path.parent.glob(f"{path.name}*"))
    try:
        with contextlib.closing(_connected(path)) as database:
            names = database.execute("SELECT DISTINCT name FROM encoders").fetchall()
            n_texts = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
    except sqlite3.Error as error:
        return Entry(path, f"unreadable: {error}", 0, n_bytes)
    return Entry(path, ", ".join(name for (name,) in names), n_texts, n_bytes)


def clear_cache(entries: Iterable[Entry]) -> None:
    """Forget vectors; a process that is at work loses nothing but time."""
    for entry in entries:
        try:
            with contextlib.closing(_connected(entry.path)) as database:
                database.execute("DELETE FROM vectors")
                database.execute("VACUUM")
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            if not _is_spoiled(error):
                raise DataError(f"{entry.path} cannot be cleared: {error}") from error
            _remove(entry.path)
