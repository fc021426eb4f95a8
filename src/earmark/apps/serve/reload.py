"""Hot reload: a replaced model file is loaded, verified, and only then used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earmark.apps.serve.model import ServedModel
from earmark.apps.web.logs import logger

__all__ = ["ModelHolder"]


class ModelHolder:
    """The model in use, kept up to date with its file.

    Parameters
    ----------
    path : Path
        The model file; to replace it, rename a new one onto it.
    observe : callable
        Called with "loaded" or "refused" at each attempt.

    """

    def __init__(self, path: Path, observe: Callable[[str], None]) -> None:
        self.path = path
        self._observe = observe
        self._seen = _signature(path)
        self.model = ServedModel.from_file(path)
        self.loaded_at = time.time()

    async def watch(self, seconds: float) -> None:
        """Look at the file every so often, for ever."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> bool:
        """Take over the file if it changed and is good; else keep what serves."""
        found = _signature(self.path)
        if found is None or found == self._seen:
            return False
        self._seen = found
        loop = asyncio.get_running_loop()
        try:
            model = await loop.run_in_executor(None, ServedModel.from_file, self.path)
        except Exception as error:
            # Another attempt only when the file changes again.
            logger.error(
                "model refused",
                extra={"facts": {"error": type(error).__name__, "why": str(error)}},
            )
            self._observe("refused")
            return False
        self.model, self.loaded_at = model, time.time()
        logger.warning("model reloaded", extra={"facts": dict(model.facts)})
        self._observe("loaded")
        return True


def _signature(path: Path) -> Any:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
