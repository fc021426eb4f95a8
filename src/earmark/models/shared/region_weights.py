"""The regions of the hybrid: their sums, their evidence, and their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
import scipy
from scipy import sparse

from earmark.exceptions import DataError
from earmark.features.scoring import ScoreParts
from earmark.inputs.weights import checked_weights
from earmark.kernels.rows import canonical_rows, presence, row_lengths
from earmark.models.base.classifier import joint_log_likelihood
from earmark.models.bernoulli import BernoulliNaiveBayes
from earmark.models.multinomial import MultinomialNaiveBayes
from earmark.models.shared.gaussian import GaussianNaiveBayes
from earmark.models.shared.naive_bayes import log_likelihood_without
from earmark.models.softmax import cross_entropy
from earmark.statistics import ClassMoments, ClassStatistics
from earmark.statistics.class_statistics import AdditiveStatistics
from earmark.stored import instance, integers, sequence, stored, words
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    SparseMatrix,
)


def region_rows(X: Matrix, columns: IntVector, event_model: str) -> Matrix:
    """One region's part of X, as its event model takes it."""
    in_a_row = len(columns) and columns[-1] - columns[0] + 1 == len(columns)
    # A slice keeps the order of the entries; columns by number have to be sorted.
    part = X[:, columns[0] : columns[-1] + 1] if in_a_row else X[:, columns]
    if event_model == "gaussian":
        return sparse.csr_array(part) if sparse.issparse(part) else part
    rows = canonical_rows(part)
    return canonical_rows(presence(rows)) if event_model == "bernoulli" else rows


def summed_rows(parts: Sequence[Matrix]) -> SparseMatrix:
    """Regions over the same terms, added up."""
    return canonical_rows(sum(parts[1:], parts[0]))


def has_content(rows: Matrix) -> BoolVector:
    """Whether a document has the region: any entry that is not zero."""
    if sparse.issparse(rows):
        return np.asarray(np.diff(canonical_rows(rows).indptr) > 0)
    return np.asarray((rows != 0).any(axis=1))


@stored
class RegionStatistics(AdditiveStatistics):
    """Class statistics of every region, or of all in one table (CS1, HY4)."""

    columns: Annotated[list[IntVector], sequence(integers(None), "n_regions")]
    event_models: Annotated[list[str], words("n_regions")]
    parts: Annotated[
        list[Any],
        sequence(instance(ClassStatistics, ClassMoments, n_classes="n_classes")),
    ]
    shared: bool
    sizes: Annotated[ClassStatistics, instance(ClassStatistics, n_classes="n_classes")]

    # A region counts the documents that have it: an empty one says nothing.

    def __init__(
        self,
        classes: ArrayLike,
        columns: Sequence[IntVector],
        event_models: Sequence[str],
        shared: bool = False,
    ) -> None:
        self.columns = list(columns)
        self.event_models = list(event_models)
        self.shared = shared
        self.sizes = ClassStatistics(classes, 0)
        kinds = [
            ClassMoments if k == "gaussian" else ClassStatistics for k in event_models
        ]
        pairs = zip(kinds, self.columns, strict=True)
        self.parts: list[Any] = [empty(classes, len(mine)) for empty, mine in pairs]
        self.parts = self.parts[:1] if shared else self.parts

    @property
    def classes(self) -> Labels:
        """The labels, sorted."""
        return self.sizes.classes

    @property
    def docs(self) -> Any:
        """Weighted number of documents of each class."""
        return self.sizes.docs

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(len(columns) for columns in self.columns)

    def _regions(self) -> object:
        return self.event_models, self.shared, [c.tolist() for c in self.columns]

    def merge(self, other: RegionStatistics) -> Self:
        """Add another shard's statistics over the same regions."""
        if self._regions() != other._regions():
            raise DataError(
                "statistics of different regions cannot be merged: got event models "
                f"{self.event_models} and {other.event_models} on "
                f"{self.n_features} and {other.n_features} columns."
            )
        pairs = zip(self.parts, other.parts, strict=True)
        merged = [mine.copy().merge(theirs) for mine, theirs in pairs]
        self.sizes.merge(other.sizes)
        self.parts = merged
        return self

    def _counted(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> RegionStatistics:
        labels, weight = np.asarray(y), checked_weights(sample_weight, X.shape[0])
        regions = self.columns, self.event_models, self.shared
        batch = RegionStatistics(self.classes, *regions)
        none = sparse.csr_array((X.shape[0], 0), dtype=np.int64)
        batch.sizes.add(none, labels, weight)
        kinds = zip(self.columns, self.event_models, strict=True)
        counted = [region_rows(X, columns, kind) for columns, kind in kinds]
        counted = [summed_rows(counted)] if self.shared else counted
        for part, rows in zip(batch.parts, counted, strict=True):
            has_text = has_content(rows)
            if weight is not None:
                has_text &= weight > 0
            if has_text.any():
                own_weight = None if weight is None else weight[has_text]
                part.add(rows[has_text], labels[has_text], own_weight)
        return batch

    def _combine(self, other: RegionStatistics, sign: int) -> Self:
        sizes = self.sizes.copy()._combine(other.sizes, sign)
        pairs = zip(self.parts, other.parts, strict=True)
        self.parts = [mine.copy()._combine(theirs, sign) for mine, theirs in pairs]
        self.sizes = sizes
        return self

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report regions whose sums do not fit their columns."""
        widths = [len(columns) for columns in self.columns]
        needed = widths[:1] if self.shared else widths
        if needed != [part.n_features for part in self.parts]:
            yield ": columns and statistics do not fit"


# A class of few documents has next to no variance once one of them is left out:
# a floor well above rounding keeps its density in bounds.
_VAR_SMOOTHING = 0.01

EVENT_MODELS: Mapping[str, Callable[[float], Any]] = {
    "multinomial": lambda alpha: MultinomialNaiveBayes(
        alpha=alpha, class_prior="uniform"
    ),
    "bernoulli": lambda alpha: BernoulliNaiveBayes(alpha=alpha, class_prior="uniform"),
    "gaussian": lambda _: GaussianNaiveBayes(
        class_prior="uniform", var_smoothing=_VAR_SMOOTHING
    ),
}


class GenerativeRegion:
    """One region's naive Bayes model and its length n_r (HY1, HY4)."""

    # A class that never had the region gets the mean evidence of those that had it.

    def __init__(
        self, event_model: str, alpha: float, columns: IntVector, statistics: Any
    ) -> None:
        self.event_model = event_model
        self.columns = columns
        self.model = EVENT_MODELS[event_model](alpha).finalise(statistics)

    def rows(self, X: Matrix) -> Matrix:
        """The region's part of X, as its model takes it."""
        return region_rows(X, self.columns, self.event_model)

    def smooth(self, alpha: float) -> Self:
        """The same statistics with another smoothing."""
        if self.event_model != "gaussian" and self.model.alpha != alpha:
            self.model.set_params(alpha=alpha).finalise(self.model.statistics_)
        return self

    def lengths(self, rows: Matrix) -> FloatVector:
        """n_r of each document; 0 where the document lacks the region (HY2)."""
        if self.event_model == "multinomial":
            return row_lengths(rows)
        return np.where(has_content(rows), float(len(self.columns)), 0.0)

    def factor(self, rows: Matrix, normalize: bool) -> FloatVector:
        """1/n_r, or 1; 0 where a document lacks the region (HY1)."""
        lengths = self.lengths(rows)
        if not normalize:
            return (lengths > 0).astype(np.float64)
        zero = np.zeros(len(lengths))
        return np.divide(1.0, lengths, out=zero, where=lengths > 0)

    def mean_length(self) -> float:
        """Mean n_r of the learned documents that have the region."""
        if self.event_model != "multinomial":
            return float(len(self.columns))
        statistics = self.model.statistics_
        return float(statistics.tokens.sum()) / max(float(statistics.docs.sum()), 1.0)

    def log_likelihood(self, rows: Matrix) -> FloatMatrix:
        """Log P(x_r | c) of each document."""
        joint = joint_log_likelihood(self.model, rows)
        return self._balanced(np.asarray(joint - self.model.class_log_prior_))

    def log_likelihood_without(
        self,
        rows: Matrix,
        own: IntVector,
        weight: FloatVector,
        removed: Matrix | None = None,
    ) -> FloatMatrix:
        """Log P(x_r | c), the document, or ``removed``, out of its class (NB8)."""
        more = () if removed is None else (removed,)
        values = log_likelihood_without(self.model, rows, own, weight, *more)
        docs = self.model.statistics_.docs.astype(np.float64)
        alone = docs[own] - weight <= 1e-9 * docs[own]
        seen = np.tile(self._seen, (len(own), 1))
        seen[np.flatnonzero(alone), own[alone]] = False
        return _neutral(values, seen)

    def parts(self, rows: Matrix, factor: FloatVector) -> list[ScoreParts]:
        """Score parts of factor_d log P(x_r | c), on the columns of X."""
        parts = []
        for part, f in zip(self.model.score_parts(rows), factor, strict=True):
            constants = {
                name: self._balanced(f * value[None])[0]
                for name, value in part.constants.items()
                if name != "class prior"
            }
            terms = self._balanced(f * part.terms)
            parts.append(ScoreParts(self.columns[part.columns], terms, constants))
        return parts

    @property
    def _seen(self) -> BoolVector:
        """Which classes have had the region."""
        return np.asarray(self.model.statistics_.docs > 0)

    def _balanced(self, values: FloatMatrix) -> FloatMatrix:
        seen = self._seen
        return (
            values if seen.all() else _neutral(values, np.tile(seen, (len(values), 1)))
        )


def _neutral(values: FloatMatrix, seen: BoolVector) -> FloatMatrix:
    """Put the mean of the seen classes where a class was not seen; 0 if none was."""
    if seen.all():
        return values
    total = np.where(seen, values, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.where(seen, values, mean)


def evidence(
    regions: Sequence[GenerativeRegion],
    parts: Sequence[Matrix],
    normalize: bool,
    *without: Any,
) -> list[FloatMatrix]:
    """b_rc of each document in each region, out of its class if ``without`` (HY3)."""
    values = []
    for region, rows in zip(regions, parts, strict=True):
        likelihood = region.log_likelihood_without if without else region.log_likelihood
        factor = region.factor(rows, normalize)
        values.append(factor[:, None] * likelihood(rows, *without))
    return values


def left_out(sample_weight: ArrayLike | None, n_samples: int) -> FloatVector:
    """How much of each document leaves: one of equal ones, or its importance."""
    checked = checked_weights(sample_weight, n_samples)
    if checked is None:
        return np.ones(n_samples)
    weight: FloatVector = checked.astype(np.float64)
    return np.minimum(weight, 1.0) if checked.dtype.kind == "i" else weight


def joined_parts(parts: Sequence[ScoreParts], bias: FloatVector) -> ScoreParts:
    """One document's score parts of all regions, and the class bias."""
    constants = {"class bias": bias}
    for part in parts:
        for name, value in part.constants.items():
            constants[name] = constants.get(name, 0.0) + value
    return ScoreParts(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.terms for part in parts]),
        constants,
    )


def region_scores(
    features: Sequence[FloatMatrix], weight: FloatVector, bias: FloatVector
) -> FloatMatrix:
    """θ_0c + Σ_r θ_r b_rc for each document (HY2)."""
    scores = weight[0] * features[0] + bias
    for theta, values in zip(weight[1:], features[1:], strict=True):
        scores += theta * values
    return np.asarray(scores)


@dataclass(frozen=True)
class WeightFit:
    """Documents to which region weights and biases are fitted (HY3)."""

    # minimise   Σ_d s_d (−log P_θ(y_d | x_d)) + l2/2 Σ_r (θ_r σ_r)²
    # with       P_θ(c | x) ∝ exp(θ_0c + Σ_r θ_r b_rc(x)),  Σ_c θ_0c = 0
    # convex in θ; σ_r, the spread of region r's features, takes out their units.

    features: Sequence[FloatMatrix]  # b_rc of each region
    own: IntVector
    weight: FloatVector  # s_d

    def by_some(
        self, useful: BoolVector, l2: float
    ) -> tuple[FloatVector, FloatVector, float]:
        """The optimum of some documents; a class without one gets the lowest bias."""
        n_classes, some = self.features[0].shape[1], self
        fitted = np.unique(self.own[useful])
        if not useful.all() or len(fitted) < n_classes:
            rows = np.flatnonzero(useful)
            features = [values[np.ix_(rows, fitted)] for values in self.features]
            own = np.searchsorted(fitted, self.own[rows])
            some = WeightFit(features, own, self.weight[rows])
        theta, some_bias, loss = some.optimum(l2)
        bias = np.full(n_classes, some_bias.min())
        bias[fitted] = some_bias
        return theta, bias - bias.mean(), loss

    def optimum(self, l2: float) -> tuple[FloatVector, FloatVector, float]:
        """Region weights and biases of maximal conditional likelihood; log loss."""
        # A constant added to all classes of a document changes no probability:
        # centring the features conditions the problem.
        centred = [b - b.mean(axis=1, keepdims=True) for b in self.features]
        spread = np.array([self._spread(values) for values in centred])
        # One class after the other in memory: sums over classes are sums of columns.
        pairs = zip(centred, spread, strict=True)
        scaled = replace(self, features=[np.asfortranarray(b / s) for b, s in pairs])
        n_regions, total = len(self.features), self.weight.sum()
        best = scipy.optimize.minimize(
            scaled.loss,
            np.zeros(n_regions + self.features[0].shape[1]),
            args=(l2,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-7 * total},
        ).x
        loss, _ = scaled.loss(best, 0.0)
        bias = best[n_regions:]
        return best[:n_regions] / spread, bias - bias.mean(), loss / float(total)

    def loss(self, theta: FloatVector, l2: float) -> tuple[float, FloatVector]:
        """Conditional negative log-likelihood with l2/2 |θ_r|², and its gradient."""
        n_regions = len(self.features)
        weight, bias = theta[:n_regions], theta[n_regions:]
        scores = region_scores(self.features, weight, bias)
        loss, residual = cross_entropy(scores, self.own, self.weight)
        slope = [float(np.einsum("ij,ij->", residual, b)) for b in self.features]
        gradient = np.concatenate([slope, residual.sum(axis=0)])
        gradient[:n_regions] += l2 * weight
        return loss + 0.5 * l2 * float(weight @ weight), gradient

    def _spread(self, values: FloatMatrix) -> float:
        """Root mean square of the features; 1 where a region says nothing."""
        squares = float(self.weight @ (values**2).mean(axis=1))
        mean_square = squares / float(self.weight.sum())
        return float(np.sqrt(mean_square)) if mean_square > 0 else 1.0
