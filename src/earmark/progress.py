"""How far long work is: loops say so, and whoever shows it listens.

Loops may be nested, such as folds inside models: the share of the outermost one counts
the inner ones in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Loop:
    """A loop that is running."""

    name: str  # what one step is, such as "fold"
    total: int
    done: int = 0


Listener = Callable[[list[Loop]], None]
_running: ContextVar[tuple[Listener, list[Loop]] | None] = ContextVar(
    "earmark_progress", default=None
)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call ``listener`` with the running loops, the outermost first, at each step."""
    token = _running.set((listener, []))
    try:
        yield
    finally:
        _running.reset(token)


def tracked(name: str, items: Iterable[T], total: int) -> Iterator[T]:
    """The items, one step each; nothing else happens where nobody listens.

    Examples
    --------
    >>> seen = []
    >>> with listening(lambda loops: seen.append(share(loops))):
    ...     for model in tracked("model", "ab", 2):
    ...         for fold in tracked("fold", range(2), 2):
    ...             pass
    >>> seen[-1], max(seen)
    (0.0, 1.0)

    """
    with counted(name, total) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def counted(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A loop whose steps come several at a time: gives a function to call with each."""
    running = _running.get()
    if running is None:
        yield lambda _: None
        return
    listener, loops = running
    loop = Loop(name, max(total, 1))
    loops.append(loop)

    def advance(steps: int) -> None:
        loop.done = min(loop.done + steps, loop.total)
        listener(loops)

    try:
        listener(loops)
        yield advance
    finally:
        loops.remove(loop)
        listener(loops)


def share(loops: list[Loop]) -> float:
    """The share of the outermost loop that is done, with what the inner ones did."""
    inner = 0.0
    for loop in reversed(loops):
        inner = min(1.0, (loop.done + inner) / loop.total)
    return inner
