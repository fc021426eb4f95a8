"""The sources' own future work, as first experiments: results good and bad.

Unlabelled text, evidence and hidden nodes in the hybrid (Raina et al. 2003); a number
of nodes for each class (Carlos & Rakshit 2016); why naive Bayes overtakes higher order
on citations, and word clusters as a live peer (Ganiz et al. 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.beyond.hybrids import (
    chosen_by_evidence,
    latent_hybrid,
    summary,
    unlabelled_hybrid,
)
from reproductions.beyond.nodes import nodes_per_class
from reproductions.beyond.paths import overtaking, word_clusters
from reproductions.figure_style import COLORS, INK
from reproductions.figures import legend, panels, save
from reproductions.study import Run
from reproductions.tables import MARKS, Table, gain, marks, mean, number, p_value

__all__ = ["PARTS", "derive", "draw", "tables"]

PARTS: Mapping[str, Callable[[Run], Any]] = {
    "unlabelled_hybrid": unlabelled_hybrid,
    "chosen_by_evidence": chosen_by_evidence,
    "latent_hybrid": latent_hybrid,
    "nodes_per_class": nodes_per_class,
    "overtaking": overtaking,
    "word_clusters": word_clusters,
}
# Part of the hybrid -> the method that the others are compared with.
_BASES = {
    "unlabelled_hybrid": "hybrid",
    "chosen_by_evidence": "hybrid R=2",
    "latent_hybrid": "hybrid",
}


def derive(result: Mapping[str, Any]) -> dict[str, Any]:
    """Means and paired tests of the experiments on pairs of newsgroups."""
    return {
        f"{part}_summary": summary(result[part], base) for part, base in _BASES.items()
    }


def tables(result: Mapping[str, Any]) -> list[Table]:
    """One table per experiment."""
    titles = {
        "unlabelled_hybrid": "Unlabelled text in the hybrid: test error",
        "chosen_by_evidence": "Which parameters are generative: test error",
        "latent_hybrid": "Hidden nodes as regions of the hybrid: test error",
    }
    return [
        *(
            _pairs(part, title, result[f"{part}_summary"], _BASES[part])
            for part, title in titles.items()
        ),
        _nodes(result["nodes_per_class"]),
        _overtaking(result["overtaking"]),
        _clusters(result["word_clusters"]),
    ]


def _pairs(part: str, title: str, sizes: Mapping[str, Any], base: str) -> Table:
    rows = [
        [
            size,
            name,
            mean(row),
            "" if name == base else gain(row["gain"]),
            "" if name == base else p_value(row["p"]),
        ]
        for size in sorted(sizes, key=int)
        for name, row in sizes[size].items()
    ]
    head = ["labelled documents", "method", "error", f"gain over {base}", "p"]
    note = "± and p: over the pairs of newsgroups, whose documents differ."
    return Table(part.replace("_", "-"), title, head, rows, note)


def _nodes(corpora: Mapping[str, Any]) -> Table:
    rows = [
        [corpus, method, mean(row), p_value(row["p against H = 2"])]
        for corpus, found in corpora.items()
        for method, row in found["rows"].items()
    ]
    nodes = ", ".join(
        f"{corpus} {number(found['mean nodes per class'], 1)}"
        for corpus, found in corpora.items()
    )
    head = ["corpus", "nodes", "accuracy", "p against H = 2 (over documents)"]
    note = f"Mean number chosen per class: {nodes}."
    return Table("nodes-per-class", "A number of nodes per class", head, rows, note)


def _overtaking(cells: Mapping[str, Any]) -> Table:
    rows = [
        [
            name,
            number(cell["terms per document"], 0),
            f"{cell['terms shared by classes']:.0%}",
            number(cell["chance"], 2),
            *(number(cell["accuracy"][m]["mean"]) for m in cell["accuracy"]),
            gain(cell["HONB - NB"]) + marks(cell["HONB - NB"]),
        ]
        for name, cell in cells.items()
    ]
    methods = list(next(iter(cells.values()))["accuracy"])
    head = ["data", "terms", "shared", "chance", *methods, "HONB − NB"]
    title = "Why naive Bayes overtakes higher order"
    return Table("overtaking", title, head, rows, MARKS)


def _clusters(sets: Mapping[str, Any]) -> Table:
    rows = [
        [
            name,
            mean(row["words"]),
            mean(row["clusters"]),
            gain(row["gain"]) + marks(row["gain"]),
        ]
        for name, row in sets.items()
    ]
    head = ["data", "words", "word clusters", "gain"]
    title = "Multinomial naive Bayes on word clusters (NBWC), 5 % of the documents"
    return Table("word-clusters", title, head, rows)


def draw(result: Mapping[str, Any], out: Path) -> None:
    """What HONB gains over NB, by data and intervention."""
    cells = result["overtaking"]
    figure, (axis,) = panels(1, size=(7.5, 0.3 * len(cells) + 1.2))
    names = list(cells)
    plain, fair = "HONB - NB", "HONB - NB, smoothed by size, present only"
    for shift, key in ((0.2, plain), (-0.2, fair)):
        gains = [cells[name][key] for name in names]
        axis.barh(
            [i + shift for i in range(len(names))],
            [row["mean"] for row in gains],
            xerr=[row["se"] or 0.0 for row in gains],
            height=0.38,
            label=key,
            color=COLORS[0 if shift > 0 else 1],
        )
    axis.axvline(0.0, color=INK, linewidth=0.8, marker="")
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.invert_yaxis()
    axis.set(xlabel="difference of accuracy")
    legend(figure, axis)
    save(figure, out / "overtaking.svg")
