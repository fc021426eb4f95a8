"""Wrong labels put into real corpora: who lists them, beside cleanlab.

    pip install cleanlab
    python -m benchmarks.label_errors

Needs EARMARK_DATA and cleanlab, which is no dependency. 20 Newsgroups, R8 and SMS with
0, 2 and 10 % of the labels changed: to any other class with equal probability, or to
the next class in the order of the names. Both methods see the same scores: those of
``earmark check``, the hybrid model with near-duplicates left out together. A listed
label counts as right if it was changed; the corpora have wrong labels of their own,
so that some of what counts as a false alarm is none. A second table lists how many
labels of small clean samples are accused, by exact leave-one-out.

Results go to benchmarks/results/label_errors.json; the page "Wrong labels" shows them
(``python docs/_ext/stored_tables.py``).
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from earmark import TextClassifier
from earmark.documents import load_corpus
from earmark.evaluation import (
    group_near_duplicates,
    left_out_log_proba,
    suspected_label_errors,
)
from earmark.evaluation.label_errors import SuspectedLabelErrors
from earmark.typing import BoolVector, FloatMatrix, JsonObject
from reproductions.tables import Table, number

CORPORA = {"20newsgroups": "20 Newsgroups", "r8": "R8", "sms": "SMS"}
N_DRAWS = 3
SMALL = (15, 50, 150, 400)
N_SMALL_DRAWS = 20
RESULTS = Path(__file__).parent / "results" / "label_errors.json"

Strings = NDArray[np.str_]
Change = Callable[[Strings, int], tuple[Strings, BoolVector]]


def load(name: str) -> tuple[list[str], Strings]:
    """Texts and labels of the training part, or of all where there is no such part."""
    corpus = load_corpus(name) if name == "sms" else load_corpus(name, "train")
    return corpus.joined(), np.array(corpus.labels)


def changed(rate: float, to_next: bool) -> Change:
    """A function that changes a share of the labels and says which."""

    def change(y: Strings, seed: int) -> tuple[Strings, BoolVector]:
        rng = np.random.default_rng(seed)
        classes, index = np.unique(y, return_inverse=True)
        rows = rng.permutation(len(y))[: round(rate * len(y))]
        steps = 1 if to_next else rng.integers(1, len(classes), size=len(rows))
        index[rows] = (index[rows] + steps) % len(classes)
        return classes[index], np.isin(np.arange(len(y)), rows)

    return change


def settings() -> Iterator[tuple[str, Change, int]]:
    """Name, how labels are changed, and number of draws."""
    yield "0 %", changed(0.0, False), 1
    for rate in (0.02, 0.1):
        name = f"{100 * rate:.0f} % to "
        yield name + "any class", changed(rate, False), N_DRAWS
        yield name + "the next class", changed(rate, True), N_DRAWS


def listed_by_cleanlab(
    y: Strings, log_proba: FloatMatrix, classes: Strings
) -> BoolVector:
    """What cleanlab's find_label_issues lists, with its own settings."""
    from cleanlab.filter import find_label_issues

    index = np.searchsorted(classes, y)
    listed: BoolVector = find_label_issues(index, softmax(log_proba, axis=1), n_jobs=1)
    return listed


def judged(listed: BoolVector, wrong: BoolVector) -> JsonObject:
    """Share of documents listed, precision and recall of the list."""
    hits = int((listed & wrong).sum())
    return {
        "listed": float(listed.mean()),
        "precision": hits / int(listed.sum()) if listed.any() and wrong.any() else None,
        "recall": hits / int(wrong.sum()) if wrong.any() else None,
    }


def measure(
    texts: list[str], y: Strings, wrong: BoolVector, groups: NDArray[np.int64]
) -> JsonObject:
    """One draw: both lists from the same scores."""
    started = time.process_time()
    classes, log_proba = left_out_log_proba(
        TextClassifier("hybrid"), texts, y, groups=groups
    )
    scored = time.process_time()
    errors = suspected_label_errors(y, log_proba, classes)
    ended = time.process_time()
    return {
        "earmark": judged(mask(errors), wrong),
        "cleanlab": judged(listed_by_cleanlab(y, log_proba, classes), wrong),
        "n_wrong": int(wrong.sum()),
        "estimate": errors.n_wrong,
        "interval": list(errors.interval),
        "expected_precision": float(np.mean([e.probability for e in errors] or [0])),
        "cpu_seconds": {"scores": scored - started, "judging": ended - scored},
    }


def mask(errors: SuspectedLabelErrors) -> BoolVector:
    """Which documents are listed."""
    rows = [error.index for error in errors]
    return np.isin(np.arange(len(errors.probability)), rows)


def accused_of_few(texts: list[str], y: Strings, n: int) -> JsonObject:
    """Labels of small clean samples that are accused."""
    accused, estimates = [], []
    for seed in range(N_SMALL_DRAWS):
        rows = np.random.default_rng(seed).permutation(len(y))[:n]
        if len(np.unique(y[rows])) < 2:
            continue
        some = [texts[row] for row in rows]
        classes, log_proba = left_out_log_proba(TextClassifier("hybrid"), some, y[rows])
        errors = suspected_label_errors(y[rows], log_proba, classes)
        accused.append(len(errors) / n)
        estimates.append(errors.n_wrong / n)
    return {
        "n": n,
        "draws": len(accused),
        "accused": float(np.mean(accused)),
        "most_accused": float(np.max(accused)),
        "estimate": float(np.mean(estimates)),
    }


def average(draws: list[JsonObject], method: str, figure: str) -> float | None:
    """Mean of a figure over draws; None where there is none."""
    values = [draw[method][figure] for draw in draws]
    return None if None in values else float(np.mean(values))


def tables(result: JsonObject) -> dict[str, Table]:
    """The stored figures for a page."""
    rows = [
        [
            CORPORA[name],
            setting,
            *(
                _cell(average(draws, method, figure))
                for figure in ("listed", "precision", "recall")
                for method in ("earmark", "cleanlab")
            ),
            f"{np.mean([d['n_wrong'] for d in draws]):,.0f}",
            _estimate(draws),
        ]
        for name, corpus in result["corpora"].items()
        for setting, draws in corpus["settings"].items()
    ]
    head = ["corpus", "labels changed", "listed", "cleanlab", "precision", "cleanlab"]
    head += ["recall", "cleanlab", "changed", "estimate (95 % interval)"]
    few = [
        [
            CORPORA[name],
            f"{row['n']:,}",
            *(_cell(row[k]) for k in ("accused", "most_accused", "estimate")),
        ]
        for name, corpus in result["corpora"].items()
        for row in corpus["few"]
    ]
    few_head = ["corpus", "documents", "accused", "most in a draw", "estimated wrong"]
    return {
        "changed": Table("changed", "Labels changed on purpose", head, rows),
        "few": Table("few", "Small clean samples", few_head, few),
    }


def _cell(share: float | None) -> str:
    return number(share) if share is None else f"{100 * share:.1f} %"


def _estimate(draws: list[Mapping[str, list[float]]]) -> str:
    estimate = np.mean([draw["estimate"] for draw in draws])
    low, high = np.mean([draw["interval"] for draw in draws], axis=0)
    return f"{estimate:,.0f} ({low:,.0f} to {high:,.0f})"


def main() -> None:
    """Measure every corpus, print and store the tables."""
    result: JsonObject = {"corpora": {}}
    for name in CORPORA:
        texts, y = load(name)
        groups = group_near_duplicates(texts).group
        corpus: JsonObject = {"documents": len(y), "settings": {}}
        for setting, change, n_draws in settings():
            draws = []
            for seed in range(n_draws):
                labels, wrong = change(y, seed)
                draws.append(measure(texts, labels, wrong, groups))
            corpus["settings"][setting] = draws
            print(name, setting, draws[0], flush=True)
        corpus["few"] = [accused_of_few(texts, y, n) for n in SMALL]
        result["corpora"][name] = corpus
    stored = {
        "command": "python -m benchmarks.label_errors",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {peer: version(peer) for peer in ("cleanlab", "scikit-learn")},
        "result": result,
    }
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    for table in tables(result).values():
        print(table.text(), end="\n\n")


if __name__ == "__main__":
    main()
