"""The user's cache folder: written whole or not at all, never needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from earmark.whole_files import write_whole

__all__ = ["cache_folder", "write_to_cache"]


def cache_folder() -> Path:
    """EARMARK_CACHE, or the folder of the platform for caches (XDG_CACHE_HOME)."""
    stated = os.environ.get("EARMARK_CACHE")
    if stated:
        return Path(stated)
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg:
        return Path(xdg, "earmark")
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "earmark"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local, "earmark", "Cache")
    return home / ".cache" / "earmark"


def write_to_cache(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path``; False if the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError:
        return False
    return True
