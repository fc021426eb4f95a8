"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["counting", "status"]


@contextmanager
def status(message: str) -> Iterator[None]:
    """Show what is being done while it is done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{message} ..."):
        yield


@contextmanager
def counting(message: str) -> Iterator[Any]:
    """Count documents as they pass; gives a function to call with how many."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        Progress,
        ProgressColumn,
        SpinnerColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class SpeedColumn(ProgressColumn):
        """Documents per second; empty until the first step has been timed."""

        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description} {task.completed:,.0f} documents"),
        SpeedColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(message, total=None)
        yield lambda n: progress.advance(task, n)
