"""Run all parts of the reproduction, and draw the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earmark.reproductions._common import Progress
from earmark.reproductions.hybrid import figures
from earmark.reproductions.hybrid.coverage import coverage_curves
from earmark.reproductions.hybrid.curves import learning_curves, verdict
from earmark.reproductions.hybrid.pairs import PAIRS
from earmark.reproductions.hybrid.theorem import likelihood_gap
from earmark.reproductions.hybrid.twenty import twenty_newsgroups

__all__ = ["reproduce"]


def reproduce(
    out: Path, quick: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure everything; figures as PNG into ``out``.

    Quick: two pairs, two sizes, three splits, and the quick methods on the twenty
    newsgroups.
    """
    tell: Progress = progress if progress is not None else lambda _: None
    pairs = PAIRS[:2] if quick else PAIRS
    n_splits = 3 if quick else 10
    sizes = (50, 200) if quick else (50, 150, 500, 1500)
    rows = learning_curves(pairs, sizes, n_splits, tell)
    given = learning_curves(pairs, (50,), n_splits, tell, given_dictionary=True)
    result = {
        "n_splits": n_splits,
        "figure_1": rows,
        "figure_1_verdict": verdict(rows),
        "given_dictionary": given,
        "given_dictionary_verdict": verdict(given),
        "figure_2": coverage_curves(pairs, n_splits, tell),
        "theorem_1": likelihood_gap(
            (20, 100) if quick else (20, 100, 500, 1000),
            (100, 1000) if quick else (100, 1000, 10000),
            n_splits,
            tell,
        ),
        "twenty_newsgroups": twenty_newsgroups(tell, quick),
    }
    out.mkdir(parents=True, exist_ok=True)
    figures.learning_curves(result, out / "figure-1.png")
    figures.coverage_curves(result, out / "figure-2.png")
    figures.calibration(result, out / "plug-in.png")
    figures.theorem(result, out / "theorem-1.png")
    tell(f"figures in {out}")
    return result
