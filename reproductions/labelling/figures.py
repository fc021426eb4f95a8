"""The curves of both arms, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figure_style import COLORS, series
from reproductions.figures import legend, panels, save
from reproductions.intervals import bootstrap_interval

__all__ = ["draw_curves"]


def draw_curves(result: Mapping[str, Any], path: Path) -> None:
    """Accuracy against answers, one panel per corpus, 95 % bands over the runs."""
    corpora = result["corpora"]
    figure, axes = panels(len(corpora), 4, (3.0, 2.8))
    for axis, (name, corpus) in zip(axes, corpora.items(), strict=True):
        for place, strategy in enumerate(("active", "random")):
            color = COLORS[place]
            runs = corpus["runs"][strategy]
            n = [point["n"] for point in runs[0]["curve"]]
            values = np.asarray([[p["accuracy"] for p in r["curve"]] for r in runs])
            bands = [bootstrap_interval(column) for column in values.T]
            names = {"active": "picked by the model", "random": "at random"}
            style = series(place) | {"marker": ""}
            axis.plot(n, values.mean(axis=0), label=names[strategy], **style)
            low, high = zip(*bands, strict=True)
            axis.fill_between(n, low, high, color=color, alpha=0.2, linewidth=0)
        axis.set_title(name)
        axis.set_xlabel("answers")
    axes[0].set_ylabel("accuracy")
    legend(figure, axes[0])
    save(figure, path)
