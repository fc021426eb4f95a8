"""The one helper of all figures: matplotlib without a screen, panels, bands, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["band", "panels", "pyplot", "save"]


def pyplot() -> Any:
    """Matplotlib's pyplot, drawing into files only; ``earmark[plot]`` brings it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def panels(n: int, columns: int = 3, size: tuple[float, float] = (3.6, 2.8)) -> Any:
    """A figure and the list of its ``n`` axes, in rows of at most ``columns``."""
    across = min(n, columns)
    down = -(-n // across)
    figure, axes = pyplot().subplots(
        down,
        across,
        figsize=(size[0] * across, size[1] * down),
        squeeze=False,
        layout="constrained",
    )
    every = list(axes.ravel())
    for axis in every[n:]:
        axis.axis("off")
    return figure, every[:n]


def band(
    axis: Any,
    across: Sequence[float],
    rows: Sequence[Mapping[str, float]],
    name: str,
    **style: Any,
) -> None:
    """A line of means with a band of one standard error where there is one."""
    mean = np.array([row["mean"] for row in rows])
    error = np.array([row.get("se") or 0.0 for row in rows])
    error = np.nan_to_num(error)
    (line,) = axis.plot(across, mean, label=name, **style)
    axis.fill_between(
        across, mean - error, mean + error, color=line.get_color(), alpha=0.15
    )


def save(figure: Any, path: Path, dpi: int = 80) -> str:
    """Write a figure as PNG and forget it; the name of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    pyplot().close(figure)
    return path.name
