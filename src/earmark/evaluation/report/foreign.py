"""Documents of a report that are unlike the training documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from earmark.evaluation.report.words import count_of, percent
from earmark.typing import FloatVector, IntVector, JsonObject

__all__ = ["ForeignDocuments"]

# So unlikely a number of foreign documents is no accident.
_UNLIKELY = 0.01


@dataclass(frozen=True, eq=False)
class ForeignDocuments:
    """Which documents are called foreign, and whether they are more than chance."""

    level: float
    """Documents with a p-value of this or less are foreign."""
    n_documents: int
    """How many were looked at."""
    documents: IntVector
    """The foreign ones, the most foreign first."""
    p_values: FloatVector
    """Theirs."""

    @classmethod
    def from_p_values(cls, p_values: FloatVector, level: float) -> Self:
        """From the p-values of all documents."""
        order = np.argsort(p_values, kind="stable")
        foreign = order[p_values[order] <= level]
        return cls(level, len(p_values), foreign, p_values[foreign])

    @property
    def share(self) -> float:
        """Their share of the documents."""
        return len(self.documents) / max(self.n_documents, 1)

    @property
    def is_more_than_chance(self) -> bool:
        """Whether documents like the training documents would hardly give so many."""
        chance = scipy.stats.binom.sf(
            len(self.documents) - 1, self.n_documents, self.level
        )
        return bool(chance < _UNLIKELY)

    @property
    def sentence(self) -> str:
        """Both in plain words."""
        head = (
            f"{count_of(len(self.documents), 'document')} ({percent(self.share)}) are "
            f"unlike the training documents, where {percent(self.level)} are called so "
            "by accident"
        )
        if self.is_more_than_chance:
            return f"{head}: these documents are not like the ones it learned from."
        return f"{head}: no more than that."

    def to_dict(self) -> JsonObject:
        """Plain Python values."""
        return {
            "level": self.level,
            "share": self.share,
            "more_than_chance": self.is_more_than_chance,
            "documents": self.documents.tolist(),
            "p_values": self.p_values.tolist(),
        }
