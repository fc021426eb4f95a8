"""``earmark reproduce``: the papers' tables and figures, by one command."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from earmark.apps.cli import options
from earmark.apps.cli.options import (
    DATA,
    OUTPUT,
    app,
    argument,
    examples,
    groups,
    option,
)

_PACKAGE = "reproductions"


@app.command(
    epilog=examples(
        "earmark reproduce all --stored",
        "earmark reproduce higher-order --quick",
        "earmark reproduce hybrid --part figure_2",
        "earmark reproduce all",
    )
)
@groups
def reproduce(
    name: Annotated[str, argument("NAME", "Name of a reproduction, or all.")],
    quick: Annotated[
        bool, option("Fewer draws and sizes: minutes, not hours.", panel=DATA)
    ] = False,
    part: Annotated[
        list[str] | None,
        option(
            "Run this part only, keep the others as stored.", panel=DATA, metavar="PART"
        ),
    ] = None,
    out: Annotated[
        Path | None, option("Folder for results.", panel=OUTPUT, metavar="DIR")
    ] = None,
    stored: Annotated[
        bool,
        option("Show the stored results, run nothing: seconds.", panel=OUTPUT),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Regenerate the tables and figures of the papers behind the models.

    Runs in a checkout of earmark, whose folder reproductions holds the experiments, and
    needs the benchmark corpora (set EARMARK_DATA to their folder). Prints every table,
    ours beside the paper's; writes NAME.json and SVG figures into
    reproductions/results, a quick run into reproductions/quick.
    """
    run = _experiments().reproduce
    run(name, quick=quick, part=part, out=out, stored=stored, as_json=as_json)


def _experiments() -> Any:
    """Import the experiments, from the path, this folder or beside the sources."""
    for folder in (Path.cwd(), *Path(__file__).resolve().parents):
        if _is_found():
            break
        if (folder / _PACKAGE / "study.py").is_file():
            sys.path.insert(0, str(folder))
    if not _is_found():
        raise typer.BadParameter(
            "the experiments are not part of the installed package: they are the "
            f"folder {_PACKAGE!r} of earmark's source repository. Run the command in "
            "a checkout of it, or put one on PYTHONPATH."
        )
    return importlib.import_module(f"{_PACKAGE}.command")


def _is_found() -> bool:
    """Whether it can be imported; a folder of that name with results cannot."""
    spec = find_spec(_PACKAGE)
    return spec is not None and spec.origin is not None
