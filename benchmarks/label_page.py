"""Accuracy of the label page: its model beside a fit of the same answers.

    python -m benchmarks.label_page --jobs 2
    python -m benchmarks.label_page --tasks sms trec --seeds 0 --name trial

    python -m benchmarks.label_page --keys 1500 15000

Needs EARMARK_DATA. Each corpus is cut to 1,500 documents by lot; a person who is always
right answers what the page asks. After 30, 60, 100 and 200 answers: the accuracy of the
page's guesses on the documents without an answer, and that of
``TextClassifier().fit(answers, unlabelled=rest)``. Random checks are answers of which
neither learns. ``--keys`` measures
instead how long the server takes from an answer to the next document, on mails, while a
full fit is under way and while none is; ``load`` is that of the machine before. Figures
go to benchmarks/results/label_page.json under ``--name``, or under "keys".
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
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


def keys(n_documents: int, n_answers: int = 160) -> dict[str, Any]:
    """Milliseconds from an answer to the next document, fitting or not."""
    from starlette.testclient import TestClient

    from earmark.apps.label.app import make_app
    from earmark.apps.label.project import open_project
    from earmark.apps.label.session import SWITCH_SECONDS
    from earmark.documents import Documents

    sys.setswitchinterval(SWITCH_SECONDS)  # as `earmark label` does

    data = TASKS["20ng"]()
    texts = (data.train * -(-n_documents // len(data.train)))[:n_documents]
    texts = [f"{text} copy{n // len(data.train)}" for n, text in enumerate(texts)]
    times: dict[bool, list[float]] = {True: [], False: []}
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as folder:
        names = sorted(set(data.y))
        session = open_project(Documents(texts), Path(folder), labels=names)
        with TestClient(make_app(session), base_url="http://localhost") as client:
            reply = client.post("/api/next", json={"client": "a"}).json()
            for n in range(n_answers):
                document = reply["document"]["document"]
                label = str(data.y[document % len(data.train)])
                body = {"key": f"k{n}", "client": "a", "document": document}
                is_fitting, began = session.is_fitting, time.perf_counter()
                reply = client.post("/api/answer", json=body | {"labels": [label]})
                times[is_fitting].append(1000 * (time.perf_counter() - began))
                reply = reply.json()
                time.sleep(0.3)  # somebody reads
    return {"documents": n_documents, "load": load} | {
        f"{'fitting' if is_fitting else 'idle'} {name}": round(float(value), 1)
        for is_fitting, some in times.items()
        if some
        for name, value in (
            ("answers", len(some)),
            ("median ms", np.median(some)),
            ("p95 ms", np.quantile(some, 0.95)),
        )
    }


def keys_table() -> str:
    """The stored times of keys for a page."""
    head = "documents", "answers while fitting", "median", "95th percentile", "idle"
    lines = [f"| {' | '.join(head)} |"]
    lines.append("|--:|--:|--:|--:|--:|")
    for row in json.loads(RESULTS.read_text(encoding="utf-8"))["keys"]["rows"]:
        times = [
            f"{row[name]:.0f} ms" if name in row else "–"
            for name in ("fitting median ms", "fitting p95 ms", "idle median ms")
        ]
        cells = f"{row['documents']:,}", f"{row['fitting answers']:.0f}", *times
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Write figures beside the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    command = "python -m benchmarks.label_page " + " ".join(sys.argv[1:])
    known[name] = {"command": command.strip(), "rows": rows}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


def main() -> None:
    """Run the tasks and write their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--strategy", default="active")
    parser.add_argument("--name", default="page")
    parser.add_argument("--keys", nargs="+", type=int)
    options = parser.parse_args()
    if options.keys:
        figures_of_keys = [keys(n_documents) for n_documents in options.keys]
        print(*figures_of_keys, sep="\n")
        keep("keys", figures_of_keys)
        return
    settings = {"strategy": options.strategy}
    runs = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(simulated)(task, seed, settings)
        for task in options.tasks
        for seed in options.seeds
    )
    rows = []
    for run in runs:
        rows += run
        for row in run:
            print(*row.values(), sep="\t", flush=True)
    keep(options.name, rows)


if __name__ == "__main__":
    main()
