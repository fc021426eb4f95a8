"""The one value that every way of deciding returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.typing import BoolVector, FloatMatrix, FloatVector, Labels

__all__ = ["Decision"]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about each document, and on what ground.

    Attributes
    ----------
    labels : ndarray of object, shape (n_documents,)
        One-of: the label, or None for an abstention. Any-of: a tuple of labels,
        or None where no label could be decided on.
    scores : ndarray of shape (n_documents, n_classes)
        The scores behind the decision: probabilities where the model has them.
    classes : ndarray of shape (n_classes,)
        Labels of the columns.
    abstained : ndarray of bool
        One-of: shape (n_documents,). Any-of: shape (n_documents, n_classes), one
        entry per label decision.
    confidence : ndarray of shape (n_documents,)
        One-of: the probability (or margin) of the best label, also where the
        decision was to abstain. Any-of: that of the least certain label decision.

    Examples
    --------
    >>> made = Decision(
    ...     labels=np.array(["a", None], dtype=object), scores=np.eye(2),
    ...     classes=np.array(["a", "b"]), abstained=np.array([False, True]),
    ...     confidence=np.array([1.0, 0.5]),
    ... )
    >>> made.coverage
    0.5

    """

    labels: Labels
    scores: FloatMatrix
    classes: Labels
    abstained: BoolVector
    confidence: FloatVector

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def any_of(self) -> bool:
        """Whether each label was decided on by itself."""
        return self.abstained.ndim == 2

    @property
    def coverage(self) -> float:
        """Share of documents (any-of: of label decisions) that were decided."""
        return float(1 - self.abstained.mean()) if self.abstained.size else float("nan")


def object_array(values: Sequence[object]) -> Labels:
    """A one-dimensional object array, also of tuples and None."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        array[place] = value
    return array
