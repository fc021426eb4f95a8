"""Which documents choose among the restarts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earmark.kernels.keys import rekeyed
from earmark.typing import BoolVector, FloatVector, IntVector

__all__ = ["hold_out"]


def hold_out(
    keys: NDArray[np.uint64],
    y_index: IntVector,
    weight: FloatVector,
    fraction: float,
    seed: np.uint64,
) -> BoolVector:
    """Mark about ``fraction`` of the weight of every class for validation.

    The documents' content decides, so equal documents are always on the same side,
    and a document of weight 2 counts as two equal ones. A class whose share is less
    than half a document, or that has only one, keeps all; so the mark may be empty.
    """
    held = np.zeros(len(keys), dtype=bool)
    for c in np.unique(y_index):
        mine = np.flatnonzero((y_index == c) & (weight > 0))
        distinct, group = np.unique(rekeyed(keys[mine], seed), return_inverse=True)
        mass = np.bincount(group, weights=weight[mine])
        middle = np.cumsum(mass) - mass / 2
        chosen = middle < fraction * mass.sum()
        if len(distinct) > 1 and not chosen.all():
            held[mine] = chosen[group]
    return held
