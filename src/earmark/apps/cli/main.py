"""The ``earmark`` command and its sub-commands.

Nothing heavy is imported here, so that ``--help`` stays quick: every command
imports what it needs when it runs.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from earmark import __version__
from earmark.apps.cli import demo, evaluate, info, predict, reproduce, serve, train
from earmark.apps.cli._console import say, styled
from earmark.apps.cli._help import Command, Group, in_flags, with_groups
from earmark.exceptions import EarmarkError

app = typer.Typer(
    name="earmark",
    no_args_is_help=True,
    add_completion=True,
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Classify text with few labels.\n\n"
        "earmark demo\nearmark train mails.csv --label topic\n"
        "earmark COMMAND --help"
    ),
    epilog="Exit status: 0 done, 1 the data or the model is at fault, 2 wrong usage.",
)


# A file that cannot be written is named by whoever writes it.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"earmark {__version__}")
        raise typer.Exit


_VERSION = typer.Option(
    callback=_show_version, is_eager=True, help="Print the version."
)


@app.callback()
def _root(version: Annotated[bool, _VERSION] = False) -> None:
    pass


_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "train": train.train,
    "predict": predict.predict,
    "evaluate": evaluate.evaluate,
    "compare": evaluate.compare,
    "check": evaluate.check,
    "learning-curve": evaluate.learning_curve,
    "update": train.update,
    "forget": train.forget,
    "explain": predict.explain,
    "info": info.info,
    "label": serve.label,
    "serve": serve.serve,
    "card": info.card,
    "fetch": info.fetch,
    "cache": info.cache,
    "filter": predict.filter_documents,
    "reproduce": reproduce.reproduce,
}
for _name, _run in _COMMANDS.items():
    app.command(name=_name, help=_run.__doc__, cls=Command)(with_groups(_run))


def _say_warnings_once() -> None:
    """Show each warning as one line, and a text that comes again not again."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            _alert("warning", text, typer.colors.YELLOW)

    warnings.showwarning = show
    # Said by earmark itself, in the words of classification.
    warnings.filterwarnings("ignore", "The number of unique classes is greater than")


def _alert(kind: str, text: str, color: str) -> None:
    start = styled(f"{kind}:", err=True, fg=color)
    say(f"{start} {in_flags(text)}", hang="  ", err=True)


def main() -> None:
    """Entry point of the console script: errors become one line and a status."""
    _say_warnings_once()
    try:
        app(sys.argv[1:] or ["--help"], prog_name="earmark")
    except EarmarkError as error:
        _alert("error", str(error), typer.colors.RED)
        sys.exit(1)
    except BrokenPipeError:
        # The reader went away, as in `earmark predict ... | head`: not our fault.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        # A folder that is not there, no permission, a full disk.
        named = error.filename or ("stdout" if error.errno in _FULL else None)
        place = "" if named is None else f"{named}: "
        _alert("error", f"{place}{error.strerror or error}", typer.colors.RED)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.secho("stopped", err=True)
        sys.exit(130)
