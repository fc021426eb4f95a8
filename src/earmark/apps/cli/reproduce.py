"""``earmark reproduce``: the papers' tables and figures, by one command."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from earmark.apps.cli import _options as options

__all__ = ["run"]

_PACKAGE = "reproductions"


def run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a reproduction, or all.")
    ],
    quick: bool = False,
    part: list[str] | None = None,
    out: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Regenerate the tables and figures of the papers behind the models.

    Runs in a checkout of earmark, whose folder reproductions holds the experiments, and
    needs the benchmark corpora (set EARMARK_DATA to their folder). Prints every table,
    ours beside the paper's; writes NAME.json and PNG figures into
    reproductions/results, a quick run into reproductions/quick.

      earmark reproduce higher-order --quick
      earmark reproduce hybrid --part figure_2
      earmark reproduce all

    --quick  Fewer draws and sizes: minutes, not hours.
    --part PART  Run this part only, keep the others as stored.
    --out DIR  Folder for results.
    """
    package = _experiments()
    if name != "all" and name not in package.NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(package.NAMES)}")
    if name == "all" and part:
        raise typer.BadParameter("--part belongs to one reproduction, not to all")
    folder = out or (package.RESULTS.parent / "quick" if quick else package.RESULTS)
    started = time.perf_counter()
    for chosen in package.NAMES if name == "all" else (name,):
        _reproduce(package.load(chosen), chosen, quick, folder, part, as_json)
    if name == "all":
        minutes = (time.perf_counter() - started) / 60
        typer.echo(f"all reproductions in {minutes:.1f} minutes", err=True)


def _experiments() -> Any:
    """The package of the experiments: on the path, here, or beside the sources."""
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
    return importlib.import_module(_PACKAGE)


def _is_found() -> bool:
    """Whether it can be imported; a folder of that name with results cannot."""
    spec = find_spec(_PACKAGE)
    return spec is not None and spec.origin is not None


def _reproduce(
    reproduction: Any,
    name: str,
    quick: bool,
    folder: Path,
    parts: Sequence[str] | None,
    as_json: bool,
) -> None:
    study = importlib.import_module(f"{_PACKAGE}.study")
    file, figures = folder / f"{name}.json", folder / name
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if quick and stored and not stored["quick"]:
        raise typer.BadParameter(
            f"{file} holds the result of a full run, which a quick one must not "
            "replace; give another folder with --out."
        )
    unknown = set(parts or ()) - set(reproduction.PARTS)
    if unknown:
        names = ", ".join(reproduction.PARTS)
        raise typer.BadParameter(f"{sorted(unknown)[0]!r} is not one of {names}")
    started = time.perf_counter()

    def progress(message: str) -> None:
        seconds = time.perf_counter() - started
        typer.echo(f"[{seconds:6.1f} s] {message}", err=True)

    settings = study.Run(quick=quick, progress=progress)
    command = f"earmark reproduce {name}" + (" --quick" if quick else "")

    def keep(result: dict[str, Any]) -> None:
        study.write_result(file, command, quick, result)

    before = stored.get("result", {})
    result = study.run_parts(reproduction, settings, parts, before, keep)
    keep(result)
    figures.mkdir(parents=True, exist_ok=True)
    reproduction.draw(result, figures)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        tables = (table.text() for table in reproduction.tables(result))
        typer.echo("\n\n".join(tables))
    typer.echo(f"wrote {file} and figures in {figures}", err=True)
