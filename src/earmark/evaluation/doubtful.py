"""Labels that a person should look at: suspected ones, and contradicting copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.label_errors import SuspectedLabelError
from earmark.evaluation.result import Result
from earmark.inputs.duplicates import DuplicateGroups
from earmark.typing import IntVector, Label

__all__ = ["DoubtfulLabel", "doubtful_labels"]


@dataclass(frozen=True)
class DoubtfulLabel(Result):
    """A label to look at, what fits better, and why."""

    index: int
    label: Label
    suggested: Label  # of copies what most of them have
    probability: float | None  # that the label is wrong; None of a copy
    reason: str


def doubtful_labels(
    labels: Sequence[Label],
    suspects: Sequence[SuspectedLabelError] = (),
    copies: DuplicateGroups | None = None,
) -> list[DoubtfulLabel]:
    """Suspected labels, the most probable first; then copies with several labels.

    Of such copies all are listed, those with most copies first: which label is right
    one sees with all of them in view.
    """
    doubtful = {
        one.index: DoubtfulLabel(
            one.index,
            one.given,
            one.suggested,
            one.probability,
            f"{100 * one.probability:.0f} % probably wrong",
        )
        for one in sorted(suspects, key=lambda one: -one.probability)
    }
    for rows in () if copies is None else contradicting(labels, copies):
        counts = Counter(labels[row] for row in rows.tolist())
        for row in rows.tolist():
            own = labels[row]
            most = max(counts, key=lambda label: (counts[label], label != own))
            doubtful.setdefault(
                row,
                DoubtfulLabel(
                    *(row, own, most, None),
                    f"one of {len(rows):,} copies with {len(counts)} labels",
                ),
            )
    return [*doubtful.values()]


def contradicting(labels: Sequence[Label], copies: DuplicateGroups) -> list[IntVector]:
    """The groups of copies with more than one label, the largest first."""
    numbers = np.unique(np.array([str(label) for label in labels]), return_inverse=True)
    return [rows for rows in copies.sets if len(np.unique(numbers[1][rows])) > 1]
