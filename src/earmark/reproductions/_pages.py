"""Tables of a stored result, put between the markers of a documentation page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Tables", "fill", "update_pages"]

Tables = Callable[[Mapping[str, Any]], Mapping[str, str]]

_MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table between its markers."""
    return _MARKED.sub(lambda m: f"{m[1]}{tables[m[2]]}\n{m[3]}", page)


def update_pages(root: Path, result: str, pages: Iterable[str], tables: Tables) -> None:
    """Rewrite pages under ``root`` with the stored result ``reproductions/NAME``."""
    stored = json.loads((root / "reproductions" / result).read_text())
    ready = tables(stored["result"])
    for name in pages:
        page = root / name
        page.write_text(fill(page.read_text(), ready))
