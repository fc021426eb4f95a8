"""How figures of two papers come about: smoothing, preparation, and which sample.

Naive Bayes of Carlos & Rakshit (2016) over a grid of alpha, tokens and terms, against
all four printed figures at once; table 2 of Ganiz et al. (2009) with a fresh sample of
documents for every trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.figure_style import COLORS, INK
from reproductions.figures import legend, panels, save
from reproductions.forensics.samples import samples
from reproductions.forensics.smoothing import PAPER, equal_smoothing, smoothing
from reproductions.study import Run
from reproductions.tables import Table, gain, mean, number, p_value

__all__ = ["PARTS", "derive", "draw", "tables"]

PARTS: Mapping[str, Callable[[Run], Any]] = {
    "smoothing": smoothing,
    "equal_smoothing": equal_smoothing,
    "samples": samples,
}
_BEST = 6


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """The setting nearest to all printed figures, and the nearest of each alpha."""
    cells = result["smoothing"]

    def nearest(settings: list[str]) -> str:
        return min(settings, key=lambda name: cells[name]["mean distance"])

    by_alpha: dict[str, list[str]] = {}
    for name in cells:
        by_alpha.setdefault(name.rpartition(", ")[2], []).append(name)
    return {
        "nearest": {"setting": nearest(list(cells)), **cells[nearest(list(cells))]},
        "nearest by alpha": {
            alpha: {"setting": nearest(names), **cells[nearest(names)]}
            for alpha, names in by_alpha.items()
        },
    }


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Settings by distance, equal smoothing, fresh samples."""
    return [
        _smoothing(result),
        _by_alpha(result["nearest by alpha"]),
        _equal(result["equal_smoothing"]),
        _samples(result["samples"]),
    ]


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        *(number(value) for value in row["accuracy"].values()),
        number(row["mean distance"], 4),
        number(row["largest distance"], 4),
    ]


def _printed(names: Mapping[str, Any]) -> list[str]:
    return [number(PAPER[name]["naive Bayes"]) for name in names] + ["–", "–"]


def _smoothing(result: Mapping[str, Any]) -> Table:
    cells = result["smoothing"]
    first = sorted(cells, key=lambda name: cells[name]["mean distance"])[:_BEST]
    names = next(iter(cells.values()))["accuracy"]
    rows = [["the paper", "", "", *_printed(names)]]
    rows += [[*name.rsplit(", ", 2), *_cells(cells[name])] for name in first]
    head = ["tokens", "terms", "alpha", *names, "mean distance", "largest"]
    title = f"Naive Bayes: the {_BEST} settings nearest to all printed figures"
    note = f"{len(cells)} settings were run."
    return Table("smoothing", title, head, rows, note)


def _by_alpha(nearest: Mapping[str, Any]) -> Table:
    names = next(iter(nearest.values()))["accuracy"]
    rows = [["the paper", "", *_printed(names)]]
    rows += [
        [alpha, row["setting"].rpartition(", ")[0], *_cells(row)]
        for alpha, row in nearest.items()
    ]
    head = ["alpha", "nearest tokens, terms", *names, "mean distance", "largest"]
    title = "Naive Bayes: the nearest setting of each alpha"
    return Table("by-alpha", title, head, rows)


def _equal(corpora: Mapping[str, Any]) -> Table:
    rows = []
    for corpus, alphas in corpora.items():
        for alpha, row in alphas.items():
            accuracies = [mean(row[k]) for k in ("naive Bayes", "hierarchical Bayes")]
            p = p_value(row["p over documents"])
            rows.append([corpus, alpha, *accuracies, gain(row["gain"]), p])
        paper = PAPER[corpus]
        gap = paper["hierarchical Bayes"] - paper["naive Bayes"]
        printed = [number(value) for value in paper.values()]
        rows.append([corpus, "the paper", *printed, number(gap, sign=True), "–"])
    head = ["corpus", "alpha", "naive Bayes", "hierarchical Bayes", "gain", "p"]
    title = "Hidden nodes at equal smoothing (H = 2, 50 starts of 4 iterations)"
    note = "p: over the test documents, each by its mean over the draws."
    return Table("equal-smoothing", title, head, rows, note)


def _samples(result: Mapping[str, Any]) -> Table:
    def spread(row: Mapping[str, Any]) -> str:
        return f"{number(row['least'])} to {number(row['most'])}"

    def signed(row: Mapping[str, Any]) -> str:
        return f"{gain(row)} ({number(row['paper'], sign=True)})"

    rows = [
        [name, mean(r["NB"]), spread(r["NB"]), mean(r["HONB"]), signed(r["gain"])]
        for name, r in result["sets"].items()
    ]
    rows.append(["mean", "", "", "", signed(result["mean gain"])])
    n_trials = result["mean gain"]["n"]
    head = ["data", "NB", "NB, least to most", "HONB", "gain"]
    title = "A fresh sample of 500 documents per class for every trial"
    note = f"± is the standard error over {n_trials} trials; the paper in brackets."
    return Table("samples", title, head, rows, note)


def draw(result: Mapping[str, Any], out: Path) -> None:
    """Distance to the printed figures by alpha, and gains by sample."""
    figure, (left, right) = panels(2)
    nearest = result["nearest by alpha"]
    alphas = [float(alpha) for alpha in nearest]
    for i, key in enumerate(("mean distance", "largest distance")):
        left.plot(alphas, [r[key] for r in nearest.values()], label=key, c=COLORS[i])
    left.set(
        xscale="log", xlabel="alpha", ylabel="distance to the paper", ylim=(0, None)
    )
    sets = result["samples"]["sets"]
    rows = [row["gain"] for row in sets.values()]
    at = list(range(len(rows)))
    right.barh(
        at,
        [row["mean"] for row in rows],
        xerr=[2 * (row["se"] or 0.0) for row in rows],
        color=COLORS[0],
    )
    printed = [row["paper"] for row in rows]
    right.plot(printed, at, "o", color=INK, label="the paper")
    right.set_yticks(at, list(sets), fontsize=8)
    right.set(xlabel="gain of HONB over NB")
    legend(figure, [left, right])
    save(figure, out / "distances.svg")
