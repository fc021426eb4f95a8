"""The one helper of all tables: a table reads the same on a terminal and on a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "MARKS",
    "Table",
    "gain",
    "marks",
    "mean",
    "number",
    "p_value",
    "paired",
    "ranked",
]

MISSING = "–"
# What ``marks`` puts behind a figure, and what varies in each of the two tests.
MARKS = (
    "Marks of p < .05: * in a paired t test over the draws (what varies is which "
    "documents train), † over the documents, each by its mean over the draws (what "
    "varies is which documents are tested)."
)


@dataclass(frozen=True)
class Table:
    """Head and rows of text; ``name`` is what a page calls it by."""

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def text(self) -> str:
        """The table in columns for a terminal."""
        lines = [list(self.head), *map(list, self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.head))]
        shown = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *shown, *([self.note] if self.note else [])])

    def markdown(self) -> str:
        """The table for a page, without its title."""
        lines = [list(self.head), ["---"] * len(self.head), *map(list, self.rows)]
        cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        table = "\n".join(f"| {' | '.join(line)} |" for line in cells)
        return f"{table}\n\n{self.note}" if self.note else table


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A figure, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:{'+' if sign else ''}.{digits}f}"


def mean(row: Mapping[str, Any], digits: int = 3) -> str:
    """Mean ± standard error, where there is one, and the source's in brackets."""
    error, paper = row.get("se"), row.get("paper")
    shown = number(row["mean"], digits)
    if error is not None and math.isfinite(error):
        shown += f" ± {number(error, digits)}"
    return shown if paper is None else f"{shown} ({number(paper, digits)})"


def gain(row: Mapping[str, Any], digits: int = 3) -> str:
    """A difference ± its standard error, where there is one."""
    error = row.get("se")
    shown = number(row["mean"], digits, sign=True)
    known = error is not None and math.isfinite(error)
    return f"{shown} ± {number(error, digits)}" if known else shown


def p_value(p: float | None) -> str:
    """A p-value in two digits that matter."""
    if p is None:
        return MISSING
    return "< .001" if p < 0.001 else f"{p:.2g}"


def paired(row: Mapping[str, Any]) -> str:
    """A difference with the marks of its tests."""
    return number(row["difference"], sign=True) + marks(row)


def marks(row: Mapping[str, Any]) -> str:
    """A star and a dagger where the tests over draws and documents have p < .05."""
    tests = ((row.get("p"), " *"), (row.get("p over documents"), " †"))
    return "".join(mark for p, mark in tests if p is not None and p < 0.05)


def ranked(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Names in a given order; those that it does not list follow."""
    known = list(names)
    rest = [name for name in known if name not in first]
    return [name for name in first if name in known] + rest


Tables = Callable[[Mapping[str, Any]], Sequence[Table]]
