"""Few labels on fourteen tasks, short and long: accuracy with and without vectors.

    python -m benchmarks.few_labels_views --encoder static --draws 3

Needs EARMARK_DATA. The pool is cut to 5,000 documents, the test part to 2,000; labels
of the pool are not looked at, and classes have no names. Figures of an encoder (or
"none") go to benchmarks/results/few_labels_views.json under ``--name``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earmark import TextClassifier
from earmark.documents import labelled_per_class

RESULTS = Path(__file__).parent / "results" / "few_labels_views.json"
N_LABELS, N_POOL, N_TEST = (5, 20), 5000, 2000
# Of TREC's fine classes those with so many documents: 34 of 50.
_LEAST_FINE = 25


class Task(NamedTuple):
    """Training and test part of one way to classify a corpus."""

    train: list[str]
    y: Any
    test: list[str]
    y_test: Any


def read(file: str) -> Any:
    """A table of EARMARK_DATA."""
    import pandas as pd

    return pd.read_parquet(Path(os.environ["EARMARK_DATA"]) / f"{file}.parquet")


def two_files(
    stem: str, text: Callable[[Any], Any], label: str = "label", least: int = 1
) -> Task:
    """The official split; classes with fewer documents than ``least`` are left out."""
    train, test = read(f"{stem}_train"), read(f"{stem}_test")
    sizes = train[label].value_counts()
    kept = sizes[sizes >= least].index
    train, test = (part[part[label].isin(kept)] for part in (train, test))
    y, y_test = (part[label].to_numpy().astype(str) for part in (train, test))
    return Task(text(train).tolist(), y, text(test).tolist(), y_test)


def one_file(file: str, text: str = "text") -> Task:
    """Distinct texts, shuffled: 70 % to learn from, 30 % to test."""
    frame = read(file).drop_duplicates(text).reset_index(drop=True)
    order = np.random.default_rng(0).permutation(len(frame))
    halves = np.split(order, [int(0.7 * len(order))])
    texts, y = frame[text].tolist(), frame.label.to_numpy().astype(str)
    train, test = (([texts[i] for i in rows], y[rows]) for rows in halves)
    return Task(*train, *test)


def plain(frame: Any) -> Any:
    """The column ``text``."""
    return frame.text


def first_sentence(frame: Any) -> Any:
    """Up to the first full stop, exclamation or question mark that ends a sentence."""
    return frame.text.map(lambda t: re.split(r"(?<=[.!?])\s|<br", t.strip())[0])


TASKS: dict[str, Callable[[], Task]] = {
    "sms": lambda: one_file("sms_spam"),
    "trec": lambda: two_files("trec", plain),
    "trec_fine": lambda: two_files("trec", plain, "label_fine", _LEAST_FINE),
    "webkb": lambda: two_files("webkb", plain),
    "r8": lambda: two_files("r8", plain),
    "r52": lambda: two_files("r52", plain),
    "imdb": lambda: two_files("imdb", plain),
    "imdb_sentence": lambda: two_files("imdb", first_sentence),
    "ag": lambda: one_file("ag_news_test"),
    "ag_titles": lambda: one_file("ag_news_test", "title"),
    "20ng": lambda: two_files(
        "20newsgroups_bydate", lambda f: f.subject + "\n" + f.body
    ),
    "20ng_subjects": lambda: two_files("20newsgroups_bydate", lambda f: f.subject),
    "hwu64": lambda: one_file("hwu64"),
    "pros_cons": lambda: one_file("pros_cons"),
}


def one_draw(task: Task, n: int, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Accuracy, mean confidence and CPU seconds with n labels per class."""
    labelled, pool = labelled_per_class(task.y, n, random_state=seed)
    rng = np.random.default_rng(seed)
    pool = rng.permutation(pool)[:N_POOL]
    test = rng.permutation(len(task.test))[:N_TEST]
    started = time.process_time()
    classifier = TextClassifier(
        "semi-supervised", class_names=None, random_state=0, **options
    )
    classifier.fit(
        [task.train[i] for i in labelled],
        task.y[labelled],
        unlabelled=[task.train[i] for i in pool],
    )
    seconds = time.process_time() - started
    decision = classifier.decide([task.test[i] for i in test])
    right = np.asarray(decision.labels) == task.y_test[test]
    return {
        "accuracy": float(right.mean()),
        "confidence": float(np.mean(decision.confidence)),
        "seconds": seconds,
    }


def measure(
    tasks: list[str], sizes: list[int], draws: int, options: dict[str, Any]
) -> dict[str, Any]:
    """Figures by task and labels per class, printed as they come."""
    figures: dict[str, Any] = {}
    for name in tasks:
        task = TASKS[name]()
        for n in sizes:
            every = [one_draw(task, n, seed, options) for seed in range(draws)]
            mean = {key: float(np.mean([d[key] for d in every])) for key in every[0]}
            accuracies = [round(draw["accuracy"], 4) for draw in every]
            figures[f"{name} {n}"] = {**mean, "draws": accuracies}
            told = " ".join(f"{key} {value:.3f}" for key, value in mean.items())
            print(name, n, told, accuracies, flush=True)
    return figures


def store(name: str, command: str, figures: dict[str, Any]) -> None:
    """Put the figures beside those of other names."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known[name] = {"command": command, "figures": figures}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def main() -> None:
    """Measure one encoder, or none."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--labels", nargs="+", type=int, default=list(N_LABELS))
    parser.add_argument("--name", help="store the figures under this name")
    asked = parser.parse_args()
    encoder = None if asked.encoder == "none" else asked.encoder
    figures = measure(asked.tasks, asked.labels, asked.draws, {"encoder": encoder})
    for n in asked.labels:
        cells = [v["accuracy"] for k, v in figures.items() if k.endswith(f" {n}")]
        print(f"mean of {len(cells)} tasks, {n} labels per class: {np.mean(cells):.4f}")
    if asked.name:
        command = f"python -m benchmarks.few_labels_views --encoder {asked.encoder}"
        store(asked.name, f"{command} --draws {asked.draws}", figures)


if __name__ == "__main__":
    main()
