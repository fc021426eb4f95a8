"""What is said about accuracy, errors and confidence, held against the truth.

    python -m benchmarks.estimates --draws 100

Needs EARMARK_DATA. Few labels of six corpora, the same number for each class, with a
pool of 2,000 documents and without one. The pool tells how large the classes are; where
there is none, the truth is that of classes of the same size. Said is the accuracy on
left-out documents with its interval, the error of
the answers that ``max_error=0.05`` lets through (at most 5 %), and the mean confidence;
the truth is that on 2,000 test documents. Results go to
benchmarks/results/estimates.json, row by row: what is there of other rows stays.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.few_labels_views import TASKS, Task
from earmark import TextClassifier
from earmark.decision.guarantee import error_bounds
from earmark.documents import labelled_per_class

RESULTS = Path(__file__).parent / "results" / "estimates.json"
CORPORA = ("sms", "trec", "webkb", "r8", "ag", "20ng")
SIZES = (5, 10, 20, 40)
MAX_ERROR, N_POOL, N_TEST = 0.05, 2000, 2000


def one_draw(task: Task, n: int, seed: int, with_pool: bool) -> dict[str, float]:
    """What is said and what is true, once."""
    labelled, pool = labelled_per_class(task.y, n, random_state=seed)
    rng = np.random.default_rng(seed)
    pool = rng.permutation(pool)[:N_POOL]
    test = rng.permutation(len(task.test))[:N_TEST]
    texts, y = [task.train[i] for i in labelled], task.y[labelled]
    more = [task.train[i] for i in pool] if with_pool else None
    classifier = TextClassifier(max_error=MAX_ERROR, random_state=0)
    classifier.fit(texts, y, unlabelled=more)
    evidence = classifier.evidence_
    assert evidence is not None
    decision = classifier.decide([task.test[i] for i in test])
    right = np.asarray(decision.best) == task.y_test[test]
    answered = ~decision.abstained
    # As ``summary()`` says it.
    n = evidence.n_independent
    low, high = error_bounds((1 - evidence.accuracy) * n, n)
    weight = np.ones(len(test)) if with_pool else even_weights(task.y_test[test])
    accuracy = float(np.average(right, weights=weight))
    confidence = decision.confidence
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = np.bincount(bins, weights=(confidence - right) * weight, minlength=10)
    return {
        "said_accuracy": evidence.accuracy,
        "accuracy": accuracy,
        "in_interval": float(1 - high <= accuracy <= 1 - low),
        "coverage": float(answered.mean()),
        "answers": float(answered.any()),
        "error": float(np.average(~right[answered], weights=weight[answered]))
        if answered.any()
        else np.nan,
        "confidence": float(np.average(confidence, weights=weight)),
        "ece": float(np.abs(gaps).sum() / weight.sum()),
    }


def even_weights(y: Any) -> Any:
    """Weights under which all classes are of the same size."""
    _, place, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return (len(y) / len(sizes) / sizes)[place]


def row(draws: list[dict[str, float]]) -> dict[str, float]:
    """The mean of the draws; of errors over those that answer something."""
    mean = {
        key: float(np.mean([draw[key] for draw in draws]))
        for key in draws[0]
        if key != "error"
    }
    errors = [draw["error"] for draw in draws if draw["answers"]]
    mean["error"] = float(np.mean(errors)) if errors else float("nan")
    broken = [draw["answers"] and draw["error"] > MAX_ERROR for draw in draws]
    mean["above_5_percent"] = float(np.mean(broken))
    mean["draws"] = len(draws)
    return {k: None if np.isnan(v) else round(v, 4) for k, v in mean.items()}  # type: ignore[misc]


def table() -> str:
    """Means over the corpora, as Markdown."""
    rows = json.loads(RESULTS.read_text())["rows"]
    head = (
        "labels per class",
        "said accuracy",
        "true",
        "in the interval",
        "answered",
        "said error",
        "true error",
        "calibration error",
    )
    lines = [head, ("---",) * len(head)]
    sizes = sorted({int(key.split(", ")[1].split()[0]) for key in rows})
    for pool in ("pool", "no pool"):
        for n in sizes:
            keys = [k for k in rows if k.endswith(f", {n} per class, {pool}")]
            some = [rows[key] for key in keys]
            if not some:
                continue

            def mean(name: str, some: Any = some) -> float:
                known = [one[name] for one in some if one[name] is not None]
                return float(np.mean(known)) if known else float("nan")

            error = mean("error")
            answers = "–" if np.isnan(error) else f"{error:.3f}"
            title = f"{n}, {'with' if pool == 'pool' else 'without'} a pool"
            lines.append(
                (
                    f"{title}, {len(some)} corpora",
                    f"{mean('said_accuracy'):.3f}",
                    f"{mean('accuracy'):.3f}",
                    f"{100 * mean('in_interval'):.0f} %",
                    f"{100 * mean('coverage'):.0f} %",
                    "–" if np.isnan(error) else "at most .05",
                    answers,
                    f"{mean('ece'):.3f}",
                )
            )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--pool", choices=("with", "without", "both"), default="both")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    ways = {"with": (True,), "without": (False,), "both": (True, False)}[asked.pool]
    for name in asked.corpora.split(","):
        task = TASKS[name]()
        for n in asked.sizes:
            for with_pool in ways:
                started = time.time()
                every = Parallel(asked.jobs)(
                    delayed(one_draw)(task, n, seed, with_pool)
                    for seed in range(asked.draws)
                )
                key = f"{name}, {n} per class, {'pool' if with_pool else 'no pool'}"
                store(key, row(every))
                print(key, row(every), f"{time.time() - started:.0f} s", flush=True)


def store(key: str, figures: dict[str, Any]) -> None:
    """Put one row into the results."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known["command"] = (
        f"python -m benchmarks.estimates {' '.join(sys.argv[1:])}".strip()
    )
    known.setdefault("rows", {})[key] = figures
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
