"""Base classes of the classifiers: what is made of a matrix of class scores."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import EarmarkWarning, NotSupportedError
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import canonical_rows
from earmark.models.protocols import LinearRule, ScoreParts, linear_parts
from earmark.parameters import with_new_names
from earmark.statistics.inputs import checked_weights
from earmark.typing import (
    ClassWeightLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    WeightsLike,
)

__all__ = [
    "JointClassifier",
    "LogitClassifier",
    "RankingClassifier",
    "ScoringClassifier",
    "check_parameters",
    "document_weights",
    "joint_log_likelihood",
    "repeats",
]


class ScoringClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that gives every class a score; the highest wins."""

    classes_: Labels
    # What the offset of a linear rule is called in an explanation.
    _offset_name: ClassVar[str] = "bias"
    # Attributes that `_derive` makes from others; a model file leaves them out.
    _derived: ClassVar[tuple[str, ...]] = ()

    def _check_parameters(self) -> None:
        """Raise for constructor parameters that make no sense."""

    @abstractmethod
    def _class_scores(self, X: Matrix) -> FloatMatrix:
        """Score validated X -> (n_samples, n_classes), higher is likelier."""

    def _validated(self, X: MatrixLike) -> Matrix:
        """X as predict and its relatives take it."""
        check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False
        )

    def class_scores(self, X: MatrixLike) -> FloatMatrix:
        """The model's own score of each class, (n_samples, n_classes)."""
        return self._class_scores(self._validated(X))

    def predict(self, X: MatrixLike) -> Labels:
        """Label of the best-scoring class; ties go to the first in ``classes_``."""
        best = self.class_scores(X).argmax(axis=1)
        labels: Labels = self.classes_[best]
        return labels

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over a row's entries; None where they are not one."""
        return None

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rule = self.linear_rule()
        if rule is None or not rule.on_rows:
            raise NotSupportedError(
                f"{type(self).__name__} is not a sum over terms, so it cannot be "
                "explained term by term."
            )
        rows = canonical_rows(self._validated(X))
        return linear_parts(rows, rule.weights, {self._offset_name: rule.offset})

    def term_weights(self) -> FloatMatrix | None:
        """Weight of each term for each class (n_features, n_classes), if it has one."""
        rule = self.linear_rule()
        return None if rule is None else rule.weights

    # -- model files -----------------------------------------------------------

    def _derive(self) -> None:
        """Set what follows from other fitted attributes (``_derived``)."""

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in vars(self).items() if k not in self._derived}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(with_new_names(type(self), state))
        if self._derived and "classes_" in state:
            self._derive()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self._takes_counts():
            tags.input_tags.positive_only = True
            tags.classifier_tags.poor_score = True  # the checks' data are not counts
        return tags

    def _takes_counts(self) -> bool:
        """Whether rows must hold counts, all >= 0."""
        return False


class RankingClassifier(ScoringClassifier):
    """Scores that rank classes without being probabilities."""

    def decision_function(self, X: MatrixLike) -> FloatMatrix:
        """Class scores; for two classes, the margin of ``classes_[1]``."""
        scores = self.class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class LogitClassifier(ScoringClassifier):
    """Scores whose softmax gives the probabilities."""

    def predict_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log probability of each class, (n_samples, n_classes)."""
        return log_normalize(self.class_scores(X))

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Probability of each class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))


class JointClassifier(LogitClassifier):
    """Scores that are log P(x, c): probabilities follow by normalising (NB5)."""

    class_log_prior_: FloatVector
    _offset_name = "class prior"

    @abstractmethod
    def _joint_log_likelihood(self, X: Matrix) -> FloatMatrix:
        """Log P(x, c) of rows known to be valid; -inf where impossible."""

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._possible(self._joint_log_likelihood(X))

    def predict_joint_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log P(x, c), not normalised, (n_samples, n_classes)."""
        return self.class_scores(X)

    def _possible(self, joint: FloatMatrix) -> FloatMatrix:
        """Documents impossible under every class fall back to the prior (NB7)."""
        impossible = np.all(np.isneginf(joint), axis=1, keepdims=True)
        if np.any(impossible):
            warnings.warn(
                f"{int(np.sum(impossible))} document(s) are impossible under every "
                "class (a term has probability 0); the class prior answers for them. "
                "A smoothing alpha > 0 avoids this.",
                EarmarkWarning,
                stacklevel=4,
            )
            joint = np.where(impossible, self.class_log_prior_, joint)
        return joint


def check_parameters(model: ScoringClassifier) -> None:
    """Raise for constructor parameters that make no sense, before anything is read."""
    model._check_parameters()


def joint_log_likelihood(model: JointClassifier, rows: Matrix) -> FloatMatrix:
    """Log P(x, c) of rows known to be valid; -inf where x is impossible under c."""
    return model._joint_log_likelihood(rows)


def document_weights(
    sample_weight: WeightsLike,
    labels: Labels,
    class_weight: ClassWeightLike = None,
) -> FloatVector:
    """Weight of each document, its class's factor included; 1 if nothing is said."""
    given = checked_weights(sample_weight, len(labels))
    weight = np.ones(len(labels)) if given is None else given.astype(np.float64)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, labels)
    return weight


def repeats(owner: Estimator, sample_weight: WeightsLike, n_samples: int) -> IntVector:
    """The rows, each as often as its weight says, for models that count documents."""
    weight = checked_weights(sample_weight, n_samples)
    if weight is not None and weight.dtype.kind != "i":
        raise NotSupportedError(
            f"{type(owner).__name__} counts documents: sample_weight must hold whole "
            "numbers, a document of weight 2 counting as two equal ones."
        )
    return np.repeat(np.arange(n_samples), 1 if weight is None else weight)
