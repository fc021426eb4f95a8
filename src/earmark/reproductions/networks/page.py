"""The reproduction's tables as Markdown, between markers in the documentation pages.

    python -c "from earmark.reproductions.networks.page import update; update()"

from the root of the repository puts the stored result into the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from earmark.reproductions._pages import fill, update_pages
from earmark.reproductions.networks.tables import numbers

__all__ = ["PAGES", "tables", "update", "with_tables"]

PAGES = (
    "docs/maths/backpropagation.md",
    "docs/maths/gradients.md",
    "docs/methods/mlp.md",
    "docs/methods/nbsvm.md",
    "docs/methods/softmax.md",
)


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the pages by its name."""
    return {
        "example": _example(result["worked_example"]),
        "descent": _descent(result["descent"]),
        "curves": _curves(result["learning_curves"]),
        "newsgroups": _whole(result["newsgroups"]),
        "sentiment": _whole(result["sentiment"]),
    }


def with_tables(page: str, result: Mapping[str, Any]) -> str:
    """The page with this result between its markers."""
    return fill(page, tables(result))


def update(root: Path = Path()) -> None:
    """Rewrite the pages with reproductions/networks.json."""
    update_pages(root, "networks.json", PAGES, tables)


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _example(example: Mapping[str, Any]) -> str:
    rows = [
        [row["equation"], numbers(row["value"], 4), numbers(row["printed"], 3)]
        for row in example["rows"]
    ]
    return _table(["equation", "computed", "printed"], rows)


def _descent(found: Mapping[str, Any]) -> str:
    rows = [
        [
            str(row["batch_size"]),
            f"{row['documents_visited']:,}",
            f"{row['steps_that_lower_the_error']:.2f}",
            f"{row['error_after']:.4f} ± {row['sd_of_error_after']:.4f}",
        ]
        for row in found["rows"]
    ]
    head = ["batch", "documents visited", "steps downhill", "error after (s.d.)"]
    lowest = f"The lowest error there is: {found['optimal_error']:.4f}."
    return f"{_table(head, rows)}\n\n{lowest}"


def _curves(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(rows[0]["methods"])
    lines = [
        [
            row["corpus"],
            f"{row['size']:,}",
            *(f"{row['methods'][name]['mean']:.3f}" for name in names),
        ]
        for row in rows
    ]
    return _table(["corpus", "documents", *names], lines)


def _whole(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            row["method"]
            + "".join(f" ({k} = {v:g})" for k, v in row["setting"].items()),
            "words" if row["ngrams"] == 1 else "words and pairs",
            f"{row['accuracy']:.4f}",
            "–" if row["published"] is None else f"{row['published']:.4f}",
        ]
        for row in rows
    ]
    return _table(["method", "features", "accuracy", "published"], lines)
