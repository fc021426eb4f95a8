"""The sources' tables and figures, regenerated through earmark's public API.

Each reproduction is a package of this one with

- ``PARTS``: name of a part -> function of a ``Run`` that returns plain data;
- ``derive(result)``: figures that follow from those of the parts, by name;
- ``tables(result)``: every table of a result, ours beside the source's;
- ``draw(result, out)``: its figures as SVG files.

``earmark reproduce NAME`` runs one, prints its tables and stores the result as JSON
in ``results/``; ``--part`` runs some parts only and keeps the others as stored.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from reproductions.coverage import differences
from reproductions.study import Run
from reproductions.tables import Table

__all__ = ["NAMES", "RESULTS", "Reproduction", "differences", "load"]

NAMES = (
    "hierarchical",
    "higher-order",
    "hybrid",
    "vector-space",
    "networks",
    "few-labels",
    "labelling",
    "beyond",
    "forensics",
)
RESULTS = Path(__file__).parent / "results"


class Reproduction(Protocol):
    """What the package of one reproduction offers."""

    __doc__: str
    PARTS: Mapping[str, Callable[[Run], Any]]

    def derive(self, result: Mapping[str, Any]) -> Mapping[str, Any]:
        """What follows from the parts, such as tests and counts."""

    def tables(self, result: Mapping[str, Any]) -> Sequence[Table]:
        """Every table of a result."""

    def draw(self, result: Mapping[str, Any], out: Path) -> None:
        """Write the figures of a result into a folder."""


def load(name: str) -> Reproduction:
    """The reproduction of this name."""
    module = importlib.import_module(f"reproductions.{name.replace('-', '_')}")
    return cast(Reproduction, module)
