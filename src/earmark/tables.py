"""Tables of results: as aligned text for the terminal, as HTML for notebooks."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

# Rows of a table in a notebook.
_MOST_ROWS = 40
WIDTH = 79  # columns of text where nothing says how many there are


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns lined up; the first to the left, the others to the right."""
    # A label may hold line ends, which would tear its row.
    table = [[" ".join(cell.splitlines()) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[c]) for row in table) for c in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if c == 0 else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(lines)


def wrapped(line: str, width: int, start: str = "", hang: str = "") -> str:
    """A line wrapped between words; long words and "61.0 %" are not broken.

    >>> print(wrapped("accuracy is 61.0 % of all", 20))
    accuracy is 61.0 %
    of all
    """
    filled = textwrap.fill(
        line.replace(" %", "\N{NO-BREAK SPACE}%"),
        width,
        initial_indent=start,
        subsequent_indent=hang,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\N{NO-BREAK SPACE}%", " %")


def html_block(
    title: object,
    sentences: Sequence[object],
    head: Sequence[object] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """Title, sentences and a table for a notebook; everything is escaped."""

    def cells(tag: str, values: Sequence[object]) -> str:
        return "".join(f"<{tag}>{html.escape(str(v))}</{tag}>" for v in values)

    block = f"<div><b>{html.escape(str(title))}</b>{cells('p', sentences)}"
    if rows:
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows[:_MOST_ROWS])
        block += f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}"
        block += "</tbody></table>"
    if len(rows) > _MOST_ROWS:
        block += f"<p>The first {_MOST_ROWS} of {len(rows):,}.</p>"
    return f"{block}</div>"
