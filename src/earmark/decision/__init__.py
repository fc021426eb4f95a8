"""Scores to actions: answer, abstain, or give any number of labels."""

from earmark.decision.abstaining import AbstainingClassifier
from earmark.decision.any_of import AnyOfClassifier
from earmark.decision.decision import Decision, rank
from earmark.decision.guarantee import Threshold, guaranteed_threshold
from earmark.decision.novelty import NoveltyDetector

__all__ = [
    "AbstainingClassifier",
    "AnyOfClassifier",
    "Decision",
    "NoveltyDetector",
    "Threshold",
    "guaranteed_threshold",
    "rank",
]
