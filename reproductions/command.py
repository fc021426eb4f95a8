"""What ``earmark reproduce`` does: runs, shows and keeps reproductions."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import typer

from reproductions import NAMES, RESULTS, Reproduction, differences, load
from reproductions.study import Run, run_parts, write_result


def reproduce(
    name: str,
    *,
    quick: bool,
    part: Sequence[str] | None,
    out: Path | None,
    stored: bool,
    as_json: bool,
) -> None:
    """Run one reproduction or all, or show what is stored, with tables and figures."""
    if name != "all" and name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMES)}")
    if name == "all" and part:
        raise typer.BadParameter("--part belongs to one reproduction, not to all")
    if stored and (quick or part):
        raise typer.BadParameter("--stored runs nothing: no --quick, no --part with it")
    folder = out or (RESULTS.parent / "quick" if quick else RESULTS)
    names = NAMES if name == "all" else (name,)
    wall, cpu = time.perf_counter(), time.process_time()
    if not stored:
        _announce(names, folder, part)
    for chosen in names:
        reproduction, file = load(chosen), folder / f"{chosen}.json"
        if stored:
            result = _read(RESULTS / file.name)["result"]
        else:
            result = _run(reproduction, chosen, quick, file, part)
        every = (*reproduction.tables(result), *differences(chosen))
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


def _read(file: Path) -> dict[str, Any]:
    """A stored result with what made it; nothing if there is none yet."""
    known = file.read_text(encoding="utf-8") if file.exists() else "{}"
    return cast(dict[str, Any], json.loads(known))


def _run(
    reproduction: Reproduction,
    name: str,
    quick: bool,
    file: Path,
    parts: Sequence[str] | None,
) -> dict[str, Any]:
    """Run the parts, keep the result in the file."""
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

    settings = Run(quick=quick, progress=progress)
    command = f"earmark reproduce {name}" + (" --quick" if quick else "")

    def keep(result: dict[str, Any]) -> None:
        seconds = {**stored.get("seconds", {}), **settings.seconds}
        write_result(file, command, quick, result, seconds)

    before = stored.get("result", {})
    result: dict[str, Any] = run_parts(reproduction, settings, parts, before, keep)
    keep(result)
    typer.echo(f"wrote {file}", err=True)
    return result
