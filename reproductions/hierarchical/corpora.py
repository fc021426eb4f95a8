"""Tables 1 to 3 and figure 3: the text corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from earmark.models import HierarchicalBayes
from reproductions.hierarchical.methods import (
    hierarchical,
    naive_bayes,
    text_baselines,
)
from reproductions.hierarchical.published import TABLE_1, TABLE_2, TABLE_3
from reproductions.hierarchical.tasks import (
    Corpus,
    Task,
    halved,
    held_back,
    load,
    ordered,
)
from reproductions.study import Progress, Run, mean_and_error, paired_p_value

__all__ = ["curves", "labelled_corpora", "questions", "reviews"]

# The paper's settings where it states them; alpha is 1 throughout the paper.
PAPER_IMDB: Mapping[str, Any] = {"n_hidden": 2, "n_restarts": 50, "max_iter": 4}
TUNED_IMDB: Mapping[str, Any] = {
    "n_hidden": [2, 3],
    "alpha": (1.0, 2.0),
    "n_restarts": 100,
    "max_iter": 6,
}
FEW_IMDB: Mapping[str, Any] = {
    "n_hidden": 2,
    "alpha": (0.3, 1.0, 3.0),
    "n_restarts": 10,
    "max_iter": 5,
}
TUNED_NEWS: Mapping[str, Any] = {
    "n_hidden": 2,
    "alpha": (0.01, 0.03, 0.1, 0.3),
    "n_restarts": 20,
    "max_iter": 10,
}
QUERIES: Mapping[str, Any] = {
    "n_hidden": 4,
    "alpha": (0.03, 0.1, 0.3, 1.0),
    "n_restarts": 50,
    "max_iter": 10,
}
# Plots A and B fit five numbers of nodes at seven sizes: fewer starts.
CURVE: Mapping[str, Any] = {"alpha": 2.0, "n_restarts": 10, "max_iter": 4}
_QUICK = {"n_restarts": 8}
_NEWS_GRIDS = {"tf-idf + logistic regression": (10.0, 100.0)}
_QUICK_GRIDS = {"tf-idf + logistic regression": (10.0,)}


def reviews(run: Run) -> dict[str, Any]:
    """Table 1: 25,000 reviews train, 5,000 and 20,000 of the others judge."""
    tasks = list(halved(load("imdb", "IMDB"), 5000, 1 if run.quick else 3))
    restarts = _QUICK if run.quick else {}
    rows: dict[str, list[float]] = {
        "naive Bayes, alpha 1": [naive_bayes(task, [1.0]) for task in tasks],
        "naive Bayes": [naive_bayes(task) for task in tasks],
    }
    chosen = []
    settings = {
        "hierarchical Bayes, alpha 1, H = 2": {**PAPER_IMDB, "alpha": 1.0},
        "hierarchical Bayes, H = 2": {**PAPER_IMDB, "alpha": (1.0, 2.0, 3.0)},
        "hierarchical Bayes": dict(TUNED_IMDB),
    }
    for name, given in settings.items():
        rows[name] = []
        for seed, task in enumerate(tasks):
            run.progress(f"table 1: {name}, draw {seed + 1}")
            accuracy, model = hierarchical(task, seed, **{**given, **restarts})
            rows[name].append(accuracy)
        chosen.append({"row": name, "trials": model.trials_})
    run.progress("table 1: baselines")
    rows.update(text_baselines(tasks))
    table = _summary(rows, TABLE_1)
    return {"rows": table, "settings tried in the last draw": chosen}


def curves(run: Run) -> dict[str, Any]:
    """Figure 3: accuracy by training size, by hidden nodes, and with few reviews."""
    imdb, quick, say = load("imdb", "IMDB"), run.quick, run.progress
    sizes = (5000, 20000) if quick else tuple(range(5000, 35001, 5000))
    few = (200, 1000) if quick else (100, 200, 500, 1000, 1500, 2000, 2500)
    hidden = (1, 2) if quick else (1, 2, 3, 4, 5)
    return {
        "A and B": [
            _point(imdb, n, hidden, 1 if quick else 2, quick, say) for n in sizes
        ],
        "C": [_few_point(imdb, n, 2 if quick else 5, say) for n in few],
    }


def _point(
    imdb: Corpus,
    n_train: int,
    hidden: Sequence[int],
    n_draws: int,
    quick: bool,
    say: Progress,
) -> dict[str, Any]:
    """All methods at one training size; the rest of the 50,000 reviews are tested."""
    n_test = len(imdb.labels) - n_train - 5000
    settings = {**CURVE, **(_QUICK if quick else {})}
    tasks = [ordered(imdb, n_train, 5000, n_test, seed) for seed in range(n_draws)]
    rows: dict[str, list[float]] = {
        "naive Bayes": [naive_bayes(task) for task in tasks]
    }
    for h in hidden:
        say(f"figure 3: {n_train} reviews, {h} hidden nodes")
        rows[f"hierarchical Bayes, H = {h}"] = [
            hierarchical(task, seed, n_hidden=h, **settings)[0]
            for seed, task in enumerate(tasks)
        ]
    rows.update(text_baselines(tasks))
    return {"reviews": n_train, "rows": _summary(rows)}


def _few_point(imdb: Corpus, n_train: int, n_draws: int, say: Progress) -> Any:
    """Few training reviews: ten starts of five iterations, 10,000 test reviews."""
    say(f"figure 3: {n_train} reviews")
    tasks = [ordered(imdb, n_train, 5000, 10000, seed) for seed in range(n_draws)]
    rows = {
        "naive Bayes": [naive_bayes(task) for task in tasks],
        "hierarchical Bayes, H = 2": [
            hierarchical(task, seed, **FEW_IMDB)[0] for seed, task in enumerate(tasks)
        ],
        **text_baselines(tasks),
    }
    return {"reviews": n_train, "rows": _summary(rows)}


def labelled_corpora(run: Run) -> dict[str, Any]:
    """Table 2: R8, R52 and 20 Newsgroups, 10 % of the training part held back."""
    quick, say = run.quick, run.progress
    names = {"r8": "R8", "r52": "R52", "20newsgroups": "20 Newsgroups"}
    if quick:
        del names["20newsgroups"]
    return {title: _news(name, title, quick, say) for name, title in names.items()}


def _news(name: str, title: str, quick: bool, say: Progress) -> dict[str, Any]:
    """One corpus of table 2."""
    n_draws = 1 if quick else (5 if name == "r8" else 3)
    tasks = list(held_back(load(name, title), 0.1, n_draws))
    settings = {**TUNED_NEWS, **(_QUICK if quick else {})}
    rows: dict[str, list[float]] = {
        "naive Bayes, alpha 1": [naive_bayes(task, [1.0]) for task in tasks],
        "naive Bayes": [naive_bayes(task) for task in tasks],
    }
    by_accuracy, by_loss, refitted = [], [], []
    for seed, task in enumerate(tasks):
        say(f"table 2: {title}, hierarchical Bayes, draw {seed + 1}")
        by_accuracy.append(hierarchical(task, seed, **settings)[0])
        # A tenth of a small corpus is few documents to choose by: probabilities
        # tell more about each than its label does.
        finer = {**settings, "select": "log_loss"}
        accuracy, model = hierarchical(task, seed, **finer)
        by_loss.append(accuracy)
        refitted.append(_refitted(task, seed, {**finer, "alpha": model.alpha_}))
    rows["hierarchical Bayes"] = by_accuracy
    rows["hierarchical Bayes, by log loss"] = by_loss
    rows["hierarchical Bayes, by log loss, refit"] = refitted
    say(f"table 2: {title}, baselines")
    # Logistic regression over many classes takes longer than all the rest: one draw.
    slow = () if name == "r8" else ("tf-idf + logistic regression",)
    rows.update(text_baselines(tasks, _QUICK_GRIDS if quick else _NEWS_GRIDS, slow))
    return _summary(rows, TABLE_2[title])


def _refitted(task: Task, seed: int, settings: Mapping[str, Any]) -> float:
    """Let ``fit`` hold out 10 % itself, and learn it once the choice is made."""
    train = np.arange(task.corpus.n_train)
    whole = Task(task.corpus, train, train[:0], task.test)
    X, _, X_test = whole.counts
    y, _, y_test = whole.labels
    model = HierarchicalBayes(random_state=seed, **settings).fit(X, y)
    return float(model.score(X_test, y_test))


def questions(run: Run) -> dict[str, Any]:
    """Table 3, with TREC questions in place of the 1,889 queries."""
    quick, say = run.quick, run.progress
    corpus = load("trec", "TREC questions")
    tasks = [ordered(corpus, 1400, 200, 289, s) for s in range(2 if quick else 5)]
    say("table 3: TREC questions")
    rows = {
        "naive Bayes, alpha 1": [naive_bayes(task, [1.0]) for task in tasks],
        "naive Bayes": [naive_bayes(task) for task in tasks],
        "hierarchical Bayes": [
            hierarchical(task, seed, **QUERIES)[0] for seed, task in enumerate(tasks)
        ],
        **text_baselines(tasks),
    }
    return _summary(rows, TABLE_3)


def _summary(
    rows: Mapping[str, Sequence[float]], paper: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Mean and error of each row, beside the paper's figure; a test against NB."""
    table: dict[str, Any] = {}
    naive = rows["naive Bayes"]
    for name, values in rows.items():
        table[name] = {**mean_and_error(values), "draws": list(values)}
        if paper is not None:
            table[name]["paper"] = paper.get(name)
        if 1 < len(values) == len(naive) and values is not naive:
            table[name]["p against naive Bayes"] = paired_p_value(values, naive)
    return table
