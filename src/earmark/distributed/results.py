"""A folder that fills part by part, and can be filled further after a stop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from earmark.documents.parts import Part
from earmark.exceptions import DataError
from earmark.whole_files import write_whole

__all__ = ["ResultFolder"]

_JOB = "_job.json"


class ResultFolder:
    """Results of one job, a file for each part of the input.

    Parameters
    ----------
    folder : Path
        Made if it is not there; results of another job in it are an error.
    settings : mapping
        Plain data that tell one job from another.
    parts : sequence of Part
        The input, none of which may lie in the folder.
    command : str
        What to call the job in messages.

    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        parts: Sequence[Part],
        command: str,
    ) -> None:
        self.folder = folder
        inside = [p.name for p in parts if p.path.parent.resolve() == folder.resolve()]
        if inside:
            raise DataError(
                f"{folder}: the results would lie among the data ({inside[0]}); name "
                "another folder with --out."
            )
        _check_names(parts)
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder}: expected a folder for the results, got a file.")
        folder.mkdir(parents=True, exist_ok=True)
        job = {"command": command, **settings}
        path = folder / _JOB
        if path.exists():
            if json.loads(path.read_bytes()) != json.loads(json.dumps(job)):
                raise DataError(
                    f"{folder}: it holds results of another model or other options; "
                    "name another folder with --out, or delete it."
                )
        elif any(not p.name.startswith((".", "_")) for p in folder.iterdir()):
            raise DataError(
                f"{folder}: expected an empty folder, or one that {command} began to "
                "fill; name another with --out."
            )
        else:
            write_whole(path, json.dumps(job, indent=1).encode())

    def target(self, part: Part, kind: str) -> Path | None:
        """The file for a part's results, or None if it is there and not older."""
        suffix = "parquet" if kind == "parquet" else "jsonl"
        target = self.folder / f"{_stem(part)}.{suffix}"
        done = target.exists() and target.stat().st_mtime_ns >= part.stamp[1]
        return None if done else target


def _stem(part: Part) -> str:
    """The name of a part without its endings."""
    name = part.path.name
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem


def _check_names(parts: Sequence[Part]) -> None:
    """Two parts whose results would have one name are an error."""
    taken: dict[str, str] = {}
    for part in parts:
        other = taken.setdefault(_stem(part), part.name)
        if other != part.name:
            raise DataError(
                f"{part.name}: its results would have the same name as those of "
                f"{other}; rename one of them."
            )
