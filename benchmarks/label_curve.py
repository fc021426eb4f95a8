"""One corpus from a handful of labels to all: a dip where methods hand over would show.

    python -m benchmarks.label_curve

Needs EARMARK_DATA. IMDB, both parts together: 5,000 reviews are put aside to test, of
the others some have labels and up to 5,000 more are given without. What is measured is
``TextClassifier().fit(texts, labels, unlabelled=pool)``. Results go to
benchmarks/results/label_curve.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from benchmarks.few_labels_views import plain, two_files
from earmark import TextClassifier

RESULTS = Path(__file__).parent / "results" / "label_curve.json"
N_LABELS = (10, 50, 150, 500, 1_500, 5_000, 15_000, 45_000)
N_TEST, N_POOL, DRAWS = 5_000, 5_000, 2


def table() -> str:
    """What the page of few labels shows, as Markdown."""
    rows = json.loads(RESULTS.read_text("utf-8"))["curve"]
    lines = ["| labels | accuracy | model | CPU s to train |", "|---|---|---|---|"]
    for n in sorted({row["labels"] for row in rows}):
        some = [row for row in rows if row["labels"] == n]
        models = " or ".join(sorted({row["model"] for row in some}))
        mean = {k: np.mean([row[k] for row in some]) for k in ("accuracy", "fit_cpu")}
        lines.append(
            f"| {n:,} | {mean['accuracy']:.3f} | {models} | {mean['fit_cpu']:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and store."""
    task = two_files("imdb", plain)
    texts, y = [*task.train, *task.test], np.concatenate([task.y, task.y_test])
    rows = []
    for n in N_LABELS:
        for seed in range(DRAWS if n < 45_000 else 1):
            order = np.random.default_rng(seed).permutation(len(texts))
            test, rest = order[:N_TEST], order[N_TEST:]
            labelled, pool = rest[:n], rest[n : n + N_POOL]
            started = time.process_time()
            classifier = TextClassifier(class_names=None, random_state=0).fit(
                [texts[i] for i in labelled],
                y[labelled],
                unlabelled=[texts[i] for i in pool],
            )
            seconds = time.process_time() - started
            accuracy = classifier.score([texts[i] for i in test], y[test])
            rows.append(
                {
                    "labels": n,
                    "seed": seed,
                    "model": classifier.model_name_,
                    "accuracy": accuracy,
                    "fit_cpu": seconds,
                }
            )
            print(rows[-1], flush=True)
    result = {"command": "python -m benchmarks.label_curve", "curve": rows}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
