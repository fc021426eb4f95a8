"""After the build: names for screen readers, and nothing from the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Links that are followed only when clicked are fine; these are loaded by themselves.
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=["'](?:https?:)?//[^"']+"""
    r"""|<link\b(?=[^>]*\brel=["'](?:stylesheet|preload|icon|preconnect)["'])"""
    r"""[^>]*\bhref=["'](?:https?:)?//[^"']+""",
    re.IGNORECASE,
)

# Switches of the theme and thumbnails of the gallery have no name of their own.
_SWITCH = re.compile(r"<summary>(?=<span class=\"toctree-toggle\")")
_THUMB = re.compile(
    r'<a class="reference internal" (href="[^"]+")>'
    r'(<span class="(?:doc|std std-ref)">([^<]*)</span></a></p>)(?=\s*<div class="sphx)'
)


def named(page: str) -> str:
    """The page with a name on every switch and thumbnail."""
    page = _SWITCH.sub('<summary aria-label="Show the pages below">', page)
    return _THUMB.sub(r'<a class="reference internal" \1 aria-label="\3">\2', page)


def _check(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        if named(text) != text:
            page.write_text(named(text), encoding="utf-8")
        for found in _LOADED.findall(text):
            logger.warning("%s loads from the network: %s", page.name, found)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the pages once they are all written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
