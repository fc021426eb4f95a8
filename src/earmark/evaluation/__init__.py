"""Evaluation: arrays or any estimator in, result objects out."""

from earmark.evaluation.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from earmark.evaluation.bias_variance import BiasVariance, bias_variance
from earmark.evaluation.comparison import Comparison, compare_classifiers
from earmark.evaluation.confusion import (
    Averages,
    ClassScores,
    ConfusedPair,
    ConfusionMatrix,
    MultiLabelScores,
    multi_label_scores,
)
from earmark.evaluation.coverage import AccuracyCoverage, accuracy_coverage
from earmark.evaluation.data_checks import Finding, check_documents
from earmark.evaluation.displays import (
    AccuracyCoverageDisplay,
    BiasVarianceDisplay,
    ConfusionDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
)
from earmark.evaluation.duplicates import (
    DuplicateGroups,
    duplicates_across,
    group_near_duplicates,
)
from earmark.evaluation.label_errors import (
    SuspectedLabelError,
    SuspectedLabelErrors,
    left_out_log_proba,
    suspected_label_errors,
)
from earmark.evaluation.learning_curve import LearningCurve, PowerLaw, learning_curve
from earmark.evaluation.reliability import Reliability, reliability
from earmark.evaluation.report import Report
from earmark.evaluation.significance import (
    PairedTest,
    bootstrap_interval,
    corrected_resampled_t,
    holm,
    mcnemar_exact,
    wilcoxon_signed_rank,
    wilson_interval,
)

__all__ = [
    "AccuracyCoverage",
    "AccuracyCoverageDisplay",
    "Agreement",
    "Averages",
    "BiasVariance",
    "BiasVarianceDisplay",
    "ClassScores",
    "Comparison",
    "ConfusedPair",
    "ConfusionDisplay",
    "ConfusionMatrix",
    "DuplicateGroups",
    "Finding",
    "LearningCurve",
    "LearningCurveDisplay",
    "MultiLabelScores",
    "PairedTest",
    "PowerLaw",
    "Reliability",
    "ReliabilityDisplay",
    "Report",
    "SuspectedLabelError",
    "SuspectedLabelErrors",
    "accuracy_coverage",
    "bias_variance",
    "bootstrap_interval",
    "check_documents",
    "cohen_kappa",
    "compare_classifiers",
    "corrected_resampled_t",
    "duplicates_across",
    "fleiss_kappa",
    "group_near_duplicates",
    "holm",
    "krippendorff_alpha",
    "learning_curve",
    "left_out_log_proba",
    "mcnemar_exact",
    "multi_label_scores",
    "reliability",
    "suspected_label_errors",
    "wilcoxon_signed_rank",
    "wilson_interval",
]
