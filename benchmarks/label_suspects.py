"""Suspected errors on the label page: how many of planted wrong answers it lists.

    python -m benchmarks.label_suspects

Needs EARMARK_DATA. Of 1,500 documents of a corpus 180 drawn by lot have an answer; 27
of these (15 %), 9 (5 %) or none are changed to another label by lot. The list is the
page's own. Precision and recall are of all draws together; labels of a corpus may be
wrong themselves, and count as right here. Figures go to
benchmarks/results/label_suspects.json.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.label_page import drawn
from earmark.apps.label.project import open_project
from earmark.apps.label.views import Browser, Question
from earmark.documents import Documents

RESULTS = Path(__file__).parent / "results" / "label_suspects.json"
CORPORA = {"ag": "AG News", "sms": "SMS spam", "webkb": "WebKB"}
N_ANSWERS = 180
PLANTED = (27, 9, 0)
SEEDS = range(3, 9)


def listed(task: str, seed: int, n_planted: int) -> dict[str, Any]:
    """One project: answers listed, and how many of them were planted."""
    texts, truth = drawn(task, seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(texts))[:N_ANSWERS].tolist()
    wrong, names = set(rows[:n_planted]), sorted(set(truth))
    labels: list[Any] = [None] * len(texts)
    for row in rows:
        others = [name for name in names if name != truth[row]]
        labels[row] = str(rng.choice(others)) if row in wrong else truth[row]
    with tempfile.TemporaryDirectory() as folder:
        data = Documents(texts, labels=labels)
        session = open_project(data, Path(folder), check_share=0.0)
        session.wait(600)
        shown, _ = Browser(session).rows(Question(show="suspects"), "")
        session.close()
    n_right = sum(row in wrong for row in shown.tolist())
    return {"task": task, "seed": seed, "planted": n_planted} | {
        "listed": len(shown),
        "of them planted": n_right,
    }


def table() -> str:
    """The stored figures for a page."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    lines = ["| corpus | wrong answers | listed | precision | recall |"]
    lines.append("|---|--:|--:|--:|--:|")
    for task, name in CORPORA.items():
        for n_planted in PLANTED:
            some = [r for r in rows if (r["task"], r["planted"]) == (task, n_planted)]
            n_listed = sum(r["listed"] for r in some)
            n_right = sum(r["of them planted"] for r in some)
            precision = f"{n_right / n_listed:.0%}" if n_planted and n_listed else "–"
            recall = f"{n_right / n_planted / len(some):.0%}" if n_planted else "–"
            mean = f"{n_listed / len(some):.1f}"
            cells = (name, f"{n_planted} of {N_ANSWERS}", mean, precision, recall)
            lines.append(f"| {' | '.join(cells)} |".replace("%", " %"))
    return "\n".join(lines)


def main() -> None:
    """Run all and write the figures."""
    warnings.simplefilter("ignore")
    rows = []
    for task in CORPORA:
        for n_planted in PLANTED:
            for seed in SEEDS:
                rows.append(listed(task, seed, n_planted))
                print(*rows[-1].values(), flush=True)
    stored = {"command": "python -m benchmarks.label_suspects", "rows": rows}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(table())


if __name__ == "__main__":
    main()
