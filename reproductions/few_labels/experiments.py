"""The tables, one function each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.few_labels.draws import Finished
from reproductions.few_labels.methods import (
    LINEAR,
    auto,
    baselines,
    linear,
    literature,
    recipe,
)
from reproductions.few_labels.tasks import is_large
from reproductions.study import Progress, mean_and_error

__all__ = [
    "compare_branches",
    "compare_with_supervised",
    "learning_curves",
    "many_labels",
    "means",
    "short_means",
    "summary",
    "unlabelled_classes",
]

SIZES = (5, 20)
RECIPE = "earmark"
LONG = "long-text settings"
# "All" is more labels per class than any corpus has.
ALL = 1_000_000


def compare_with_supervised(
    done: Finished,
    names: Sequence[str],
    most: int,
    tell: Progress,
    with_literature: bool = False,
) -> dict[str, Any]:
    """The recipe against supervised models on the same draws.

    At most 3 draws of the two large corpora. EM, label spreading and self-training
    get two draws, of the large corpora one.
    """
    table: dict[str, Any] = {}
    for name in names:
        for n in SIZES:
            draws = []
            for seed in range(min(most, 3) if is_large(name) else most):
                row = {**done.get(baselines, name, n, seed)}
                row[RECIPE] = done.get(recipe, name, n, seed)
                if with_literature and seed < (1 if is_large(name) else 2):
                    row |= done.get(literature, name, n, seed)
                draws.append(row)
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"{name}, {n} per class", table[f"{name}-{n}"]))
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
        ours = [cell["methods"][RECIPE] for cell in cells]
        found[str(n)] = {
            "methods": {
                method: float(
                    np.mean([c["methods"][method]["accuracy"]["mean"] for c in cells])
                )
                for method in cells[0]["methods"]
            },
            **_gain(cells, "logistic regression"),
            "ece": float(np.mean([row["ece"]["mean"] for row in ours])),
            "ece_raw": float(np.mean([row["ece_raw"]["mean"] for row in ours])),
        }
    return found


def short_means(table: dict[str, Any]) -> dict[str, Any]:
    """Mean gain of the settings for short texts over those for long ones."""
    return {
        str(n): _gain([c for name, c in table.items() if name.endswith(f"-{n}")], LONG)
        for n in SIZES
    }


def _gain(cells: list[dict[str, Any]], method: str) -> dict[str, float | None]:
    """Mean of the paired gaps over corpora; their errors are independent."""
    gaps = [cell["paired"][method] for cell in cells]
    errors = [gap["se"] for gap in gaps]
    known = None not in errors
    return {
        "gain": float(np.mean([gap["mean"] for gap in gaps])),
        "gain_se": math.hypot(*errors) / len(errors) if known else None,
    }


def compare_branches(
    done: Finished, names: Sequence[str], most: int, tell: Progress
) -> dict[str, Any]:
    """Short texts: the settings for them against those for long texts."""
    table: dict[str, Any] = {}
    for name in names:
        for n in SIZES:
            draws = [
                {
                    RECIPE: done.get(recipe, name, n, seed),
                    LONG: done.get(recipe, name, n, seed, branch="long"),
                    **done.get(linear, name, n, seed),
                }
                for seed in range(most)
            ]
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"short: {name}, {n} per class", table[f"{name}-{n}"]))
    return table


def unlabelled_classes(
    done: Finished, names: Sequence[str], most: int, tell: Progress
) -> dict[str, Any]:
    """Labels for half of the classes, a pool of all, tested on the labelled half."""
    table: dict[str, Any] = {}
    for name in names:
        for n in SIZES:
            draws = [
                {
                    RECIPE: done.get(recipe, name, n, seed, True),
                    **done.get(linear, name, n, seed, True),
                }
                for seed in range(most)
            ]
            table[f"{name}-{n}"] = summary(draws)
            tell(line(f"half the classes: {name}, {n}", table[f"{name}-{n}"]))
    return table


def many_labels(
    done: Finished,
    names: Sequence[str],
    sizes: Sequence[int] | None,
    tell: Progress,
) -> dict[str, Any]:
    """100, 300 and all labels per class: what ``auto`` fits, and the linear ones."""
    table: dict[str, Any] = {}
    for name in names:
        for n in (100, 300, ALL) if sizes is None else sizes:
            size = "all" if n == ALL else str(n)
            ours, others = done.get(auto, name, n, 0), done.get(linear, name, n, 0)
            row = {
                "auto": ours["accuracy"],
                "chosen": ours["chosen"],
                "seconds": ours["seconds"],
                **{method: others[method]["accuracy"] for method in LINEAR},
            }
            table[f"{name}-{size}"] = row
            gap = row["auto"] - max(row[method] for method in LINEAR)
            tell(f"{name}, {size} labels per class: {row['chosen']} {gap:+.3f}")
    return table


def learning_curves(
    done: Finished, names: Sequence[str], most: int, tell: Progress
) -> dict[str, Any]:
    """Accuracy from 2 labels per class on, with and without the pool."""
    curves: dict[str, Any] = {}
    for name in names:
        curves[name] = []
        for n in (2, 5, 10, 20, 50, 100):
            ours = [done.get(recipe, name, n, s)["accuracy"] for s in range(most)]
            found = [done.get(linear, name, n, s) for s in range(most)]
            other = [row["logistic regression"]["accuracy"] for row in found]
            curves[name].append([n, float(np.mean(ours)), float(np.mean(other))])
        tell(f"learning curve of {name}")
    return curves
