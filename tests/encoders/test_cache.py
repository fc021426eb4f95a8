"""The cache of vectors: every text once, whoever is killed or there as well."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from earmark.encoders import cache as module
from earmark.encoders.cache import VectorCache, cache_entries, cache_limit, clear_cache
from earmark.exceptions import DataError
from tests.encoders.worker import WIDTH, names, vectors

WORKER = Path(__file__).with_name("worker.py")
PROBES = vectors(["a probe", "another"])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EARMARK_ENCODER_CACHE", raising=False)


class Work:
    """Workers that share a log of what they encoded."""

    def __init__(self, folder):
        self.folder, self.log = folder, folder / "log"
        self.log.touch()

    def start(self, name, n=400, seconds=0.0, hang_at=0):
        values = (self.log, self.folder / f"{name}.npy", n, seconds, hang_at)
        command = [sys.executable, WORKER, *map(str, values)]
        root = str(WORKER.parents[2])
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": root})

    def wait_for(self, line):
        for _ in range(6000):
            if line in self.lines():
                return
            time.sleep(0.01)
        raise AssertionError(f"no {line}")

    def lines(self):
        return self.log.read_text().splitlines()

    def encoded(self):
        return Counter(line for line in self.lines() if line != "hanging")

    def result(self, name):
        return np.load(self.folder / f"{name}.npy")


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def killed(worker):
    worker.send_signal(signal.SIGKILL)
    worker.wait()


def test_killed_in_the_middle_nothing_is_encoded_twice(work):
    first = work.start("first", hang_at=4)
    work.wait_for("hanging")
    killed(first)
    before = work.encoded()
    assert 0 < len(before) < 400
    assert work.start("second").wait() == 0
    assert work.encoded() == Counter(names(400))  # each once, in both runs together
    assert_array_equal(work.result("second"), vectors(names(400)))


def test_two_at_once_share_the_work(work):
    both = [work.start(name, seconds=0.001) for name in ("one", "two")]
    assert [worker.wait() for worker in both] == [0, 0]
    assert work.encoded() == Counter(names(400))
    for name in ("one", "two"):
        assert_array_equal(work.result(name), vectors(names(400)))


def test_one_of_two_is_killed_and_the_other_takes_over(work):
    first = work.start("first", hang_at=3)
    work.wait_for("hanging")
    second = work.start("second")
    while len(work.encoded()) < 200:  # it goes round the stripe that is taken
        time.sleep(0.01)
    assert second.poll() is None
    killed(first)
    assert second.wait() == 0
    assert work.encoded() == Counter(names(400))
    assert_array_equal(work.result("second"), vectors(names(400)))


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_wrong(work):
    rng = np.random.default_rng(0)
    for _ in range(15):
        worker = work.start("killed", n=3000, seconds=0.001)
        time.sleep(float(rng.uniform(0.3, 1.2)))
        killed(worker)
    assert work.start("last", n=3000).wait() == 0
    assert_array_equal(work.result("last"), vectors(names(3000)))
    assert set(work.encoded()) == set(names(3000))


def read(texts, encode=vectors, *, store=True, probes=PROBES, stamp=""):
    cache = VectorCache("test:encoder", stamp, probes)
    return cache.encoded(texts, encode, store=store, advance=lambda n: None)


def never(texts):
    raise AssertionError(f"{texts} were encoded again")


def test_known_texts_are_read_and_new_ones_added():
    read(["a", "b"])
    assert_array_equal(read(["b", "a"], never), vectors(["b", "a"]))
    seen = []
    read(["a", "c"], lambda texts: seen.extend(texts) or vectors(texts))
    assert seen == ["c"]


def test_predictions_read_but_do_not_write():
    read(["a"], store=False)
    assert cache_entries() == []
    read(["a"])
    assert_array_equal(read(["a"], never, store=False), vectors(["a"]))
    read(["b"], store=False)
    assert [entry.n_texts for entry in cache_entries()] == [1]


def test_another_state_of_the_encoder_has_its_own_vectors():
    read(["a"])
    assert_array_equal(read(["a"], never, probes=PROBES + 1e-7), vectors(["a"]))
    changed = read(["a"], lambda texts: vectors(texts) + 1, probes=PROBES + 0.01)
    assert_array_equal(changed, vectors(["a"]) + 1)
    newer = read(["a"], lambda texts: vectors(texts) + 2, stamp="newer")
    assert_array_equal(newer, vectors(["a"]) + 2)
    assert_array_equal(read(["a"], never), vectors(["a"]))


def test_texts_that_differ_in_anything_differ():
    odd = ["a", "A", "a ", "\ud800", "", "é", "é"]
    read(odd[:3])
    assert_array_equal(read(odd, lambda t: np.ones((len(t), WIDTH)))[3:], 1)


def test_it_can_be_switched_off_and_bounded(monkeypatch):
    monkeypatch.setenv("EARMARK_ENCODER_CACHE", "off")
    read(["a"])
    assert cache_entries() == []
    monkeypatch.setenv("EARMARK_ENCODER_CACHE", "100 kB")
    assert cache_limit() == 100_000
    read(names(5000))
    (entry,) = cache_entries()
    assert 100 < entry.n_texts < 2000
    assert_array_equal(read(names(5000)), vectors(names(5000)))
    monkeypatch.setenv("EARMARK_ENCODER_CACHE", "plenty")
    with pytest.raises(DataError, match=r"off or a size such as 2GB, got 'plenty'"):
        read(["a"])


def test_a_spoiled_file_is_given_up_and_made_again(caplog):
    read(names(50))
    (entry,) = cache_entries()
    entry.path.write_bytes(b"no database, but long enough to look like one" * 99)
    assert cache_entries()[0].name.startswith("unreadable")
    assert_array_equal(read(names(50)), vectors(names(50)))
    assert "not cached" in caplog.text
    read(names(50))
    assert_array_equal(read(names(50), never), vectors(names(50)))


def test_a_row_of_the_wrong_length_is_not_taken():
    read(["a"])
    (entry,) = cache_entries()
    with sqlite3.connect(entry.path) as database:
        database.execute("UPDATE vectors SET vector = x'00'")
    assert_array_equal(read(["a"]), vectors(["a"]))


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "file"))
    assert_array_equal(read(["a"]), vectors(["a"]))
    assert "not cached" in caplog.text


def test_clearing_forgets_the_vectors():
    read(names(2000))
    (before,) = cache_entries()
    assert before.name == "test:encoder"
    assert before.n_texts == 2000
    clear_cache(cache_entries())
    (after,) = cache_entries()
    assert after.n_texts == 0
    assert after.n_bytes < before.n_bytes
    assert_array_equal(read(names(3)), vectors(names(3)))


def test_batches_grow_while_they_are_quick(monkeypatch):
    sizes = []

    def encode(texts):
        sizes.append(len(texts))
        return vectors(texts)

    monkeypatch.setattr(module, "_N_STRIPES", 1)
    read(names(500), encode)
    assert sizes[:3] == [32, 64, 128]
    assert sum(sizes) == 500
