"""One process, part after part: bounded memory, checkpoints, progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from earmark.distributed.counting import CountTask, merge_bounded
from earmark.distributed.executor import Executor, Item, Merge, Result, Task, merge_tree
from earmark.distributed.store import Store
from earmark.documents.parts import Part


@dataclass(frozen=True)
class Progress:
    """How far a pass over the parts is."""

    stage: str
    """Which pass: "counts", "rows", ..."""
    parts: int
    n_parts: int
    documents: int
    """Read in this pass, as far as the pass knows."""
    megabytes: float
    seconds: float
    left: float
    """Seconds left in this pass, at the pace so far."""

    @property
    def pace(self) -> float:
        """Documents per second."""
        return self.documents / self.seconds if self.seconds > 0 else 0.0


@dataclass(eq=False)
class LocalExecutor(Executor):
    """Run the parts here, one after the other."""

    store: Store | None = None
    """Where the results of finished parts go; None keeps all in memory."""
    memory: int | None = None
    """Budget in bytes for the counts and the model; needs a store."""
    progress: Callable[[Progress], None] | None = None
    """Called with a ``Progress`` after every part."""

    def reduce(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """Merge the results as they come; the store keeps those of each part."""
        if self.store is None or not isinstance(items[0], Part):
            return merge_tree(map(task, map(_loaded, items)), merge)
        loaders = list(self._done(stage, task, items))
        if self.memory is not None and _grows(task):
            return merge_bounded(loaders, self.memory)
        return merge_tree((load() for load in loaders), merge)

    def keep_merged(
        self, stage: str, task: Task, items: Sequence[Item], merge: Merge
    ) -> Result:
        """The same as ``reduce``: all is here."""
        return self.reduce(stage, task, items, merge)

    def gather(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """All results in a list."""
        return [task(_loaded(item)) for item in items]

    def keep(self, stage: str, task: Task, items: Sequence[Item]) -> list[Result]:
        """Results in memory, or in the store if there is one."""
        if self.store is None:
            return [task(item) for item in items]
        if not isinstance(items[0], Part):
            return [_Kept(partial(_made, task, item)) for item in items]
        return [_Kept(load) for load in self._done(stage, task, items)]

    def _done(
        self, stage: str, task: Task, parts: Sequence[Part]
    ) -> Iterator[Callable[[], Result]]:
        """How to load each part's pieces, after doing what is not done yet."""
        assert self.store is not None
        clock = _Clock(stage, parts)
        for part in parts:
            loaders = self.store.load(stage, part.number)
            if loaders is None:
                pieces = self._pieces(task, part)
                n_documents = self.store.save(stage, part.number, pieces)
                loaders = self.store.load(stage, part.number)
                assert loaders is not None
                clock.did(part, n_documents)
            else:
                clock.skipped(part)
            if self.progress is not None:
                self.progress(clock.told())
            yield from loaders

    def _pieces(self, task: Any, part: Part) -> Iterable[Result]:
        if self.memory is not None and _grows(task):
            pieces: Iterable[Result] = task.pieces(part, self.memory // 8)
            return pieces
        return [task(part)]


def _grows(task: Any) -> bool:
    return isinstance(task, CountTask) and task.grows


class _Kept:
    """A result in the store."""

    def __init__(self, load: Callable[[], Result]) -> None:
        self.load = load


def _made(task: Task, item: Item) -> Result:
    """A result that is made again whenever it is asked for."""
    return task(_loaded(item))


def _loaded(item: Item) -> Item:
    return item.load() if isinstance(item, _Kept) else item


class _Clock:
    """Parts, bytes and documents done, against the time taken."""

    def __init__(self, stage: str, parts: Sequence[Part]) -> None:
        self.stage, self.n_parts = stage, len(parts)
        self.sizes = {part.number: part.stamp[0] for part in parts}
        self.left = sum(self.sizes.values())
        self.parts = self.documents = self.bytes = 0
        self.started = time.perf_counter()

    def did(self, part: Part, documents: int) -> None:
        """A part was read."""
        self.skipped(part)
        self.documents += documents
        self.bytes += self.sizes[part.number]

    def skipped(self, part: Part) -> None:
        """A part was done already, before."""
        self.parts += 1
        self.left -= self.sizes[part.number]

    def told(self) -> Progress:
        """The state now."""
        seconds = time.perf_counter() - self.started
        left = seconds * self.left / self.bytes if self.bytes else 0.0
        return Progress(
            self.stage,
            self.parts,
            self.n_parts,
            self.documents,
            self.bytes / 1e6,
            seconds,
            left,
        )
