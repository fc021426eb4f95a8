"""From products with prototypes to scores, distances and two-class decisions (VS2)."""

from __future__ import annotations

import numpy as np

from earmark.exceptions import DataError
from earmark.models.rocchio.prototypes import Measures
from earmark.typing import BoolVector, FloatMatrix, FloatVector

__all__ = ["best_threshold", "closeness", "distances", "rule_value"]


def closeness(measures: Measures, metric: str) -> FloatMatrix:
    """Score of each class, highest for the nearest prototype; -inf for no documents.

    Euclidean: mu.v - |mu|^2 / 2, which orders classes as -|mu - v| does in
    O(K terms of the document). Cosine: mu.v / |mu|, 0 for a prototype of length 0.
    Dot: mu.v.
    """
    if metric == "euclidean":
        score = measures.products - 0.5 * measures.squares
    elif metric == "dot":
        score = measures.products
    else:
        norm = np.broadcast_to(np.sqrt(measures.squares), measures.products.shape)
        score = np.divide(
            measures.products, norm, out=np.zeros_like(norm), where=norm > 0
        )
    return np.where(measures.docs > 0, score, -np.inf)


def distances(measures: Measures, metric: str) -> FloatMatrix:
    """|mu - v|; with cosine, mu is scaled to unit length first."""
    full = measures.lengths + (0.0 if metric == "euclidean" else 1.0)
    # |mu - v|^2 = |v|^2 - 2 (mu.v - |mu|^2 / 2).
    return np.sqrt(np.maximum(full - 2.0 * closeness(measures, metric), 0.0))


def rule_value(distance: FloatMatrix, rule: str) -> FloatVector:
    """What the two-class rule compares with its threshold, higher for the class.

    "offset": |mu_rest - v| - |mu - v| > offset. "radius": -|mu - v| > -radius.
    The class is the second column.
    """
    if rule == "radius":
        return -distance[:, 1]
    with np.errstate(invalid="ignore"):
        gap = distance[:, 0] - distance[:, 1]
    return np.where(np.isnan(gap), 0.0, gap)


def best_threshold(
    value: FloatVector, is_member: BoolVector, weight: FloatVector, objective: str
) -> float:
    """The threshold whose decisions ``value > threshold`` do best on these documents.

    Thresholds lie half-way between neighbouring values; of equally good ones the
    highest is taken, since false positives are what the plain rule suffers from.
    """
    known = np.isfinite(value) & (weight > 0)
    if not (known & is_member).any() or not (known & ~is_member).any():
        raise DataError(
            "tuning by leave-one-out needs at least two documents of each class; "
            "give more documents, or a number as `threshold`."
        )
    order = np.argsort(-value[known], kind="stable")
    value, is_member = value[known][order], is_member[known][order]
    weight = weight[known][order]
    hits = np.concatenate(([0.0], np.cumsum(weight * is_member)))
    alarms = np.concatenate(([0.0], np.cumsum(weight * ~is_member)))
    if objective == "f1":
        quality = 2 * hits / (hits + alarms + hits[-1])
    else:
        quality = hits - alarms  # the accuracy, but for constants
    # Cutting between equal values is not a threshold.
    ends = np.concatenate(([True], value[1:] != value[:-1], [True]))
    best = int(np.argmax(np.where(ends, quality, -np.inf)))
    if best == 0:
        return float(np.nextafter(value[0], np.inf))
    if best == len(value):
        return float(np.nextafter(value[-1], -np.inf))
    return float(0.5 * (value[best - 1] + value[best]))
