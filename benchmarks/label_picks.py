"""Which document to label next: the loop's picks beside three other ways.

    python -m benchmarks.label_picks
    python -m benchmarks.label_picks --tasks sms trec --seeds 0

Needs EARMARK_DATA. Each corpus is cut to 1,500 documents by lot; a person who is always
right answers. ``picked`` asks what the loop picks, ``random`` documents by lot,
``margin`` begins with eight by lot and goes on with the most doubtful one, ``clusters``
begins with the middles of twenty clusters, the largest first (k-means on the same
vectors), and goes on likewise. One question in five is a random check in each. The
accuracy is that on all documents reserved as checks, which nobody learns from, so it is
of the same documents in each way. Figures go to benchmarks/results/label_picks.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.label_page import drawn
from earmark.pipeline.labelling import LabellingLoop

RESULTS = Path(__file__).parent / "results" / "label_picks.json"
CORPORA = ("sms", "trec", "webkb", "r8", "ag", "imdb")
WAYS = {
    "picked": "as the page picks them",
    "margin": "by lot, then the most doubtful",
    "clusters": "middles of clusters, then the most doubtful",
    "random": "by lot",
}
POINTS = (10, 20, 30, 60, 100, 200)
N_CLUSTERS = 20
N_BY_LOT = 8


def middles(loop: LabellingLoop) -> list[int]:
    """Documents in the middle of clusters, none of them a check."""
    rows = loop.learn_order
    vectors = loop.collection.vectors[rows]
    clusters = KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(vectors)
    order = np.argsort(-np.bincount(clusters.labels_), kind="stable")
    away = clusters.transform(vectors)
    return list(dict.fromkeys(int(rows[away[:, c].argmin()]) for c in order))


def next_document(loop: LabellingLoop, way: str, start: list[int]) -> int:
    """What this way asks about: checks as the loop has them, else its own choice."""
    pick = loop.next_pick()
    assert pick is not None
    if way in ("picked", "random") or pick.why == "check":
        return pick.document
    left = [d for d in loop.learn_order.tolist() if d not in loop.answers]
    begun = [d for d in start if d not in loop.answers]
    if begun:
        return begun[0]
    if loop.view.fitted is None:
        return left[0]
    return left[int(loop.view.doubt[left].argmax())]


def simulated(task: str, seed: int, way: str) -> dict[str, Any]:
    """One project: accuracy at each point."""
    warnings.simplefilter("ignore")
    texts, labels = drawn(task, seed)
    strategy = "random" if way == "random" else "active"
    loop = LabellingLoop(texts, strategy=strategy, random_state=seed)
    start = loop.learn_order[:N_BY_LOT].tolist() if way == "margin" else []
    if way == "clusters":
        start = middles(loop)
    accuracy = {}
    for n_answers in range(1, POINTS[-1] + 1):
        document = next_document(loop, way, start)
        loop.answer(document, [labels[document]])
        loop.refit()
        if n_answers in POINTS:
            guesses = loop.view.guesses(loop.check_order)
            right = [
                guess == (labels[d],)
                for d, guess in zip(loop.check_order, guesses, strict=True)
            ]
            accuracy[str(n_answers)] = round(float(np.mean(right)), 4)
    return {"task": task, "seed": seed, "way": way, "accuracy": accuracy}


def means(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Accuracy of each way in the mean of corpora and seeds, and of the points."""
    table = {}
    for way in WAYS:
        points = [list(r["accuracy"].values()) for r in rows if r["way"] == way]
        if points:
            mean = np.mean(points, axis=0)
            table[way] = dict(
                zip(map(str, POINTS), mean.round(4).tolist(), strict=True)
            )
            table[way]["mean"] = round(float(mean.mean()), 4)
    return table


def table() -> str:
    """The stored figures for a page."""
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))["means"]
    lines = [f"| documents | {' | '.join(map(str, POINTS))} | mean |"]
    lines.append(f"|---|{'--:|' * (len(POINTS) + 1)}")
    for way, name in WAYS.items():
        shares = [f"{100 * share:.1f}" for share in stored[way].values()]
        lines.append(f"| {name} | {' | '.join(shares)} |")
    return "\n".join(lines)


def main() -> None:
    """Run all and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        for task in options.tasks:
            for way in options.ways:
                rows.append(simulated(task, seed, way))
                print(*rows[-1].values(), flush=True)
    command = "python -m benchmarks.label_picks " + " ".join(sys.argv[1:])
    stored = {"command": command.strip(), "means": means(rows), "rows": rows}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
    print(json.dumps(stored["means"], indent=1))


if __name__ == "__main__":
    main()
