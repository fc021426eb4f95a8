"""The one helper of all figures: panels, bands, legends, captions, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.figure_style import series, settings

__all__ = ["CAPTIONS", "band", "counts", "legend", "panels", "pyplot", "save"]

# Reproduction and figure -> what it shows, and what to see in it.
CAPTIONS: Mapping[str, tuple[str, str]] = {
    "beyond/overtaking": (
        "Difference of accuracy between higher-order and plain naive Bayes by data set",
        "Higher order gains where bars point right and loses where they point left.",
    ),
    "few-labels/gains": (
        "Gain of earmark over logistic regression by corpus and labels per class",
        "Unlabelled text helps on every corpus, and more with 5 labels per class than "
        "with 20.",
    ),
    "few-labels/learning-curves": (
        "Accuracy against labels per class, with and without unlabelled text",
        "The gap is widest with the fewest labels and closes as labels become many.",
    ),
    "forensics/distances": (
        "Distance of naive Bayes to the printed figures by alpha; gains by data set",
        "Left: small values of alpha are near to all printed figures, 1 is not. Right: "
        "gains of higher order with a fresh sample per trial, ± two standard errors.",
    ),
    "hierarchical/reviews": (
        "Accuracy against the number of training reviews in three panels",
        "Two nodes or more are better than one with at least 5,000 reviews; with 500 "
        "or fewer there is no gain.",
    ),
    "hierarchical/shapes": (
        "Five shapes in a square, above as points, below as learned",
        "Above: the training points. Below: what ten Gaussian nodes per class learned.",
    ),
    "hierarchical/xor": (
        "The four points of XOR and where three classifiers answer 1",
        "Naive Bayes is indifferent everywhere, so its panel is empty; hidden nodes "
        "learn the function.",
    ),
    "higher-order/figure-2": (
        "Accuracy against the share of training documents on six data sets",
        "Higher-order naive Bayes (HONB) is far above Bernoulli naive Bayes (NB) with "
        "few documents; on citations NB overtakes it.",
    ),
    "higher-order/figure-3": (
        "Higher-order against first-order log-ratios, one point per term",
        "Words of one class only form groups far from the rest.",
    ),
    "higher-order/figure-4": (
        "The same log-ratios after division by the root",
        "Division by the root brings the middle group back within reach of an SVM.",
    ),
    "hybrid/figure-1": (
        "Test error against training documents on six pairs of newsgroups",
        "The hybrid with two regions (R=2) has the lowest error of the paper's "
        "methods, or is within one point of it.",
    ),
    "hybrid/figure-2": (
        "Accuracy of the most confident answers against coverage on six pairs",
        "On the hardest pair (first panel) the normalised hybrid ranks its answers far "
        "better than naive Bayes.",
    ),
    "hybrid/plug-in": (
        "Log loss and calibration error of plug-in and leave-one-out weights",
        "Weights fitted leave-one-out have the lower log loss at every size.",
    ),
    "hybrid/theorem-1": (
        "Gap of the log-likelihoods against training documents for three vocabularies",
        "The leave-one-out gap hardly depends on the vocabulary; the plug-in gap grows "
        "with it.",
    ),
    "labelling/curves": (
        "Accuracy against answers for picked and for random documents",
        "Where picking pays, its curve rises faster; bands are 95 % intervals.",
    ),
    "networks/descent": (
        "Paths of the weights over the error surface for three batch sizes",
        "Single documents wander, small batches are nearly as direct as all documents "
        "at once and cost far less per step.",
    ),
    "networks/learning-curves": (
        "Test accuracy against training documents for five models",
        "Softmax regression and the perceptron are above naive Bayes at nearly every "
        "size: on these corpora the generative models do not lead with few documents.",
    ),
    "vector-space/bias-variance": (
        "Bias and variance against the capacity of nearest neighbours and Rocchio",
        "Bias rises and variance falls as capacity falls; Rocchio is the dashed line.",
    ),
    "vector-space/hyperplanes": (
        "Three lines in the plane, and the regions of the largest of three scores",
        "Three lines leave regions that none or several classes claim; the largest "
        "score assigns every point to one class.",
    ),
    "vector-space/projection": (
        "Points on a half circle projected to a line, and four vectors",
        "Projections keep the distances within small areas only (left). Three measures "
        "of similarity give three different answers (right).",
    ),
    "vector-space/regions": (
        "Decision regions of Rocchio, one and three nearest neighbours",
        "Rocchio draws straight borders; neighbours follow the data.",
    ),
    "vector-space/separators": (
        "Lines that separate two classes, and three classifiers on noisy data",
        "Many lines separate two classes (left). A perfect fit follows the noise "
        "(right).",
    ),
    "vector-space/shapes": (
        "Two clusters and an enclave, classified by Rocchio and by nine neighbours",
        "A single prototype per class cannot represent two clusters or an enclave; "
        "neighbours can.",
    ),
}


def pyplot() -> Any:
    """Matplotlib's pyplot in the common style, drawing into files only."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(settings())
    return plt


def panels(n: int, columns: int = 3, size: tuple[float, float] = (3.6, 2.8)) -> Any:
    """A figure and the list of its ``n`` axes, in rows of at most ``columns``."""
    across = min(n, columns)
    down = -(-n // across)
    figure, axes = pyplot().subplots(
        down, across, figsize=(size[0] * across, size[1] * down), squeeze=False
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
    (line,) = axis.plot(across, mean, label=name, **{**series(name), **style})
    axis.fill_between(
        across, mean - error, mean + error, color=line.get_color(), alpha=0.15, lw=0
    )


def legend(figure: Any, axes: Any, columns: int = 4) -> None:
    """The names of the series below the panels, where they hide nothing."""
    named: dict[str, Any] = {}
    for axis in axes if isinstance(axes, list) else [axes]:
        handles, names = axis.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
    across = min(columns, len(named))
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=across
    )


def counts(axis: Any, values: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers."""
    axis.set_xscale("log")
    # At least twice the last one, and room for eight labels.
    factor = max(2.0, (max(values) / min(values)) ** (1 / 7.5))
    apart: list[float] = []
    for value in sorted(values):
        if not apart or value >= factor * apart[-1]:
            apart.append(value)
    if apart[-1] != max(values):
        apart[-1] = max(values)
    axis.set_xticks(apart, [f"{value:,.0f}" for value in apart])
    axis.minorticks_off()


def save(figure: Any, path: Path) -> str:
    """Write a figure as SVG and forget it; the name of the file."""
    path = path.with_suffix(".svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, transparent=True, metadata={"Date": None})
    pyplot().close(figure)
    return path.name
