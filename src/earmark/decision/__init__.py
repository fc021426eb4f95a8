"""Scores to actions: answer, abstain, or give any number of labels."""

import earmark._sklearn  # noqa: F401
from earmark.decision.abstaining import AbstainingClassifier
from earmark.decision.any_of import AnyOfClassifier
from earmark.decision.calibration import TemperatureCalibrator
from earmark.decision.decision import Decision, rank
from earmark.decision.decision import Ranking as Ranking
from earmark.decision.guarantee import (
    Threshold,
    estimated_threshold,
    guaranteed_threshold,
    guaranteed_thresholds,
    smallest_sample,
)
from earmark.decision.novelty import NoveltyDetector

__all__ = [
    "AbstainingClassifier",
    "AnyOfClassifier",
    "Decision",
    "NoveltyDetector",
    "TemperatureCalibrator",
    "Threshold",
    "estimated_threshold",
    "guaranteed_threshold",
    "guaranteed_thresholds",
    "rank",
    "smallest_sample",
]
