"""Counts of many pieces merged within a memory budget, exactly or with a cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from earmark.distributed.counting import PartCounts
from earmark.distributed.executor import MergeTree, merge_tree, merged
from earmark.typing import IntVector

__all__ = ["cut_to_fit", "merge_bounded", "most_terms"]

# Document frequencies above this are not told apart when the cut is chosen.
_CAP = 100_000


def most_terms(memory: int, n_classes: int) -> int:
    """How many terms a model of so many classes can have within ``memory`` bytes.

    A term costs its text, a dictionary entry, the sums and the weights, and as much
    again while the weights are derived.
    """
    return max(1000, int(0.6 * memory / (32 * n_classes + 150)))


def cut_to_fit(counts: PartCounts, memory: int) -> PartCounts:
    """The counts without the terms of the fewest documents, if the model demands it."""
    return _cut(counts, _least_cut(_histogram(counts), counts, memory))


def merge_bounded(
    pieces: Sequence[Callable[[], PartCounts]], memory: int
) -> PartCounts:
    """All pieces merged; terms of too few documents go only if memory demands it.

    Pieces are loaded one at a time. Where all terms together do not fit, they are
    divided by a hash and merged share by share. Document frequencies are exact:
    ``min_df`` of the result is the least cut with which the model fits.
    """
    n_shares = 1
    while True:
        try:
            return _merged_shares(pieces, n_shares, memory)
        except _TooLargeError:
            n_shares *= 4


class _TooLargeError(Exception):
    """A share of the terms does not fit in its share of the memory."""


def _merged_shares(
    pieces: Sequence[Callable[[], PartCounts]], n_shares: int, memory: int
) -> PartCounts:
    kept: list[PartCounts] = []
    histogram = np.zeros(_CAP + 1, dtype=np.int64)
    fits = True
    for number in range(n_shares):
        share = _share(pieces, number, n_shares, memory // 4)
        histogram += _histogram(share)
        kept.append(share)
        if sum(counts.nbytes for counts in kept) > memory // 2:
            kept, fits = kept[:1], False
    min_df = _least_cut(histogram, kept[0], memory)
    if not fits:
        kept = [
            _cut(_share(pieces, number, n_shares, memory // 4), min_df)
            for number in range(n_shares)
        ]
    return _cut(merge_tree(kept, merged), min_df)


def _share(
    pieces: Sequence[Callable[[], PartCounts]], number: int, n_shares: int, limit: int
) -> PartCounts:
    """The counts of one share of the terms; never much more than ``limit`` bytes."""
    tree = MergeTree(merged)
    for load in pieces:
        tree.add(load().share_of(number, n_shares))
        crowded = sum(counts.nbytes for counts in tree.held()) > limit
        if crowded and tree.collapse().nbytes > limit // 2:
            raise _TooLargeError
    share: PartCounts = tree.collapse()
    return share


def _histogram(counts: PartCounts) -> IntVector:
    """Terms of all regions by the number of their documents."""
    found = np.zeros(_CAP + 1, dtype=np.int64)
    for region in (*counts.labelled.values(), *counts.pool.values()):
        frequency = np.minimum(region.document_frequency(), _CAP)
        found += np.bincount(frequency, minlength=_CAP + 1)
    return found


def _least_cut(histogram: IntVector, counts: PartCounts, memory: int) -> int:
    n_classes = len(counts.classes) if counts.labelled else 1
    at_least = np.cumsum(histogram[::-1])[::-1]  # terms of so many documents or more
    fitting = np.flatnonzero(at_least[1:] <= most_terms(memory, n_classes))
    return int(fitting[0]) + 1 if len(fitting) else _CAP


def _cut(counts: PartCounts, min_df: int) -> PartCounts:
    cut = counts.pruned(min_df)
    cut.min_df = min_df
    return cut
