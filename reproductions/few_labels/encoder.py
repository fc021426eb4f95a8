"""What class names and an encoder add: no label, 1, 5 and 20 labels per class.

Whole corpora with the vectors of MiniLM in EARMARK_DATA/minilm; splits and draws are
those of its README, which has the figures of SetFit. Descriptions of the classes stand
in descriptions.toml, written before any result. What encodes descriptions needs the
files of MiniLM as well (``minilm.py``), and is left out without them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from earmark import TextClassifier
from earmark.models import SemiSupervisedClassifier
from reproductions.few_labels.draws import Finished
from reproductions.few_labels.minilm import WEIGHTS, encode
from reproductions.study import Progress, mean_and_error
from reproductions.tables import Table, number

__all__ = ["CORPORA", "compare_with_encoder", "encoder_tables", "weigh_names"]

CORPORA = ("sms", "trec", "webkb", "r8", "imdb", "ag", "20ng", "r52")
FILES = {"20ng": "20newsgroups_bydate", "sms": "sms_spam", "ag": "ag_news_test"}
IN_ONE_FILE = ("sms", "ag")
SETFIT = {
    5: (0.912, 0.586, 0.610, 0.894, 0.617, 0.802, 0.606, 0.759),
    20: (0.957, 0.875, 0.782, 0.933, 0.759, 0.852, 0.674, 0.843),
}
ALONE, OURS, BOTH = "MiniLM + logistic regression", "earmark", "earmark + MiniLM"
DESCRIBED = f"{BOTH} + descriptions"


class Method(NamedTuple):
    """What is fitted: class names, and whether it gets the vectors."""

    title: str
    names: str | None
    vectors: bool


METHODS = (
    Method(OURS, None, False),
    Method("earmark + the labels' own words", "auto", False),
    Method("earmark + descriptions", "described", False),
    Method(BOTH, None, True),
    Method(DESCRIBED, "described", True),
)
# Labels per class -> what is compared.
COMPARED = {
    0: tuple(m for m in METHODS if m.names == "described"),
    1: tuple(m for m in METHODS if m.names is None),
    5: METHODS,
    20: tuple(m for m in METHODS if m.vectors or m.names is None),
}


@dataclass(frozen=True)
class Corpus:
    """Texts, labels, vectors by text, and what the classes are about."""

    train: list[str]
    y: Any
    test: list[str]
    y_test: Any
    vectors: dict[str, Any]
    described: dict[str, Any]

    def encode(self, texts: Sequence[str]) -> Any:
        """Stored vectors; names are encoded."""
        for text in texts:
            if text not in self.vectors:
                self.vectors[text] = encode(text)
        return np.array([self.vectors[text] for text in texts])

    def held_out(self) -> Corpus:
        """2,500 documents of the training part, tested by 1,000 others of it."""
        order = np.random.default_rng(5).permutation(len(self.train))
        test, train = order[:1000], order[1000:3500]
        return replace(
            self,
            train=[self.train[i] for i in train],
            y=self.y[train],
            test=[self.train[i] for i in test],
            y_test=self.y[test],
            described={c: self.described[c] for c in np.unique(self.y[train])},
        )


@lru_cache(maxsize=1)
def read_corpus(name: str) -> Corpus:
    """A corpus by name; the last one stays in memory."""
    import pandas as pd
    from safetensors.numpy import load_file

    data = Path(os.environ["EARMARK_DATA"])
    index = pd.read_parquet(data / "minilm" / "index.parquet")
    stored = load_file(data / "minilm" / "vectors.safetensors")["vectors"]
    vectors: dict[str, Any] = {}

    def read(file: str) -> tuple[list[str], Any]:
        listed = index[index.file == file].sort_values("row")
        frame = pd.read_parquet(data / f"{file}.parquet").iloc[listed.row.to_numpy()]
        column = frame.text
        if "newsgroups" in file:
            column = frame.subject + "\n" + frame.body
        rows = stored[listed.vector.to_numpy()].astype(float)
        vectors.update(zip(column, rows, strict=True))
        return column.tolist(), frame.label.to_numpy().astype(str)

    stem = FILES.get(name, name)
    if name in IN_ONE_FILE:
        texts, y = read(stem)
        distinct = pd.Series(texts).drop_duplicates().index.to_numpy()
        rows = np.random.default_rng(0).permutation(distinct)
        halves = np.split(rows, [int(0.7 * len(rows))])
        train, test = (([texts[i] for i in half], y[half]) for half in halves)
    else:
        train, test = read(f"{stem}_train"), read(f"{stem}_test")
    listed = Path(__file__).with_name("descriptions.toml").read_text("utf-8")
    return Corpus(*train, *test, vectors, tomllib.loads(listed)[name])


class LabelledRows:
    """One draw: n rows of each class have a label."""

    def __init__(self, name: str, n: int, seed: int, held_out: bool = False) -> None:
        corpus = read_corpus(name)
        self.corpus = corpus.held_out() if held_out else corpus
        y, rng = self.corpus.y, np.random.default_rng(seed)
        drawn = [rng.permutation(np.flatnonzero(y == c))[:n] for c in np.unique(y)]
        self.rows = np.concatenate(drawn)
        self.labels = np.full(len(y), None, dtype=object)
        self.labels[self.rows] = y[self.rows]


def recipe_with(
    draw: LabelledRows, names: str | None, vectors: bool, weight: float = 3.0
) -> float:
    """Accuracy of the recipe on the test part."""
    corpus = draw.corpus
    classifier = TextClassifier(
        SemiSupervisedClassifier(name_weight=weight),
        encoder=corpus.encode if vectors else None,
        class_names=corpus.described if names == "described" else names,
        random_state=0,
    )
    classifier.fit(corpus.train, draw.labels)
    return float(np.mean(classifier.predict(corpus.test) == corpus.y_test))


def vectors_alone(draw: LabelledRows) -> float:
    """Accuracy of a logistic regression on the vectors, centred on the pool."""
    corpus = draw.corpus
    mean = _unit(corpus.encode(corpus.train)).mean(axis=0)
    train, test = (
        _unit(_unit(corpus.encode(texts)) - mean)
        for texts in ([corpus.train[i] for i in draw.rows], corpus.test)
    )
    linear = LogisticRegression(C=10.0, max_iter=1000)
    linear.fit(train, corpus.y[draw.rows])
    return float(np.mean(linear.predict(test) == corpus.y_test))


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def compare_with_encoder(
    names: Sequence[str], n_draws: int, tell: Progress
) -> list[dict[str, Any]]:
    """Rows: labels per class, method, and accuracy by corpus over the draws."""
    done = Finished(draw=LabelledRows)
    if not WEIGHTS:
        tell("EARMARK_MINILM is not set: descriptions are not encoded")
    rows: dict[tuple[int, str], dict[str, Any]] = {}

    def add(n: int, title: str, corpus: str, values: list[float]) -> None:
        cells = rows.setdefault((n, title), {})
        cells[corpus] = mean_and_error(values)
        tell(f"{corpus}, {n} labels per class, {title}: {cells[corpus]['mean']:.3f}")

    for name in names:
        for n, methods in COMPARED.items():
            seeds = range(n_draws if n else 1)
            if n >= 5:
                found = [done.get(vectors_alone, name, n, s) for s in seeds]
                add(n, ALONE, name, found)
            for title, given, vectors in methods:
                if vectors and given and not WEIGHTS:
                    continue
                options = {"names": given, "vectors": vectors}
                found = [done.get(recipe_with, name, n, s, **options) for s in seeds]
                add(n, title, name, found)
    return [
        {"labels": n, "method": title, "accuracy": cells}
        for (n, title), cells in rows.items()
    ]


NAME_WEIGHTS = (0.0, 1.0, 3.0, 9.0)


def weigh_names(
    names: Sequence[str], n_draws: int, tell: Progress
) -> list[dict[str, Any]]:
    """Rows: labels per class, weight of descriptions, and accuracy by corpus.

    On documents held out from the training parts, by draws of their own.
    """
    done = Finished(draw=LabelledRows)
    rows: list[dict[str, Any]] = [
        {"labels": n, "weight": weight, "accuracy": {}}
        for n in (1, 5, 20)
        for weight in NAME_WEIGHTS
    ]
    for name in names:
        for row in rows:
            options = {"names": "described", "vectors": False, "weight": row["weight"]}
            draws = [
                done.get(recipe_with, name, row["labels"], seed, True, **options)
                for seed in range(10, 10 + n_draws)
            ]
            row["accuracy"][name] = mean_and_error(draws)
        tell(f"{name}: weights of descriptions")
    return rows


# -- tables ----------------------------------------------------------------------------


def encoder_tables(
    rows: Sequence[dict[str, Any]], weights: Sequence[dict[str, Any]]
) -> list[Table]:
    """No labels; 5 and 20 labels per class, beside SetFit; the weight of names."""
    corpora = [name for name in CORPORA if name in rows[0]["accuracy"]]

    def line(title: str, values: Sequence[float], sign: bool = False) -> list[str]:
        cells = [*values, float(np.mean(values))]
        return [title, *(number(value, sign=sign) for value in cells)]

    def means(row: dict[str, Any]) -> list[float]:
        return [row["accuracy"][name]["mean"] for name in corpora]

    few = [
        line(f"{_counted(row['labels'])}, {row['method']}", means(row))
        for row in rows
        if row["labels"] < 5 or (row["labels"] == 5 and row["method"] in (OURS, BOTH))
    ]
    head = ["accuracy", *corpora, "mean"]
    tables = [Table("no-labels", "From class names alone", head, few)]
    for n in SETFIT:
        known = dict(zip(CORPORA, SETFIT[n], strict=True))
        by_method = {row["method"]: means(row) for row in rows if row["labels"] == n}
        parts = np.maximum(by_method[ALONE], by_method[OURS])
        lines = [
            line("SetFit", [known[name] for name in corpora]),
            *(line(method, values) for method, values in by_method.items()),
            line(
                f"{BOTH}: over the better part",
                (by_method[BOTH] - parts).tolist(),
                True,
            ),
        ]
        title = f"An encoder and class names, {n} labels per class"
        tables.append(Table(f"encoder-{n}", title, [f"{n} labels", *head[1:]], lines))
    weighed = [
        line(f"{_counted(row['labels'])}, weight {row['weight']:g}", means(row))
        for row in weights
    ]
    title = "What descriptions should weigh, on training parts"
    return [*tables, Table("name-weight", title, head, weighed)]


def _counted(n: int) -> str:
    return "no label" if n == 0 else f"{n} label{'s' if n > 1 else ''} per class"
