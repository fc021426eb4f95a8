"""Evaluation: arrays or any estimator in, result objects out."""

from typing import TYPE_CHECKING

import earmark._sklearn  # noqa: F401
from earmark._optional import names_at_first_use

# Functions that have the name of their module; the others come at first use.
from earmark.evaluation.bias_variance import BiasVariance, bias_variance
from earmark.evaluation.learning_curve import LearningCurve, learning_curve

if TYPE_CHECKING:
    from earmark.evaluation.comparison import Comparison, compare_classifiers
    from earmark.evaluation.confusion import ConfusionMatrix, multi_label_scores
    from earmark.evaluation.coverage import (
        AccuracyCoverage,
        Reliability,
        accuracy_coverage,
        reliability,
    )
    from earmark.evaluation.data_checks import check_documents
    from earmark.evaluation.displays import (
        AccuracyCoverageDisplay,
        BiasVarianceDisplay,
        ConfusionDisplay,
        LearningCurveDisplay,
        ReliabilityDisplay,
    )
    from earmark.evaluation.duplicates import duplicates_across, group_near_duplicates
    from earmark.evaluation.label_errors import (
        left_out_log_proba,
        suspected_label_errors,
    )
    from earmark.evaluation.report import Report
    from earmark.evaluation.significance import (
        bootstrap_interval,
        cohen_kappa,
        corrected_resampled_t,
        fleiss_kappa,
        holm,
        krippendorff_alpha,
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

__getattr__ = names_at_first_use(
    __name__,
    {
        "comparison": "Comparison compare_classifiers",
        "confusion": (
            "Averages ClassScores ConfusedPair ConfusionMatrix multi_label_scores "
            "MultiLabelScores"
        ),
        "coverage": "AccuracyCoverage Reliability accuracy_coverage reliability",
        "data_checks": "Finding check_documents",
        "displays": (
            "AccuracyCoverageDisplay BiasVarianceDisplay ConfusionDisplay "
            "LearningCurveDisplay ReliabilityDisplay"
        ),
        "duplicates": "DuplicateGroups duplicates_across group_near_duplicates",
        "label_errors": (
            "SuspectedLabelError SuspectedLabelErrors left_out_log_proba "
            "suspected_label_errors"
        ),
        "learning_curve": "PowerLaw",
        "report": "Report SideBySide",
        "significance": (
            "Agreement PairedTest bootstrap_interval cohen_kappa corrected_resampled_t "
            "fleiss_kappa holm krippendorff_alpha mcnemar_exact wilcoxon_signed_rank "
            "wilson_interval"
        ),
    },
)
