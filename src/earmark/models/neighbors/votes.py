"""From neighbours to votes, from votes to labels, and votes by term (VS3, AB3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from earmark.kernels.keys import mixed_bits
from earmark.models.base import ScoreParts
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels, SparseMatrix

__all__ = [
    "Answer",
    "Neighbor",
    "best_k",
    "chosen_classes",
    "counted_votes",
    "neighbor_parts",
    "vote_weights",
]


# Neighbours that an explanation names.
_NAMED = 5


class Neighbor(NamedTuple):
    """A training document that spoke for a decision."""

    position: int
    """Its place among the documents learned."""
    label: object
    similarity: float
    """Cosine or product with the document in question, or 1 / (1 + distance)."""


class Answer(NamedTuple):
    """Everything about some documents, from one search."""

    labels: Labels
    """The label of each document."""
    probabilities: FloatMatrix
    """Share of the votes for each class, (n_samples, n_classes)."""
    similarities: FloatMatrix
    """Similarity of each neighbour, best first; 0 where there is none."""
    positions: IntVector
    """Its place among the documents learned; -1 where there is none."""


def vote_weights(similarity: FloatMatrix, index: IntVector, vote: str) -> FloatMatrix:
    """What each neighbour's vote weighs; 0 where there is none, or it is unlike."""
    if vote == "similarity":
        return np.maximum(similarity, 0.0)
    return (index >= 0).astype(np.float64)


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
    """Hash of (seed, key, class), (n_keys, n_classes)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = key.astype(np.uint64)[:, None] * golden + np.uint64(seed)
        step = np.uint64(0xD1B54A32D192ED03)
        return mixed_bits(mixed + np.arange(n_classes, dtype=np.uint64) * step)


def neighbor_parts(
    rows: SparseMatrix,
    vectors: SparseMatrix,
    targets: IntVector,
    classes: Labels,
    similarity: FloatMatrix,
    index: IntVector,
    weight: FloatMatrix,
    shares: FloatVector,
) -> list[ScoreParts]:
    """Each neighbour's vote, spread over the terms that make it similar.

    Its product with the document is a sum over shared terms; its vote is spread in
    the same proportions, so that the parts add up exactly. A neighbour that shares no
    term votes as a whole.
    """
    parts = []
    for d in range(rows.shape[0]):
        begin, end = rows.indptr[d], rows.indptr[d + 1]
        columns = rows.indices[begin:end].astype(np.int64)
        terms = np.zeros((len(columns), len(classes)))
        unshared = np.zeros(len(classes))
        voters = index[d][index[d] >= 0]
        if not len(voters):
            silence = "No training document shares a term: the class shares answer."
            parts.append(ScoreParts(columns, terms, {"class share": shares}, silence))
            continue
        for place, vote in zip(voters, weight[d], strict=False):
            start, stop = vectors.indptr[place], vectors.indptr[place + 1]
            _, mine, theirs = np.intersect1d(
                columns,
                vectors.indices[start:stop],
                assume_unique=True,
                return_indices=True,
            )
            products = rows.data[begin:end][mine] * vectors.data[start:stop][theirs]
            total = products.sum()
            if total > 0:
                terms[mine, targets[place]] += products * (vote / total)
            else:
                unshared[targets[place]] += vote
        named = ", ".join(
            f"{place} ({classes[targets[place]]}, {alike:.2f})"
            for place, alike in zip(voters[:_NAMED], similarity[d], strict=False)
        )
        more = "" if len(voters) <= _NAMED else f" and {len(voters) - _NAMED} more"
        note = f"Because of the training documents {named}{more}."
        rest = {"neighbours without a shared term": unshared} if unshared.any() else {}
        parts.append(ScoreParts(columns, terms, rest, note))
    return parts
