"""Evaluation: arrays or any estimator in, result objects out."""

from earmark.evaluation.confusion import ConfusedPair, ConfusionMatrix
from earmark.evaluation.coverage import AccuracyCoverage, accuracy_coverage
from earmark.evaluation.intervals import bootstrap_interval, wilson_interval
from earmark.evaluation.label_errors import (
    SuspectedLabelError,
    suspected_label_errors,
)
from earmark.evaluation.multi_label import MultiLabelScores, multi_label_scores
from earmark.evaluation.rates import Averages, ClassScores
from earmark.evaluation.reliability import Reliability, reliability
from earmark.evaluation.report import Report

__all__ = [
    "AccuracyCoverage",
    "Averages",
    "ClassScores",
    "ConfusedPair",
    "ConfusionMatrix",
    "MultiLabelScores",
    "Reliability",
    "Report",
    "SuspectedLabelError",
    "accuracy_coverage",
    "bootstrap_interval",
    "multi_label_scores",
    "reliability",
    "suspected_label_errors",
    "wilson_interval",
]
