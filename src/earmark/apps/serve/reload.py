"""Hot reload: a replaced model file is loaded, verified, and only then used."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earmark.apps.changes import recorded
from earmark.apps.serve.model import ServedModel
from earmark.apps.serve.requests import RequestReader
from earmark.apps.web.guard import Limits
from earmark.apps.web.logs import logger
from earmark.documents import Documents
from earmark.pipeline.files import load_with_info
from earmark.whole_files import changed_by_one

__all__ = ["ModelHolder", "Served"]


@dataclass(frozen=True)
class Served:
    """A model and the reader of its requests; replaced together."""

    model: ServedModel
    reader: RequestReader
    loaded_at: float = field(default_factory=time.time)

    @classmethod
    def from_file(cls, path: Path, limits: Limits) -> Served:
        """Load and verify a model file."""
        model = ServedModel.from_file(path)
        return cls(model, RequestReader(model, limits))


class ModelHolder:
    """The model in use, kept up to date with its file.

    Parameters
    ----------
    path : Path
        The model file; to replace it, rename a new one onto it.
    limits : Limits
        How much a request may ask for.
    observe : callable
        Called with "loaded" or "refused" at each attempt.

    """

    def __init__(
        self, path: Path, limits: Limits, observe: Callable[[str], None]
    ) -> None:
        self.path = path
        self.limits = limits
        self._observe = observe
        self._signature = _signature(path)
        self._changing = asyncio.Lock()
        self.served = Served.from_file(path, limits)

    async def change(self, method: str, documents: Any, labels: list[Any]) -> None:
        """Learn or forget documents exactly; the file is replaced by the new model.

        The new model is made beside the one that serves, and verified before it
        does: an answer comes from the one before or after, never from between.
        """
        loop = asyncio.get_running_loop()
        async with self._changing:
            served = await loop.run_in_executor(
                None, self._changed, method, documents, labels
            )
            self._signature = _signature(self.path)
            self.served = served

    def _changed(self, method: str, documents: Any, labels: list[Any]) -> Served:
        # Another service, or a command, may change the same file.
        with changed_by_one(self.path):
            return self._change(method, documents, labels)

    def _change(self, method: str, documents: Any, labels: list[Any]) -> Served:
        classifier, info = load_with_info(self.path)
        {"learn": classifier.partial_fit, "forget": classifier.forget}[method](
            documents, labels
        )
        new = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            change = Documents(documents, labels)
            facts, _ = recorded(info.metadata, change, added=method == "learn")
            classifier.save(new, metadata=facts)
            served = Served.from_file(new, self.limits)
            os.replace(new, self.path)
        finally:
            new.unlink(missing_ok=True)
        return served

    async def watch(self, seconds: float) -> None:
        """Look at the file every so often, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> bool:
        """Take over the file if it changed and is good; else keep what serves."""
        signature = _signature(self.path)
        if signature is None or signature == self._signature:
            return False
        self._signature = signature
        loop = asyncio.get_running_loop()
        try:
            served = await loop.run_in_executor(
                None, Served.from_file, self.path, self.limits
            )
        except Exception as error:
            # Another attempt only when the file changes again.
            logger.error(
                "model refused",
                extra={"facts": {"error": type(error).__name__, "why": str(error)}},
            )
            self._observe("refused")
            return False
        self.served = served
        logger.warning("model reloaded", extra={"facts": dict(served.model.facts)})
        self._observe("loaded")
        return True


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
