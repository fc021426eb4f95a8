"""Votes taken apart: which documents spoke, and by which terms (AB3)."""

from __future__ import annotations

import numpy as np

from earmark.models.protocols import ScoreParts
from earmark.typing import FloatMatrix, FloatVector, IntVector, Labels, SparseMatrix

__all__ = ["neighbor_parts"]

_NAMED = 5


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

    A neighbour's similarity is a sum over shared terms; its vote (the similarity,
    or one) is spread in the same proportions, so that the parts add up exactly.
    """
    parts = []
    for d in range(rows.shape[0]):
        begin, end = rows.indptr[d], rows.indptr[d + 1]
        columns = rows.indices[begin:end].astype(np.int64)
        terms = np.zeros((len(columns), len(classes)))
        voters = index[d][index[d] >= 0]
        if not len(voters):
            silence = "No training document shares a term: the class shares answer."
            parts.append(ScoreParts(columns, terms, {"class share": shares}, silence))
            continue
        for place, alike, vote in zip(voters, similarity[d], weight[d], strict=False):
            start, stop = vectors.indptr[place], vectors.indptr[place + 1]
            _, mine, theirs = np.intersect1d(
                columns,
                vectors.indices[start:stop],
                assume_unique=True,
                return_indices=True,
            )
            products = rows.data[begin:end][mine] * vectors.data[start:stop][theirs]
            terms[mine, targets[place]] += products * (vote / alike)
        named = ", ".join(
            f"{place} ({classes[targets[place]]}, {alike:.2f})"
            for place, alike in zip(voters[:_NAMED], similarity[d], strict=False)
        )
        more = "" if len(voters) <= _NAMED else f" and {len(voters) - _NAMED} more"
        note = f"Because of the training documents {named}{more}."
        parts.append(ScoreParts(columns, terms, {}, note))
    return parts
