"""The hybrid's few features: each region's log-likelihood over its length (HY2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earmark.models.hybrid.regions import GenerativeRegion
from earmark.models.protocols import ScoreParts
from earmark.statistics.inputs import checked_weights
from earmark.typing import ArrayLike, FloatMatrix, FloatVector, IntVector, Matrix

__all__ = ["evidence", "evidence_without", "joined_parts", "left_out", "length_factor"]


def evidence(
    regions: Sequence[GenerativeRegion], X: Matrix, normalize: bool
) -> list[FloatMatrix]:
    """b_rc of each document in each region, (n_samples, n_classes) a region."""
    found = []
    for region in regions:
        rows = region.rows(X)
        factor = length_factor(region, rows, normalize)
        found.append(factor[:, None] * region.log_likelihood(rows))
    return found


def evidence_without(
    regions: Sequence[GenerativeRegion],
    X: Matrix,
    own: IntVector,
    lost: FloatVector,
    normalize: bool,
    removed: Matrix | None = None,
) -> list[FloatMatrix]:
    """b_rc of each document with the document taken out of its class (HY3)."""
    found = []
    for region in regions:
        rows = region.rows(X)
        values = region.log_likelihood_without(rows, own, lost, removed)
        found.append(length_factor(region, rows, normalize)[:, None] * values)
    return found


def length_factor(
    region: GenerativeRegion, rows: Matrix, normalize: bool
) -> FloatVector:
    """1/n_r; 0 where a document lacks the region, which then says nothing (HY1)."""
    lengths = region.lengths(rows)
    held = lengths > 0
    if not normalize:
        return held.astype(np.float64)
    return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=held)


def left_out(sample_weight: ArrayLike | None, n_samples: int) -> FloatVector:
    """How much of each document leaves with it.

    Whole weights count equal documents, of which one leaves; any other weight is
    one document's importance, which leaves with it.
    """
    given = checked_weights(sample_weight, n_samples)
    if given is None:
        return np.ones(n_samples)
    weight: FloatVector = given.astype(np.float64)
    return np.minimum(weight, 1.0) if given.dtype.kind == "i" else weight


def joined_parts(parts: Sequence[ScoreParts], bias: FloatVector) -> ScoreParts:
    """One document's score parts of all regions, and the class bias."""
    constants = {"class bias": bias}
    for part in parts:
        for name, value in part.constants.items():
            constants[name] = constants.get(name, 0.0) + value
    return ScoreParts(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.terms for part in parts]),
        constants,
    )
