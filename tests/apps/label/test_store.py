"""The log on disk: nothing lost, nothing counted twice."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from earmark.apps.label.project import claim
from earmark.apps.label.store import Store, settled
from earmark.exceptions import DataError

FACTS = {"documents": "abc", "seed": 0}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path, FACTS)
    yield made
    made.close()


def labels_of(store):
    return {d: settled(entries).labels for d, entries in store.entries().items()}


def test_the_latest_answer_of_a_document_counts(store):
    store.write("k1", [(3, ("a",))], "asked", "tab")
    store.write("k2", [(3, ("b",))], "asked", "other")
    store.write("k3", [(4, None)], "asked", "tab")
    assert labels_of(store) == {3: ("b",), 4: None}
    assert settled(store.entries_of(3)).labels == ("b",)


def test_the_same_key_is_taken_once(store):
    assert store.write("k", [(1, ("a",))], "asked", "tab")
    assert not store.write("k", [(1, ("b",))], "asked", "tab")
    assert labels_of(store) == {1: ("a",)}


def test_undo_brings_back_what_counted_before(store):
    store.write("k1", [(1, ("a",))], "asked", "tab")
    store.write("k2", [(1, ("b",))], "asked", "tab")
    store.write("k3", [(2, ("a",))], "asked", "other")
    assert store.undo("tab") == [1]
    assert labels_of(store) == {1: ("a",), 2: ("a",)}
    assert store.undo("tab") == [1]
    assert store.undo("tab") == []
    assert labels_of(store) == {2: ("a",)}


def test_bulk_never_replaces_a_person_and_is_undone_at_once(store):
    store.write("k1", [(1, ("a",))], "asked", "tab")
    store.write("k2", [(1, ("b",)), (2, ("b",))], "bulk", "tab")
    assert labels_of(store) == {1: ("a",), 2: ("b",)}
    assert settled(store.entries_of(1)).labels == ("a",)
    assert sorted(store.undo("tab")) == [1, 2]
    assert labels_of(store) == {1: ("a",)}


def test_several_documents_are_written_all_or_none(store):
    store.write("k", [(1, ("a",))], "asked", "tab")
    assert not store.write("k", [(5, ("a",)), (1, ("a",))], "bulk", "tab")
    assert labels_of(store) == {1: ("a",)}


def test_labels_keep_their_order(store):
    store.add_labels(["z", "a"])
    store.add_labels(["a", "m", "z"])
    assert store.labels() == ["z", "a", "m"]


def test_other_documents_are_refused(tmp_path, store):
    with pytest.raises(DataError, match="begun with other documents"):
        Store(tmp_path, {**FACTS, "documents": "xyz"})


def test_a_file_that_is_no_project_is_refused(tmp_path):
    (tmp_path / "answers.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(DataError, match="no project"):
        Store(tmp_path, FACTS)


def test_it_writes_ahead_and_waits_for_the_disk(store):
    assert store._all("PRAGMA journal_mode") == [("wal",)]
    assert store._all("PRAGMA synchronous") == [(2,)]


def test_two_processes_write_into_one_project(tmp_path, store):
    other = Store(tmp_path, FACTS)
    for number in range(20):
        (store, other)[number % 2].write(f"k{number}", [(number, ("a",))], "x", "t")
    assert len(store.entries()) == len(other.entries()) == 20
    other.close()


WRITER = """
import sys
from pathlib import Path
from earmark.apps.label.project import claim
from earmark.apps.label.store import Store
store = Store(Path(sys.argv[1]), {"documents": "abc", "seed": 0})
for number in range(100000):
    store.write(f"k{number}", [(number, ("a",))], "asked", "tab")
    print(number, flush=True)
"""


def test_kill_9_loses_no_answer_that_was_confirmed(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(25):
        last = int(process.stdout.readline())
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    last = int(rest[-1]) if rest else last
    store = Store(tmp_path, FACTS)
    found = sorted(store.entries())
    assert found[: last + 1] == list(range(last + 1))
    assert len(found) <= last + 2  # at most the one that was under way
    store.close()
    with sqlite3.connect(tmp_path / "answers.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_project_is_held_by_one_process_at_a_time(tmp_path):
    held = claim(tmp_path)
    with pytest.raises(DataError, match="open in another `earmark label`"):
        claim(tmp_path)
    held.close()
    claim(tmp_path).close()


@pytest.mark.parametrize("foreign", [True, False])
def test_a_store_that_is_refused_is_closed(tmp_path, monkeypatch, foreign):
    connect, opened = sqlite3.connect, []

    def remembered(*arguments, **settings):
        opened.append(connect(*arguments, **settings))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    if foreign:
        (tmp_path / "answers.sqlite").write_text("no database at all, but some text")
    else:
        Store(tmp_path, {"documents": "a"}).close()
    with pytest.raises(DataError):
        Store(tmp_path, {"documents": "b"})
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")
