"""Hybrid generative/discriminative Bayes with document regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark._checks import require_in_range, require_one_of
from earmark.exceptions import DataError
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import canonical_rows
from earmark.models._base import ClassScoresMixin, ScoreParts
from earmark.models.hybrid.regions import EVENT_MODELS, GenerativeRegion
from earmark.models.hybrid.theta import fit_theta, region_scores
from earmark.statistics._inputs import checked_weights, label_positions
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
)

__all__ = ["HybridBayes"]


class HybridBayes(ClassScoresMixin, ClassifierMixin, BaseEstimator):
    """Naive Bayes in each region of a document, weighed against each other.

    The regions' naive Bayes models are generative, fitted by counting. How much
    a word of each region counts is one weight a region, fitted to the labels
    with each document's evidence computed as if the document had not been
    counted (leave-one-out). Evidence is divided by the region's length, so a
    long document does not become certain merely by being long.

    Parameters
    ----------
    event_model : str or sequence of str, default="multinomial"
        "multinomial", "bernoulli" or "gaussian"; one for all regions or one each.
    blocks : array-like of shape (n_features,), default=None
        Region number of each column, 0 to R - 1; None makes one region.
    normalize : bool, default=True
        Divide each region's log-likelihood by the region's length.
    vocabulary : {"per_region", "shared"}, default="per_region"
        Whether each region has word probabilities of its own, or all share one
        table (multinomial only; the regions' columns must be the same terms in
        the same order).
    fit_features : {"leave_one_out", "plug_in"}, default="leave_one_out"
        What the weights are fitted on. "plug_in" keeps the document in its own
        counts, which makes the weights overconfident; it is there to show that.
    alpha : float > 0 or sequence of float, default=0.1
        Smoothing of the count models. Of several values the one with the best
        leave-one-out log loss is taken; no validation data are needed.
    l2 : float >= 0, default=0.1
        Penalty on the region weights, which keeps them finite where the training
        documents are separable.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    region_weight_ : ndarray of shape (n_regions,)
        θ_r.
    class_bias_ : ndarray of shape (n_classes,)
        θ_0c; they sum to zero.
    alpha_ : float
        The smoothing in use.
    log_loss_ : dict of float to float
        Leave-one-out log loss of each alpha tried.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] R. Raina, Y. Shen, A. Y. Ng and A. McCallum (2003). Classification with
       hybrid generative/discriminative models. NIPS.

    Examples
    --------
    >>> X = [[2, 0, 1, 0], [1, 0, 2, 1], [0, 2, 0, 1], [0, 1, 1, 2]]
    >>> model = HybridBayes(blocks=[0, 0, 1, 1]).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1, 0, 1, 0]])
    array(['a'], dtype='<U1')

    """

    def __init__(
        self,
        *,
        event_model: str | Sequence[str] = "multinomial",
        blocks: Any = None,
        normalize: bool = True,
        vocabulary: str = "per_region",
        fit_features: str = "leave_one_out",
        alpha: float | Sequence[float] = 0.1,
        l2: float = 0.1,
    ) -> None:
        self.event_model = event_model
        self.blocks = blocks
        self.normalize = normalize
        self.vocabulary = vocabulary
        self.fit_features = fit_features
        self.alpha = alpha
        self.l2 = l2

    # -- learning --------------------------------------------------------------

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count the regions, then weigh them against each other."""
        return self._fit(X, y, sample_weight, None)

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more documents in the generative part, exactly.

        The region weights are fitted at the first call and kept after that:
        call ``fit_weights`` with documents that were learned to fit them again.
        """
        if not hasattr(self, "regions_"):
            return self._fit(X, y, sample_weight, classes)
        X, labels = self._training_data(X, y, reset=False)
        label_positions(labels, self.classes_, X.shape[0])
        for region in self.regions_:
            region.model.statistics_.add(
                self._counted(X, region), labels, sample_weight
            )
            region.model._derive()
        return self

    def forget(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Unlearn documents in the generative part, exactly; weights are kept."""
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        left = [
            region.model.statistics_.copy().remove(
                self._counted(X, region), labels, sample_weight
            )
            for region in self.regions_
        ]
        for region, statistics in zip(self.regions_, left, strict=True):
            region.model.finalise(statistics)
        return self

    def fit_weights(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the region weights again on documents that were learned (HY3)."""
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        self._fit_weights(X, labels, sample_weight, self._checked_parameters())
        return self

    def leave_one_out(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatMatrix:
        """Log posteriors of training documents, each as if it had not been counted.

        Columns and region weights are held fixed (HY3). Returns an array of shape
        (n_samples, n_classes).
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        own = label_positions(labels, self.classes_, X.shape[0])
        weight = _float_weights(sample_weight, X.shape[0])
        features = self._features_without(X, own, weight)
        return log_normalize(
            region_scores(features, self.region_weight_, self.class_bias_)
        )

    # -- answering -------------------------------------------------------------

    def predict_log_proba(self, X: MatrixLike) -> FloatMatrix:
        """Log posterior of each class, (n_samples, n_classes)."""
        return log_normalize(self._scores(X))

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Posterior probability of each class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def region_table(self, names: Sequence[str] | None = None) -> str:
        """The region weights as a table that a person can read."""
        check_is_fitted(self)
        shown = names or [f"region {r}" for r in range(len(self.regions_))]
        least = np.abs(self.region_weight_).min() or 1.0
        width = max(len(name) for name in shown)
        lines = [
            f"{name:<{width}}  {weight:10.3f}  x {weight / least:6.2f}"
            for name, weight in zip(shown, self.region_weight_, strict=True)
        ]
        if len(shown) > 1:
            top, low = (
                int(self.region_weight_.argmax()),
                int(self.region_weight_.argmin()),
            )
            if self.region_weight_[low] > 0:
                ratio = self.region_weight_[top] / self.region_weight_[low]
                lines.append(
                    f"the evidence of {shown[top]} counts {ratio:.1f} times as much "
                    f"as that of {shown[low]}"
                )
        return "\n".join(lines)

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        features = []
        for region in self.regions_:
            rows = region.rows(X)
            features.append(self._scaled(region, rows, region.log_likelihood(rows)))
        return region_scores(features, self.region_weight_, self.class_bias_)

    def _score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Contribution of each word in each region; they add up exactly (AB3)."""
        X = canonical_rows(self._validated(X))
        found: list[list[ScoreParts]] = []
        for region, theta in zip(self.regions_, self.region_weight_, strict=True):
            rows = region.rows(X)
            lengths = region.lengths(rows) if self.normalize else 1.0
            factor = np.divide(
                theta,
                lengths,
                out=np.zeros(X.shape[0]),
                where=np.broadcast_to(lengths, X.shape[0]) > 0,
            )
            found.append(region.parts(rows, factor))
        bias = {"class bias": self.class_bias_}
        return [_joined(parts, bias) for parts in zip(*found, strict=True)]

    # -- private ---------------------------------------------------------------

    def _fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None,
    ) -> Self:
        alphas = self._checked_parameters()
        X, labels = self._training_data(X, y, reset=True)
        known = np.unique(labels if classes is None else np.asarray(classes))
        regions = self._new_regions(X.shape[1], alphas[0])
        for region in regions:
            counted = self._counted(X, region)
            statistics = region.model._empty_statistics(known, counted.shape[1])
            region.model.finalise(statistics.add(counted, labels, sample_weight))
        self.classes_, self.regions_ = known, regions
        self._fit_weights(X, labels, sample_weight, alphas)
        return self

    def _fit_weights(
        self,
        X: Matrix,
        labels: Labels,
        sample_weight: ArrayLike | None,
        alphas: tuple[float, ...],
    ) -> None:
        """θ for each alpha; the alpha with the best leave-one-out log loss stays."""
        own = label_positions(labels, self.classes_, X.shape[0])
        weight = _float_weights(sample_weight, X.shape[0])
        tried = {}
        for alpha in alphas:
            for region in self.regions_:
                region.smooth(alpha)
            tried[alpha] = fit_theta(
                self._training_features(X, own, weight), own, weight, self.l2
            )
        self.log_loss_ = {alpha: loss for alpha, (_, _, loss) in tried.items()}
        self.alpha_ = min(self.log_loss_, key=lambda alpha: self.log_loss_[alpha])
        self.region_weight_, self.class_bias_, _ = tried[self.alpha_]
        for region in self.regions_:
            region.smooth(self.alpha_)

    def _training_features(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> list[FloatMatrix]:
        if self.fit_features == "leave_one_out":
            return self._features_without(X, own, weight)
        features = []
        for region in self.regions_:
            rows = region.rows(X)
            features.append(self._scaled(region, rows, region.log_likelihood(rows)))
        return features

    def _features_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> list[FloatMatrix]:
        """b_rc of each document with the document taken out of its class (HY3).

        A document of weight 3 stands for three equal ones: one copy is left out.
        """
        features = []
        one_copy = np.minimum(weight, 1.0)
        for region in self.regions_:
            rows = region.rows(X)
            removed = self._counted(X, region) if self.vocabulary == "shared" else None
            values = region.log_likelihood_without(rows, own, one_copy, removed)
            features.append(self._scaled(region, rows, values))
        return features

    def _scaled(
        self, region: GenerativeRegion, rows: Matrix, values: FloatMatrix
    ) -> FloatMatrix:
        """Divide by the region's length; an empty region says nothing (HY1)."""
        lengths = region.lengths(rows)[:, None]
        divisor = lengths if self.normalize else np.ones_like(lengths)
        return np.divide(values, divisor, out=np.zeros_like(values), where=lengths > 0)

    def _counted(self, X: Matrix, region: GenerativeRegion) -> Matrix:
        """The rows that a region's statistics sum: its own, or all regions' (HY4)."""
        if self.vocabulary == "per_region":
            return region.rows(X)
        blocks = np.asarray(self.blocks)
        parts = [
            canonical_rows(X[:, np.flatnonzero(blocks == r)]) for r in np.unique(blocks)
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return canonical_rows(total)

    def _new_regions(self, n_features: int, alpha: float) -> list[GenerativeRegion]:
        blocks = (
            np.zeros(n_features, dtype=np.int64)
            if self.blocks is None
            else np.asarray(self.blocks)
        )
        if blocks.shape != (n_features,):
            raise DataError(
                f"HybridBayes.blocks must give a region for each of the {n_features} "
                f"columns of X, got shape {blocks.shape}."
            )
        numbers = np.unique(blocks)
        kinds = self._event_models(len(numbers))
        columns = [np.flatnonzero(blocks == number) for number in numbers]
        if self.vocabulary == "shared":
            widths = {len(c) for c in columns}
            if len(widths) != 1 or set(kinds) != {"multinomial"}:
                raise DataError(
                    "HybridBayes.vocabulary='shared' needs multinomial regions whose "
                    f"columns are the same terms; got widths {sorted(widths)} and "
                    f"event models {kinds}."
                )
        return [
            GenerativeRegion(kind, alpha, c)
            for kind, c in zip(kinds, columns, strict=True)
        ]

    def _event_models(self, n_regions: int) -> list[str]:
        kinds = (
            [self.event_model] * n_regions
            if isinstance(self.event_model, str)
            else list(self.event_model)
        )
        if len(kinds) != n_regions or any(kind not in EVENT_MODELS for kind in kinds):
            raise ValueError(
                f"HybridBayes.event_model must be one of {EVENT_MODELS}, or one for "
                f"each of the {n_regions} regions, got {self.event_model!r}."
            )
        return kinds

    def _checked_parameters(self) -> tuple[float, ...]:
        require_one_of(self, "vocabulary", ("per_region", "shared"))
        require_one_of(self, "fit_features", ("leave_one_out", "plug_in"))
        require_in_range(self, "l2", low=0.0)
        values = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if values.ndim != 1 or not len(values) or not (values > 0).all():
            raise ValueError(
                f"HybridBayes.alpha must be > 0, or several such values, "
                f"got {self.alpha!r}."
            )
        return tuple(values.tolist())

    def _training_data(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool
    ) -> tuple[Matrix, Labels]:
        X, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype="numeric", reset=reset
        )
        check_classification_targets(labels)
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = self.event_model == "multinomial" or (
            not isinstance(self.event_model, str) and "multinomial" in self.event_model
        )
        tags.input_tags.positive_only = counts
        tags.classifier_tags.poor_score = counts  # the checks' data are not counts
        return tags


def _float_weights(sample_weight: ArrayLike | None, n_samples: int) -> FloatVector:
    given = checked_weights(sample_weight, n_samples)
    return np.ones(n_samples) if given is None else given.astype(np.float64)


def _joined(parts: Sequence[ScoreParts], bias: dict[str, FloatVector]) -> ScoreParts:
    constants = dict(bias)
    for part in parts:
        for name, value in part.constants.items():
            constants[name] = constants.get(name, 0.0) + value
    return ScoreParts(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.terms for part in parts]),
        constants,
    )
