"""The report as text for a terminal."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from earmark.evaluation.confusion import ClassScores
from earmark.evaluation.report.words import percent, targets

if TYPE_CHECKING:
    from earmark.evaluation.report.report import Report

__all__ = ["html_block", "render_terminal", "text_table"]

_WIDTH = 79
_MOST_ROWS = 40
_MAX_CLASSES = 40


def render_terminal(report: Report) -> str:
    """Summary, then one short table per part."""
    blocks = [f"{report.title}\n{'=' * len(report.title)}"]
    blocks.append(
        "\n".join(
            textwrap.fill(line, _WIDTH, subsequent_indent="  ")
            for line in report.sentences
        )
    )
    scores = report.confusion or report.multi_label
    if scores is not None:
        blocks.append(_class_table(report, scores.per_class))
    if report.confusion is not None and report.confusion.most_confused(top=1):
        blocks.append(_confusions(report))
    if report.coverage is not None:
        rows = [
            [percent(target), percent(report.coverage.coverage_at(target))]
            for target in targets(report.coverage.n_documents)
        ]
        if rows:
            blocks.append(text_table(["right answers", "documents answered"], rows))
    if report.top_terms:
        blocks.append(_terms(report))
    if report.hidden_nodes:
        blocks.append(_nodes(report))
    if report.label_errors:
        blocks.append(_label_errors(report))
    if report.findings:
        blocks.append(
            "Checks of the data\n"
            + "\n".join(
                textwrap.fill(
                    str(f), _WIDTH, initial_indent="- ", subsequent_indent="  "
                )
                for f in report.findings
            )
        )
    for heading, part in (("Timing", report.timing), ("Identity", report.fingerprint)):
        if part:
            rows = [[str(name), _value(value)] for name, value in part.items()]
            blocks.append(text_table([heading, ""], rows))
    return "\n\n".join(blocks)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns lined up; the first to the left, the others to the right."""
    table = [list(header), *(list(row) for row in rows)]
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


def _class_table(report: Report, scores: Sequence[ClassScores]) -> str:
    weakest = sorted(scores, key=lambda s: (s.f1, str(s.label)))[:_MAX_CLASSES]
    rows = [
        [
            _cut(str(s.label), 34),
            f"{s.precision:.3f}",
            f"{s.recall:.3f}",
            f"{s.f1:.3f}",
            f"{s.support:,}",
        ]
        for s in (weakest if len(scores) > _MAX_CLASSES else scores)
    ]
    figures = report.confusion or report.multi_label
    assert figures is not None
    for name, mean in (("micro", figures.micro), ("macro", figures.macro)):
        numbers = [f"{mean.precision:.3f}", f"{mean.recall:.3f}", f"{mean.f1:.3f}"]
        rows.append([f"{name} average", *numbers, f"{report.n_documents:,}"])
    text = text_table(["class", "precision", "recall", "F1", "documents"], rows)
    if len(scores) > _MAX_CLASSES:
        text += f"\n(the {_MAX_CLASSES} weakest of {len(scores)} classes)"
    return text


def _confusions(report: Report) -> str:
    assert report.confusion is not None
    rows = [
        [
            _cut(str(pair.true), 30),
            _cut(str(pair.predicted), 30),
            f"{pair.count:,}",
            percent(pair.share),
        ]
        for pair in report.confusion.most_confused(top=5)
    ]
    return text_table(["class", "taken for", "times", "of its documents"], rows)


def _terms(report: Report) -> str:
    assert report.top_terms is not None
    lines = [
        textwrap.fill(
            f"{label}: {', '.join(term for term, _ in list(terms)[:10])}",
            _WIDTH,
            subsequent_indent="  ",
        )
        for label, terms in list(report.top_terms.items())[:_MAX_CLASSES]
    ]
    return "\n".join(["Most indicative words", "-" * 21, *lines])


def _nodes(report: Report) -> str:
    assert report.hidden_nodes is not None
    lines = ["Hidden nodes", "-" * 12]
    for label, nodes in list(report.hidden_nodes.items())[:_MAX_CLASSES]:
        for share, terms in nodes:
            words = ", ".join(term for term, _ in list(terms)[:8])
            lines.append(
                textwrap.fill(
                    f"{label} {percent(share)}: {words}", _WIDTH, subsequent_indent="  "
                )
            )
    return "\n".join(lines)


def _label_errors(report: Report) -> str:
    assert report.label_errors is not None
    rows = [
        [
            f"row {e.index + 1}",
            _cut(str(e.given), 28),
            _cut(str(e.suggested), 28),
            percent(e.probability),
        ]
        for e in list(report.label_errors)[:10]
    ]
    return text_table(["suspected label errors", "given", "suggested", "wrong"], rows)


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def html_block(
    title: object,
    sentences: Sequence[object],
    head: Sequence[object] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """Title, sentences and a table for a notebook; everything is escaped."""

    def cells(tag: str, values: Sequence[object]) -> str:
        return "".join(f"<{tag}>{html.escape(str(v))}</{tag}>" for v in values)

    said = "".join(f"<p>{html.escape(str(sentence))}</p>" for sentence in sentences)
    block = f"<div><b>{html.escape(str(title))}</b>{said}"
    if rows:
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows[:_MOST_ROWS])
        block += f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}"
        block += "</tbody></table>"
    if len(rows) > _MOST_ROWS:
        block += f"<p>The first {_MOST_ROWS} of {len(rows):,}.</p>"
    return f"{block}</div>"
