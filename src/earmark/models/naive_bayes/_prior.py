"""Class priors, with and without a document of one's own (NB5, NB8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from earmark.models._additive import AdditiveClassifier
from earmark.typing import FloatMatrix, FloatVector, IntVector

__all__ = ["ClassPrior", "log_or_minus_inf"]


def log_or_minus_inf(values: Any) -> Any:
    """Natural logarithm with log 0 = -inf and no warning (NB7)."""
    with np.errstate(divide="ignore"):
        return np.log(values)


class ClassPrior(AdditiveClassifier):
    """A model with a ``class_prior`` parameter."""

    class_prior: Any

    def _log_prior(self, docs: FloatVector) -> FloatVector:
        """Log P(c) (NB5): estimated, uniform, or given."""
        n_classes = len(self.classes_)
        if self.class_prior is None:
            return np.asarray(log_or_minus_inf(docs) - log_or_minus_inf(docs.sum()))
        if isinstance(self.class_prior, str):
            if self.class_prior != "uniform":
                raise ValueError(
                    f"{type(self).__name__}.class_prior must be None, 'uniform' or one "
                    f"probability for each class, got {self.class_prior!r}."
                )
            return np.full(n_classes, -np.log(n_classes))
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if (
            prior.shape != (n_classes,)
            or prior.min() < 0
            or abs(prior.sum() - 1) > 1e-9
        ):
            raise ValueError(
                f"{type(self).__name__}.class_prior must hold {n_classes} "
                f"probabilities that sum to 1, got {self.class_prior!r}."
            )
        return np.asarray(log_or_minus_inf(prior))

    def _log_prior_without(self, own: IntVector, weight: FloatVector) -> FloatMatrix:
        """Log P(c) for each document once it has left its class (NB8)."""
        docs = self.statistics_.docs.astype(np.float64)
        if self.class_prior is not None:
            return np.tile(self._log_prior(docs), (len(own), 1))
        left = np.tile(docs, (len(own), 1))
        left[np.arange(len(own)), own] -= weight
        np.maximum(left, 0.0, out=left)
        total = left.sum(axis=1, keepdims=True)
        return np.asarray(log_or_minus_inf(left) - log_or_minus_inf(total))
