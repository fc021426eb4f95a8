"""Sections as Markdown, or as one HTML page that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

from markupsafe import Markup, escape

from earmark.apps.card.sections import Section

__all__ = ["to_html", "to_markdown"]

_SPECIAL = re.compile(r"([\\|*_\[\]<>#])")


def to_markdown(
    title: str, parts: Sequence[Section], front: Mapping[str, object] | None = None
) -> str:
    """The card as Markdown; whatever comes from the model is escaped.

    ``front`` is put before it as the front matter that model hubs read: JSON, which
    is YAML too.
    """
    text = _render("card.md.j2", title, parts, _as_markdown).rstrip() + "\n"
    if front is None:
        return text
    lines = [f"{name}: {json.dumps(value)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", text])


def to_html(title: str, parts: Sequence[Section]) -> str:
    """The card as one page: no script, no font, no picture from elsewhere."""
    return _render("card.html.j2", title, parts, _as_html) + "\n"


def _render(
    template: str, title: str, parts: Sequence[Section], inline: Callable[[str], str]
) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=template.endswith(".html.j2"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["inline"] = inline
    source = resources.files("earmark.apps.card").joinpath(template)
    text = source.read_text(encoding="utf-8")
    return environment.from_string(text).render(title=title, sections=parts)


def _as_markdown(text: str) -> str:
    """Text that Markdown shows as it is; `code` in our own sentences stays."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:  # a lone backtick is no code
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    pieces[::2] = [_SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [piece.replace("|", "\\|") for piece in pieces[1::2]]
    return "`".join(pieces)


def _as_html(text: str) -> str:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
