"""Rocchio and neighbours on 20 Newsgroups tf-idf, against scikit-learn and scipy.

    python -m benchmarks.vector_space [--repeats 3]

11,314 training and 7,532 test documents, 130,107 terms, shuffled. CPU seconds of one
thread, interleaved, best of the repeats; memory is the growth of the process in a
fork that does nothing else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from functools import cache
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from earmark.models import NeighborsClassifier, RocchioClassifier
from reproductions.vector_space.features import corpus

N_NEIGHBORS = 10


@cache
def newsgroups() -> Any:
    return corpus("20newsgroups")


def nearest_neighbours(repeats: int = 3) -> dict[str, Any]:
    """Ten neighbours of every test document, building the index included."""
    X, y, test, _ = newsgroups()

    def ours() -> Any:
        return NeighborsClassifier(N_NEIGHBORS, n_jobs=1).fit(X, y).kneighbors(test)

    def peer() -> Any:
        search = NearestNeighbors(
            n_neighbors=N_NEIGHBORS, metric="cosine", algorithm="brute", n_jobs=1
        )
        return search.fit(X).kneighbors(test)

    row = _row(
        "10 nearest neighbours, 20 Newsgroups tf-idf, index included",
        "scikit-learn NearestNeighbors, brute, cosine",
        ours,
        peer,
        repeats,
        1 / 6,
    )
    (similarity, _), (distance, _) = ours(), peer()
    row["largest_difference"] = float(np.abs(similarity - (1 - distance)).max())
    return row


def rocchio(repeats: int = 3) -> dict[str, Any]:
    """Fit and predict, against the two sparse products that no method can avoid."""
    X, y, test, _ = newsgroups()
    classes, y_index = np.unique(y, return_inverse=True)
    shape = (len(classes), len(y))
    ones = (np.ones(len(y)), (y_index, np.arange(len(y))))
    indicator = sparse.csr_array(ones, shape=shape)
    weights = np.random.default_rng(0).random((X.shape[1], len(classes)))

    def ours() -> Any:
        return RocchioClassifier(metric="cosine").fit(X, y).predict(test)

    def peer() -> Any:
        return indicator @ X, test @ weights

    dense = X.shape[1] * len(classes) * 8
    grown = _memory(ours) / dense
    row = _row(
        "Rocchio, fit + predict, 20 Newsgroups tf-idf",
        "scipy: class sums by indicator @ X, scores by X_test @ W",
        ours,
        peer,
        repeats,
        1.0,
    )
    row["memory_in_classes_x_terms"] = round(grown, 2)
    return row


def _row(
    job: str,
    peer_name: str,
    ours: Callable[[], Any],
    peer: Callable[[], Any],
    repeats: int,
    most: float,
) -> dict[str, Any]:
    # Memory first: what a process has freed hides the growth of its forks.
    memory = _memory(ours) / _memory(peer)
    times = [(_cpu(ours), _cpu(peer)) for _ in range(repeats)]
    best_ours, best_peer = (min(column) for column in zip(*times, strict=True))
    ratio = best_peer / best_ours
    return {
        "job": job,
        "peer": peer_name,
        "cpu_seconds": round(best_ours, 3),
        "peer_cpu_seconds": round(best_peer, 3),
        "cpu_ratio": round(ratio, 3),
        "memory_ratio": round(memory, 2),
        "target": f">= {1 / most:g}x",
        "met": best_ours <= most * best_peer,
    }


def _cpu(run: Callable[[], Any]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def _memory(run: Callable[[], Any]) -> int:
    """Bytes by which a process grows at most while it runs this."""
    return max(1, _peak(run) - _peak(lambda: None))


def _peak(run: Callable[[], Any]) -> int:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def child() -> None:
        run()
        theirs.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)

    process = context.Process(target=child)
    process.start()
    peak = int(ours.recv())
    process.join()
    return peak


ROWS = (nearest_neighbours, rocchio)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    for each in ROWS:
        for key, value in each(arguments.repeats).items():
            print(f"{key:>26}  {value}")
