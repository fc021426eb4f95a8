"""Figure 2 (accuracy by training size) and figures 3 and 4 (log-ratios by term)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from earmark.models import HigherOrderTransformer
from reproductions.figure_style import series
from reproductions.figures import legend, panels, save
from reproductions.higher_order.data import draw_trial, load_data_sets
from reproductions.higher_order.published import TABLE_2
from reproductions.study import Run
from reproductions.tables import ranked

__all__ = ["draw_curves", "draw_ratios", "log_ratios"]

_PAIR = ("alt.atheism", "soc.religion.christian")


def draw_curves(curves: Mapping[str, Any], out: Path) -> str:
    """Figure 2: one panel per data set; the name of the file."""
    percent = [100 * float(share) for share in curves]
    names = ranked(next(iter(curves.values())), list(TABLE_2))
    figure, axes = panels(len(names), size=(3.3, 3.0))
    for axis, name in zip(axes, names, strict=True):
        rows = [by_set[name] for by_set in curves.values()]
        for method in rows[0]:
            means = [row[method]["mean"] for row in rows]
            axis.plot(percent, means, label=method, **series(method))
        axis.set(title=name, xlabel="training documents, % of a class")
    for axis in axes[::3]:
        axis.set_ylabel("accuracy")
    legend(figure, axes[0])
    return save(figure, out / "figure-2.svg")


def log_ratios(run: Run) -> dict[str, Any]:
    """Figures 3 and 4: higher-order against first-order log-ratios of each term.

    On one draw of 25 documents per class; before and after normalizing. The ranges
    of the axes are what the paper discusses.
    """
    trial = draw_trial(load_data_sets()[0], 0.05, 0)
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
    points = {
        kind: {part: numbers.round(3).tolist() for part, numbers in parts.items()}
        for kind, parts in values.items()
    }
    return {"pair": list(_PAIR), "terms": len(seen), "ranges": ranges, "values": points}


def draw_ratios(ratios: Mapping[str, Any], out: Path) -> None:
    """Figures 3 and 4: one point per term, present and absent."""
    values = ratios["values"]
    for kind, name in (
        ("higher order", "figure-3.svg"),
        ("higher order, normalized", "figure-4.svg"),
    ):
        figure, axes = panels(2, size=(4.5, 4.0))
        for axis, part in zip(axes, ("present", "absent"), strict=True):
            axis.scatter(
                values[kind][part],
                values["first order"][part],
                s=9,
                alpha=0.5,
                marker="o",
                rasterized=True,
            )
            axis.locator_params(axis="x", nbins=6)
            axis.set_xlabel(f"{kind}, term {part}")
            axis.set_ylabel(f"first order, term {part}")
        figure.suptitle(f"log-ratio of {_PAIR[0]} to {_PAIR[1]}")
        save(figure, out / name)
