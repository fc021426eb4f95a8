"""Tables 14.2 and 14.3, measured: time against the number of documents and classes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from earmark.models import NeighborsClassifier, RocchioClassifier
from reproductions.study import Run
from reproductions.vector_space.features import corpus

__all__ = ["time_complexity"]


def time_complexity(run: Run) -> dict[str, Any]:
    """CPU seconds of training and testing, best of several, and growth exponents.

    An exponent of 1 is linear growth, 0 no growth. The classes of the second table
    are drawn at random: time does not ask what they mean.
    """
    sizes = (500, 1000, 2000) if run.quick else (1000, 2000, 4000, 8000)
    n_classes, n_repeats = (2, 8, 32, 128), 2 if run.quick else 3
    X, y, test, _ = corpus("20newsgroups", 2000 if run.quick else None)
    test = test[: min(1000, test.shape[0])]
    rng = np.random.default_rng(0)
    by_classes = []
    by_size = [
        {"documents": size, **_timed(X[:size], y[:size], test, n_repeats)}
        for size in sizes
    ]
    run.progress("time against the number of documents")
    for count in n_classes:
        drawn = rng.permutation(np.arange(X.shape[0]) % count)
        by_classes.append({"classes": count, **_timed(X, drawn, test, n_repeats)})
    run.progress("time against the number of classes")
    return {
        "test documents": int(test.shape[0]),
        "by documents": by_size,
        "by classes": by_classes,
        "exponent in documents": _exponents(by_size, "documents"),
        "exponent in classes": _exponents(by_classes, "classes"),
    }


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
    """Slope of log time against log size."""
    size = np.log([row[by] for row in rows])
    return {
        name: float(np.polyfit(size, np.log([row[name] for row in rows]), 1)[0])
        for name in rows[0]
        if name != by
    }
