"""What a back end does: run a task on every part, and merge the results."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from earmark.documents.parts import Part

# A directory, its files, or parts; and how texts are divided into regions.
Dataset: TypeAlias = str | os.PathLike[str] | Sequence[Any]
Regions: TypeAlias = str | Sequence[str] | Callable[..., object] | None
# What a task is given and what it gives: only the tasks know.
Item: TypeAlias = Any
Result: TypeAlias = Any
Task = Callable[[Item], Result]
Merge = Callable[[Result, Result], Result]


class Executor(Protocol):
    """A place to run tasks: this process, a Dask cluster, Spark.

    A back end knows nothing of models. It is given tasks (from a part, or from
    what an earlier task kept, to statistics) and a function that merges two
    results; both can be sent elsewhere. Results are merged in the order of the
    parts, two neighbours at a time, so that the same parts give the same bytes
    on every back end, sums of floating-point numbers included.
    """

    def reduce(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """The merged results of all items."""

    def keep_merged(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """As ``reduce``, but the result stays where it is: an item for later calls."""

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """The results of all items, in their order."""

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Run the task and leave the results where they are; items for later calls."""


def merged(left: Result, right: Result) -> Result:
    """``left.merge(right)`` that leaves both as they are: it may be repeated."""
    mine = left.copy() if hasattr(left, "copy") else copy.copy(left)
    return mine.merge(right)


def sendable(item: Item) -> Item:
    """A part by its full path: a worker may have started in another folder."""
    return replace(item, path=item.path.absolute()) if isinstance(item, Part) else item


class MergeTree:
    """Neighbours are merged, then neighbours of these, and so on, as results come.

    At most log2(n) results are held at a time.
    """

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self._waiting: list[tuple[int, Result]] = []

    def add(self, value: Result) -> None:
        """The next result."""
        size = 1
        while self._waiting and self._waiting[-1][0] == size:
            value = self.merge(self._waiting.pop()[1], value)
            size *= 2
        self._waiting.append((size, value))

    def held(self) -> list[Result]:
        """The results that wait for a neighbour."""
        return [value for _, value in self._waiting]

    def collapse(self) -> Result:
        """All results so far, merged; more can be added."""
        size, value = self._waiting.pop()
        while self._waiting:
            value = self.merge(self._waiting.pop()[1], value)
        self._waiting.append((size, value))
        return value


def merge_tree(results: Iterable[Result], merge: Merge) -> Result:
    """All results merged in a tree, as they come."""
    tree = MergeTree(merge)
    for result in results:
        tree.add(result)
    if not tree.held():
        raise ValueError("merge_tree needs at least one result, got none.")
    return tree.collapse()


@dataclass(eq=False)
class MergedBlock:
    """Neighbouring items -> their results, merged as in the tree of all items."""

    task: Task
    merge: Merge

    def __call__(self, items: Iterable[Item]) -> Result:
        """The result of the block."""
        return merge_tree(map(self.task, items), self.merge)


def blocks_of(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Neighbours in lists of ``size``, a power of two: each list is a whole subtree."""
    return [list(items[k : k + size]) for k in range(0, len(items), size)]
