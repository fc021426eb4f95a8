"""Fitting the hybrid, per alpha tried, against fitting and scoring naive Bayes.

    python -m benchmarks.hybrid [--repeats 3]

Both on the counts of the 11,314 training documents of 20 Newsgroups (by date),
subject and body side by side. The peer is scikit-learn's MultinomialNB: ``fit`` and
``predict_log_proba`` on the same matrix, the least that leave-one-out evidence can
cost. CPU seconds, interleaved, best of the repeats; memory is the
peak of what each allocates.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.models import HybridBayes

REGIONS = ["subject", "body"]
ALPHAS = (0.03, 0.1, 0.3)
TARGET = 2.0


def newsgroups() -> tuple[Any, Any, Any]:
    """Counts, labels and the region of each column."""
    train: Any = load_corpus("20newsgroups", "train", regions=REGIONS)
    parts = [WordCounter().fit_transform(train.texts[r]) for r in REGIONS]
    blocks = np.repeat([0, 1], [part.shape[1] for part in parts])
    return sparse.hstack(parts, format="csr"), np.asarray(train.labels), blocks


def _cpu(run: Callable[[], Any]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def _memory(run: Callable[[], Any]) -> int:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def hybrid_fit(repeats: int = 3) -> dict[str, Any]:
    """The row: CPU per alpha over the peer's, peak memory over the peer's."""
    X, y, blocks = newsgroups()

    def ours() -> Any:
        return HybridBayes(alpha=ALPHAS).fit(X, y, columns=blocks)

    def peer() -> Any:
        return MultinomialNB(alpha=0.1).fit(X, y).predict_log_proba(X)

    times = [(_cpu(ours) / len(ALPHAS), _cpu(peer)) for _ in range(repeats)]
    best_ours, best_peer = (min(column) for column in zip(*times, strict=True))
    ratio = best_peer / best_ours
    return {
        "job": "fit HybridBayes on 20 Newsgroups counts, per alpha",
        "peer": "scikit-learn MultinomialNB, fit + predict_log_proba",
        "cpu_seconds": round(best_ours, 3),
        "peer_cpu_seconds": round(best_peer, 3),
        "cpu_ratio": round(ratio, 3),
        "memory_ratio": round(_memory(ours) / _memory(peer), 2),
        "target": f">= {1 / TARGET:g}x",
        "met": best_ours <= TARGET * best_peer,
    }


ROWS = (hybrid_fit,)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    for row in ROWS:
        for key, value in row(arguments.repeats).items():
            print(f"{key:>14}  {value}")
