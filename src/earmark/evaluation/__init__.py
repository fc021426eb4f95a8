"""Evaluation: arrays or any estimator in, result objects out."""

from earmark.evaluation.agreement import (
    Agreement as Agreement,
)
from earmark.evaluation.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from earmark.evaluation.bias_variance import BiasVariance, bias_variance
from earmark.evaluation.comparison import Comparison, compare_classifiers
from earmark.evaluation.confusion import (
    Averages as Averages,
)
from earmark.evaluation.confusion import (
    ClassScores as ClassScores,
)
from earmark.evaluation.confusion import (
    ConfusedPair as ConfusedPair,
)
from earmark.evaluation.confusion import (
    ConfusionMatrix,
    multi_label_scores,
)
from earmark.evaluation.confusion import (
    MultiLabelScores as MultiLabelScores,
)
from earmark.evaluation.coverage import AccuracyCoverage, accuracy_coverage
from earmark.evaluation.data_checks import Finding as Finding
from earmark.evaluation.data_checks import check_documents
from earmark.evaluation.displays import (
    AccuracyCoverageDisplay,
    BiasVarianceDisplay,
    ConfusionDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
)
from earmark.evaluation.duplicates import (
    DuplicateGroups as DuplicateGroups,
)
from earmark.evaluation.duplicates import (
    duplicates_across,
    group_near_duplicates,
)
from earmark.evaluation.label_errors import (
    SuspectedLabelError as SuspectedLabelError,
)
from earmark.evaluation.label_errors import (
    SuspectedLabelErrors as SuspectedLabelErrors,
)
from earmark.evaluation.label_errors import (
    left_out_log_proba,
    suspected_label_errors,
)
from earmark.evaluation.learning_curve import LearningCurve, learning_curve
from earmark.evaluation.learning_curve import PowerLaw as PowerLaw
from earmark.evaluation.reliability import Reliability, reliability
from earmark.evaluation.report import Report
from earmark.evaluation.report import SideBySide as SideBySide
from earmark.evaluation.significance import (
    PairedTest as PairedTest,
)
from earmark.evaluation.significance import (
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
    "BiasVariance",
    "BiasVarianceDisplay",
    "Comparison",
    "ConfusionDisplay",
    "ConfusionMatrix",
    "LearningCurve",
    "LearningCurveDisplay",
    "Reliability",
    "ReliabilityDisplay",
    "Report",
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
