"""The terms that speak most for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.typing import FloatMatrix, Labels

__all__ = ["telling_terms"]


def telling_terms(
    engine: Any, classes: Labels, top: int
) -> dict[Any, list[tuple[str, float]]] | None:
    """Terms with the largest weight for a class over the mean of the others.

    None for models without one weight a term and class.
    """
    weights = engine.term_weights()
    if weights is None:
        return None
    found = {}
    for c, label in enumerate(classes.tolist()):
        gap = _against_rest(weights, c)
        best = np.argsort(-gap, kind="stable")[:top]
        found[label] = [
            (_shown(*engine.describe(int(column))), float(gap[column]))
            for column in best
            if np.isfinite(gap[column])
        ]
    return found


def _against_rest(weights: FloatMatrix, c: int) -> Any:
    if weights.shape[1] == 1:
        return weights[:, 0]
    rest = (weights.sum(axis=1) - weights[:, c]) / (weights.shape[1] - 1)
    return weights[:, c] - rest


def _shown(term: str, region: str | None) -> str:
    return term if region is None else f"{region}: {term}"
