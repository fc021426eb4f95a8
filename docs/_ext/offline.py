"""After the build: no page may load anything from the network."""

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


def _check(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        for found in _LOADED.findall(page.read_text(encoding="utf-8")):
            logger.warning("%s loads from the network: %s", page.name, found)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the pages once they are all written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
