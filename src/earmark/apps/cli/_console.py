"""Words on the terminal: wrapped there, plain in a pipe; progress on stderr."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

__all__ = ["counting", "say", "say_facts", "status", "wrapped"]


def say(text: object = "", *, hang: str = "", err: bool = False) -> None:
    """Print lines; on a terminal they are wrapped between words.

    Later lines of a wrapped one begin with ``hang``.
    """
    width = _width(err)
    lines = str(text).split("\n")
    typer.echo("\n".join(wrapped(line, hang, width) for line in lines), err=err)


def say_facts(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns; a long value stays in its column."""
    rows = list(rows)
    indent = max((len(name) for name, _ in rows), default=0) + 2
    for name, value in rows:
        say(f"{name:<{indent}}{value}", hang=" " * indent)


def wrapped(line: str, hang: str, width: int | None) -> str:
    """A line wrapped between words; a word longer than the width is not broken."""
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(
        line,
        width,
        subsequent_indent=hang,
        replace_whitespace=False,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _width(err: bool) -> int | None:
    """Columns of the terminal; None if it is none."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


@contextmanager
def status(message: str, *, encoding: bool = False) -> Iterator[None]:
    """Show what is being done while it is done; with how many texts are encoded."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{message} ...") as shown:
        if not encoding:
            yield
            return
        from earmark.encoders.by_name import encoding_progress

        def tell(done: int, total: int) -> None:
            counted = f": {done:,} of {total:,} texts encoded" if done < total else ""
            shown.update(f"{message}{counted} ...")

        with encoding_progress(tell):
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
