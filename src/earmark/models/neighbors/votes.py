"""From neighbours to votes, and from votes to labels (VS3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels

__all__ = [
    "Answer",
    "Neighbor",
    "best_k",
    "chosen_classes",
    "counted_votes",
    "vote_weights",
]


class Neighbor(NamedTuple):
    """A training document that spoke for a decision."""

    position: int
    """Its place among the documents learned."""
    label: Any
    similarity: float
    """Cosine with the document in question."""


class Answer(NamedTuple):
    """Everything about some documents, from one search."""

    labels: Labels
    """The label of each document."""
    probabilities: FloatMatrix
    """Share of the votes for each class, (n_samples, n_classes)."""
    similarities: FloatMatrix
    """Cosine of each neighbour, best first; 0 where there is none."""
    positions: IntVector
    """Its place among the documents learned; -1 where there is none."""


def vote_weights(similarity: FloatMatrix, vote: str) -> FloatMatrix:
    """What each neighbour's vote weighs; 0 where there is no neighbour."""
    if vote == "similarity":
        return similarity
    return (similarity > 0).astype(np.float64)


def counted_votes(
    targets: IntVector, weight: FloatMatrix, n_classes: int
) -> FloatMatrix:
    """Sum of the votes for each class, (n_samples, n_classes).

    ``targets`` is the class of each neighbour, anything where there is none.
    """
    n_samples = len(targets)
    cell = np.arange(n_samples)[:, None] * n_classes + targets
    total = np.bincount(
        cell.ravel(), weight.ravel(), minlength=n_samples * n_classes
    ).reshape(n_samples, n_classes)
    return np.asarray(total, dtype=np.float64)


def chosen_classes(votes: FloatMatrix, nearest: IntVector, seed: int) -> IntVector:
    """The class with most votes; equal ones by lot.

    The lot is drawn from the seed and the nearest neighbour: a document gets the
    same answer whatever stands beside it in X.
    """
    best = votes.argmax(axis=1)
    tied = votes == votes.max(axis=1, keepdims=True)
    rows = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(rows):
        lots = _scrambled(nearest[rows], votes.shape[1], seed)
        lots = np.where(tied[rows], lots | np.uint64(1), np.uint64(0))
        best[rows] = lots.argmax(axis=1)
    return np.asarray(best, dtype=np.int64)


def best_k(
    targets: IntVector, weight: FloatMatrix, own: IntVector, shares: FloatVector
) -> int:
    """The number of neighbours that labels most documents right; the smallest such.

    One pass: the votes for k + 1 are those for k and one more.
    """
    n_samples, most = targets.shape
    every = np.arange(n_samples)
    votes = np.zeros((n_samples, len(shares)))
    right = np.empty(most)
    for k in range(most):
        votes[every, targets[:, k]] += weight[:, k]
        top = votes.max(axis=1, keepdims=True)
        tied = votes == top
        # A tie counts as the chance that the lot falls on the right class.
        chance = tied[every, own] / tied.sum(axis=1)
        alone = top[:, 0] == 0
        right[k] = np.where(alone, shares.argmax() == own, chance).sum()
    return int(right.argmax()) + 1


def _scrambled(key: IntVector, n_classes: int, seed: int) -> Any:
    """Hash of (seed, key, class) by splitmix64, (n_keys, n_classes)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = key.astype(np.uint64)[:, None] * golden + np.uint64(seed)
        mixed = mixed + np.arange(n_classes, dtype=np.uint64) * np.uint64(
            0xD1B54A32D192ED03
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
