"""``earmark reproduce``: the papers' tables and figures, by one command."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from earmark.apps.cli import _options as options

if TYPE_CHECKING:
    from earmark.typing import JsonObject

_PACKAGE = "reproductions"


def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a reproduction, or all.")
    ],
    quick: bool = False,
    part: list[str] | None = None,
    out: Path | None = None,
    stored: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Regenerate the tables and figures of the papers behind the models.

    Runs in a checkout of earmark, whose folder reproductions holds the experiments, and
    needs the benchmark corpora (set EARMARK_DATA to their folder). Prints every table,
    ours beside the paper's; writes NAME.json and PNG figures into
    reproductions/results, a quick run into reproductions/quick.

      earmark reproduce all --stored
      earmark reproduce higher-order --quick
      earmark reproduce hybrid --part figure_2
      earmark reproduce all

    --quick  Fewer draws and sizes: minutes, not hours.
    --part PART  Run this part only, keep the others as stored.
    --out DIR  Folder for results.
    --stored  Show the stored results, run nothing: seconds.
    """
    package = _experiments()
    if name != "all" and name not in package.NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(package.NAMES)}")
    if name == "all" and part:
        raise typer.BadParameter("--part belongs to one reproduction, not to all")
    if stored and (quick or part):
        raise typer.BadParameter("--stored runs nothing: no --quick, no --part with it")
    folder = out or (package.RESULTS.parent / "quick" if quick else package.RESULTS)
    names = package.NAMES if name == "all" else (name,)
    wall, cpu = time.perf_counter(), time.process_time()
    if not stored:
        _announce(names, folder, part)
    for chosen in names:
        reproduction, file = package.load(chosen), folder / f"{chosen}.json"
        if stored:
            result = _read(package.RESULTS / file.name)["result"]
        else:
            result = _run(reproduction, chosen, quick, file, part)
        every = (*reproduction.tables(result), *package.differences(chosen))
        figures = folder / chosen
        figures.mkdir(parents=True, exist_ok=True)
        reproduction.draw(result, figures)
        tables = "\n\n".join(table.text() for table in every)
        typer.echo(json.dumps(result) if as_json else tables)
        typer.echo(f"figures in {figures}", err=True)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    typer.echo(
        f"{name}: {wall / 60:.1f} minutes, {cpu / 60:.1f} of them on the processor",
        err=True,
    )


def _announce(names: Sequence[str], folder: Path, parts: Sequence[str] | None) -> None:
    """How long the run may take, from the run that is stored in the same folder."""
    known = [_read(folder / f"{name}.json").get("seconds", {}) for name in names]
    minutes = sum(
        seconds
        for each in known
        for part, seconds in each.items()
        if not parts or part in parts
    )
    if minutes and all(known):
        typer.echo(f"about {minutes / 60:.0f} CPU minutes when last run", err=True)


def _read(file: Path) -> JsonObject:
    """A stored result with what made it; nothing if there is none yet."""
    known = file.read_text(encoding="utf-8") if file.exists() else "{}"
    return cast("JsonObject", json.loads(known))


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


def _run(
    reproduction: Any, name: str, quick: bool, file: Path, parts: Sequence[str] | None
) -> JsonObject:
    """Run the parts, keep the result in the file."""
    study = importlib.import_module(f"{_PACKAGE}.study")
    stored = _read(file)
    if quick and stored and not stored["quick"]:
        raise typer.BadParameter(
            f"{file} holds the result of a full run, which a quick one must not "
            "replace; give another folder with --out."
        )
    known = {part.lower(): part for part in reproduction.PARTS}
    for part in parts or ():
        if part.lower() not in known:
            names = ", ".join(reproduction.PARTS)
            raise typer.BadParameter(f"{part!r} is not one of {names}")
    parts = [known[part.lower()] for part in parts] if parts else None
    started = time.perf_counter()

    def progress(message: str) -> None:
        seconds = time.perf_counter() - started
        typer.echo(f"[{seconds:6.1f} s] {message}", err=True)

    settings = study.Run(quick=quick, progress=progress)
    command = f"earmark reproduce {name}" + (" --quick" if quick else "")

    def keep(result: JsonObject) -> None:
        seconds = {**stored.get("seconds", {}), **settings.seconds}
        study.write_result(file, command, quick, result, seconds)

    before = stored.get("result", {})
    result: JsonObject = study.run_parts(reproduction, settings, parts, before, keep)
    keep(result)
    typer.echo(f"wrote {file}", err=True)
    return result
