"""The reproduction's tables as Markdown, between markers in the documentation page.

    python -c "from earmark.reproductions.higher_order.page import update; update()"

from the root of the repository puts the stored result into the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from earmark.reproductions._pages import fill, update_pages

__all__ = ["tables", "update", "with_tables"]

_TESTS = (
    "HONB - NB",
    "HOSVM - SVM",
    "pure HONB - HONB",
    "HONB, third order - HONB",
    "HOSVM, third order - HOSVM",
    "HOSVM, C cross-validated - HOSVM",
    "HOSVM, RBF kernel - HOSVM, unpenalized intercept",
    "SVM, RBF kernel - SVM, unpenalized intercept",
    "tf-idf + linear SVM - HONB",
    "tf-idf + linear SVM - HOSVM",
    "Complement NB - HONB",
)


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the page by its name."""
    few, free = result["few_documents"], result["leak_free"]
    return {
        "few": _accuracies(few),
        "leak_free": _accuracies(free),
        "tests": _differences({name: result["tests"][name] for name in _TESTS}, few),
        "curves": _curves(result["curves"], result["curve_tests"]),
        "improvements": _improvements(result["table_3"]),
        "unlabelled": _unlabelled(result["unlabelled"], few),
        "milder": _accuracies(result["milder_cross_postings"]),
    }


def with_tables(page: str, result: Mapping[str, Any]) -> str:
    """The page with this result between its markers."""
    return fill(page, tables(result))


def update(root: Path = Path()) -> None:
    """Rewrite docs/methods/higher-order.md with reproductions/higher-order.json."""
    update_pages(root, "higher-order.json", ["docs/methods/higher-order.md"], tables)


def _accuracies(table: Mapping[str, Any]) -> str:
    sets = _in_order(table)
    methods = sorted(
        table[sets[0]], key=lambda m: (m not in _FIRST, _FIRST.get(m, 0), m)
    )
    rows = []
    for method in methods:
        cells = [table[name][method] for name in sets]
        rows.append([method, *(f"{_short(c['mean'])}{_paper(c)}" for c in cells)])
    return _markdown(["", *sets], rows)


_FIRST = {
    name: place
    for place, name in enumerate(("NB", "HONB", "pure HONB", "SVM", "HOSVM", "NBSVM"))
}
_SETS = ("RELIGION", "SCIENCE", "POLITICS", "COMP", "Citeseer", "Cora")


def _in_order(table: Mapping[str, Any]) -> list[str]:
    known = [name for name in _SETS if name in table]
    return known + sorted(set(table) - set(known))


def _paper(cell: Mapping[str, Any]) -> str:
    return "" if cell["paper"] is None else f" ({_short(cell['paper'])})"


def _differences(tests: Mapping[str, Any], few: Mapping[str, Any]) -> str:
    sets = _in_order(few)
    rows = [
        [
            name.replace(" - ", " − "),
            *(f"{row[s]['difference']:+.3f}{_stars(row[s]['p'])}" for s in sets),
        ]
        for name, row in tests.items()
    ]
    return _markdown(["", *sets], rows)


def _stars(p: float) -> str:
    return " \\*" if p < 0.05 else ""


def _curves(curves: Mapping[str, Any], tests: Mapping[str, Any]) -> str:
    rows = []
    for name in _in_order(next(iter(curves.values()))):
        for method, base in (("NB", ""), ("HONB", "NB"), ("SVM", ""), ("HOSVM", "SVM")):
            cells = [name, method]
            for share, by_set in curves.items():
                mean = _short(by_set[name][method]["mean"])
                test = tests[share].get(f"{method} - {base}", {}).get(name, {"p": 1.0})
                cells.append(mean + _stars(test["p"]))
            rows.append(cells)
    return _markdown(["", "", *(f"{float(share):.0%}" for share in curves)], rows)


def _improvements(table: Mapping[str, Any]) -> str:
    names = [*(n for n in _SETS if n in table), "average"]
    rows = [
        [key, *(f"{table[n][key]:+.3f}" for n in names)]
        for key in ("clusters", "paths in the paper", "paths")
    ]
    return _markdown(["", *names], rows)


def _unlabelled(table: Mapping[str, Any], few: Mapping[str, Any]) -> str:
    sets = [name for name in _in_order(few) if name in table]
    rows = []
    for weight in next(iter(table.values())):
        cells = [table[name][weight] for name in sets]
        rows.append(
            [
                weight,
                *(f"{_short(c['mean'])}{_stars(c['p_against_none'])}" for c in cells),
            ]
        )
    return _markdown(["unlabelled_weight", *sets], rows)


def _short(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
