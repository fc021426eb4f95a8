"""What calibration documents say: how sure the classifier was, and if it was right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earmark.decision._scores import Scores
from earmark.decision.guarantee import Threshold
from earmark.evaluation._labels import as_labels, index_of, label_sets
from earmark.typing import BoolVector, FloatVector, IntVector

__all__ = ["Evidence", "any_of_evidence", "joined", "one_of_evidence"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Decisions with their confidence; ``group`` is the threshold they belong to."""

    sure: FloatVector
    right: BoolVector
    group: IntVector
    n_groups: int

    def thresholds(
        self, choose: Callable[[FloatVector, BoolVector], Threshold]
    ) -> list[Threshold]:
        """One threshold per group."""
        members = (self.group == number for number in range(self.n_groups))
        return [choose(self.sure[m], self.right[m]) for m in members]


def one_of_evidence(
    scores: Scores, classes: Any, y: Any, all_classes: Any, per_class: bool
) -> Evidence:
    """The best label of each document; by predicted class if ``per_class``."""
    names = as_labels(classes)
    right = index_of(as_labels(y), names) == scores.choice
    if not per_class:
        return Evidence(scores.confidence, right, np.zeros(len(right), np.int64), 1)
    place = index_of(names, as_labels(all_classes))
    return Evidence(scores.confidence, right, place[scores.choice], len(all_classes))


def any_of_evidence(margins: Any, classes: Any, y: Any, all_classes: Any) -> Evidence:
    """Every label decision of each document, by label.

    The decisions about one document depend on each other, so each label is a
    group of its own: its decisions come from different documents.
    """
    names = as_labels(classes)
    truth = np.array(
        [[c in (labels or ()) for c in names] for labels in label_sets(y, names)],
        dtype=bool,
    ).reshape(margins.shape)
    place = index_of(names, as_labels(all_classes))
    return Evidence(
        sure=np.abs(margins).ravel(),
        right=((margins >= 0) == truth).ravel(),
        group=np.tile(place, len(margins)),
        n_groups=len(all_classes),
    )


def joined(parts: Sequence[Evidence]) -> Evidence:
    """Evidence of several folds together."""
    return Evidence(
        np.concatenate([part.sure for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.group for part in parts]),
        parts[0].n_groups,
    )
