"""Counting higher-order paths: CPU seconds and peak extra memory, one thread.

    python -m benchmarks.higher_order [--repeats 3]

No public implementation of these counts exists to compare with. The peer of the
first row is the short way in scipy: make C = B'B of each class and sum its squares,
which gives the same numbers. CPU seconds, best of the repeats; memory is what the
process's peak rises above its size before the call.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.statistics.path_counts import second_order_paths, third_order_paths

MEMORY_TARGET_MB = 500


def _class_matrices(name: str, n_terms: int | None = None) -> list[Any]:
    """Presence matrices of the classes of a corpus, all on its full vocabulary."""
    train: Any = load_corpus(name, "train")
    counts = WordCounter().fit_transform(train.texts)
    X = sparse.csr_array((counts > 0).astype(np.int8))
    if n_terms is not None:
        frequency = np.asarray(X.sum(axis=0, dtype=np.int64)).ravel()
        X = X[:, np.sort(np.argsort(-frequency, kind="stable")[:n_terms])]
    labels = np.asarray(train.labels)
    return [X[labels == c] for c in np.unique(labels)]


def _synthetic(n_documents: int, n_terms: int, length: int) -> Any:
    """Documents of words drawn by Zipf's law."""
    rng = np.random.default_rng(0)
    weight = np.cumsum(1.0 / np.arange(1, n_terms + 1))
    drawn = np.searchsorted(weight, weight[-1] * rng.random(n_documents * length))
    indptr = np.arange(0, n_documents * length + 1, length, dtype=np.int64)
    ones = np.ones(len(drawn), dtype=np.int8)
    X = sparse.csr_array(
        (ones, drawn.astype(np.int32), indptr), shape=(n_documents, n_terms)
    )
    X.sum_duplicates()
    X.data[:] = 1
    return X


def _count_all(count: Callable[[Any], Any], matrices: Iterable[Any]) -> Any:
    return [count(B)[1] for B in matrices]


def _with_scipy(matrices: Iterable[Any]) -> Any:
    """The same totals from C = B'B, made outright."""
    totals = []
    for B in matrices:
        B = B.astype(np.int64)
        lengths = np.asarray(B.sum(axis=1)).ravel() - 1
        reach, q = B.T @ lengths, B.T @ lengths**2
        C = (B.T @ B).tocsr()
        squares = np.asarray((C * C).sum(axis=1)).ravel() - C.diagonal() ** 2
        totals.append(int((reach**2 - q - squares + reach).sum()) // 2)
    return totals


def _cpu(run: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times)


def _extra_memory(run: Callable[[], Any]) -> float:
    """Megabytes by which the peak of the process rises during a call (Linux)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # else freed memory that is kept would be reused
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    run()
    return max(0.0, (_status("VmHWM") - before) / 1024)


def _status(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return float(line.split()[1])
    raise KeyError(key)


def _row(job: str, run: Callable[[], Any], seconds: float, repeats: int) -> Any:
    """Seconds and memory of a job; without repeats, of one and the same run."""
    times: list[float] = []
    memory = _extra_memory(lambda: times.append(_cpu(run, 1)))
    cpu = min([*times, _cpu(run, repeats)] if repeats else times)
    return {
        "job": job,
        "peer": "none",
        "cpu_ratio": None,
        "memory_ratio": None,
        "cpu_seconds": round(cpu, 3),
        "extra_mb": round(memory, 1),
        "target": f"< {seconds} s CPU, < {MEMORY_TARGET_MB} MB",
        "met": cpu < seconds and memory < MEMORY_TARGET_MB,
    }


def newsgroups_second_order(repeats: int = 3) -> dict[str, Any]:
    """20 classes of 20 Newsgroups on the full vocabulary."""
    matrices = _class_matrices("20newsgroups")

    def ours() -> Any:
        return _count_all(second_order_paths, matrices)

    row: dict[str, Any] = _row(
        "second-order paths, 20 Newsgroups, 20 classes", ours, 0.5, repeats
    )
    row["terms"] = matrices[0].shape[1]
    row["peer"] = "scipy, C = B'B made outright, on two of the classes"
    two = matrices[:2]
    theirs: list[Any] = []
    started = time.process_time()
    peer_memory = _extra_memory(lambda: theirs.extend(_with_scipy(two)))
    peer_seconds = time.process_time() - started
    if theirs != ours()[:2]:
        raise AssertionError("the peer counts other paths")
    seconds = _cpu(lambda: _count_all(second_order_paths, two), repeats)
    memory = _extra_memory(lambda: _count_all(second_order_paths, two))
    row["cpu_ratio"] = round(peer_seconds / seconds, 1)
    row["memory_ratio"] = round(memory / peer_memory, 3)
    return row


def imdb_second_order(repeats: int = 3) -> dict[str, Any]:
    """Two classes of 12,500 reviews on the full vocabulary."""
    matrices = _class_matrices("imdb")
    row: dict[str, Any] = _row(
        "second-order paths, IMDB, 2 classes",
        lambda: _count_all(second_order_paths, matrices),
        4.0,
        repeats,
    )
    row["terms"] = matrices[0].shape[1]
    return row


def newsgroups_third_order(repeats: int = 3) -> dict[str, Any]:
    """Five classes on 2000 terms."""
    matrices = _class_matrices("20newsgroups", n_terms=2000)[:5]
    return dict(
        _row(
            "third-order paths, 5 newsgroups x 2000 terms",
            lambda: _count_all(third_order_paths, matrices),
            1.0,
            repeats,
        )
    )


def million_documents(_: int = 0) -> dict[str, Any]:
    """A class of 1,000,000 documents, once; memory at two sizes of the vocabulary."""
    small, large = (_synthetic(1_000_000, n, 25) for n in (50_000, 200_000))
    narrow = _extra_memory(lambda: second_order_paths(small))
    row: dict[str, Any] = _row(
        "second-order paths, 1,000,000 synthetic documents, 200,000 terms",
        lambda: second_order_paths(large),
        60.0,
        repeats=0,
    )
    row["extra_mb_with_50000_terms"] = round(narrow, 1)
    # V x V would grow sixteenfold.
    row["met"] = bool(row["met"] and row["extra_mb"] < 2 * narrow)
    return row


ROWS = (
    newsgroups_second_order,
    imdb_second_order,
    newsgroups_third_order,
    million_documents,
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    for row_function in ROWS:
        for key, value in row_function(arguments.repeats).items():
            print(f"{key:>26}  {value}")
        print()
