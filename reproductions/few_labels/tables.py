"""The tables of the few-labels reproduction."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from reproductions.few_labels.encoder import encoder_tables
from reproductions.few_labels.tasks import DEVELOPMENT, SHORT, UNTOUCHED
from reproductions.tables import Table, gain, number

__all__ = ["tables"]

Result = Mapping[str, Any]
OURS, LR = "earmark", "logistic regression"
SUPERVISED = (
    LR,
    "linear SVM",
    "complement NB, tf-idf",
    "complement NB, counts",
    "multinomial NB, tf-idf",
    "multinomial NB, counts",
)
LITERATURE = ("EM naive Bayes", "label spreading", "self-training")


def tables(result: Result) -> list[Table]:
    """Every table; accuracy on the test part, means over the draws."""
    return [
        _development(result, 5),
        _development(result, 20),
        _macro_f1(result),
        _calibration(result),
        _gaps(
            "short",
            "Short texts: their settings against those for long texts",
            result["short"],
            "long-text settings",
        ),
        _gaps(
            "untouched",
            "Corpora that played no part in any choice",
            result["untouched"],
            LR,
        ),
        _gaps(
            "unlabelled-classes",
            "Half of the classes have no label",
            result["unlabelled_classes"],
            LR,
        ),
        _many_labels(result),
        _seconds(result),
        *encoder_tables(result["encoder"], result["name_weight"]),
    ]


def _cells(table: Result, n: int) -> dict[str, Any]:
    """Corpus -> cell, for one number of labels, in the order of the experiments."""
    keys = {name: f"{name}-{n}" for name in (*DEVELOPMENT, *SHORT, *UNTOUCHED)}
    return {name: table[key] for name, key in keys.items() if key in table}


def _development(result: Result, n: int) -> Table:
    cells, mean = _cells(result["development"], n), result["means"][str(n)]
    rows = []
    for method in (*SUPERVISED, *LITERATURE, OURS):
        found = [c["methods"][method]["accuracy"]["mean"] for c in cells.values()]
        name = f"**{method}**" if method == OURS else method
        rows.append([name, *map(_share, [*found, mean["methods"][method]])])
    gaps = [cell["paired"][LR] for cell in cells.values()]
    every = {"mean": mean["gain"], "se": mean["gain_se"]}
    rows += [
        ["gain over logistic regression", *map(gain, [*gaps, every])],
        ["... worst draw", *(f"{gap['worst']:+.3f}" for gap in gaps), ""],
        ["... draws lost", *(f"{gap['lost']} of {gap['n']}" for gap in gaps), ""],
        ["gain over the best supervised", *map(_over_best, cells.values()), ""],
    ]
    head = [f"{n} labels per class", *cells, "mean"]
    return Table(f"development-{n}", f"Accuracy with {n} labels per class", head, rows)


def _over_best(cell: Result) -> str:
    methods = cell["methods"]
    best = max(methods[m]["accuracy"]["mean"] for m in SUPERVISED)
    return f"{methods[OURS]['accuracy']['mean'] - best:+.3f}"


def _macro_f1(result: Result) -> Table:
    rows = []
    for n in (5, 20):
        cells = _cells(result["development"], n)
        for method in (LR, OURS):
            found = [c["methods"][method]["macro_f1"]["mean"] for c in cells.values()]
            rows.append([f"{method}, {n} labels per class", *map(_share, found)])
    head = ["macro-F1", *_cells(result["development"], 5)]
    return Table("macro-f1", "Macro-F1", head, rows)


def _calibration(result: Result) -> Table:
    rows = []
    for n in (5, 20):
        cells, mean = _cells(result["development"], n), result["means"][str(n)]
        for key, name in (("ece_raw", "as learned"), ("ece", "recalibrated")):
            found = [c["methods"][OURS][key]["mean"] for c in cells.values()]
            title = f"{name}, {n} labels per class"
            rows.append([title, *map(_share, [*found, mean[key]])])
    corpora = _cells(result["development"], 5)
    head = ["calibration error", *corpora, "mean"]
    return Table("calibration", "Expected calibration error", head, rows)


def _gaps(name: str, title: str, table: Result, other: str) -> Table:
    """The recipe against one other method: accuracies, paired gap, draws lost."""
    rows = []
    for n in (5, 20):
        gains = []
        for task, cell in _cells(table, n).items():
            gap, methods = cell["paired"][other], cell["methods"]
            theirs, ours = (methods[m]["accuracy"]["mean"] for m in (other, OURS))
            lost = f"{gap['lost']} of {gap['n']}"
            row = [task, str(n), _share(theirs), _share(ours), gain(gap), lost]
            rows.append(row)
            gains.append(gap["mean"])
        mean = f"{sum(gains) / len(gains):+.3f}"
        rows.append(["mean", str(n), "", "", mean, ""])
    head = ["task", "labels per class", other, OURS, "gain", "draws lost"]
    return Table(name, title, head, rows)


def _many_labels(result: Result) -> Table:
    rows = []
    table = result["many_labels"]
    for corpus, size in product(DEVELOPMENT, ("100", "300", "all")):
        row = table.get(f"{corpus}-{size}")
        if row is None:  # a quick run has fewer
            continue
        found = (row[LR], row["linear SVM"], row["auto"])
        gap = f"{row['auto'] - max(found[:2]):+.3f}"
        rows.append([corpus, size, *map(_share, found), row["chosen"], gap])
    header = ["corpus", "labels per class", LR, "linear SVM", "auto", "chosen", "gap"]
    return Table("many-labels", "Many labels: what auto chooses", header, rows)


def _seconds(result: Result) -> Table:
    rows = []
    for n in (5, 20):
        cells = _cells(result["development"], n).values()
        found = [c["methods"][OURS]["seconds"]["mean"] for c in cells]
        rows.append([f"{n} labels per class", *(f"{value:.1f}" for value in found)])
    head = ["CPU seconds", *_cells(result["development"], 5)]
    return Table("seconds", "CPU seconds of a fit", head, rows)


def _share(value: float) -> str:
    return number(value)
