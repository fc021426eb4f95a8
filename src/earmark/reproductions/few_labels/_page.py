"""The tables of the documentation page, made from the stored results.

    python -m earmark.reproductions.few_labels._page RESULT.json ENCODER.json PAGE.md

RESULT is that of ``earmark reproduce few-labels``, ENCODER that of
``python -m benchmarks.encoder``.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from earmark.reproductions._pages import fill
from earmark.reproductions.few_labels._tasks import DEVELOPMENT, SHORT, UNTOUCHED

__all__ = ["filled", "page_tables"]

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


def filled(page: str, result: Result, encoder: Result) -> str:
    """The page with every marked table made anew."""
    return fill(page, {**page_tables(result), "encoder": _encoder(encoder)})


def page_tables(result: Result) -> dict[str, str]:
    """The tables of the reproduction as Markdown, by name."""
    makers: dict[str, Callable[[Result], str]] = {
        "development-5": lambda r: _development(r, 5),
        "development-20": lambda r: _development(r, 20),
        "macro-f1": _macro_f1,
        "calibration": _calibration,
        "short": lambda r: _gaps(r["short"], "long-text settings"),
        "untouched": lambda r: _gaps(r["untouched"], LR),
        "unlabelled-classes": lambda r: _gaps(r["unlabelled_classes"], LR),
        "many-labels": _many_labels,
        "seconds": _seconds,
    }
    return {name: make(result) for name, make in makers.items()}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(table: Result, n: int) -> dict[str, Any]:
    """Corpus -> cell, for one number of labels, in the order of the experiments."""
    keys = {name: f"{name}-{n}" for name in (*DEVELOPMENT, *SHORT, *UNTOUCHED)}
    return {name: table[key] for name, key in keys.items() if key in table}


def _development(result: Result, n: int) -> str:
    cells, mean = _cells(result["development"], n), result["means"][str(n)]
    rows = []
    for method in (*SUPERVISED, *LITERATURE, OURS):
        found = [c["methods"][method]["accuracy"]["mean"] for c in cells.values()]
        name = f"**{method}**" if method == OURS else method
        rows.append([name, *map(_share, [*found, mean["methods"][method]])])
    gaps = [cell["paired"][LR] for cell in cells.values()]
    gain = [*map(_gap, gaps), f"{mean['gain']:+.3f} ± {mean['gain_se']:.3f}"]
    rows += [
        ["gain over logistic regression", *gain],
        ["... worst draw", *(f"{gap['worst']:+.3f}" for gap in gaps), ""],
        ["... draws lost", *(f"{gap['lost']} of {gap['n']}" for gap in gaps), ""],
        ["gain over the best supervised", *map(_over_best, cells.values()), ""],
    ]
    return _table([f"{n} labels a class", *cells, "mean"], rows)


def _over_best(cell: Result) -> str:
    methods = cell["methods"]
    best = max(methods[m]["accuracy"]["mean"] for m in SUPERVISED)
    return f"{methods[OURS]['accuracy']['mean'] - best:+.3f}"


def _macro_f1(result: Result) -> str:
    rows = []
    for n in (5, 20):
        cells = _cells(result["development"], n)
        for method in (LR, OURS):
            found = [c["methods"][method]["macro_f1"]["mean"] for c in cells.values()]
            rows.append([f"{method}, {n} labels a class", *map(_share, found)])
    return _table(["macro-F1", *_cells(result["development"], 5)], rows)


def _calibration(result: Result) -> str:
    rows = []
    for n in (5, 20):
        cells, mean = _cells(result["development"], n), result["means"][str(n)]
        for key, name in (("ece_raw", "as learned"), ("ece", "recalibrated")):
            found = [c["methods"][OURS][key]["mean"] for c in cells.values()]
            title = f"{name}, {n} labels a class"
            rows.append([title, *map(_share, [*found, mean[key]])])
    corpora = _cells(result["development"], 5)
    return _table(["calibration error", *corpora, "mean"], rows)


def _gaps(table: Result, other: str) -> str:
    """The recipe against one other method: accuracies, paired gap, draws lost."""
    rows = []
    for n in (5, 20):
        gains = []
        for name, cell in _cells(table, n).items():
            gap, methods = cell["paired"][other], cell["methods"]
            theirs, ours = (methods[m]["accuracy"]["mean"] for m in (other, OURS))
            lost = f"{gap['lost']} of {gap['n']}"
            row = [name, str(n), _share(theirs), _share(ours), _gap(gap), lost]
            rows.append(row)
            gains.append(gap["mean"])
        mean = f"{sum(gains) / len(gains):+.3f}"
        rows.append(["mean", str(n), "", "", mean, ""])
    return _table(["task", "labels a class", other, OURS, "gain", "draws lost"], rows)


def _many_labels(result: Result) -> str:
    rows = []
    table = result["many_labels"]
    for corpus, size in product(DEVELOPMENT, ("100", "300", "all")):
        row = table[f"{corpus}-{size}"]
        found = (row[LR], row["linear SVM"], row["auto"])
        gap = f"{row['auto'] - max(found[:2]):+.3f}"
        rows.append([corpus, size, *map(_share, found), row["chosen"], gap])
    header = ["corpus", "labels a class", LR, "linear SVM", "auto", "chosen", "gap"]
    return _table(header, rows)


def _seconds(result: Result) -> str:
    rows = []
    for n in (5, 20):
        cells = _cells(result["development"], n).values()
        found = [c["methods"][OURS]["seconds"]["mean"] for c in cells]
        rows.append([f"{n} labels a class", *(f"{value:.1f}" for value in found)])
    return _table(["CPU seconds", *_cells(result["development"], 5)], rows)


def _encoder(result: Result) -> str:
    """The recipe, an encoder alone, and both: accuracies and paired gaps."""
    cells = {name: result["corpora"][name] for name in DEVELOPMENT}
    rows = []
    for method, mean in result["means"].items():
        found = [cell["methods"][method]["mean"] for cell in cells.values()]
        rows.append([method, *map(_share, [*found, mean])])
    *others, both = result["means"]
    for method in others:
        gaps = [_gap(cell["paired"][method]) for cell in cells.values()]
        mean = result["means"][both] - result["means"][method]
        rows.append([f"gain over {method}", *gaps, f"{mean:+.3f}"])
    shares = [f"{cell['encoder_share']:.0%}" for cell in cells.values()]
    rows.append(["share of the encoder in the vote", *shares, ""])
    return _table(["5 labels a class", *cells, "mean"], rows)


def _share(value: float) -> str:
    return f"{value:.3f}"


def _gap(gap: Mapping[str, float]) -> str:
    return f"{gap['mean']:+.3f} ± {gap['se']:.3f}"


if __name__ == "__main__":
    *sources, target = (Path(name) for name in sys.argv[1:])
    stored = [json.loads(file.read_text(encoding="utf-8")) for file in sources]
    text = target.read_text(encoding="utf-8")
    made = filled(text, *(part["result"] for part in stored))
    target.write_text(made, encoding="utf-8")
