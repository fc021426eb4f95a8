"""The region weights in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earmark.typing import FloatVector

__all__ = ["region_table"]


def region_table(
    names: Sequence[str],
    weight: FloatVector,
    length: FloatVector,
    normalize: bool,
    units: Sequence[str],
) -> str:
    """One line a region, and a sentence that compares a word of each.

    A word of a region of length n adds θ/n of its evidence: that, at the mean
    length, is what two regions are compared by.
    """
    each = weight
    if normalize:
        each = np.divide(weight, length, out=np.zeros(len(weight)), where=length > 0)
    width = max(len("region"), *(len(name) for name in names))
    lines = [f"{'region':<{width}}  {'weight':>9}  {'length':>9}  {'per word':>9}"]
    lines += [
        "{:<{w}}  {:9.3f}  {:9.1f}  {:9.4f}".format(*row, w=width)
        for row in zip(names, weight, length, each, strict=True)
    ]
    top, low = int(each.argmax()), int(each.argmin())
    if top != low and each[low] > 0:
        lines.append(
            f"a {units[top]} in {names[top]} counts {each[top] / each[low]:.1f} times "
            f"as much as one in {names[low]}"
        )
    lines += [
        f"{names[r]} says nothing that helps (weight {weight[r]:.3f})"
        for r in np.flatnonzero(each <= 0).tolist()
    ]
    return "\n".join(lines)
