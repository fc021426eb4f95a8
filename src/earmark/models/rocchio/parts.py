"""Rocchio's scores taken apart by term (AB3)."""

from __future__ import annotations

import numpy as np

from earmark.models.protocols import ScoreParts, linear_parts
from earmark.typing import FloatMatrix, FloatVector, SparseMatrix

__all__ = ["nearest_parts", "two_class_parts"]


def nearest_parts(
    unit: SparseMatrix, weights: FloatMatrix, offset: FloatVector, shares: FloatVector
) -> list[ScoreParts]:
    """The plain rule: score = unit @ weights + offset; shares for an empty document."""
    constants = {"length of the prototype": offset} if offset.any() else {}
    said = linear_parts(unit, weights, constants)
    return [
        parts
        if len(parts.columns)
        else ScoreParts(
            parts.columns,
            parts.terms,
            {"class share": shares},
            "No known term: the class shares answer.",
        )
        for parts in said
    ]


def two_class_parts(
    unit: SparseMatrix, slope: FloatVector, total: FloatVector, margin: FloatVector
) -> list[ScoreParts]:
    """The two-class rules: a difference of distances by its squares.

    |mu_0 - v| - |mu_1 - v| = 2 (s_1 - s_0) / (|mu_0 - v| + |mu_1 - v|) with the
    linear scores s, and radius - |mu_1 - v| = (radius^2 - |mu_1 - v|^2) / (radius +
    |mu_1 - v|) with |mu_1 - v|^2 linear in v too. ``slope`` is the linear weight
    and ``total`` the denominator, each document's own; what is left of ``margin``
    belongs to the rule.
    """
    both = np.stack([np.zeros_like(slope), slope], axis=1)
    parts = []
    for part, whole, value in zip(
        linear_parts(unit, both, {}), total, margin, strict=True
    ):
        terms = part.terms * (2.0 / whole if whole > 0 else 0.0)
        rest = np.array([0.0, value]) - terms.sum(axis=0)
        parts.append(ScoreParts(part.columns, terms, {"distance rule": rest}))
    return parts
