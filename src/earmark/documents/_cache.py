"""The user's cache folder: written whole or not at all, never needed."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "write_whole"]


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


def write_whole(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path`` by rename; False if the place cannot be written."""
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".earmark-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        return False
    return True
