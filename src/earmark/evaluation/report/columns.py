"""The columns of the table of classes, once for terminal, notebook and page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from earmark.evaluation.significance import wilson_interval

if TYPE_CHECKING:
    from earmark.evaluation.confusion import Averages, ClassScores


@dataclass(frozen=True)
class ClassColumn:
    """One figure of every class: a share, or a count."""

    head: str
    field: str
    """The attribute of ``ClassScores``."""
    of: str | None = None
    """The attribute that a share is a share of; with it the page has an interval."""
    about: str = ""
    """What the share is, for the page."""
    is_share: bool = True
    only_on_page: bool = False


COLUMNS = (
    ClassColumn(
        *("precision", "precision", "predicted"),
        "share of the answers with this class that are right",
    ),
    ClassColumn(
        *("recall", "recall", "support"),
        "share of the documents of this class that are found",
    ),
    ClassColumn("F1", "f1"),
    ClassColumn("documents", "support", is_share=False),
    ClassColumn("answers", "predicted", is_share=False, only_on_page=True),
)
_IN_TEXT = tuple(column for column in COLUMNS if not column.only_on_page)
HEAD = ("class", *(column.head for column in _IN_TEXT))


class Cell(NamedTuple):
    """A cell of the page: a number, and the interval of a share."""

    value: float
    is_share: bool
    interval: str


def class_row(name: object, scores: ClassScores) -> list[str]:
    """The cells of a class below ``HEAD``."""
    return [str(name), *(_text(scores, column) for column in _IN_TEXT)]


def average_row(name: str, scores: Averages, n_documents: int) -> list[str]:
    """The cells of an average below ``HEAD``; of counts that of all documents."""
    counts = {"support": f"{n_documents:,}"}
    cells = (
        _text(scores, column) if column.is_share else counts.get(column.field, "")
        for column in _IN_TEXT
    )
    return [name, *cells]


def page_cells(scores: ClassScores) -> Iterator[Cell]:
    """The cells of a class on the page; a share of few documents is uncertain."""
    for column in COLUMNS:
        value, interval = getattr(scores, column.field), ""
        if column.of is not None:
            total = getattr(scores, column.of)
            low, high = wilson_interval(round(value * total), int(total))
            interval = f"{100 * low:.0f}–{100 * high:.0f} %"
        yield Cell(value, column.is_share, interval)


def _text(scores: ClassScores | Averages, column: ClassColumn) -> str:
    value = getattr(scores, column.field)
    return f"{value:.3f}" if column.is_share else f"{value:,}"
