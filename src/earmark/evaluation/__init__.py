"""Evaluation: arrays or any estimator in, result objects out."""

from earmark._optional import names_at_first_use

# Functions that have the name of their module; the others come at first use.
from earmark.evaluation.bias_variance import bias_variance  # noqa: F401
from earmark.evaluation.learning_curve import learning_curve  # noqa: F401

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
