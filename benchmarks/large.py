"""Large files on the command line: processor time and peak memory of whole commands.

    python -m benchmarks.large [train] [check] [labels] [languages]

Generated data (benchmarks/_large.py), kept in EARMARK_BENCH_DIR or the temporary
folder. ``before`` are figures of an earlier version on data of the same size, on the
same kind of machine (commit 98fe18b). Rows that are not run keep their figures.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import _large

RESULT = Path(__file__).parent / "results" / "large.json"


def _command(*args: str) -> dict[str, float]:
    """CPU seconds and peak memory of ``earmark ARGS`` in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-m", "earmark", *args],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "cpu_seconds": round(seconds, 1),
        "peak_gb": round(after.ru_maxrss / 1e6, 2),  # of the largest child so far
    }


def train() -> dict[str, object]:
    """550,000 rows, 12 classes, model auto, no option about memory."""
    path = str(_large.one_label(550_000))
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/m.earmark"
        figures = _command("train", path, "--label", "label", "-o", out)
    return {"before": {"seconds": 30, "peak_gb": 4.1}, "after": figures}


def check() -> dict[str, object]:
    """550,000 rows: near-duplicates, wrong labels and the rest."""
    figures = _command("check", str(_large.one_label(550_000)), "--label", "label")
    return {"before": {"seconds": 246}, "target_seconds": 60, "after": figures}


def labels() -> dict[str, object]:
    """43,000 documents, any of 28 labels each."""
    path = str(_large.any_labels(43_000))
    after = {}
    for model in ("linear", "softmax"):
        with tempfile.TemporaryDirectory() as folder:
            after[model] = _command(
                *("train", path, "--label", "label", "--multi-label"),
                *("--model", model, "-o", f"{folder}/m.earmark"),
            )
    return {"target_seconds": 60, "after": after}


def languages() -> dict[str, object]:
    """119 languages, 100 short texts each: what auto chooses, and words alone."""
    from earmark import TextClassifier

    train, test = _large.languages(119, 100, 0), _large.languages(119, 20, 1)
    rows = {}
    for name, features in (("auto", None), ("auto on words", {"analyzer": "word"})):
        started = time.process_time()
        model = TextClassifier(features=features, random_state=0).fit(*train)
        seconds = time.process_time() - started
        rows[name] = {
            "accuracy": round(model.score(*test), 3),
            "cpu_seconds": round(seconds, 1),
            "summary": model.summary(),
        }
    return rows


ROWS_BY_NAME = {f.__name__: f for f in (train, check, labels, languages)}


def main() -> None:
    results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for name in sys.argv[1:] or ROWS_BY_NAME:
        results[name] = ROWS_BY_NAME[name]()
        results["command"] = "python -m benchmarks.large"
        RESULT.write_text(json.dumps(results, indent=1) + "\n")
        print(name, results[name], flush=True)


if __name__ == "__main__":
    main()
