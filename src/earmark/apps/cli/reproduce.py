"""``earmark reproduce``: the papers' tables and figures, by one command."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from earmark.apps.cli import _options as options

__all__ = ["HELP", "NAME", "NAMES", "run"]

NAME = "reproduce"
HELP = """Regenerate the tables and figures of the papers behind the models.

Needs the benchmark corpora (set EARMARK_DATA to their folder). Writes NAME.json
and PNG figures into the output folder.

  earmark reproduce higher-order --quick
  earmark reproduce all
"""

NAMES = (
    "hierarchical",
    "higher-order",
    "hybrid",
    "vector-space",
    "networks",
    "few-labels",
    "labelling",
)


def run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(NAMES)}, or all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer draws and sizes: minutes, not hours.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results.")
    ] = Path("reproductions"),
    as_json: options.AsJson = False,
) -> None:
    """Regenerate the tables and figures of the papers behind the models."""
    if name != "all" and name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMES)}, all")
    for chosen in NAMES if name == "all" else (name,):
        _reproduce(chosen, quick, out, as_json)


def _reproduce(name: str, quick: bool, out: Path, as_json: bool) -> None:
    from earmark.reproductions._common import write_result

    module = importlib.import_module(f"earmark.reproductions.{name.replace('-', '_')}")
    started = time.perf_counter()

    def progress(message: str) -> None:
        seconds = time.perf_counter() - started
        typer.echo(f"[{seconds:6.1f} s] {message}", err=True)

    figures = out / name
    figures.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = module.reproduce(figures, quick=quick, progress=progress)
    command = " ".join(["earmark", *sys.argv[1:]])
    file = out / f"{name}.json"
    write_result(file, command, quick, result)
    if as_json:
        typer.echo(json.dumps(result))
    elif hasattr(module, "show"):
        typer.echo(module.show(result))
    typer.echo(f"wrote {file} and figures in {figures}", err=True)
