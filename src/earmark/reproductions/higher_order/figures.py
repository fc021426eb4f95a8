"""Figure 2 (accuracy by training size) and figures 3 and 4 (log-ratios by term)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.models import HigherOrderTransformer
from earmark.reproductions.higher_order.data import DataSet, draw_trial

__all__ = ["draw_curves", "log_ratios"]

_LAYOUT = "constrained"
_PAIR = ("alt.atheism", "soc.religion.christian")


def draw_curves(curves: Mapping[str, Any], out: Path) -> str:
    """Figure 2: one panel a data set; the name of the file."""
    plt = require("matplotlib.pyplot", "draw the figures")
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharex=True, layout=_LAYOUT)
    percent = [100 * float(share) for share in curves]
    names = next(iter(curves.values()))
    for axis, name in zip(axes.flat, names, strict=False):
        rows = [by_set[name] for by_set in curves.values()]
        for method in rows[0]:
            means = [row[method]["mean"] for row in rows]
            axis.plot(percent, means, marker="o", ms=3, label=method)
        axis.set_title(name, fontsize=10)
    axes[0, 0].legend(fontsize=8)
    figure.supxlabel("training documents, % of a class", fontsize=9)
    figure.supylabel("accuracy", fontsize=9)
    return _save(figure, plt, out, "figure-2.png")


def log_ratios(religion: DataSet, out: Path) -> dict[str, Any]:
    """Figures 3 and 4: higher-order against first-order log-ratios of each term.

    On one draw of 25 documents a class; before and after normalizing. Returns
    the ranges of the axes, which is what the paper discusses.
    """
    trial = draw_trial(religion, 0.05, 0)
    mine = np.isin(trial.y_train, _PAIR)
    X, y = trial.train[mine], trial.y_train[mine]
    seen = np.flatnonzero(np.asarray((X > 0).sum(axis=0)).ravel())
    X = X[:, seen]
    values: dict[str, Any] = {}
    for kind, transformer in {
        "first order": HigherOrderTransformer(source="first_order", normalize=False),
        "higher order": HigherOrderTransformer(normalize=False),
        "higher order, normalized": HigherOrderTransformer(),
    }.items():
        transformer.fit(X, y)
        absent = transformer.constant_
        present = transformer.transform(np.ones((1, X.shape[1]))).toarray()[0] + absent
        values[kind] = {"present": present, "absent": absent}
    ranges = {
        kind: {
            part: [float(numbers.min()), float(numbers.max())]
            for part, numbers in parts.items()
        }
        for kind, parts in values.items()
    }
    files = [
        _scatter(values, "higher order", out, "figure-3.png"),
        _scatter(values, "higher order, normalized", out, "figure-4.png"),
    ]
    return {"pair": list(_PAIR), "terms": len(seen), "ranges": ranges, "files": files}


def _scatter(values: Mapping[str, Any], kind: str, out: Path, name: str) -> str:
    plt = require("matplotlib.pyplot", "draw the figures")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout=_LAYOUT)
    for axis, part in zip(axes, ("present", "absent"), strict=True):
        axis.scatter(values[kind][part], values["first order"][part], s=5, alpha=0.5)
        axis.locator_params(axis="x", nbins=6)
        axis.set_xlabel(f"{kind}, term {part}", fontsize=9)
        axis.set_ylabel(f"first order, term {part}", fontsize=9)
    figure.suptitle(f"log-ratio of {_PAIR[0]} to {_PAIR[1]}", fontsize=10)
    return _save(figure, plt, out, name)


def _save(figure: Any, plt: Any, out: Path, name: str) -> str:
    figure.savefig(out / name, dpi=80)
    plt.close(figure)
    return name
