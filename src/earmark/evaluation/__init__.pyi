from earmark.inputs.duplicates import group_near_duplicates as group_near_duplicates

from .bias_variance import bias_variance as bias_variance
from .comparison import compare_classifiers as compare_classifiers
from .confusion import ConfusionMatrix as ConfusionMatrix
from .confusion import multi_label_scores as multi_label_scores
from .coverage import accuracy_coverage as accuracy_coverage
from .coverage import reliability as reliability
from .data_checks import check_documents as check_documents
from .displays import AccuracyCoverageDisplay as AccuracyCoverageDisplay
from .label_errors import left_out_log_proba as left_out_log_proba
from .label_errors import suspected_label_errors as suspected_label_errors
from .learning_curve import learning_curve as learning_curve
from .report import Report as Report
from .significance import corrected_resampled_t as corrected_resampled_t
from .significance import holm as holm
from .significance import krippendorff_alpha as krippendorff_alpha
from .significance import mcnemar_exact as mcnemar_exact
