"""The curves of both arms, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earmark.evaluation import bootstrap_interval
from reproductions.figures import panels, save

__all__ = ["draw_curves"]


def draw_curves(result: Mapping[str, Any], path: Path) -> None:
    """Accuracy against answers, one panel per corpus, 95 % bands over the runs."""
    corpora = result["corpora"]
    figure, axes = panels(len(corpora), 4, (3.0, 2.8))
    for axis, (name, corpus) in zip(axes, corpora.items(), strict=True):
        for strategy, color in (("active", "#2c6e9b"), ("random", "#b8562b")):
            runs = corpus["runs"][strategy]
            n = [point["n"] for point in runs[0]["curve"]]
            values = np.asarray([[p["accuracy"] for p in r["curve"]] for r in runs])
            bands = [bootstrap_interval(column) for column in values.T]
            axis.plot(n, values.mean(axis=0), color=color, label=strategy)
            low, high = zip(*bands, strict=True)
            axis.fill_between(n, low, high, color=color, alpha=0.2, linewidth=0)
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("answers")
    axes[0].set_ylabel("accuracy on unasked documents")
    axes[0].legend(frameon=False, fontsize=9)
    save(figure, path, dpi=110)
