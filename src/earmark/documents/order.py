"""Is the input sorted by label? Then order matters to whatever reads it in turn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from earmark.exceptions import EarmarkWarning

__all__ = ["warn_if_sorted"]

# Below this many expected changes a short run of equal labels is no sign.
_FEWEST_EXPECTED = 8.0
_SHARE = 0.25


def warn_if_sorted(
    labels: Iterable[Any], *, what: str = "the documents", stacklevel: int = 2
) -> bool:
    """Warn when equal labels stand together far more than chance would have it.

    Call it before anything that depends on order: learning in one pass, taking
    the first documents as a sample, cutting into consecutive parts.

    Parameters
    ----------
    labels : iterable
        Labels in the order of the documents; None (unlabelled) is passed over.
    what : str, default="the documents"
        Subject of the message.
    stacklevel : int, default=2
        As in ``warnings.warn``.

    Returns
    -------
    warned : bool
        Whether an ``EarmarkWarning`` was given.

    Examples
    --------
    >>> warn_if_sorted(["spam", "ham"] * 20)
    False

    """
    keys = [
        tuple(label) if isinstance(label, list) else label
        for label in labels
        if label is not None
    ]
    n_labels = len(keys)
    if n_labels < 2:
        return False
    changes = sum(a != b for a, b in pairwise(keys))
    # In random order two neighbours differ with probability 1 - sum n_c(n_c-1)/n(n-1).
    same = sum(count * (count - 1) for count in Counter(keys).values())
    expected = (n_labels - 1) - same / n_labels
    if expected < _FEWEST_EXPECTED or changes > _SHARE * expected:
        return False
    warnings.warn(
        f"{what} look sorted by label: {changes} changes of label in {n_labels} "
        f"documents, about {expected:.0f} expected in random order. Shuffle them, "
        f"or the result depends on the order.",
        EarmarkWarning,
        stacklevel=stacklevel,
    )
    return True
