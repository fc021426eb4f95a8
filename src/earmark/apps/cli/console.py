"""Words on the terminal: wrapped and colored there, plain in a pipe; progress.

Everything that the commands print goes through here, so that nothing in a file of
somebody else, such as a label, is a command to the terminal.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import typer

from earmark import progress
from earmark.apps.harmless import harmless
from earmark.exceptions import EarmarkWarning
from earmark.tables import wrapped
from earmark.whole_files import json_line

if TYPE_CHECKING:
    from rich.progress import Progress

_MOST_COLUMNS = 100  # longer lines are hard to read
_quiet = False
# The options of the command that runs: the name of each parameter, and its flag.
_flags: dict[str, str] = {}


def begin(command: Any, *, quiet: bool) -> None:
    """Take note of the command that runs, and whether it is to say little."""
    global _quiet
    _quiet = quiet
    _flags.clear()
    for one in command.params:
        if one.param_type_name == "option":
            _flags[one.name] = (one.opts or one.secondary_opts)[0]


def words(name: str, value: object) -> str | None:
    """A parameter as the option of the command that runs; None if it has no such."""
    flag = _flags.get(name)
    if flag is None or value is ... or value is None or isinstance(value, bool):
        return flag
    several = value if isinstance(value, list | tuple) else [value]
    return f"{flag} {','.join(map(str, several))}"


def number(count: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun.

    >>> number(1, "document"), number(2_000, "class", "classes")
    ('1 document', '2,000 classes')
    """
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def file_size(n_bytes: int) -> str:
    """Megabytes, or kilobytes of a small file."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def echo(text: object, *, nl: bool = True, err: bool = False) -> None:
    """Print text as it stands, without what would command the terminal."""
    typer.echo(harmless(str(text)), nl=nl, err=err)


def say(
    text: object = "", *, hang: str = "", err: bool = False, start: str = ""
) -> None:
    """Print lines, wrapped between words on a terminal; ``hang`` begins later lines.

    ``start`` is in front of the first, with our own color.
    """
    width = columns(err)
    lines = f"{start}{harmless(str(text))}".split("\n")
    if width is not None:
        long = (len(line) > width for line in lines)
        lines = [
            wrapped(line, width, hang=hang) if is_long else line
            for line, is_long in zip(lines, long, strict=True)
        ]
    typer.echo("\n".join(lines), err=err)


def alert(kind: str, text: str, color: str) -> None:
    """Say on stderr what is wrong."""
    start = styled(f"{kind}:", err=True, fg=color)
    say(text, start=f"{start} ", hang="  ", err=True)


def spell_out_in_refusals() -> None:
    """Let no message about an option hold a command to the terminal."""
    plain = typer.BadParameter.format_message
    typer.BadParameter.format_message = (  # type: ignore[method-assign]
        lambda self: harmless(plain(self))
    )


class TerminalData:
    """A terminal that data are written to, line by line."""

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal

    def write(self, line: bytes) -> None:
        """Write a line of data without commands."""
        self._terminal.write(harmless(line.decode("utf-8", "surrogateescape")))

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Write lines of data without commands."""
        for line in lines:
            self.write(line)


def data_stream() -> BinaryIO | TerminalData:
    """Standard output for rows of data: the bytes themselves, but on a terminal."""
    return TerminalData(sys.stdout) if sys.stdout.isatty() else sys.stdout.buffer


def confirm(text: object) -> None:
    """Say what was done, unless --quiet is given."""
    if not _quiet:
        say(text, hang="  ")


def show(
    as_json: bool,
    facts: object,
    words: object,
    *,
    is_result: bool = False,
    saved: object = None,
) -> None:
    """Print facts as JSON for machines, or words for people (--quiet: results only).

    If nobody can read them, what was ``saved`` is named in the error.
    """
    try:
        if as_json:
            data_stream().write(json_line(facts))
            sys.stdout.flush()
        elif is_result:
            say(words)
        else:
            confirm(words)
    except OSError as error:
        done = "" if saved is None else f"; {saved} is saved all the same"
        raise OSError(error.errno, f"{error.strerror}{done}", "stdout") from None


def note(text: str) -> None:
    """Say something beside the result on stderr, unless --quiet is given."""
    if not _quiet:
        say(text, err=True)


def warn(message: str) -> None:
    """Say that something may not be as it was meant."""
    warnings.warn(message, EarmarkWarning, stacklevel=1)


def say_facts(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns; a long value stays in its column."""
    rows = list(rows)
    indent = max((len(name) for name, _ in rows), default=0) + 2
    for name, value in rows:
        say(f"{name:<{indent}}{value}", hang=" " * indent)


def columns(err: bool = False) -> int | None:
    """Columns of the terminal, 100 at most; None if it is none."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return None
    return min(shutil.get_terminal_size().columns, _MOST_COLUMNS)


def styled(text: str, *, err: bool = False, **style: Any) -> str:
    """Text in color on a terminal that has colors."""
    stream = sys.stderr if err else sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not stream.isatty() else typer.style(text, **style)


@contextmanager
def status(message: str) -> Iterator[None]:
    """Show what is being done, how much of it is done, and how long it takes."""
    bar = _bar(_share, with_bar=True)
    if bar is None:
        yield
        return
    message = harmless(message)
    with bar:
        task = bar.add_task(message, total=None)

        def show(loops: list[progress.Loop]) -> None:
            if loops and loops[-1].name == "text":
                encoded = f"{loops[-1].done:,} of {loops[-1].total:,} encoded"
                bar.update(task, description=f"{message}, {encoded}")
            elif loops:
                done = max(progress.share(loops), bar.tasks[task].completed)
                bar.update(task, description=message, total=1.0, completed=done)

        with progress.listening(show):
            yield


@contextmanager
def counting(message: str, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Count documents as they pass; gives a function to call with how many."""
    bar = None if hidden else _bar(_pace)
    if bar is None:
        yield lambda _: None
        return
    with bar:
        task = bar.add_task(message, total=None)
        yield lambda n: bar.advance(task, n)


@contextmanager
def counting_parts() -> Iterator[Callable[[Any], None] | None]:
    """Show parts, documents per second and the time left of each stage."""
    bar = _bar(lambda task: task.fields["facts"], with_bar=True)
    if bar is None:
        yield None
        return
    with bar:
        tasks: dict[str, Any] = {}

        def show(state: Any) -> None:
            if state.stage not in tasks:
                task = bar.add_task(state.stage, total=state.n_parts, facts=[])
                tasks[state.stage] = task
            parts = f"{state.parts}/{state.n_parts} parts"
            pace = f"{state.pace:,.0f} documents/s"
            facts = [parts, pace, f"{_seconds(state.left)} left"]
            bar.update(tasks[state.stage], completed=state.parts, facts=facts)

        yield show


def _bar(facts: Callable[[Any], list[str]], with_bar: bool = False) -> Progress | None:
    """A line of progress on stderr; None if stderr is no terminal."""
    if _quiet or not sys.stderr.isatty():
        return None
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Facts(rich.ProgressColumn):
        """How far, how long, how long still."""

        def render(self, task: rich.Task) -> Text:
            return Text(", ".join(facts(task)), no_wrap=True)

    columns = [rich.SpinnerColumn(), rich.TextColumn("{task.description}"), Facts()]
    if with_bar:
        columns.insert(2, rich.BarColumn(bar_width=16))
    console = Console(stderr=True)
    # A second Ctrl-C may come before the bar has shown the cursor again.
    atexit.register(console.show_cursor)
    return rich.Progress(*columns, console=console, transient=True)


def _share(task: Any) -> list[str]:
    elapsed, done = task.elapsed or 0.0, task.completed if task.total else 0.0
    facts = [f"{100 * done:.0f} %"] if task.total else []
    facts.append(_seconds(elapsed))
    if 0.02 < done < 1 and elapsed > 1:
        facts.append(f"about {_seconds(elapsed * (1 - done) / done)} left")
    return facts


def _pace(task: Any) -> list[str]:
    facts = [number(int(task.completed), "document")]
    if task.speed:
        facts.append(f"{task.speed:,.0f}/s")
    return [*facts, _seconds(task.elapsed or 0.0)]


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
