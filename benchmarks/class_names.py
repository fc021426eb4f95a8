"""What class names and an encoder add: no label, 1, 5 and 20 labels per class.

    EARMARK_MINILM=FOLDER python -m benchmarks.class_names [--whole] [CORPUS ...]

Needs EARMARK_DATA with the vectors of ``minilm`` (its README has the splits, and the
figures of SetFit and of logistic regression on the same vectors), and the files of
MiniLM for the names (``_minilm.py``). Descriptions of the classes stand in
descriptions.toml, written before any result. Draws: seeds 0 and 1. Pools are cut to
5,000 documents and test parts to 2,000. Results: benchmarks/results/class_names.json.
With --whole neither is cut, and the draws are seeds 2 to 4, by which nothing was
chosen; results: benchmarks/results/class_names_whole.json.

    EARMARK_MINILM=FOLDER python -m benchmarks.class_names --choose [CORPUS ...]

compares weights of the names on training parts alone: 2,500 documents and 1,000 held
out from them, 1, 5 and 20 labels per class, seeds 10 and 11, MiniLM and descriptions;
results: benchmarks/results/class_names_choice.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.numpy import load_file

from benchmarks._minilm import encode
from earmark import TextClassifier
from earmark.models import SemiSupervisedClassifier
from earmark.pipeline.matrix_engine import SemiEngine

FOLDER = Path(__file__).parent
CORPORA = ("sms", "trec", "webkb", "r8", "imdb", "ag", "20ng", "r52")
FILES = {"20ng": "20newsgroups_bydate", "sms": "sms_spam", "ag": "ag_news_test"}
N_POOL, N_TEST, SEEDS = 5000, 2000, (0, 1)
WHOLE = ("sms", "ag")
_SETFIT_5 = (0.912, 0.586, 0.610, 0.894, 0.617, 0.802, 0.606, 0.759)
_SETFIT_20 = (0.957, 0.875, 0.782, 0.933, 0.759, 0.852, 0.674, 0.843)
SETFIT = {
    5: dict(zip(CORPORA, _SETFIT_5, strict=True)),
    20: dict(zip(CORPORA, _SETFIT_20, strict=True)),
}
# Labels per class, names, and whether the vectors are used.
CELLS = (
    *(
        (n, names, vectors)
        for n in (5, 20)
        for names, vectors in (("described", True),)
    ),
    *((0, "described", vectors) for vectors in (False, True)),
    (1, None, False),
    (1, None, True),
    *((5, names, False) for names in (None, "auto", "described")),
    (20, None, False),
    (5, None, True),
    (20, None, True),
)


# Neither pool nor test part is cut: labels per class, names, vectors.
WHOLE_CELLS = (
    (5, "described", True),
    (20, "described", True),
    (5, None, True),
    (20, None, True),
    (5, None, False),
    (20, None, False),
    (5, "auto", False),
)


class Task:
    """Texts, labels and vectors of one corpus."""

    def __init__(self, name: str, sizes: tuple[int, int]) -> None:
        data = Path(os.environ["EARMARK_DATA"])
        self.vectors: dict[str, Any] = {}
        index = pd.read_parquet(data / "minilm" / "index.parquet")
        stored = load_file(data / "minilm" / "vectors.safetensors")["vectors"]
        stem = FILES.get(name, name)
        files = [stem] if name in WHOLE else [f"{stem}_train", f"{stem}_test"]
        parts = [self._read(data, file, index, stored) for file in files]
        if name in WHOLE:
            texts, y = parts[0]
            distinct = pd.Series(texts).drop_duplicates().index.to_numpy()
            rows = np.random.default_rng(0).permutation(distinct)
            n = int(0.7 * len(rows))
            parts = [
                ([texts[i] for i in part], y[part]) for part in (rows[:n], rows[n:])
            ]
        (self.train, self.y), (self.test, self.y_test) = (
            _cut(*part, n) for part, n in zip(parts, sizes, strict=True)
        )

    def _read(self, data: Path, file: str, index: Any, stored: Any) -> Any:
        listed = index[index.file == file].sort_values("row")
        frame = pd.read_parquet(data / f"{file}.parquet").iloc[listed.row.to_numpy()]
        column = frame.text
        if "newsgroups" in file:
            column = frame.subject + "\n" + frame.body
        rows = stored[listed.vector.to_numpy()].astype(float)
        self.vectors.update(zip(column, rows, strict=True))
        return column.tolist(), frame.label.to_numpy().astype(str)

    def encode(self, texts: list[str]) -> Any:
        """Stored vectors; names are encoded."""
        for text in texts:
            if text not in self.vectors:
                self.vectors[text] = encode(text)
        return np.array([self.vectors[t] for t in texts])


def _cut(texts: list[str], y: Any, n: int) -> Any:
    """At most n documents, but at least 25 of each class if there are so many."""
    order = np.random.default_rng(1).permutation(len(texts))
    place = pd.Series(order).groupby(y[order]).cumcount().to_numpy()
    rows = np.sort(order[(np.arange(len(order)) < n) | (place < 25)])
    return [texts[i] for i in rows], y[rows]


def accuracy(
    task: Task, cell: Any, seed: int, described: Any, model: Any = "semi-supervised"
) -> float:
    """One draw."""
    n, names, vectors = cell
    rng = np.random.default_rng(seed)
    labels = np.full(len(task.y), None, dtype=object)
    for label in np.unique(task.y):
        rows = rng.permutation(np.flatnonzero(task.y == label))[:n]
        labels[rows] = label
    classifier = TextClassifier(
        model,
        encoder=task.encode if vectors else None,
        class_names=described if names == "described" else names,
        random_state=0,
    )
    classifier.fit(task.train, labels)
    assert isinstance(classifier.engine_, SemiEngine)
    return float(np.mean(classifier.predict(task.test) == task.y_test))


WEIGHTS = (0.0, 1.0, 3.0, 9.0)


def choose(corpora: Any, described: Any) -> None:
    """The weight of names, on documents held out from the training parts."""
    rows: list[dict[str, Any]] = [
        {"labels": n, "weight": weight, "accuracy": {}}
        for n in (1, 5, 20)
        for weight in WEIGHTS
    ]
    for name in corpora:
        task = Task(name, (3500, 1))
        order = np.random.default_rng(5).permutation(len(task.train))
        texts, y = [task.train[i] for i in order], task.y[order]
        task.test, task.y_test = texts[:1000], y[:1000]
        task.train, task.y = texts[1000:], y[1000:]
        for row in rows:
            model = SemiSupervisedClassifier(name_weight=row["weight"])
            cell = (row["labels"], "described", True)
            draws = [
                accuracy(task, cell, seed, described[name], model) for seed in (10, 11)
            ]
            row["accuracy"][name] = round(float(np.mean(draws)), 4)
            row["mean"] = round(float(np.mean(list(row["accuracy"].values()))), 4)
            print(name, row["labels"], row["weight"], row["accuracy"][name], flush=True)
        payload = {"command": "python -m benchmarks.class_names --choose", "rows": rows}
        target = FOLDER / "results" / "class_names_choice.json"
        target.write_text(json.dumps(payload, indent=1) + "\n")


def main() -> None:
    """Measure cell after cell, cheap corpora first, and store what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", default=CORPORA)
    parser.add_argument("--whole", action="store_true", help="cut nothing")
    parser.add_argument("--choose", action="store_true", help="the weight of names")
    asked = parser.parse_args()
    described = tomllib.loads((FOLDER / "descriptions.toml").read_text())
    if asked.choose:
        choose(asked.corpora, described)
        return
    sizes = (10**9, 10**9) if asked.whole else (N_POOL, N_TEST)
    tasks = {name: Task(name, sizes) for name in asked.corpora}
    seeds = (2, 3, 4) if asked.whole else SEEDS
    done: list[dict[str, Any]] = []
    for cell in WHOLE_CELLS if asked.whole else CELLS:
        n, names, vectors = cell
        row: dict[str, Any] = {"labels": n, "names": names, "encoder": vectors}
        row["accuracy"] = {}
        for name, task in tasks.items():
            draws = [
                accuracy(task, cell, s, described[name])
                for s in (seeds if n else seeds[:1])
            ]
            row["accuracy"][name] = round(float(np.mean(draws)), 4)
            print(n, names, vectors, name, row["accuracy"][name], flush=True)
        row["mean"] = round(float(np.mean(list(row["accuracy"].values()))), 4)
        print(row, flush=True)
        done.append(row)
        store(done, asked.whole)


def tables() -> dict[str, str]:
    """What the pages show of the stored results."""
    cut, whole = (
        json.loads((FOLDER / "results" / f"{name}.json").read_text())["rows"]
        for name in ("class_names", "class_names_whole")
    )
    return {
        "no-labels": _table(cut, ((0, "described"), (1, None), (5, None)), None),
        "setfit": _table(whole, ((5, "described"), (20, "described")), True),
        "names": _table(whole, ((5, None), (5, "auto"), (20, None)), None),
    }


_COUNTED = {0: "no label", 1: "1 label per class"}
_NAMES = {
    None: "no names",
    "auto": "the labels' own words",
    "described": "descriptions",
}


def _table(rows: list[dict[str, Any]], wanted: Any, encoder: bool | None) -> str:
    """Markdown of some rows, with SetFit's above them where the encoder is used."""
    lines = [f"| accuracy | {' | '.join(CORPORA)} | mean |", "|---" * 10 + "|"]
    for n, names in wanted:
        if encoder:
            known = list(SETFIT[n].values())
            lines.append(_line(f"{n} labels per class, SetFit", known))
        for row in rows:
            if (row["labels"], row["names"]) != (n, names):
                continue
            if encoder is None or row["encoder"] == encoder:
                with_it = ", MiniLM" if row["encoder"] else ""
                counted = _COUNTED.get(n, f"{n} labels per class")
                lines.append(
                    _line(
                        f"{counted}, {_NAMES[names]}{with_it}",
                        [row["accuracy"][name] for name in CORPORA],
                    )
                )
    return "\n".join(lines)


def _line(name: str, values: list[float]) -> str:
    cells = [f"{value:.3f}".lstrip("0") for value in (*values, np.mean(values))]
    return f"| {name} | {' | '.join(cells)} |"


def store(rows: list[dict[str, Any]], whole: bool) -> None:
    """Write what is there."""
    name, option = ("class_names_whole", " --whole") if whole else ("class_names", "")
    payload = {
        "command": f"python -m benchmarks.class_names{option}",
        "setfit": {str(k): v for k, v in SETFIT.items()},
        "rows": rows,
    }
    target = FOLDER / "results" / f"{name}.json"
    target.write_text(json.dumps(payload, indent=1) + "\n")


if __name__ == "__main__":
    main()
