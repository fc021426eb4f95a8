"""Which terms stay: document frequencies and a largest number of columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from earmark._checks import require_in_range, require_integer
from earmark.exceptions import DataError
from earmark.typing import BoolVector, IntVector

__all__ = ["check_pruning", "merge_seen", "prunes", "term_mask"]


def check_pruning(counter: Any) -> None:
    """Check min_df, max_df and max_features of a counter."""
    for name in ("max_df", "min_df"):
        if isinstance(getattr(counter, name), Integral):
            require_integer(counter, name, low=1, hint="a share is a float: 1.0")
        else:
            require_in_range(counter, name, low=0.0, high=1.0)
    if counter.max_features is not None:
        require_integer(counter, "max_features", low=1)


def prunes(counter: Any) -> bool:
    """Whether any term can be left out for its frequency."""
    return not (
        counter.max_features is None
        and not isinstance(counter.max_df, Integral)
        and counter.max_df == 1.0
        and (counter.min_df == 1 if isinstance(counter.min_df, Integral) else False)
    )


def term_mask(
    counter: Any,
    n_documents: int,
    documents: IntVector,
    totals: Any,
    *,
    may_be_empty: bool = False,
) -> BoolVector:
    """Terms to keep, given their document counts and column sums, sorted by term.

    ``max_features`` breaks ties as scikit-learn does: by the same argsort of the
    same numbers in the same order.
    """
    high, low = counter.max_df, counter.min_df
    high = high if isinstance(high, Integral) else high * n_documents
    low = low if isinstance(low, Integral) else low * n_documents
    if high < low and not may_be_empty:
        raise ValueError(
            f"{type(counter).__name__}.max_df must allow at least as many documents as "
            f"min_df, got max_df={counter.max_df!r} ({high:g} documents) and "
            f"min_df={counter.min_df!r} ({low:g})."
        )
    mask: BoolVector = (documents <= float(high)) & (documents >= float(low))
    limit = counter.max_features
    if limit is not None and mask.sum() > limit:
        largest = (-totals[mask]).argsort()[:limit]
        kept = np.flatnonzero(mask)[largest]
        mask = np.zeros(len(mask), dtype=bool)
        mask[kept] = True
    if not mask.any() and not may_be_empty:
        raise DataError(
            "After pruning, no terms remain. Try a lower min_df or a higher max_df."
        )
    return mask


def merge_seen(*tables: tuple[Any, ...]) -> tuple[list[str], IntVector, IntVector]:
    """Add tables of (terms, document counts, token counts); terms come out sorted."""
    merged = sorted({term for terms, *_ in tables for term in terms})
    place = {term: k for k, term in enumerate(merged)}
    sums = np.zeros((2, len(merged)), dtype=np.int64)
    for terms, *counts in tables:
        at = np.array([place[term] for term in terms], dtype=np.intp)
        sums[:, at] += np.array(counts, dtype=np.int64).reshape(2, len(terms))
    return merged, sums[0], sums[1]
