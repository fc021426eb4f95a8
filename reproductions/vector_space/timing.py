"""Tables 14.2 and 14.3, measured: time against the number of documents and classes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from earmark.models import NeighborsClassifier, RocchioClassifier
from earmark.typing import SparseMatrix
from reproductions.study import Run

__all__ = ["inverted_index", "time_complexity"]

_TERMS, _WORDS = 20_000, 60


def time_complexity(run: Run) -> dict[str, Any]:
    """CPU seconds of training and testing, best of several, and growth exponents.

    Documents of 60 words drawn by Zipf's law, classes at random: time does not ask
    what they mean. Small sizes measure the overhead of a call, so the exponent is the
    slope between the two largest: 1 is linear growth, 0 none.
    """
    sizes = (2000, 8000) if run.quick else (2000, 8000, 32_000, 128_000)
    classes = (8, 64) if run.quick else (8, 64, 512, 1024)
    repeats = 2 if run.quick else 3
    rng = np.random.default_rng(0)
    test = _documents(200, rng)
    by_size = []
    for size in sizes:
        X = _documents(size, rng)
        y = rng.integers(0, 20, size)
        by_size.append({"documents": size, **_timed(X, y, test, repeats)})
        run.progress(f"time with {size} documents")
    X, test = _documents(sizes[1], rng), _documents(2000, rng)
    by_classes = []
    for count in classes:
        y = rng.permutation(np.arange(X.shape[0]) % count)
        by_classes.append({"classes": count, **_timed(X, y, test, repeats)})
        run.progress(f"time with {count} classes")
    return {
        "by documents": by_size,
        "by classes": by_classes,
        "exponent in documents": _exponents(by_size, "documents"),
        "exponent in classes": _exponents(by_classes, "classes"),
    }


def inverted_index(run: Run) -> list[dict[str, Any]]:
    """Section 14.3.1: neighbours by an inverted index against a scan of all documents.

    The scan multiplies the query with every training document. The book expects a
    factor of 10 where documents are short and the stop list is large.
    """
    size = 8000 if run.quick else 64_000
    rows = []
    for words, stopped in ((_WORDS, 0), (_WORDS, 100), (10, 0), (10, 100)):
        rng = np.random.default_rng(0)
        X, test = (_documents(n, rng, words)[:, stopped:].tocsr() for n in (size, 200))
        model = NeighborsClassifier(10, random_state=0).fit(X, np.arange(size) % 20)
        shared = X.astype(bool) @ test.astype(bool).T
        columns = [test[[i]].T.tocsc() for i in range(test.shape[0])]
        rows.append(
            {
                "words": words,
                "stopped": stopped,
                "sharing": float(shared.nnz / (size * test.shape[0])),
                "index": _best(partial(model.predict, test)),
                "scan": _best(partial(_scan, X, columns)),
            }
        )
        run.progress(f"inverted index: {words} words, {stopped} terms stopped")
    return rows


def _scan(X: Any, queries: list[Any]) -> list[Any]:
    return [X @ query for query in queries]


def _best(job: Callable[[], Any], n_repeats: int = 3) -> float:
    """CPU seconds, the least of some."""
    seconds = []
    for _ in range(n_repeats):
        start = time.process_time()
        job()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _documents(n: int, rng: np.random.Generator, length: int = _WORDS) -> SparseMatrix:
    """Counts of words whose frequency falls as 1 / rank."""
    cumulative = np.cumsum(1.0 / np.arange(1, _TERMS + 1))
    words = np.searchsorted(cumulative / cumulative[-1], rng.random(n * length))
    words = np.minimum(words, _TERMS - 1)
    rows = np.repeat(np.arange(n), length)
    counts = sparse.csr_array((np.ones(len(words)), (rows, words)), shape=(n, _TERMS))
    counts.sum_duplicates()
    return counts


def _timed(X: Any, y: Any, test: Any, n_repeats: int) -> dict[str, float]:
    rocchio = RocchioClassifier(temperature=0.02)
    nearest = NeighborsClassifier(10, random_state=0)
    jobs: dict[str, Callable[[], Any]] = {
        "Rocchio, training": lambda: rocchio.fit(X, y),
        "Rocchio, testing": lambda: rocchio.predict(test),
        "kNN, training": lambda: nearest.fit(X, y),
        "kNN, testing": lambda: nearest.predict(test),
    }
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(n_repeats):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - start)
    return best


def _exponents(rows: list[dict[str, Any]], by: str) -> dict[str, float]:
    """Slope of log time against log size between the two largest sizes."""
    small, large = rows[-2:]
    growth = np.log(large[by] / small[by])
    return {
        name: float(np.log(large[name] / small[name]) / growth)
        for name in large
        if name != by
    }
