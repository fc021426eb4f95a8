"""Precision, recall and F1 from counts, for one class and averaged (VS5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from earmark.typing import IntVector

__all__ = ["Averages", "ClassScores", "averages", "score_classes"]


@dataclass(frozen=True)
class ClassScores:
    """How well one class is found; rates without a denominator are 0."""

    label: Any
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    correct: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Averages:
    """Micro or macro averaged precision, recall and F1."""

    precision: float
    recall: float
    f1: float

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON."""
        return asdict(self)


def score_classes(
    classes: Sequence[Any], correct: IntVector, predicted: IntVector, support: IntVector
) -> tuple[ClassScores, ...]:
    """Scores per class from its right answers, its answers and its documents."""
    rows = zip(
        classes, correct.tolist(), predicted.tolist(), support.tolist(), strict=True
    )
    return tuple(
        ClassScores(c, *_rates(hits, said, there), there, said, hits)
        for c, hits, said, there in rows
    )


def averages(scores: Sequence[ClassScores]) -> tuple[Averages, Averages]:
    """Micro and macro averages.

    Micro adds up the counts first, so frequent classes weigh more; macro is the
    plain mean over the classes that occur in the truth or in the answers.
    """
    micro = Averages(
        *_rates(
            sum(s.correct for s in scores),
            sum(s.predicted for s in scores),
            sum(s.support for s in scores),
        )
    )
    there = [s for s in scores if s.support or s.predicted]
    n = max(len(there), 1)
    macro = Averages(
        sum(s.precision for s in there) / n,
        sum(s.recall for s in there) / n,
        sum(s.f1 for s in there) / n,
    )
    return micro, macro


def _rates(correct: int, predicted: int, support: int) -> tuple[float, float, float]:
    precision = correct / predicted if predicted else 0.0
    recall = correct / support if support else 0.0
    f1 = 2 * correct / (predicted + support) if predicted + support else 0.0
    return precision, recall, f1
