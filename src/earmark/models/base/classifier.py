"""What a classifier is: base classes, and what it says about its scores.

Base classes make answers of a matrix of class scores; ``AdditiveClassifier`` is one
whose training is a sum over documents: accumulate, then finalise. A ``LinearModel``
gives its scores as one weight for each term, so that they can be summed up while
the text is read.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.features.scoring import (
    LinearRule,
    ScoreParts,
    VectorWeights,
    class_columns,
    linear_parts,
)
from earmark.inputs.weights import checked_weights, real_weights, require_class_weight
from earmark.kernels.rows import canonical_rows, log_normalize
from earmark.parameters import Share, check_declared, offers
from earmark.stored import derived_names, floats, integers, labels, size, stored_state
from earmark.typing import (
    ArrayLike,
    ClassWeightLike,
    Estimator,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)


@runtime_checkable
class LinearModel(Protocol):
    """A classifier whose class scores may be linear in a row."""

    def linear_rule(self) -> LinearRule | None:
        """The scores as a sum over a row's entries; None where they are not one."""


def linear_rule_of(estimator: Estimator) -> LinearRule | None:
    """How any classifier's scores are linear in a row, or None where they are not."""
    if isinstance(estimator, LinearModel):
        return estimator.linear_rule()
    coef = getattr(estimator, "coef_", None)
    intercept = getattr(estimator, "intercept_", None)
    if coef is None or intercept is None:
        return None
    dense = coef.toarray() if sparse.issparse(coef) else coef
    return LinearRule.from_coef(dense, intercept)


class ScoringClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that gives every class a score; the highest wins."""

    n_features_in_: Annotated[int, size("n_features")]

    classes_: Annotated[Labels, labels("n_classes")]
    left_out_: (
        tuple[
            Annotated[IntVector, integers("n_left_out")],
            Annotated[FloatMatrix, floats("n_left_out", "n_classes", finite=False)],
        ]
        | None
    ) = None
    """Training documents that fitting held out, by row, and what was said of them."""
    encoder_share_: Share | None = None
    """What an encoder's vectors count; None for models without one."""
    has_labels_: bool = True
    """Whether some document had a label; else nobody knows how sure answers are."""
    # Whether probabilities are far too low, as the weights are small.
    needs_calibration: ClassVar[bool] = False
    # Whether ``fit`` takes words, phrases and vectors apart, as ``Rows``.
    takes_rows: ClassVar[bool] = False
    # Whether ``fit`` judges documents left out, so that none may stand there twice.
    fits_left_out: ClassVar[bool] = False
    # What the offset of a linear rule is called in an explanation.
    _offset_name: ClassVar[str] = "bias"
    # What training rows hold; "numeric" keeps counts beyond 2**53 as they are.
    _numbers: ClassVar[type | str] = np.float64

    @property
    def pool_share(self) -> FloatVector | None:
        """Shares of the classes among unlabelled documents; None: it saw none."""
        return None

    def _check_parameters(self) -> None:
        """Raise for constructor parameters that make no sense."""
        check_declared(self)

    @abstractmethod
    def _class_scores(self, X: Matrix) -> FloatMatrix:
        """Score validated X -> (n_samples, n_classes), higher is likelier."""

    def _training_data(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool = True
    ) -> tuple[Matrix, Labels]:
        """Check X and y as ``fit`` and its relatives need them."""
        X, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype=self._numbers, reset=reset
        )
        if labels.dtype.kind != "U":  # strings cannot be targets of a regression
            check_classification_targets(labels)
        return X, labels

    def _validated(self, X: MatrixLike) -> Matrix:
        """Check X as ``predict`` and its relatives need it."""
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

    def vector_weights(self, row: Any) -> VectorWeights | None:
        """What the vector of a document is multiplied by; None: it takes none."""
        return None

    def term_weights(self) -> FloatMatrix | FloatTable | None:
        """Weight of each term for each class (n_features, n_classes), if it has one."""
        rule = self.linear_rule()
        return None if rule is None else rule.weights

    @property
    def uses_pool(self) -> bool:
        """Whether the ``unlabelled`` documents that ``fit`` may take are learned."""
        return True

    @property
    def wanted_of_counter(self) -> Mapping[str, object]:
        """Parameters of the word counter that suit the model, unless a user says."""
        return {}

    # -- model files -----------------------------------------------------------

    def _derive(self) -> None:
        """Set what follows from other fitted attributes (marked ``DERIVED``)."""

    def __getstate__(self) -> dict[str, object]:
        return stored_state(self)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if derived_names(type(self)) and "classes_" in state:
            self._derive()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self._takes_counts:
            tags.input_tags.positive_only = True
            tags.classifier_tags.poor_score = True  # the checks' data are not counts
        return tags

    @property
    def _takes_counts(self) -> bool:
        """Whether rows must hold counts, all >= 0."""
        return False


def linear_rule(estimator: Estimator) -> LinearRule | None:
    """How the class scores are linear in a row, or None where they are not."""
    rule = linear_rule_of(estimator)
    if rule is None or isinstance(estimator, ScoringClassifier):
        return rule
    from sklearn.linear_model import LogisticRegression  # costs much, used here only

    is_logistic = isinstance(estimator, LogisticRegression)
    return replace(rule, log_posteriors=log_normalize) if is_logistic else rule


def class_scores(estimator: Estimator, X: MatrixLike) -> FloatMatrix:
    """The estimator's own scores, (n_samples, n_classes)."""
    if isinstance(estimator, ScoringClassifier):
        return estimator.class_scores(X)
    if offers(estimator, "decision_function"):
        return class_columns(estimator.decision_function(X))
    with np.errstate(divide="ignore"):  # a probability of 0 is a score of -inf
        if offers(estimator, "predict_log_proba"):
            return np.asarray(estimator.predict_log_proba(X), dtype=np.float64)
        return np.log(np.asarray(estimator.predict_proba(X), dtype=np.float64))


def score_parts(estimator: Estimator, X: SparseMatrix) -> list[ScoreParts]:
    """The scores of each document, taken apart, for a model that is a sum."""
    if offers(estimator, "score_parts"):
        parts: list[ScoreParts] = estimator.score_parts(X)
        return parts
    rule = linear_rule(estimator)
    if rule is None:
        raise NotSupportedError(
            f"{type(estimator).__name__} is not a sum over terms, so it cannot be "
            "explained term by term."
        )
    return linear_parts(X, rule.weights, {"bias": rule.offset})


class RankingClassifier(ScoringClassifier):
    """Scores that rank classes without being probabilities."""

    def decision_function(self, X: MatrixLike) -> FloatMatrix:
        """Class scores; for two classes, the margin of ``classes_[1]``."""
        scores = self.class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class LogitClassifier(ScoringClassifier):
    """Scores whose softmax gives the probabilities."""

    def _log_posteriors(self, scores: FloatMatrix) -> FloatMatrix:
        """Log probabilities from scores."""
        return log_normalize(scores)

    def predict_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log probability of each class, (n_samples, n_classes)."""
        return self._log_posteriors(self.class_scores(X))

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Probability of each class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))


class JointClassifier(LogitClassifier):
    """Scores that are log P(x, c): probabilities follow by normalising (NB5)."""

    class_log_prior_: Annotated[FloatVector, floats("n_classes", high=0)]
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
        """Give documents that are impossible under every class the prior (NB7)."""
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
    sample_weight: WeightsLike, labels: Labels, class_weight: ClassWeightLike = None
) -> FloatVector:
    """Weight of each document, its class's factor included; 1 if nothing is said."""
    weight = real_weights(sample_weight, len(labels))
    require_class_weight(class_weight)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, labels)
    return weight


def require_weighted(labels: Labels, weight: FloatVector | IntVector) -> None:
    """Raise where no document of a class has weight, for models that need one."""
    bare = np.setdiff1d(labels, labels[weight > 0]).tolist()
    if bare:
        raise DataError(
            f"class {bare[0]!r} has no weight: this model needs a document of positive "
            "weight in every class; leave out the documents of the class, or raise "
            "its class_weight or their sample_weight above 0."
        )


def repeats(owner: Estimator, sample_weight: WeightsLike, n_samples: int) -> IntVector:
    """The rows, each as often as its weight says, for models that count documents."""
    weight = checked_weights(sample_weight, n_samples)
    if weight is not None and weight.dtype.kind != "i":
        raise NotSupportedError(
            f"{type(owner).__name__} counts documents: sample_weight must hold whole "
            "numbers, a document of weight 2 counting as two equal ones."
        )
    return np.repeat(np.arange(n_samples), 1 if weight is None else weight)


def two_classes(model: Estimator, labels: Labels) -> tuple[Labels, IntVector]:
    """The labels, sorted, and each document's number among them; two at least."""
    classes, y_index = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"{type(model).__name__} needs at least 2 classes in y, got 1 class "
            f"({classes[0]}); check the training split."
        )
    return classes, y_index
