"""Hybrid generative/discriminative Bayes with document regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from math import inf
from typing import Annotated, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features.scoring import ScoreParts
from earmark.kernels.rows import canonical_rows, log_normalize
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import LogitClassifier, document_weights
from earmark.models.base.declaration import Model
from earmark.models.base.parted import PartedRows, PartRows, weights_of
from earmark.models.shared.region_weights import (
    EVENT_MODELS,
    GenerativeRegion,
    RegionStatistics,
    WeightFit,
    evidence,
    joined_parts,
    left_out,
    region_scores,
    summed_rows,
)
from earmark.parameters import (
    Limits,
    NotNegative,
    Positive,
    as_list,
    estimator,
    require_each,
)
from earmark.stored import (
    DERIVED,
    either,
    floats,
    in_file,
    integers,
    sizes,
    text,
    words,
)
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    WeightsLike,
)


@estimator
class HybridBayes(LogitClassifier, AdditiveClassifier):
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
    l2_regularization : float >= 0, default=0.1
        Half of this times (θ_r σ_r)² is the penalty on the region weights, with σ_r
        the spread of the region's evidence over classes, so that units do not matter.
        It keeps the weights finite where the training documents are separable; biases
        are free.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    statistics_ : RegionStatistics
        The exact sums of every region; they merge over shards.
    column_region_ : ndarray of shape (n_features,) or None
        Region number of each column; None for a single region.
    region_weight_ : ndarray of shape (n_regions,)
        θ_r, the number of independent words that region r is worth.
    class_bias_ : ndarray of shape (n_classes,)
        θ_0c; they sum to zero.
    alpha_ : float
        The smoothing in use.
    log_loss_ : dict of float to float
        Leave-one-out log loss of each alpha tried; empty where no two classes have
        two documents each.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] R. Raina, Y. Shen, A. Y. Ng and A. McCallum (2003). Classification with
       hybrid generative/discriminative models. NIPS.

    Examples
    --------
    >>> X = [[2, 0, 1, 0], [1, 0, 2, 1], [0, 2, 0, 1], [0, 1, 1, 2]]
    >>> y = ["a", "a", "b", "b"]
    >>> model = HybridBayes().fit(X, y, columns=[0, 0, 1, 1])
    >>> model.predict([[1, 0, 1, 0]])
    array(['a'], dtype='<U1')

    """

    alpha_: Positive = field(init=False)
    class_bias_: Annotated[FloatVector, floats("n_classes")] = field(init=False)
    log_loss_: dict[float, float] = field(init=False)
    region_weight_: Annotated[FloatVector, floats("n_regions")] = field(init=False)

    tunes = True
    fits_left_out = True
    statistics_: Annotated[RegionStatistics, sizes(n_classes="n_classes")] = field(
        init=False
    )
    regions_: Annotated[list[GenerativeRegion], DERIVED] = field(init=False)
    column_region_: (
        Annotated[IntVector, integers("n_features", high=2.0**20)] | None
    ) = None

    event_model: Annotated[
        str | Sequence[str], in_file(either(text(), words(at_least=1)))
    ] = "multinomial"
    normalize: bool = True
    vocabulary: Literal["per_region", "shared"] = "per_region"
    fit_features: Literal["leave_one_out", "plug_in"] = "leave_one_out"
    alpha: float | Sequence[float] = 0.1
    l2_regularization: NotNegative = 0.1

    # -- learning --------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        columns: ArrayLike | None = None,
    ) -> Self:
        """Count the regions, then weigh them against each other.

        ``columns`` has the region number of each column, 0 to R - 1; without it all
        columns are one region.
        """
        self._set_regions(columns)
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: WeightsLike = None,
        *,
        columns: ArrayLike | None = None,
    ) -> Self:
        """Learn more documents in the generative part, exactly.

        The region weights are fitted at the first call and kept after that:
        call ``fit_weights`` with documents that were learned to fit them again.
        ``columns``, as in ``fit``, is for the first call.
        """
        if not hasattr(self, "statistics_"):
            self._set_regions(columns)
            return self._fit(X, y, sample_weight, classes)
        return super().partial_fit(X, y, classes, sample_weight)

    def accumulate(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        classes: ArrayLike | None = None,
        *,
        columns: ArrayLike | None = None,
    ) -> RegionStatistics:
        """The statistics of one shard; shards merge with ``statistics.merge``."""
        self._set_regions(columns)
        statistics: RegionStatistics = super().accumulate(X, y, sample_weight, classes)
        return statistics

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """Two passes and a small convex problem (HY3)."""
        # The second, one for each alpha, brings n_regions x n_classes numbers per
        # document here, where the few region weights are fitted to them.
        self._check_parameters()
        self._set_regions(rows.columns)
        self.finalise(self._sums_of_parts(rows, columns=self.column_region_))
        own = rows.labels()
        own_weight = weights_of(rows.class_weight, own)
        weight = np.ones(len(own)) if own_weight is None else own_weight

        def features() -> list[FloatMatrix]:
            parts = rows.gather("evidence", _part_evidence, self, rows.class_weight)
            return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]

        self.choose_weights(own, weight, left_out(own_weight, len(own)), features)
        return self

    def fit_weights(
        self, X: MatrixLike, y: ArrayLike, sample_weight: WeightsLike = None
    ) -> Self:
        """Fit the region weights, on documents that were learned (HY3).

        Some of them suffice: the weights are few. A model that took over statistics
        by ``finalise`` needs this before it can answer, unless it had weights.
        """
        check_is_fitted(self, "statistics_")
        self._check_parameters()
        X, labels = self._training_data(X, y, reset=False)
        return self._tune(X, labels, sample_weight)

    def _log_posteriors_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        check_is_fitted(self, "region_weight_")
        evidence = self._evidence_without(self._parts(X), own, weight)
        scores = region_scores(evidence, self.region_weight_, self._bias)
        alone = np.flatnonzero(~self._has_company(own, weight))
        scores[alone, own[alone]] = -np.inf
        return log_normalize(scores)

    # -- answering -------------------------------------------------------------

    def region_table(self, names: Sequence[str] | None = None) -> str:
        """The region weights as a table, and what a word of each region counts.

        ``names`` holds a name for each region number of ``column_region_``.
        """
        check_is_fitted(self, "region_weight_")
        numbers = list(range(len(self.regions_)))
        if self.column_region_ is not None:
            numbers = np.unique(self.column_region_).tolist()
        labels = [names[r] if names else f"region {r}" for r in numbers]
        weight, length = self.region_weight_, self._mean_lengths()
        # A word of a region of length n adds θ/n of its evidence.
        each = weight
        if self.normalize:
            each = np.divide(
                weight, length, out=np.zeros(len(weight)), where=length > 0
            )
        width = max(len("region"), *(len(name) for name in labels))
        lines = [f"{'region':<{width}}  {'weight':>9}  {'length':>9}  {'per word':>9}"]
        lines += [
            "{:<{w}}  {:9.3f}  {:9.1f}  {:9.4f}".format(*row, w=width)
            for row in zip(labels, weight, length, each, strict=True)
        ]
        top, low = int(each.argmax()), int(each.argmin())
        if top != low and each[low] > 0:
            is_word = self.regions_[top].event_model != "gaussian"
            lines.append(
                f"a {'word' if is_word else 'number'} in {labels[top]} counts "
                f"{each[top] / each[low]:.1f} times as much as one in {labels[low]}"
            )
        lines += [
            f"{labels[r]} says nothing that helps (weight {weight[r]:.3f})"
            for r in np.flatnonzero(each <= 0).tolist()
        ]
        return "\n".join(lines)

    def _mean_lengths(self) -> FloatVector:
        return np.array([region.mean_length() for region in self.regions_])

    def _validated(self, X: MatrixLike) -> Matrix:
        check_is_fitted(self, "region_weight_")
        return super()._validated(X)

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return region_scores(
            evidence(self.regions_, self._parts(X), self.normalize),
            self.region_weight_,
            self._bias,
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Contribution of each word in each region; they add up exactly (AB3)."""
        X = self._validated(X)
        by_region: list[list[ScoreParts]] = []
        for region, theta in zip(self.regions_, self.region_weight_, strict=True):
            rows = region.rows(X)
            factor = theta * region.factor(rows, self.normalize)
            by_region.append(region.parts(rows, factor))
        bias = self._bias
        return [joined_parts(parts, bias) for parts in zip(*by_region, strict=True)]

    # -- private ---------------------------------------------------------------

    @property
    def _bias(self) -> FloatVector:
        """Class biases; a class without a document is impossible."""
        return np.where(self.statistics_.docs > 0, self.class_bias_, -np.inf)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_each(self, "alpha", Limits(0, open_low=True))

    def _alphas(self) -> list[float]:
        """The values of alpha to try, in the order given."""
        return list(map(float, as_list(self.alpha)))

    def _empty_statistics(self, classes: Labels, n_features: int) -> RegionStatistics:
        columns, region = [np.arange(n_features)], self.column_region_
        if region is not None:
            if region.shape != (n_features,):
                raise DataError(
                    "HybridBayes.fit: columns must give a region for each of the "
                    f"{n_features} columns of X, got shape {region.shape}."
                )
            columns = [np.flatnonzero(region == number) for number in np.unique(region)]
        n_regions, kinds = len(columns), self.event_model
        kinds = [kinds] * n_regions if isinstance(kinds, str) else list(kinds)
        if len(kinds) != n_regions or not EVENT_MODELS.keys() >= set(kinds):
            raise ValueError(
                f"HybridBayes.event_model must be one of {tuple(EVENT_MODELS)}, or one "
                f"for each of the {n_regions} regions, got {self.event_model!r}."
            )
        shared, widths = self.vocabulary == "shared", sorted({len(c) for c in columns})
        if shared and (len(widths) != 1 or set(kinds) != {"multinomial"}):
            raise DataError(
                "HybridBayes.vocabulary='shared' needs multinomial regions of the same "
                f"terms; got widths {widths} and event models {kinds}."
            )
        return RegionStatistics(classes, columns, kinds, shared)

    def _set_regions(self, columns: ArrayLike | None) -> None:
        self.column_region_ = None if columns is None else np.asarray(columns)

    def _derive(self) -> None:
        if not hasattr(self, "alpha_"):
            self.alpha_ = self._alphas()[0]
        sums = self.statistics_
        parts = sums.parts * (len(sums.columns) if sums.shared else 1)
        self.regions_ = [
            GenerativeRegion(kind, self.alpha_, columns, part)
            for kind, columns, part in zip(
                sums.event_models, sums.columns, parts, strict=True
            )
        ]

    def _training_data(
        self, X: MatrixLike, y: ArrayLike, *, reset: bool = True
    ) -> tuple[Matrix, Labels]:
        X, labels = super()._training_data(X, y, reset=reset)
        # Sorted once, not for every region and alpha.
        return canonical_rows(X) if sparse.issparse(X) else X, labels

    def _lost(self, sample_weight: WeightsLike, n_samples: int) -> FloatVector:
        return left_out(sample_weight, n_samples)

    def _tune(self, X: Matrix, labels: Labels, sample_weight: WeightsLike) -> Self:
        own = self._own_class(labels, X.shape[0])
        weight = document_weights(sample_weight, labels)
        lost = self._lost(sample_weight, X.shape[0])
        parts = self._parts(X)  # cut into regions once, not for every alpha
        features = partial(self._features, parts, own, lost)
        self.choose_weights(own, weight, lost, features)
        return self

    def weight_features(
        self, X: Matrix, own: IntVector, lost: FloatVector
    ) -> list[FloatMatrix]:
        """What the weights are fitted on, at the present smoothing; one per region.

        ``own`` is the class of each row, ``lost`` what leaves it with the row.
        """
        return self._features(self._parts(X), own, lost)

    def _features(
        self, parts: list[Matrix], own: IntVector, lost: FloatVector
    ) -> list[FloatMatrix]:
        if self.fit_features == "leave_one_out":
            return self._evidence_without(parts, own, lost)
        return evidence(self.regions_, parts, self.normalize)

    def _parts(self, X: Matrix) -> list[Matrix]:
        """The rows of each region."""
        return [region.rows(X) for region in self.regions_]

    def choose_weights(
        self,
        own: IntVector,
        weight: FloatVector,
        lost: FloatVector,
        features: Callable[[], list[FloatMatrix]],
    ) -> None:
        """θ for each alpha; the alpha with the best log loss stays.

        ``features`` gives those of all documents, wherever they are.
        """
        held_out = self.fit_features == "leave_one_out"
        # A class's only document cannot tell how the class is recognised.
        useful = (weight > 0) & (self._has_company(own, lost) | (not held_out))
        tried = {}
        for alpha in self._alphas():
            for region in self.regions_:
                region.smooth(alpha)
            tried[alpha] = self._weights(features(), own, weight, useful)
        loss = {alpha: loss for alpha, (_, _, loss) in tried.items()}
        self.alpha_ = min(loss, key=lambda alpha: loss[alpha])
        self.log_loss_ = {alpha: value for alpha, value in loss.items() if value < inf}
        self.region_weight_, self.class_bias_, _ = tried[self.alpha_]
        for region in self.regions_:
            region.smooth(self.alpha_)

    def _weights(
        self,
        features: list[FloatMatrix],
        own: IntVector,
        weight: FloatVector,
        useful: BoolVector,
    ) -> tuple[FloatVector, FloatVector, float]:
        """Region weights, biases and log loss from the documents that can tell."""
        # With fewer than two classes it is naive Bayes (footnote 4 of the paper).
        if len(np.unique(own[useful])) > 1:
            fit = WeightFit(features, own, weight)
            return fit.by_some(useful, self.l2_regularization)
        theta = self._mean_lengths() if self.normalize else np.ones(len(self.regions_))
        bias = np.log(np.maximum(self.statistics_.docs.astype(np.float64), 1.0))
        return theta, bias - bias.mean(), inf

    def _has_company(self, own: IntVector, lost: FloatVector) -> BoolVector:
        """Whether a document's class keeps some other document without it."""
        docs = self.statistics_.docs.astype(np.float64)[own]
        return np.asarray(docs - lost > 1e-9 * docs)

    def _evidence_without(
        self, parts: list[Matrix], own: IntVector, lost: FloatVector
    ) -> list[FloatMatrix]:
        removed = summed_rows(parts) if self.statistics_.shared else None
        return evidence(self.regions_, parts, self.normalize, own, lost, removed)

    @property
    def _takes_counts(self) -> bool:
        return self.event_model == "multinomial" or (
            not isinstance(self.event_model, str) and "multinomial" in self.event_model
        )

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report regions without a weight, or with columns that do not exist."""
        yield from super()._faults(sizes)
        sums, n_features = self.statistics_, int(self.n_features_in_)
        together = np.concatenate([np.zeros(0, np.int64), *sums.columns])
        fits = len(sums.parts) == len(self.region_weight_)
        if not fits or together.max(initial=-1) >= n_features:
            yield ": regions, columns and weights do not fit"


def _part_evidence(
    model: HybridBayes, factor: FloatVector | None, rows: PartRows
) -> list[FloatMatrix]:
    """The hybrid's features (HY3): (n_rows, n_classes) for each region."""
    if not len(rows.y):
        return [np.zeros((0, len(model.classes_))) for _ in model.regions_]
    weight = left_out(weights_of(factor, rows.y), len(rows.y))
    return model.weight_features(rows.X, rows.y, weight)


MODEL = Model(
    "hybrid",
    HybridBayes,
    "hybrid Bayes: naive Bayes in each region, weighed leave-one-out",
)
