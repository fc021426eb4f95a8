"""One value for every decision: one-of, any-of, abstaining, on the wire."""

from __future__ import annotations

from dataclasses import dataclass

from earmark.typing import BoolVector, FloatMatrix, FloatVector, Labels

__all__ = ["Decision"]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about some documents, and how sure one is.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,)
        The label of each document, None where it abstains; for any-of tuples of
        labels.
    confidence : ndarray of shape (n_documents,)
        Probability of the label (of the likeliest one where it abstains).
    abstained : ndarray of bool of shape (n_documents,)
        Where no answer is given.
    scores : ndarray of shape (n_documents, n_classes)
        Probability of each class.
    classes : ndarray of shape (n_classes,)
        The columns of ``scores``.
    """

    labels: Labels
    confidence: FloatVector
    abstained: BoolVector
    scores: FloatMatrix
    classes: Labels

    def __len__(self) -> int:
        return len(self.labels)
