"""Sections as Markdown, or as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from earmark.apps.card.sections import Block, Code, Items, Section, Table

__all__ = ["to_html", "to_markdown"]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;"
    "padding:0 1rem;color:#222;background:#fff}"
    "h1{font-size:1.7rem}h2{font-size:1.2rem;margin-top:2rem}"
    "table{border-collapse:collapse;width:100%;margin:.6rem 0}"
    "td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;"
    "vertical-align:top;overflow-wrap:anywhere}"
    "code,pre{background:#f4f4f4;border-radius:4px}code{padding:0 .2rem}"
    "pre{padding:.7rem;overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "td,th{border-color:#444}code,pre{background:#2a2a2a}}"
)
_SPECIAL = re.compile(r"([\\|*_\[\]<>#])")


def to_markdown(title: str, parts: Sequence[Section]) -> str:
    """The card as Markdown; whatever comes from the model is escaped."""
    lines = [f"# {_plain(title)}", ""]
    for section in parts:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += [_markdown(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Table):
        head = [block.head, ("---",) * len(block.head)]
        rows = [tuple(map(_plain, row)) for row in block.rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows])
    if isinstance(block, Items):
        return "\n".join(f"- {_plain(line)}" for line in block.lines)
    if isinstance(block, Code):
        return f"```sh\n{block.text}\n```"
    return _plain(block)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is; `code` in our own sentences stays."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:  # a lone backtick is no code
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    pieces[::2] = [_SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [piece.replace("|", "\\|") for piece in pieces[1::2]]
    return "`".join(pieces)


def to_html(title: str, parts: Sequence[Section]) -> str:
    """The card as one page: no script, no font, no picture from elsewhere."""
    body = [f"<h1>{escape(title)}</h1>"]
    for section in parts:
        body.append(f"<h2>{escape(section.title)}</h2>")
        body += [_html(block) for block in section.blocks]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Table):
        shown = any(block.head)
        head = "".join(f"<th>{_inline(cell)}</th>" for cell in block.head)
        rows = [
            "<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>"
            for row in block.rows
        ]
        top = f"<tr>{head}</tr>" if shown else ""
        return f"<table>{top}{''.join(rows)}</table>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{_inline(x)}</li>' for x in block.lines)}</ul>"
    if isinstance(block, Code):
        return f"<pre>{escape(block.text)}</pre>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
