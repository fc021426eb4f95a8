"""How much a term tells about the class, from sums over documents (VS7).

Counts of documents are arrays: ``joint`` (n_classes, n_terms) documents of the
class with the term, ``docs`` (n_classes,) documents of the class.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from earmark.typing import FloatMatrix, FloatVector


def information_gain(joint: FloatMatrix, docs: FloatVector) -> FloatVector:
    """H(class) - H(class | term present or absent), in bits."""
    total = docs.sum()
    absent = docs[:, None] - joint
    split = _entropy_sum(joint) + _entropy_sum(absent)
    gain = _entropy_sum(docs[:, None]) - split
    return np.asarray(np.maximum(gain, 0.0) / (total * np.log(2.0)))


def largest_mutual_information(joint: FloatMatrix, docs: FloatVector) -> FloatVector:
    """Mutual information of term and "is of class c", largest over c, in bits."""
    total, held = docs.sum(), joint.sum(axis=0)
    best = np.zeros(joint.shape[1])
    for c in range(len(docs)):
        two = np.vstack([joint[c], held - joint[c]])
        gain = information_gain(two, np.array([docs[c], total - docs[c]]))
        best = np.maximum(best, gain)
    return best


def chi_square(observed: FloatMatrix, docs: FloatVector) -> FloatVector:
    """Chi-square of term sums by class against independence; 0 for an empty term."""
    expected = np.outer(docs / docs.sum(), observed.sum(axis=0))
    squares = (observed - expected) ** 2
    ratio = np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0)
    return np.asarray(ratio.sum(axis=0))


def _entropy_sum(counts: FloatMatrix) -> FloatVector:
    """N H(counts / n) in nats for each column: n ln n - sum of c ln c."""
    total = counts.sum(axis=0)
    return np.asarray(xlogy(total, total) - xlogy(counts, counts).sum(axis=0))
