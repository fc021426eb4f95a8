"""The ``earmark`` command and its sub-commands.

Nothing heavy is imported here, so that ``--help`` stays quick: every command
imports what it needs when it runs.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Annotated

import typer

from earmark import __version__
from earmark.apps.cli import console

# The commands, in the order of the help.
from earmark.apps.cli import demo as demo  # isort: skip
from earmark.apps.cli import train as train  # isort: skip
from earmark.apps.cli import predict as predict  # isort: skip
from earmark.apps.cli import evaluate as evaluate  # isort: skip
from earmark.apps.cli import serve as serve  # isort: skip
from earmark.apps.cli import info as info  # isort: skip
from earmark.apps.cli import reproduce as reproduce  # isort: skip
from earmark.apps.cli.console import alert, echo
from earmark.apps.cli.options import app
from earmark.exceptions import EarmarkError, Message

__all__ = ["app", "main"]

# A file that cannot be written is named by whoever writes it.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(f"earmark {__version__}")
        raise typer.Exit


_VERSION = typer.Option(
    "--version",
    callback=_show_version,
    is_eager=True,
    help="Print the version.",
    metavar=" ",
)


@app.callback()
def _root(version: Annotated[bool, _VERSION] = False) -> None:
    pass


def _say_warnings_once() -> None:
    """Show each warning as one line, and the same warning only once."""
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        text = _text(message)
        if text not in said:
            said.add(text)
            alert("warning", text, typer.colors.YELLOW)

    warnings.showwarning = show
    # Said by earmark itself, in the words of classification.
    warnings.filterwarnings("ignore", "The number of unique classes is greater than")


def _text(message: object) -> str:
    """A message in the words of the command line."""
    if isinstance(message, Message):
        return message.said(console.words)
    return str(message)


def main() -> None:
    """Entry point of the console script: errors become one line and a status."""
    _say_warnings_once()
    console.spell_out_in_refusals()
    if os.environ.get("NO_COLOR"):  # Typer's help would be bold
        from typer import rich_utils

        rich_utils.COLOR_SYSTEM = None
    try:
        app(sys.argv[1:] or ["--help"], prog_name="earmark")
    except EarmarkError as error:
        alert("error", _text(error), typer.colors.RED)
        sys.exit(1)
    except BrokenPipeError:
        # The reader went away, as in `earmark predict ... | head`: not our fault.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        # A folder that is not there, no permission, a full disk.
        named = error.filename or ("stdout" if error.errno in _FULL else None)
        place = "" if named is None else f"{named}: "
        alert("error", f"{place}{error.strerror or error}", typer.colors.RED)
        sys.exit(1)
    except KeyboardInterrupt:
        echo("stopped", err=True)
        sys.exit(130)
