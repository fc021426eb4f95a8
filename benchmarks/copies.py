"""Near-copies with labels by coin: what is said of the accuracy, at any size.

    python -m benchmarks.copies

Pairs of texts of 27 words that differ in one, and a coin for the label of each pair: a
model that meets one of a pair in training knows the label of the other and nothing
else. The true accuracy is one half. Results go to benchmarks/results/copies.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from earmark import TextClassifier

RESULTS = Path(__file__).parent / "results" / "copies.json"
SIZES = (10_000, 20_002, 100_000, 1_000_000)
N_WORDS, LENGTH = 5000, 27


def measured(n: int) -> dict[str, Any]:
    """One size."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(N_WORDS)])
    first = words[rng.integers(0, N_WORDS, (n // 2, LENGTH))]
    other = first.copy()
    places = np.arange(n // 2), rng.integers(0, LENGTH, n // 2)
    other[places] = words[rng.integers(0, N_WORDS, n // 2)]
    texts = [" ".join(row) for row in (*first, *other)]
    coin = rng.integers(0, 2, n // 2)
    labels = np.array(["heads", "tails"])[np.concatenate([coin, coin])]
    started = time.process_time()
    classifier = TextClassifier("multinomial").fit(texts, labels)
    evidence = classifier.measure_confidence(texts, labels).evidence_
    assert evidence is not None
    return {
        "rows": n,
        "accuracy": evidence.accuracy,
        "copies": evidence.n_copies,
        "summary": classifier.summary().splitlines()[-1],
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    """Measure and store."""
    rows = []
    for n in SIZES:
        rows.append(measured(n))
        print(rows[-1], flush=True)
    result = {"command": "python -m benchmarks.copies", "rows": rows}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
