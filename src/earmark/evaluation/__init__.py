"""Evaluation: arrays or any estimator in, result objects out."""

from earmark.evaluation.comparison import compare_classifiers
from earmark.evaluation.comparison_result import Comparison
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
from earmark.evaluation.significance import (
    PairedTest,
    corrected_resampled_t,
    holm,
    mcnemar_exact,
    wilcoxon_signed_rank,
)

__all__ = [
    "AccuracyCoverage",
    "Averages",
    "ClassScores",
    "Comparison",
    "ConfusedPair",
    "ConfusionMatrix",
    "MultiLabelScores",
    "PairedTest",
    "Reliability",
    "Report",
    "SuspectedLabelError",
    "accuracy_coverage",
    "bootstrap_interval",
    "compare_classifiers",
    "corrected_resampled_t",
    "holm",
    "mcnemar_exact",
    "multi_label_scores",
    "reliability",
    "suspected_label_errors",
    "wilcoxon_signed_rank",
    "wilson_interval",
]
