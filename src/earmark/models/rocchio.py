"""Rocchio classification: one prototype per class, the nearest wins (VS2).

A prototype is the mean of a class's unit vectors minus a share of the mean of
all others. With class sums S_c, their total S and n_c of N documents it is
``near_c S_c + far_c S``, where near_c = 1/n_c + r/(N - n_c), far_c = -r/(N - n_c):
every length and product follows from the products of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError, NotSupportedError
from earmark.features.scoring import LinearRule, ScoreParts, linear_parts
from earmark.inputs.weights import real_weights
from earmark.kernels.rows import (
    UNIT,
    canonical_rows,
    fixed_point_rows,
    inverse_or_zero,
    log_normalize,
    row_lengths,
    row_norms,
    squared_lengths,
    times_dense,
    unit_rows,
)
from earmark.kernels.softmax import fitted_temperature
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import LogitClassifier, RankingClassifier
from earmark.models.base.declaration import Model
from earmark.models.base.parted import PartedRows, weights_of
from earmark.models.shared.naive_bayes import is_mostly_nothing
from earmark.parameters import Limits, NotNegative, Positive, estimator
from earmark.statistics import UnitVectorSums
from earmark.stored import DERIVED, sizes
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)

# Typical of tf-idf text; serves while no documents are at hand to learn it from.
_USUAL_TEMPERATURE = 0.02
# The temperature is one number: more documents than this do not make it better.
_ENOUGH_DOCUMENTS = 500


@dataclass(frozen=True)
class Measures:
    """What every rule looks at, (n_samples, n_classes) or broadcast to it."""

    metric: str
    products: FloatMatrix
    """Inner product of the document with each prototype."""
    squares: FloatMatrix
    """Squared length of each prototype."""
    docs: FloatMatrix
    """Weight of documents behind each prototype; 0 where the class is empty."""
    lengths: FloatMatrix
    """Squared length of each document, (n_samples, 1)."""
    empty: BoolVector
    """Documents that say nothing, for which the class shares answer."""

    def closeness(self) -> FloatMatrix:
        """Class scores, highest for the nearest prototype; -inf for an empty class."""
        score = self.products
        if self.metric == "euclidean":
            # Orders classes as -|mu - v| does, at the cost of the document's terms.
            score = score - 0.5 * self.squares
        elif self.metric == "cosine":
            norm = np.broadcast_to(np.sqrt(self.squares), score.shape)
            score = np.divide(score, norm, out=np.zeros_like(norm), where=norm > 0)
        return np.where(self.docs > 0, score, -np.inf)

    def distances(self) -> FloatMatrix:
        """|mu - v|; with cosine, mu is scaled to unit length first."""
        full = self.lengths + (0.0 if self.metric == "euclidean" else 1.0)
        # |mu - v|^2 = |v|^2 - 2 (mu.v - |mu|^2 / 2).
        return np.sqrt(np.maximum(full - 2.0 * self.closeness(), 0.0))

    def rule_value(self, rule: str) -> FloatVector:
        """What a rule compares with its threshold, higher for the class (column 1)."""
        distance = self.distances()
        if rule == "radius":
            return -distance[:, 1]
        with np.errstate(invalid="ignore"):
            gap = distance[:, 0] - distance[:, 1]
        return np.where(np.isnan(gap), 0.0, gap)


def mixing(
    docs: FloatMatrix, total: FloatMatrix, rest_weight: float
) -> tuple[FloatMatrix, FloatMatrix]:
    """near_c and far_c for class weights ``docs``; 0 where there is nothing to mean."""
    rest = total - docs
    gone = rest <= 1e-9 * np.maximum(total, 1.0)
    far = np.divide(-rest_weight, rest, out=np.zeros_like(docs), where=~gone)
    return inverse_or_zero(docs) - far, far


def _laid_out(statistics: UnitVectorSums, factor: FloatVector) -> FloatMatrix:
    """Lay the class sums out as a dense table, each times its class's factor."""
    sums = statistics.sums
    dense = np.zeros((sums.shape[1], sums.shape[0]))
    for c, (start, stop) in enumerate(pairwise(sums.indptr)):
        dense[sums.indices[start:stop], c] = sums.data[start:stop] * (factor[c] * UNIT)
    return dense


def _sum_squares(statistics: UnitVectorSums) -> FloatVector:
    """Squared length of the sum of each class."""
    steps = statistics.sums.data * UNIT
    parts = (steps[start:stop] for start, stop in pairwise(statistics.sums.indptr))
    return np.array([part @ part for part in parts])


def prototypes(
    statistics: UnitVectorSums, rest_weight: float, of_unit_length: bool
) -> tuple[FloatMatrix, FloatVector]:
    """All prototypes (n_features, n_classes), and their squares before scaling."""
    docs = statistics.docs.astype(np.float64)
    near, far = mixing(docs, docs.sum(), rest_weight)
    if not np.any(far):
        squares = near**2 * _sum_squares(statistics)
        scale = inverse_or_zero(np.sqrt(squares)) if of_unit_length else 1.0
        return _laid_out(statistics, near * scale), squares
    weights = _laid_out(statistics, np.ones_like(docs))
    weights = weights * near + weights.sum(axis=1, keepdims=True) * far
    squares = np.einsum("ij,ij->j", weights, weights)
    if of_unit_length:
        weights = weights * inverse_or_zero(np.sqrt(squares))
    return weights, squares


@dataclass(frozen=True)
class SumProducts:
    """Products of documents with the class sums, and of the sums with each other."""

    times: Callable[[SparseMatrix], FloatMatrix]
    """rows -> rows @ S, (n_samples, n_classes)."""
    squares: FloatVector
    """|S_c|^2."""
    with_total: FloatVector
    """S_c . S; not looked at where ``rest_weight`` is 0."""

    @classmethod
    def of(cls, statistics: UnitVectorSums) -> SumProducts:
        """From the sums themselves."""
        sums = _laid_out(statistics, np.ones(len(statistics.classes)))
        gram = sums.T @ sums
        return cls(
            lambda rows: times_dense(rows, sums), np.diag(gram), gram.sum(axis=1)
        )


def best_threshold(
    value: FloatVector, is_member: BoolVector, weight: FloatVector, objective: str
) -> float:
    """The threshold whose decisions ``value > threshold`` do best."""
    # Half-way between neighbouring values; of equally good ones the highest, as false
    # positives are what the plain rule suffers from.
    known = np.isfinite(value) & (weight > 0)
    if not (known & is_member).any() or not (known & ~is_member).any():
        raise DataError(
            "tuning by leave-one-out needs at least two documents of each class; "
            "give more documents, or a number as `threshold`."
        )
    order = np.argsort(-value[known], kind="stable")
    value, is_member = value[known][order], is_member[known][order]
    weight = weight[known][order]
    hits = np.concatenate(([0.0], np.cumsum(weight * is_member)))
    alarms = np.concatenate(([0.0], np.cumsum(weight * ~is_member)))
    if objective == "f1":
        quality = 2 * hits / (hits + alarms + hits[-1])
    else:
        quality = hits - alarms  # the accuracy, but for constants
    # Cutting between equal values is not a threshold.
    ends = np.concatenate(([True], value[1:] != value[:-1], [True]))
    best = int(np.argmax(np.where(ends, quality, -np.inf)))
    if best == 0:
        return float(np.nextafter(value[0], np.inf))
    if best == len(value):
        return float(np.nextafter(value[-1], -np.inf))
    return float(0.5 * (value[best - 1] + value[best]))


def _two_class_parts(
    unit: SparseMatrix, slope: FloatVector, total: FloatVector, margin: FloatVector
) -> list[ScoreParts]:
    """Explain the two-class rules: a difference of distances, by its squares."""
    # |mu_0 - v| - |mu_1 - v| = 2 (s_1 - s_0) / (|mu_0 - v| + |mu_1 - v|) with the
    # linear scores s; radius - |mu_1 - v| = (radius^2 - |mu_1 - v|^2) / (radius +
    # |mu_1 - v|) with |mu_1 - v|^2 linear in v too. ``slope`` is the linear weight,
    # ``total`` the denominator; what is left of ``margin`` belongs to the rule.
    both = np.stack([np.zeros_like(slope), slope], axis=1)
    parts = []
    for part, whole, value in zip(
        linear_parts(unit, both, {}), total, margin, strict=True
    ):
        terms = part.terms * (2.0 / whole if whole > 0 else 0.0)
        rest = np.array([0.0, value]) - terms.sum(axis=0)
        parts.append(ScoreParts(part.columns, terms, {"distance rule": rest}))
    return parts


@estimator
class RocchioClassifier(RankingClassifier, LogitClassifier, AdditiveClassifier):
    """Assign each document to the class with the nearest prototype.

    Documents are scaled to unit length unless ``normalize=False``; a prototype is the
    mean of a class's vectors, less a share of the mean of all others. Training keeps
    exact sums, so documents can be added, forgotten and merged from shards, with the
    same bytes in any order; a class without documents is never chosen. A
    document with no known term says nothing: the class shares answer for it.

    Parameters
    ----------
    metric : "euclidean", "cosine" or "dot", default="euclidean"
        Nearest by distance to the prototype, by angle, or by inner product.
    normalize : bool, default=True
        Scale documents to unit length first. False takes vectors of any length as
        they are, such as points of a plane.
    rest_weight : float >= 0, default=0.0
        Share of the mean of all other documents that is taken away.
    rule : "nearest", "offset" or "radius", default="nearest"
        "nearest" is the plain rule. The other two are for two classes, where the
        second of ``classes_`` is a small region and the first its scattered rest:
        "offset" asks for ``|mu_1 - v| < |mu_0 - v| - threshold``, "radius" for
        ``|mu_1 - v| < threshold``.
    threshold : float or "auto", default="auto"
        Offset or radius of these rules; "auto" is tuned by leave-one-out.
    tune_for : "f1" or "accuracy", default="f1"
        What the tuned threshold makes best: F1 of the second class, or accuracy.
    temperature : float > 0 or "auto", default="auto"
        Probabilities are softmax(scores / temperature). "auto" gives the labels of
        (up to 500) training documents the best likelihood by their leave-one-out
        scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    statistics_ : UnitVectorSums
        The exact sums learned; everything else is derived from them.
    tuned_ : dict
        "temperature" and "threshold" as found by ``tune``. Empty after
        ``partial_fit``, ``forget`` and merging, which may make them wrong: call
        ``tune`` again. Until then a usual temperature serves (0.02 for cosines),
        and the two-class rules refuse to decide.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, chapter 14. Cambridge University Press.

    Examples
    --------
    >>> model = RocchioClassifier().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[5, 1]])
    array(['a'], dtype='<U1')
    >>> model.forget([[1, 0]], ["a"]).statistics_.docs.tolist()
    [1, 1]

    """

    tunes = True
    statistics_: Annotated[
        UnitVectorSums, sizes(n_terms="n_features", n_classes="n_classes")
    ] = field(init=False)
    tuned_: dict[Literal["temperature", "threshold"], float] = field(init=False)
    # (n_features, n_classes); of unit length for the cosine.
    _weights: Annotated[FloatMatrix, DERIVED] = field(init=False)
    _squares: Annotated[FloatVector, DERIVED] = field(init=False)

    metric: Literal["euclidean", "cosine", "dot"] = "euclidean"
    normalize: bool = True
    rest_weight: NotNegative = 0.0
    rule: Literal["nearest", "offset", "radius"] = "nearest"
    threshold: Annotated[float, Limits()] | Literal["auto"] = "auto"
    tune_for: Literal["f1", "accuracy"] = "f1"
    temperature: Positive | Literal["auto"] = "auto"

    # -- learning ------------------------------------------------------------

    def _changed(self) -> Self:
        """Derive the prototypes anew, and forget what was tuned."""
        self.tuned_ = {}
        if self.rule != "nearest" and len(self.classes_) != 2:
            raise ValueError(
                f"rule={self.rule!r} decides between two classes, "
                f"got {len(self.classes_)}; use rule='nearest'."
            )
        return super()._changed()

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """The sums, then the temperature on the same few documents as in memory."""
        if self.rule != "nearest" and self.threshold == "auto":
            raise NotSupportedError(
                f"RocchioClassifier(rule={self.rule!r}) tunes its threshold on all "
                "documents, which are not in one place; give a threshold."
            )
        super().fit_in_parts(rows)
        if self.temperature == "auto":
            n_rows = sum(rows.sizes.values())
            step = max(1, -(-n_rows // _ENOUGH_DOCUMENTS))
            some = rows.picked(np.arange(0, n_rows, step))
            weight = weights_of(rows.class_weight, some.y)
            self.tune(some.X, rows.classes[some.y], weight)
        return self

    def tune(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find temperature and threshold from the leave-one-out scores of X and y.

        X and y must have been learned; ``fit`` does this by itself. A document of
        weight 3 counts as three documents, of which one is left out.
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        return self._tune(X, labels, sample_weight)

    # -- answering -----------------------------------------------------------

    def distances(self, X: MatrixLike) -> FloatMatrix:
        """|mu_c - v| of each document's vector v, (n_samples, n_classes).

        For the cosine metric mu_c is scaled to unit length too. A document with
        no known term counts as a unit vector in a direction of its own.
        """
        if self.metric == "dot":
            raise AttributeError("metric='dot' compares products, not distances.")
        return self._measures(self._validated(X)).distances()

    # -- what was learned ----------------------------------------------------

    @property
    def prototypes_(self) -> FloatMatrix:
        """The prototypes mu_c, (n_classes, n_features)."""
        weights = self._weights
        if self.metric == "cosine":
            weights = weights * np.sqrt(self._squares)
        return np.asarray(weights.T)

    @property
    def coef_(self) -> FloatMatrix:
        """Weights of the plain rule; for two classes one row."""
        self._require_plain("coef_")
        weights = self._weights.T
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> FloatVector:
        """Offsets of the plain rule; for two classes -b of the hyperplane w.v = b."""
        self._require_plain("intercept_")
        offset = self._offset()
        return offset[1:] - offset[:1] if len(self.classes_) == 2 else offset

    @property
    def temperature_(self) -> float:
        """What scores are divided by to give probabilities."""
        check_is_fitted(self)
        if not isinstance(self.temperature, str):
            return float(self.temperature)
        if "temperature" in self.tuned_:
            return self.tuned_["temperature"]
        if self.metric == "cosine":
            return _USUAL_TEMPERATURE
        docs = self._docs()
        length = np.sqrt(docs @ self._squares / max(docs.sum(), 1.0))
        return float(_USUAL_TEMPERATURE * (length if length > 0 else 1.0))

    @property
    def threshold_(self) -> float:
        """Offset or radius of the two-class rules."""
        check_is_fitted(self)
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if "threshold" not in self.tuned_:
            raise NotFittedError(
                f"the threshold of rule={self.rule!r} is not tuned: what was learned "
                "has changed. Call tune(X, y) with the documents learned, or give a "
                "number as `threshold`."
            )
        return self.tuned_["threshold"]

    # -- private -------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.metric == "dot" and self.rule != "nearest":
            raise ValueError(
                f"rule={self.rule!r} compares distances, which metric='dot' has not; "
                "use metric='euclidean' or rule='nearest'."
            )

    def _empty_statistics(self, classes: Labels, n_features: int) -> UnitVectorSums:
        return UnitVectorSums(classes, n_features, unit=self.normalize)

    def _derive(self) -> None:
        self._weights, self._squares = prototypes(
            self.statistics_, self.rest_weight, self.metric == "cosine"
        )

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report columns of which next to nothing is stored."""
        yield from super()._faults(sizes)
        if is_mostly_nothing(self.statistics_.sums):
            yield ".statistics_ has too many columns for its sums"

    def _measures(self, X: Matrix) -> Measures:
        """Multiply documents by the prototypes, with what every rule needs besides."""
        rows = sparse.csr_array(X)
        norm = row_norms(rows)
        products = times_dense(rows, self._weights)
        if self.metric == "cosine":
            products *= np.sqrt(self._squares)
        lengths, empty = norm[:, None] ** 2, np.zeros(len(norm), dtype=bool)
        if self._is_scaled():
            products /= np.where(norm > 0, norm, 1.0)[:, None]
            lengths, empty = np.ones((len(norm), 1)), norm == 0
        docs = self._docs()
        return Measures(self.metric, products, self._squares, docs, lengths, empty)

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._decided(self._measures(X))

    def _decided(self, measures: Measures) -> FloatMatrix:
        """Class scores under the rule; two-class rules score (0, margin)."""
        if self.rule == "nearest":
            scores = measures.closeness()
            if measures.empty.any():
                shares = self._shares(measures.docs)
                np.copyto(scores, shares, where=measures.empty[:, None])
            return scores
        sign = 1.0 if self.rule == "offset" else -1.0
        margin = measures.rule_value(self.rule) - sign * self.threshold_
        return np.stack([np.zeros_like(margin), margin], axis=1)

    def _shares(self, docs: FloatMatrix) -> FloatMatrix:
        """Scores whose probabilities are the shares of the classes."""
        shares = docs / np.maximum(docs.sum(axis=-1, keepdims=True), 1e-300)
        with np.errstate(divide="ignore"):
            return np.asarray(self.temperature_ * np.log(shares))

    def linear_rule(self) -> LinearRule | None:
        """The plain rule's scores as a sum over the document's terms."""
        if self.rule != "nearest":
            return None
        return LinearRule(
            self._weights,
            self._offset(),
            unit=self._is_scaled(),
            empty=self._shares(self._docs()) if self._is_scaled() else None,
            log_posteriors=self._log_posteriors,
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rows = canonical_rows(self._validated(X))
        unit = unit_rows(rows) if self._is_scaled() else rows
        if self.rule == "nearest":
            offset = self._offset()
            lengths = {"length of the prototype": offset} if offset.any() else {}
            parts = linear_parts(unit, self._weights, lengths)
            if not self._is_scaled():
                return parts
            shares = {"class share": self._shares(self._docs())}
            note = "No known term: the class shares answer."
            return [
                part
                if len(part.columns)
                else replace(part, constants=shares, note=note)
                for part in parts
            ]
        distance = self._measures(rows).distances()
        slope = self._weights[:, 1]
        if self.rule == "offset":
            slope = slope - self._weights[:, 0]
            total = distance.sum(axis=1)
        else:
            total = distance[:, 1] + self.threshold_
        return _two_class_parts(unit, slope, total, self._class_scores(rows)[:, 1])

    def _log_posteriors(self, scores: FloatMatrix) -> FloatMatrix:
        logits = scores / self.temperature_
        endless = np.isposinf(logits)
        if endless.any():  # the other class has no documents
            rows = endless.any(axis=1, keepdims=True)
            logits = np.where(rows, np.where(endless, 0.0, -np.inf), logits)
        return log_normalize(logits)

    def _tune(self, X: Matrix, labels: Labels, sample_weight: WeightsLike) -> Self:
        weight = real_weights(sample_weight, X.shape[0])
        self.tuned_ = {}
        own = self._own_class(labels, X.shape[0])
        if self.rule != "nearest" and self.threshold == "auto":
            self.tuned_["threshold"] = self._best_threshold(X, own, weight)
        if self.temperature == "auto":
            some = slice(None, None, max(1, -(-X.shape[0] // _ENOUGH_DOCUMENTS)))
            X, own, weight = X[some], own[some], weight[some]
            measures = self._without_own(X, own, np.minimum(weight, 1.0))
            temperature = fitted_temperature(
                self._decided(measures), own, np.where(measures.empty, 0.0, weight)
            )
            if temperature is not None:
                self.tuned_["temperature"] = temperature
        return self

    def _best_threshold(self, X: Matrix, own: IntVector, weight: FloatVector) -> float:
        measures = self._without_own(X, own, np.minimum(weight, 1.0))
        # A class of one document is left without a prototype: nothing to learn.
        alone = (measures.docs <= 0).any(axis=1)
        weight, value = np.where(alone, 0.0, weight), measures.rule_value(self.rule)
        best = best_threshold(value, own == 1, weight, self.tune_for)
        return best if self.rule == "offset" else -best

    def _log_posteriors_without(
        self, X: Matrix, own: IntVector, weight: FloatVector
    ) -> FloatMatrix:
        return self._log_posteriors(self._decided(self._without_own(X, own, weight)))

    def _without_own(self, X: Matrix, own: IntVector, weight: FloatVector) -> Measures:
        """Measures of learned documents, each taken out of the statistics first."""
        self._require_learned(own, weight)
        rows, every, sums = canonical_rows(X), np.arange(len(own)), self._sum_products()
        docs = np.tile(self._docs(), (len(own), 1))
        docs[every, own] -= weight
        docs[np.abs(docs) < 1e-9] = 0.0
        near, far = mixing(docs, docs.sum(axis=1, keepdims=True), self.rest_weight)

        def mixed(values: FloatMatrix) -> FloatMatrix:
            return np.asarray(near * values + far * values.sum(axis=1, keepdims=True))

        vectors = unit_rows(rows) if self.normalize else rows
        learned = fixed_point_rows(rows, self.normalize).astype(np.float64) * UNIT
        shared = row_lengths(vectors.multiply(learned))[:, None]
        length = row_lengths(learned.multiply(learned))[:, None]
        lost = far * weight[:, None]  # how much of the document each prototype loses
        lost[every, own] += near[every, own] * weight
        squares = near**2 * sums.squares + 2 * near * far * sums.with_total
        squares += far**2 * sums.with_total.sum() + lost**2 * length
        squares -= 2 * lost * mixed(sums.times(learned))
        products = mixed(sums.times(vectors)) - lost * shared
        lengths, empty = squared_lengths(vectors)[:, None], np.diff(rows.indptr) == 0
        if self.metric == "cosine" and not self.normalize:
            norm = row_norms(rows)
            products /= np.where(norm > 0, norm, 1.0)[:, None]
            lengths = np.ones_like(lengths)
        empty &= self._is_scaled()
        squares = np.maximum(squares, 0.0)
        return Measures(self.metric, products, squares, docs, lengths, empty)

    def _sum_products(self) -> SumProducts:
        """Products with the class sums; by way of the prototypes where they suffice."""
        if self.rest_weight:
            return SumProducts.of(self.statistics_)
        docs = self._docs()
        length = np.sqrt(self._squares) if self.metric == "cosine" else 1.0
        return SumProducts(
            lambda rows: times_dense(rows, self._weights) * (docs * length),
            docs**2 * self._squares,
            np.zeros_like(docs),
        )

    def _require_plain(self, name: str) -> None:
        if self.rule != "nearest":
            raise AttributeError(
                f"{name} belongs to the linear rule 'nearest'; "
                f"rule={self.rule!r} is not linear."
            )

    def _is_scaled(self) -> bool:
        """Whether documents are looked at as unit vectors."""
        return self.normalize or self.metric == "cosine"

    def _docs(self) -> FloatVector:
        return np.asarray(self.statistics_.docs, dtype=np.float64)

    def _offset(self) -> FloatVector:
        """The score of a vector that is orthogonal to every prototype."""
        score = -0.5 * self._squares if self.metric == "euclidean" else 0.0
        return np.where(self._docs() > 0, score, -np.inf)


MODEL = Model(
    "rocchio",
    RocchioClassifier,
    "Rocchio: the class with the nearest prototype; very quick",
    fed="tfidf",
    defaults={"metric": "cosine"},
)
