"""Where parts are worked on: what a back end does, and the one for Dask.

A back end knows nothing of models. It runs tasks (from a part, or from what an earlier
task kept, to a result) and merges their results by ``merged``; all can be sent
elsewhere. Results are merged in the order of the parts, two neighbors at a time, so
that the same parts give the same bytes on every back end, sums of floating-point
numbers included.
"""

from __future__ import annotations

import copy
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import call
from typing import Any, Protocol, TypeAlias

from earmark._optional import require
from earmark.documents.parts import Part
from earmark.exceptions import DataError
from earmark.typing import FilePath

# A directory, its files, or parts; and how texts are divided into regions.
Dataset: TypeAlias = FilePath | Sequence[Any]
Regions: TypeAlias = str | Sequence[str] | Callable[..., object] | None
# What a task is given and what it gives: only the tasks know.
Item: TypeAlias = Any
Result: TypeAlias = Any
Task = Callable[[Item], Result]


class Executor(Protocol):
    """A place to run tasks: this process, a Dask cluster, or one of your own."""

    def reduce(self, stage: str, task: Task, items: Sequence[Item]) -> Result:
        """The merged results of all items."""

    def keep_merged(self, stage: str, task: Task, items: Sequence[Item]) -> Result:
        """As ``reduce``, but the result stays where it is: an item of later calls."""
        return self.reduce(stage, task, items)

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """The results of all items, in their order."""

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Run the task and leave the results where they are; items for later calls."""


# -- merging ------------------------------------------------------------------------


def merged(left: Result, right: Result) -> Result:
    """``left.merge(right)`` that leaves both as they are: it may be repeated."""
    mine = left.copy() if hasattr(left, "copy") else copy.copy(left)
    return mine.merge(right)


class MergeTree:
    """Neighbors are merged, then neighbors of these, and so on, as results come.

    At most log2(n) results are held at a time.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Result]] = []

    def add(self, value: Result) -> None:
        """The next result."""
        size = 1
        while self._waiting and self._waiting[-1][0] == size:
            value = merged(self._waiting.pop()[1], value)
            size *= 2
        self._waiting.append((size, value))

    def waiting(self) -> list[Result]:
        """The results that wait for a neighbor."""
        return [value for _, value in self._waiting]

    def collapse(self) -> Result:
        """All results so far, merged; more can be added."""
        size, value = self._waiting.pop()
        while self._waiting:
            value = merged(self._waiting.pop()[1], value)
        self._waiting.append((size, value))
        return value


def merge_tree(results: Iterable[Result]) -> Result:
    """All results merged in a tree, as they come."""
    tree = MergeTree()
    for result in results:
        tree.add(result)
    if not tree.waiting():
        raise ValueError("merge_tree needs at least one result, got none.")
    return tree.collapse()


def _merged_block(task: Task, items: Iterable[Item]) -> Result:
    """The results of neighboring items, merged as in the tree of all items."""
    return merge_tree(map(task, items))


def _blocks_of(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Lists of ``size`` neighboring items, a power of two: each is a subtree."""
    return [list(items[k : k + size]) for k in range(0, len(items), size)]


def _sendable(item: Item) -> Item:
    """A part by its full path: a worker may have started in another folder."""
    return replace(item, path=item.path.absolute()) if isinstance(item, Part) else item


@dataclass
class Recipe:
    """A result that is made where, and whenever, it is needed."""

    task: Task
    item: Item


def resolved(item: Item) -> Item:
    """An item, which may be a recipe."""
    return item.task(resolved(item.item)) if isinstance(item, Recipe) else item


# -- Dask ---------------------------------------------------------------------------

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
    """Run the parts on the workers of a Dask cluster; results are merged there.

    A task that a lost worker had done, or had kept, is done again elsewhere from
    its part; so the workers must see the files under the same path.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def reduce(self, stage: str, task: Task, items: Sequence[Item]) -> Result:
        """Merge neighbors on the workers until one result is left."""
        return self.keep_merged(stage, task, items).result()

    def keep_merged(self, stage: str, task: Task, items: Sequence[Item]) -> Result:
        """The same, left on the worker that made the last merge."""
        if isinstance(items[0], Part):
            # Neighbors are merged where they were counted: less is shipped.
            items = _blocks_of([_sendable(item) for item in items], self._block(items))
            task = partial(_merged_block, task)
        level = self.keep(stage, task, items)
        while len(level) > 1:
            pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
            level = [
                self.client.submit(merged, *pair, pure=False) if pair[1:] else pair[0]
                for pair in pairs
            ]
        return level[0]

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results in the order of the items."""
        results: list[Result] = self.client.gather(self.keep(stage, task, items))
        return results

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results stay with the workers that made them."""
        with warnings.catch_warnings():
            # Parameters of a model are sent with the task, once for all items, so
            # that they can be sent again if a worker is lost.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            sent = self.client.submit(_itself, task, pure=False)
            return [
                self.client.submit(call, sent, _sendable(item), pure=False)
                for item in items
            ]

    def _block(self, items: Sequence[Item]) -> int:
        """Parts for each task: a few, if every worker still gets several tasks."""
        n_workers = max(1, sum(self.client.nthreads().values()))
        return next((n for n in (4, 2) if len(items) >= 4 * n * n_workers), 1)


def _itself(value: Result) -> Any:
    return value


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """A Dask client for "local", "local:N" or the address of a scheduler."""
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
