"""A Dask cluster: tasks are sent to the workers, results merged there in a tree."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from earmark._optional import require
from earmark.distributed.executor import (
    Executor,
    Item,
    Merge,
    MergedBlock,
    Result,
    Task,
    blocks_of,
    sendable,
)
from earmark.documents.parts import Part
from earmark.exceptions import DataError

# A cluster of our own on this machine: nobody looks at samples of what it does, its
# event loops need not tick 50 times per second, and giving memory back to the system
# after every array costs more than merging.
_LEAN = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.nanny.pre-spawn-environ": {
        name: 1 for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    },
}


class DaskExecutor(Executor):
    """Run the parts on the workers of a Dask cluster.

    A task that a lost worker had done, or had kept, is done again elsewhere from
    its part; so the workers must see the files under the same path.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def reduce(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """Merge neighbours on the workers until one result is left."""
        return self.keep_merged(stage, task, items, merge).result()

    def keep_merged(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """The same, left on the worker that made the last merge."""
        if isinstance(items[0], Part):
            # Neighbours are merged where they were counted: less is shipped.
            items = blocks_of([sendable(item) for item in items], self._block(items))
            task = MergedBlock(task, merge)
        level = self._submitted(stage, task, items)
        while len(level) > 1:
            level = [
                level[k]
                if k + 1 == len(level)
                else self.client.submit(merge, level[k], level[k + 1], pure=False)
                for k in range(0, len(level), 2)
            ]
        return level[0]

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results in the order of the items."""
        results: list[Result] = self.client.gather(self._submitted(stage, task, items))
        return results

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results stay with the workers that made them."""
        return self._submitted(stage, task, items)

    def _block(self, items: Sequence[Item]) -> int:
        """Parts in a task: a few, if every worker still gets several tasks."""
        n_workers = max(1, sum(self.client.nthreads().values()))
        return next((n for n in (4, 2) if len(items) >= 4 * n * n_workers), 1)

    def _submitted(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        with warnings.catch_warnings():
            # Parameters of a model are sent with the task, once for all items, so
            # that they can be sent again if a worker is lost.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            sent = self.client.submit(_itself, task, pure=False)
            return [
                self.client.submit(_run, sent, sendable(item), pure=False)
                for item in items
            ]


def _itself(value: Result) -> Any:
    return value


def _run(task: Task, item: Item) -> Result:
    return task(item)


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """A client for "local", "local:N" or the address of a scheduler.

    Examples
    --------
    >>> with connected("local:1") as client:  # doctest: +SKIP
    ...     client.submit(sum, [1, 2]).result()
    3

    """
    distributed = require("distributed", f"work on {where}")
    local = re.fullmatch(r"local(?::(\d+))?", where)
    if local is None and "://" not in where:
        raise DataError(
            f"--dask must be local, local:N or the address of a scheduler such as "
            f"tcp://host:8786, got {where!r}."
        )
    if local is None:
        try:
            client = distributed.Client(where, timeout="10s")
        except (OSError, ValueError) as error:
            raise DataError(
                f"{where}: no Dask scheduler answers there ({error}); start one with: "
                "dask scheduler"
            ) from error
        with client:
            yield client
        return
    count = int(local[1]) if local[1] else None
    if count == 0:
        raise DataError("--dask local:N wants at least one process, got 0.")
    dask = require("dask", f"work on {where}")
    with (
        dask.config.set(_LEAN),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
