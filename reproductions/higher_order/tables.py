"""The tables, ours beside the paper's in brackets; a star marks p < .05."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproductions.higher_order.comparison import TESTS
from reproductions.higher_order.methods import METHODS
from reproductions.higher_order.published import TABLE_2
from reproductions.tables import MARKS, Table, marks, number, paired, ranked

__all__ = ["tables"]

Cells = Mapping[str, Mapping[str, Any]]


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Every table."""
    few, pairs = result["few_documents"], [f"{a} - {b}" for a, b in TESTS]
    tests = {name: result["tests"][name] for name in ranked(result["tests"], pairs)}
    return [
        _accuracies("few", "Accuracy at 5 % training documents", few),
        _differences(tests, _sets(few)),
        _accuracies(
            "leak-free",
            "Terms ranked on the training documents only",
            result["leak_free"],
        ),
        _curves(result["curves"]),
        _averages(result["averages"]),
        _roots(result["footnote_5"]),
        _improvements(result["table_3"]),
        _unlabelled(result["unlabelled"]),
        _accuracies(
            "milder",
            "A milder rule for cross-postings",
            result["milder_cross_postings"],
        ),
        _agreement(result["agreement"]),
        _ranges(result["log_ratios"]),
    ]


def _sets(table: Mapping[str, Any]) -> list[str]:
    return ranked(table, list(TABLE_2))


def _accuracies(name: str, title: str, table: Cells) -> Table:
    sets = _sets(table)
    rows = [
        [method, *(_with_paper(table[each][method]) for each in sets)]
        for method in ranked(table[sets[0]], list(METHODS))
    ]
    return Table(name, title, ["", *sets], rows)


def _with_paper(cell: Mapping[str, Any]) -> str:
    paper = "" if cell["paper"] is None else f" ({number(cell['paper'])})"
    return number(cell["mean"]) + paper


def _differences(tests: Cells, sets: Sequence[str]) -> Table:
    rows = [
        [name.replace(" - ", " − "), *(paired(row[each]) for each in sets)]
        for name, row in tests.items()
    ]
    title = "Differences over the same trials"
    both = all(
        "p over documents" in row[each] for row in tests.values() for each in sets
    )
    star = "Mark of p < .05: * in a paired t test over the trials."
    return Table("tests", title, ["", *sets], rows, MARKS if both else star)


def _curves(curves: Mapping[str, Cells]) -> Table:
    means, tests = curves["means"], curves["tests"]
    shares = sorted(means, key=float)
    rows = []
    for name in _sets(means[shares[0]]):
        for method, base in (("NB", ""), ("HONB", "NB"), ("SVM", ""), ("HOSVM", "SVM")):
            cells = [name, method]
            for share in shares:
                test = tests[share].get(f"{method} - {base}", {}).get(name, {})
                cells.append(number(means[share][name][method]["mean"]) + marks(test))
            rows.append(cells)
    head = ["", "", *(f"{float(share):.0%}" for share in shares)]
    title = "Figure 2: accuracy by share of the documents"
    return Table("curves", title, head, rows)


def _averages(rows: Sequence[Mapping[str, Any]]) -> Table:
    lines = [
        [
            f"{row['ours']} − {row['theirs']}",
            number(row["difference"], sign=True),
            number(row["paper"], sign=True),
        ]
        for row in rows
    ]
    title = "Mean differences over the four newsgroup sets"
    return Table("averages", title, ["", "ours", "paper"], lines)


def _roots(table: Cells) -> Table:
    sets = _sets(table)
    average = sum(table[each]["difference"] for each in sets) / len(sets)
    rows = [
        [
            "log-ratios as they are",
            *(number(table[each]["mean"]) for each in sets),
            "",
        ],
        [
            "gain of the root",
            *(paired(table[each]) for each in sets),
            number(average, sign=True),
        ],
    ]
    title = "Footnote 5: HOSVM with and without division by the root"
    return Table("roots", title, ["", *sets, "average"], rows)


def _improvements(table: Cells) -> Table:
    names = ranked(table, list(TABLE_2))
    keys = ("clusters", "paths in the paper", "paths")
    rows = [[key, *(number(table[n][key], sign=True) for n in names)] for key in keys]
    return Table("improvements", "Table 3: against word clusters", ["", *names], rows)


def _unlabelled(table: Cells) -> Table:
    sets = _sets(table)
    rows = []
    for weight in sorted(table[sets[0]], key=float):
        cells = [table[name][weight] for name in sets]
        rows.append([weight, *(number(c["mean"]) + marks(c) for c in cells)])
    title = "HONB with unlabelled documents, tested against weight 0"
    return Table("unlabelled", title, ["unlabelled_weight", *sets], rows)


def _agreement(statements: Mapping[str, Sequence[str]]) -> Table:
    rows = [[words, ", ".join(sets) or "none"] for words, sets in statements.items()]
    return Table("agreement", "Statements of the paper", ["statement", "sets"], rows)


# Axes of the paper's figures 3 and 4, as far as one can read them.
_AXES = {
    "first order": ("±4", "±1.5"),
    "higher order": ("±20", "±.1"),
    "higher order, normalized": ("±4", "±.3"),
}


def _ranges(ratios: Mapping[str, Any]) -> Table:
    rows = [
        [
            kind,
            *(
                f"{number(low, 2, sign=True)} .. {number(high, 2, sign=True)} ({axis})"
                for (low, high), axis in zip(
                    (parts["present"], parts["absent"]), _AXES[kind], strict=True
                )
            ),
        ]
        for kind, parts in ratios["ranges"].items()
    ]
    head = ["log-ratios", "term present", "term absent"]
    title = "Figures 3 and 4: ranges, the paper's axes in brackets"
    return Table("ranges", title, head, rows)
