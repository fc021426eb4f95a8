"""Micro-batching: requests that wait together are answered together.

Short jobs are collected in one turn of the event loop and answered in one call of
the model, right there: a call costs far more than one more short text, and nobody
waits for a timer. Long jobs go to a thread, so that short ones pass them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from earmark.apps.serve.model import Job, ServedModel

__all__ = ["MicroBatcher"]

# The event loop may be busy for so long at a time.
_INLINE_SECONDS = 0.004
_MOST_JOBS = 256

Results = list[dict[str, Any]]


class MicroBatcher:
    """Answers jobs; those of one batch are answered by one model.

    Parameters
    ----------
    observe : callable
        Called with the number of jobs of each batch.

    """

    def __init__(self, observe: Callable[[int], None]) -> None:
        self._observe = observe
        self._waiting: list[tuple[Job, ServedModel, asyncio.Future[Results]]] = []
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="earmark")

    async def answer(self, job: Job, model: ServedModel, seconds: float) -> Results:
        """The results of one job; a long one that takes more is a TimeoutError."""
        loop = asyncio.get_running_loop()
        if model.seconds(job) > _INLINE_SECONDS:
            self._observe(1)
            working = loop.run_in_executor(self._threads, model.classify, [job])
            (found,) = await asyncio.wait_for(working, seconds)
            return found
        future: asyncio.Future[Results] = loop.create_future()
        self._waiting.append((job, model, future))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        return await future

    def close(self) -> None:
        """Wait for the threads."""
        self._threads.shutdown()

    def _flush(self) -> None:
        """Answer what waits, as much as fits into one turn."""
        model = self._waiting[0][1]
        taken, seconds = 0, 0.0
        for job, wanted, _ in self._waiting:
            seconds += model.seconds(job) - (model.seconds_per_call if taken else 0.0)
            over = taken and (seconds > _INLINE_SECONDS or taken >= _MOST_JOBS)
            if over or wanted is not model:
                break
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._observe(len(batch))
        _settle(model, batch)


def _settle(model: ServedModel, batch: list[Any]) -> None:
    live = [(job, future) for job, _, future in batch if not future.done()]
    if not live:
        return
    try:
        found = model.classify([job for job, _ in live])
    except Exception as error:
        if len(live) == 1:
            live[0][1].set_exception(error)
            return
        for entry in batch:  # one bad job must not fail the others
            _settle(model, [entry])
        return
    for (_, future), results in zip(live, found, strict=True):
        future.set_result(results)
