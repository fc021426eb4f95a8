"""Accuracy of the label page: its model beside a fit of the same answers.

    python -m benchmarks.label_page --jobs 2
    python -m benchmarks.label_page --tasks sms trec --seeds 0 --name trial

Needs EARMARK_DATA. Each corpus is cut to 1,500 documents by lot; a person who is always
right answers what the page asks. After 30, 60, 100 and 200 answers: the accuracy of the
page's guesses on the documents without an answer, and that of
``TextClassifier().fit(answers, unlabelled=rest)``. Random checks are answers of which
neither learns. Figures go to benchmarks/results/label_page.json under ``--name``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.few_labels_views import TASKS
from earmark import TextClassifier
from earmark.pipeline.labelling import LabellingLoop

RESULTS = Path(__file__).parent / "results" / "label_page.json"
CORPORA = ("sms", "trec", "webkb", "r8", "ag", "20ng")
POINTS = (30, 60, 100, 200)
N_DOCUMENTS = 1500


def drawn(task: str, seed: int) -> tuple[list[str], list[str]]:
    """Texts and labels of some documents of the training part."""
    data = TASKS[task]()
    rows = np.random.default_rng(seed).permutation(len(data.train))[:N_DOCUMENTS]
    return [data.train[i] for i in rows], [str(data.y[i]) for i in rows]


def simulated(task: str, seed: int, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """One project: figures at each point."""
    warnings.simplefilter("ignore")
    texts, labels = drawn(task, seed)
    loop = LabellingLoop(texts, random_state=seed, **settings)
    points, seconds = [], 0.0
    for n_answers in range(1, POINTS[-1] + 1):
        pick = loop.next_pick()
        assert pick is not None
        loop.answer(pick.document, [labels[pick.document]])
        began = time.process_time()
        loop.refit()
        seconds += time.process_time() - began
        if n_answers in POINTS:
            points.append(
                {"task": task, "seed": seed, "answers": n_answers}
                | figures(loop, texts, labels)
                | {"cpu_seconds": round(seconds, 1)}
            )
    return points


def figures(loop: LabellingLoop, texts: list[str], labels: list[str]) -> dict[str, Any]:
    """Accuracy of the page and of the fit, on the documents without an answer."""
    open_ = np.asarray([d for d in range(len(texts)) if d not in loop.answers])
    truth = [labels[d] for d in open_]
    guesses = [guess[0] if guess else "" for guess in loop.view.guesses(open_)]
    lessons = loop.lessons()
    rest = [texts[d] for d in range(len(texts)) if d not in lessons]
    model = TextClassifier(random_state=0).fit(
        [texts[d] for d in lessons],
        [answer[0] for answer in lessons.values()],
        unlabelled=rest,
    )
    fitted = model.predict([texts[d] for d in open_])
    return {
        "learned": len(lessons),
        "page": round(float(np.mean(np.asarray(guesses) == truth)), 4),
        "fit": round(float(np.mean(fitted == np.asarray(truth))), 4),
    }


def main() -> None:
    """Run the tasks and write their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--strategy", default="active")
    parser.add_argument("--name", default="page")
    options = parser.parse_args()
    settings = {"strategy": options.strategy}
    runs = Parallel(n_jobs=options.jobs)(
        delayed(simulated)(task, seed, settings)
        for task in options.tasks
        for seed in options.seeds
    )
    rows = [row for run in runs for row in run]
    for row in rows:
        print(*row.values(), sep="\t")
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    command = "python -m benchmarks.label_page " + " ".join(sys.argv[1:])
    known[options.name] = {"command": command.strip(), "rows": rows}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
