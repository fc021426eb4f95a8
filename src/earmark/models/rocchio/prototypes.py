"""Rocchio's prototypes, with and without one document (VS2).

A prototype is the mean of a class's unit vectors minus a share of the mean of
all others. With class sums S_c, their total S and n_c of N documents it is
``near_c S_c + far_c S``, where near_c = 1/n_c + r/(N - n_c), far_c = -r/(N - n_c):
every length and product follows from the products of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from earmark.exceptions import DataError
from earmark.kernels.rows import (
    UNIT,
    fixed_point_rows,
    row_lengths,
    squared_lengths,
    times_dense,
    unit_rows,
)
from earmark.statistics import UnitVectorSums
from earmark.typing import BoolVector, FloatMatrix, FloatVector, IntVector, SparseMatrix


@dataclass(frozen=True)
class Measures:
    """What every Rocchio rule looks at, (n_samples, n_classes) or broadcast to it."""

    products: FloatMatrix
    """Inner product of the document with each prototype."""
    squares: FloatMatrix
    """Squared length of each prototype."""
    docs: FloatMatrix
    """Weight of documents behind each prototype; 0 where the class is empty."""
    lengths: FloatMatrix
    """Squared length of each document, (n_samples, 1)."""

    def scaled(self, norm: FloatVector) -> Measures:
        """The same for the documents' unit vectors."""
        products = self.products / np.where(norm > 0, norm, 1.0)[:, None]
        return Measures(products, self.squares, self.docs, np.ones((len(norm), 1)))


def mixing(
    docs: FloatMatrix, total: FloatMatrix, rest_weight: float
) -> tuple[FloatMatrix, FloatMatrix]:
    """near_c and far_c for class weights ``docs``; 0 where there is nothing to mean."""
    rest = total - docs
    gone = rest <= 1e-9 * np.maximum(total, 1.0)
    far = np.divide(-rest_weight, rest, out=np.zeros_like(docs), where=~gone)
    near = np.divide(1.0, docs, out=np.zeros_like(docs), where=docs > 0)
    return near - far, far


def _laid_out(statistics: UnitVectorSums, factor: FloatVector) -> FloatMatrix:
    """factor_c S_c as a dense (n_features, n_classes)."""
    sums = statistics.sums
    dense = np.zeros((sums.shape[1], sums.shape[0]))
    for c, (start, stop) in enumerate(pairwise(sums.indptr)):
        dense[sums.indices[start:stop], c] = sums.data[start:stop] * (factor[c] * UNIT)
    return dense


def _sum_squares(statistics: UnitVectorSums) -> FloatVector:
    """|S_c|^2."""
    steps = statistics.sums.data * UNIT
    parts = (steps[start:stop] for start, stop in pairwise(statistics.sums.indptr))
    return np.array([part @ part for part in parts])


def prototypes(
    statistics: UnitVectorSums, rest_weight: float, of_unit_length: bool
) -> tuple[FloatMatrix, FloatVector]:
    """All prototypes (n_features, n_classes), and their squares before scaling."""
    docs = statistics.docs.astype(np.float64)
    near, far = mixing(docs, docs.sum(), rest_weight)
    if not np.any(far):
        squares = near**2 * _sum_squares(statistics)
        weights = _laid_out(statistics, near * _scale(squares, of_unit_length))
        return weights, squares
    weights = _laid_out(statistics, np.ones_like(docs))
    weights = weights * near + weights.sum(axis=1, keepdims=True) * far
    squares = np.einsum("ij,ij->j", weights, weights)
    return weights * _scale(squares, of_unit_length), squares


def _scale(squares: FloatVector, of_unit_length: bool) -> FloatVector:
    if not of_unit_length:
        return np.ones_like(squares)
    norm = np.sqrt(squares)
    return np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)


@dataclass(frozen=True)
class SumProducts:
    """Products of documents with the class sums, and of the sums with each other."""

    times: Callable[[SparseMatrix], FloatMatrix]
    """rows -> rows @ S, (n_samples, n_classes)."""
    squares: FloatVector
    """|S_c|^2."""
    with_total: FloatVector
    """S_c . S; not looked at where ``rest_weight`` is 0."""

    @classmethod
    def of(cls, statistics: UnitVectorSums) -> SumProducts:
        """From the sums themselves."""
        sums = _laid_out(statistics, np.ones(len(statistics.classes)))
        gram = sums.T @ sums
        return cls(
            lambda rows: times_dense(rows, sums), np.diag(gram), gram.sum(axis=1)
        )


def without_own(
    docs: FloatVector,
    rest_weight: float,
    sums: SumProducts,
    rows: SparseMatrix,
    own: IntVector,
    weight: FloatVector,
    unit: bool = True,
) -> Measures:
    """Measures of learned documents, each taken out of the statistics first."""
    every = np.arange(len(own))
    docs = np.tile(docs, (len(own), 1))
    docs[every, own] -= weight
    docs[np.abs(docs) < 1e-9] = 0.0
    near, far = mixing(docs, docs.sum(axis=1, keepdims=True), rest_weight)

    def mixed(values: FloatMatrix) -> FloatMatrix:
        return np.asarray(near * values + far * values.sum(axis=1, keepdims=True))

    vectors = unit_rows(rows) if unit else rows
    learned = fixed_point_rows(rows, unit).astype(np.float64) * UNIT
    shared = row_lengths(vectors.multiply(learned))[:, None]
    length = row_lengths(learned.multiply(learned))[:, None]
    lost = far * weight[:, None]  # how much of the document each prototype loses
    lost[every, own] += near[every, own] * weight
    squares = near**2 * sums.squares + 2 * near * far * sums.with_total
    squares += far**2 * sums.with_total.sum() + lost**2 * length
    squares -= 2 * lost * mixed(sums.times(learned))
    products = mixed(sums.times(vectors)) - lost * shared
    lengths = squared_lengths(vectors)[:, None]
    return Measures(products, np.maximum(squares, 0.0), docs, lengths)


def closeness(measures: Measures, metric: str) -> FloatMatrix:
    """Score of each class, highest for the nearest prototype; -inf for no documents."""
    # Euclidean: mu.v - |mu|^2 / 2 orders classes as -|mu - v| does, by the terms alone.
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
    """What a rule compares with its threshold, higher for the class (second column)."""
    if rule == "radius":
        return -distance[:, 1]
    with np.errstate(invalid="ignore"):
        gap = distance[:, 0] - distance[:, 1]
    return np.where(np.isnan(gap), 0.0, gap)


def best_threshold(
    value: FloatVector, is_member: BoolVector, weight: FloatVector, objective: str
) -> float:
    """The threshold whose decisions ``value > threshold`` do best."""
    # Half-way between neighbouring values; of equally good ones the highest, as false
    # positives are what the plain rule suffers from.
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
