"""The reproduction's tables as Markdown, between markers in the documentation page.

    python -c "from earmark.reproductions.vector_space.page import update; update()"

from the root of the repository puts the stored result into the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from earmark.reproductions._pages import fill, update_pages

__all__ = ["tables", "update", "with_tables"]


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the page by its name."""
    return {
        "reuters": _reuters(result),
        "newsgroups": _newsgroups(result["exercise 14.8"]),
        "selection": _selection(result["feature selection"]["rows"]),
        "trade-off": _trade_off(result["bias and variance"]),
        "languages": _languages(result["exercise 14.5"]),
    }


def with_tables(page: str, result: Mapping[str, Any]) -> str:
    """The page with this result between its markers."""
    return fill(page, tables(result))


def update(root: Path = Path()) -> None:
    """Put the stored result into the page."""
    update_pages(root, "vector-space.json", ["docs/methods/vector-space.md"], tables)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _reuters(result: Mapping[str, Any]) -> str:
    kinds = ("micro F1", "macro F1")
    ten = result["exercise 14.7"]["models"]
    ninety = result["Reuters, 90 classes"]["models"]
    return _table(
        [
            "model",
            *(f"10 classes, {k}" for k in kinds),
            *(f"90 classes, {k}" for k in kinds),
        ],
        (
            [
                name,
                *(f"{ten[name][k]:.3f}" for k in kinds),
                *(f"{ninety[name][k]:.3f}" if name in ninety else "" for k in kinds),
            ]
            for name in ten
        ),
    )


def _newsgroups(models: Mapping[str, Any]) -> str:
    rows = ((name, each) for name, each in models.items() if isinstance(each, Mapping))
    return _table(
        ["model", "test accuracy", "leave-one-out on the training part"],
        (
            [
                name,
                f"{each['accuracy']:.3f}",
                f"{each['leave-one-out accuracy']:.3f}"
                if "leave-one-out accuracy" in each
                else "",
            ]
            for name, each in sorted(rows, key=lambda row: -row[1]["accuracy"])
        ),
    )


def _selection(rows: list[Mapping[str, Any]]) -> str:
    sizes = sorted({row["terms"] for row in rows})
    found = {(row["score"], row["terms"]): row for row in rows}
    return _table(
        ["terms kept by", "model", *(f"{size:,}" for size in sizes)],
        (
            [score, model, *(f"{found[score, size][model]:.3f}" for size in sizes)]
            for score in ("df", "chi2", "information_gain")
            for model in ("Rocchio", "kNN, k = 10")
        ),
    )


def _trade_off(problems: Mapping[str, Any]) -> str:
    names = ("1NN", "5NN", "25NN", "101NN", "Rocchio", "naive Bayes")
    return _table(
        ["model", *(f"{p}: {k}" for p in problems for k in ("bias", "variance"))],
        (
            [
                name,
                *(
                    f"{problems[p][name][k]:.3f}"
                    for p in problems
                    for k in ("bias", "variance")
                ),
            ]
            for name in names
        ),
    )


def _languages(found: Mapping[str, Any]) -> str:
    if "not run" in found:
        return str(found["not run"])
    fourths = [key for key in found if key.startswith("fourth language")]
    rules = found[fourths[0]]["any-of"]
    return _table(
        ["any-of rule", *(f"{key.split()[-1]}: no label" for key in fourths)],
        (
            [
                rule,
                *(
                    f"{found[key]['any-of'][rule]['fourth language: no label']:.0%}"
                    for key in fourths
                ),
            ]
            for rule in rules
        ),
    )
