"""The experiments, one function a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from earmark import TextClassifier
from earmark.reproductions._common import Progress, mean_and_error
from earmark.reproductions.few_labels._figures import draw_figures
from earmark.reproductions.few_labels._methods import (
    Draw,
    baselines,
    literature,
    recipe,
)
from earmark.reproductions.few_labels._tasks import (
    DEVELOPMENT,
    SHORT,
    UNTOUCHED,
    Task,
    load_task,
    n_draws,
)

__all__ = ["reproduce"]

SIZES = (5, 20)
RECIPE = "earmark"
LINEAR = ("logistic regression", "linear SVM")


def reproduce(
    out: Path, quick: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """All tables as plain data; figures go to ``out``."""
    tell = progress or (lambda message: None)
    small = ("webkb", "sms", "trec")
    development = small if quick else DEVELOPMENT
    short = ("ag-titles", "sms") if quick else SHORT
    result = {
        "development": compare_with_supervised(development, quick, tell),
        "short": compare_branches(short, quick, tell),
        "untouched": compare_with_supervised(
            UNTOUCHED[1:] if quick else UNTOUCHED, quick, tell, most=3
        ),
        "unlabelled_classes": unlabelled_classes(
            ("webkb", "trec") if quick else ("20ng", "r8", "webkb", "trec"), tell
        ),
        "many_labels": many_labels(development, quick, tell),
        "curves": learning_curves(
            ("webkb", "sms") if quick else ("r8", "webkb", "imdb"), tell
        ),
    }
    result["means"] = means(result["development"])
    draw_figures(result, out)
    return result


def compare_with_supervised(
    names: Sequence[str], quick: bool, tell: Progress, most: int = 8
) -> dict[str, Any]:
    """The recipe against supervised models, and the literature on two draws."""
    table: dict[str, Any] = {}
    for name in names:
        task = load_task(name)
        for n in SIZES:
            draws = []
            for seed in range(min(most, n_draws(name, quick))):
                draw = Draw(task, n, seed)
                row = {**baselines(draw), RECIPE: recipe(draw)}
                if seed < 2 and most == 8:
                    row |= literature(draw)
                draws.append(row)
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"{name}, {n} a class", table[f"{name}-{n}"]))
        load_task.cache_clear()
    return table


def summary(draws: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and errors of every method, and the recipe paired with the others."""
    methods = {
        method: {
            measure: mean_and_error(d[method][measure] for d in draws if method in d)
            for measure in draws[0][method]
        }
        for method in draws[0]
    }
    paired = {}
    for method in draws[0]:
        both = [d for d in draws if method in d and method != RECIPE]
        gaps = [d[RECIPE]["accuracy"] - d[method]["accuracy"] for d in both]
        if gaps:
            lost = sum(gap < 0 for gap in gaps)
            paired[method] = {**mean_and_error(gaps), "worst": min(gaps), "lost": lost}
    return {"methods": methods, "paired": paired}


def line(title: str, found: dict[str, Any]) -> str:
    """One line of progress."""
    ours = found["methods"][RECIPE]["accuracy"]["mean"]
    rest = (
        f"{gap['mean']:+.3f} to {method}"
        for method, gap in list(found["paired"].items())[:2]
    )
    return f"{title}: {ours:.3f}, {', '.join(rest)}"


def means(table: dict[str, Any]) -> dict[str, Any]:
    """Means over the corpora, and the gain over logistic regression with its error."""
    found = {}
    for n in SIZES:
        cells = [cell for name, cell in table.items() if name.endswith(f"-{n}")]
        gaps = [cell["paired"]["logistic regression"] for cell in cells]
        errors = [gap["se"] for gap in gaps]
        ours = [cell["methods"][RECIPE] for cell in cells]
        found[str(n)] = {
            "methods": {
                method: float(
                    np.mean([c["methods"][method]["accuracy"]["mean"] for c in cells])
                )
                for method in cells[0]["methods"]
            },
            "gain": float(np.mean([gap["mean"] for gap in gaps])),
            "gain_se": float(np.sqrt(np.sum(np.square(errors))) / len(errors)),
            "ece": float(np.mean([row["ece"]["mean"] for row in ours])),
            "ece_raw": float(np.mean([row["ece_raw"]["mean"] for row in ours])),
        }
    return found


def compare_branches(
    names: Sequence[str], quick: bool, tell: Progress
) -> dict[str, Any]:
    """Short texts: the settings for them against those for long texts."""
    table: dict[str, Any] = {}
    for name in names:
        task = load_task(name)
        for n in SIZES:
            draws = [
                {RECIPE: recipe(draw), "long-text settings": recipe(draw, "long")}
                for draw in (Draw(task, n, s) for s in range(2 if quick else 3))
            ]
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"short: {name}, {n} a class", table[f"{name}-{n}"]))
        load_task.cache_clear()
    return table


def unlabelled_classes(names: Sequence[str], tell: Progress) -> dict[str, Any]:
    """Labels for half of the classes, a pool of all, tested on the labelled half."""
    table: dict[str, Any] = {}
    for name in names:
        whole = load_task(name)
        for n in SIZES:
            draws = []
            for seed in range(2):
                rng = np.random.default_rng(seed)
                classes = np.unique(whole.y)
                known = rng.permutation(classes)[: max(2, len(classes) // 2)]
                draw = _half(whole, n, seed, known)
                row = {RECIPE: recipe(draw), **baselines(draw)}
                draws.append({m: row[m] for m in (RECIPE, *LINEAR)})
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"half the classes: {name}, {n}", table[f"{name}-{n}"]))
        load_task.cache_clear()
    return table


def _half(whole: Task, n: int, seed: int, known: Any) -> Draw:
    """A draw with labels of the known classes only; the pool keeps all."""
    tested = np.flatnonzero(np.isin(whole.y_test, known))
    test = [whole.test[i] for i in tested]
    draw = Draw(
        Task(whole.name, whole.train, whole.y, test, whole.y_test[tested]), n, seed
    )
    kept = np.isin(draw.y, known)
    draw.texts = [text for text, keep in zip(draw.texts, kept, strict=True) if keep]
    draw.y = draw.y[kept]
    return draw


def many_labels(names: Sequence[str], quick: bool, tell: Progress) -> dict[str, Any]:
    """100 and 300 labels a class, and all: what ``auto`` fits, and the linear ones."""
    table: dict[str, Any] = {}
    for name in names:
        task = load_task(name)
        for n in (100,) if quick else (100, 300, None):
            size = len(task.y) if n is None else n
            draw = Draw(task, size, 0)
            best = baselines(draw)
            started = time.process_time()
            classifier = TextClassifier("auto", random_state=0)
            classifier.fit(draw.texts, draw.y, unlabelled=draw.pool_texts or None)
            seconds = time.process_time() - started
            accuracy = float(np.mean(classifier.predict(task.test) == task.y_test))
            row = {
                "auto": accuracy,
                "chosen": classifier.model_name_,
                "seconds": seconds,
                **{method: best[method]["accuracy"] for method in LINEAR},
            }
            table[f"{name}-{'all' if n is None else n}"] = row
            gap = accuracy - max(row[method] for method in LINEAR)
            tell(f"{name}, {n or 'all'} labels a class: {row['chosen']} {gap:+.3f}")
        load_task.cache_clear()
    return table


def learning_curves(names: Sequence[str], tell: Progress) -> dict[str, Any]:
    """Accuracy from 2 labels a class on, with and without the pool (two draws)."""
    curves: dict[str, Any] = {}
    for name in names:
        task = load_task(name)
        rows = []
        for n in (2, 5, 10, 20, 50, 100):
            draws = [Draw(task, n, seed) for seed in range(2)]
            ours = [recipe(draw)["accuracy"] for draw in draws]
            linear = [baselines(d)["logistic regression"]["accuracy"] for d in draws]
            rows.append([n, float(np.mean(ours)), float(np.mean(linear))])
        curves[name] = rows
        tell(f"learning curve of {name}")
        load_task.cache_clear()
    return curves
