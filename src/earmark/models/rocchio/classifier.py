"""Rocchio classification: one prototype per class, the nearest wins (VS2)."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.kernels.rows import (
    canonical_rows,
    log_normalize,
    row_norms,
    times_dense,
    unit_rows,
)
from earmark.kernels.softmax import fitted_temperature
from earmark.models.base import (
    AdditiveClassifier,
    LinearRule,
    LogitClassifier,
    RankingClassifier,
    ScoreParts,
    linear_parts,
)
from earmark.models.rocchio.prototypes import (
    Measures,
    SumProducts,
    best_threshold,
    closeness,
    distances,
    prototypes,
    rule_value,
    without_own,
)
from earmark.parameters import require_in_range, require_one_of, with_parameters
from earmark.statistics import UnitVectorSums
from earmark.statistics.class_statistics import real_weights
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    Labels,
    Matrix,
    MatrixLike,
    SparseMatrix,
)


def nearest_parts(
    unit: SparseMatrix, weights: FloatMatrix, offset: FloatVector, shares: FloatVector
) -> list[ScoreParts]:
    """The plain rule: score = unit @ weights + offset; shares for an empty document."""
    constants = {"length of the prototype": offset} if offset.any() else {}
    said = linear_parts(unit, weights, constants)
    return [
        parts
        if len(parts.columns)
        else ScoreParts(
            parts.columns,
            parts.terms,
            {"class share": shares},
            "No known term: the class shares answer.",
        )
        for parts in said
    ]


def two_class_parts(
    unit: SparseMatrix, slope: FloatVector, total: FloatVector, margin: FloatVector
) -> list[ScoreParts]:
    """The two-class rules: a difference of distances by its squares.

    |mu_0 - v| - |mu_1 - v| = 2 (s_1 - s_0) / (|mu_0 - v| + |mu_1 - v|) with the
    linear scores s, and radius - |mu_1 - v| = (radius^2 - |mu_1 - v|^2) / (radius +
    |mu_1 - v|) with |mu_1 - v|^2 linear in v too. ``slope`` is the linear weight
    and ``total`` the denominator, each document's own; what is left of ``margin``
    belongs to the rule.
    """
    both = np.stack([np.zeros_like(slope), slope], axis=1)
    parts = []
    for part, whole, value in zip(
        linear_parts(unit, both, {}), total, margin, strict=True
    ):
        terms = part.terms * (2.0 / whole if whole > 0 else 0.0)
        rest = np.array([0.0, value]) - terms.sum(axis=0)
        parts.append(ScoreParts(part.columns, terms, {"distance rule": rest}))
    return parts


# Typical of tf-idf text; serves while no documents are at hand to learn it from.
_USUAL_TEMPERATURE = 0.02
# The temperature is one number: more documents than this do not make it better.
_ENOUGH_DOCUMENTS = 500


@with_parameters()
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

    _derived: ClassVar[tuple[str, ...]] = ("_squares", "_weights")

    statistics_: UnitVectorSums = field(init=False)
    tuned_: dict[str, float] = field(init=False)
    # (n_features, n_classes); of unit length for the cosine.
    _weights: FloatMatrix = field(init=False)
    _squares: FloatVector = field(init=False)

    metric: str = "euclidean"
    normalize: bool = True
    rest_weight: float = 0.0
    rule: str = "nearest"
    threshold: float | str = "auto"
    tune_for: str = "f1"
    temperature: float | str = "auto"

    # -- learning ------------------------------------------------------------

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn X (n_samples, n_features) and y afresh, and tune on them."""
        self._check_parameters()
        X, labels = self._training_data(X, y)
        self.finalise(self._summed(X, labels, sample_weight, np.unique(labels)))
        return self._tune(X, labels, real_weights(sample_weight, X.shape[0]))

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more documents exactly; ``tune`` afterwards, on the documents learned.

        Give all labels in ``classes`` at the first call if ``y`` does not hold
        them all; a label that is not among them is an error and changes nothing.
        """
        super().partial_fit(X, y, classes, sample_weight)
        self.tuned_ = {}
        return self

    def forget(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Unlearn documents, as if never seen; ``tune`` afterwards on those left."""
        super().forget(X, y, sample_weight)
        self.tuned_ = {}
        return self

    def finalise(self, statistics: UnitVectorSums) -> Self:
        """Become the model that these statistics describe, not yet tuned."""
        self.tuned_ = {}
        super().finalise(statistics)
        if self.rule != "nearest" and len(self.classes_) != 2:
            raise ValueError(
                f"rule={self.rule!r} decides between two classes, "
                f"got {len(self.classes_)}; use rule='nearest'."
            )
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
        return self._tune(X, labels, real_weights(sample_weight, X.shape[0]))

    # -- answering -----------------------------------------------------------

    def distances(self, X: MatrixLike) -> FloatMatrix:
        """|mu_c - v| of each document's vector v, (n_samples, n_classes).

        For the cosine metric mu_c is scaled to unit length too. A document with
        no known term counts as a unit vector in a direction of its own.
        """
        if self.metric == "dot":
            raise AttributeError("metric='dot' compares products, not distances.")
        return distances(self._measures(self._validated(X))[0], self.metric)

    def leave_one_out(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatMatrix:
        """Log posteriors of learned documents, each as if it had not been learned.

        Equal to a refit without the document; columns, temperature and threshold
        are held fixed. A class of one document is impossible (-inf) without it.
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        weight = real_weights(sample_weight, X.shape[0])
        measures, empty = self._without_own(X, labels, weight)
        return self._log_posteriors(self._decided(measures, empty))

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
        require_one_of(self, "metric", ("euclidean", "cosine", "dot"))
        require_in_range(self, "rest_weight", low=0.0)
        require_one_of(self, "rule", ("nearest", "offset", "radius"))
        if self.metric == "dot" and self.rule != "nearest":
            raise ValueError(
                f"rule={self.rule!r} compares distances, which metric='dot' has not; "
                "use metric='euclidean' or rule='nearest'."
            )
        require_one_of(self, "tune_for", ("f1", "accuracy"))
        if self.threshold != "auto":
            require_in_range(self, "threshold", hint="or 'auto'")
        if self.temperature != "auto":
            require_in_range(
                self, "temperature", low=0.0, open_low=True, hint="or 'auto'"
            )

    def _empty_statistics(self, classes: Labels, n_features: int) -> UnitVectorSums:
        return UnitVectorSums(classes, n_features, unit=self.normalize)

    def _derive(self) -> None:
        self._weights, self._squares = prototypes(
            self.statistics_, self.rest_weight, self.metric == "cosine"
        )

    def _measures(self, X: Matrix) -> tuple[Measures, BoolVector]:
        """Products with the prototypes, and which documents are empty."""
        rows = sparse.csr_array(X)
        norm = row_norms(rows)
        products = times_dense(rows, self._weights)
        if self.metric == "cosine":
            products *= np.sqrt(self._squares)
        scaled = self._is_scaled()
        if scaled:
            products /= np.where(norm > 0, norm, 1.0)[:, None]
        lengths = np.ones((len(norm), 1)) if scaled else norm[:, None] ** 2
        silent = norm == 0 if scaled else np.zeros(len(norm), dtype=bool)
        return Measures(products, self._squares, self._docs(), lengths), silent

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._decided(*self._measures(X))

    def _decided(self, measures: Measures, empty: BoolVector) -> FloatMatrix:
        """Class scores under the rule; two-class rules score (0, margin)."""
        if self.rule == "nearest":
            scores = closeness(measures, self.metric)
            if empty.any():
                scores[empty] = self._shares(measures.docs, empty)
            return scores
        value = rule_value(distances(measures, self.metric), self.rule)
        sign = 1.0 if self.rule == "offset" else -1.0
        margin = value - sign * self.threshold_
        return np.stack([np.zeros_like(margin), margin], axis=1)

    def _shares(self, docs: FloatMatrix, empty: BoolVector) -> FloatMatrix:
        """Scores whose probabilities are the shares of the classes."""
        shares = np.atleast_2d(docs) / np.maximum(
            docs.sum(axis=-1, keepdims=True), 1e-300
        )
        with np.errstate(divide="ignore"):
            scores = self.temperature_ * np.log(shares)
        return np.asarray(scores if len(scores) == 1 else scores[empty])

    def linear_rule(self) -> LinearRule | None:
        """The plain rule's scores as a sum over the document's terms."""
        if self.rule != "nearest":
            return None
        shares = self._shares(self._docs(), np.ones(1, dtype=bool))[0]
        return LinearRule(
            self._weights,
            self._offset(),
            unit=self._is_scaled(),
            empty=shares if self._is_scaled() else None,
            log_posteriors=self._log_posteriors,
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The scores of each document, taken apart (AB3)."""
        rows = canonical_rows(self._validated(X))
        measures, _ = self._measures(rows)
        unit = unit_rows(rows) if self._is_scaled() else rows
        if self.rule == "nearest":
            if not self._is_scaled():
                lengths = {"length of the prototype": self._offset()}
                return linear_parts(unit, self._weights, lengths)
            shares = self._shares(self._docs(), np.ones(1, dtype=bool))[0]
            return nearest_parts(unit, self._weights, self._offset(), shares)
        distance = distances(measures, self.metric)
        slope = self._weights[:, 1]
        if self.rule == "offset":
            slope = slope - self._weights[:, 0]
            total = distance.sum(axis=1)
        else:
            total = distance[:, 1] + self.threshold_
        return two_class_parts(unit, slope, total, self._class_scores(rows)[:, 1])

    def _log_posteriors(self, scores: FloatMatrix) -> FloatMatrix:
        logits = scores / self.temperature_
        endless = np.isposinf(logits)
        if endless.any():  # the other class has no documents
            rows = endless.any(axis=1, keepdims=True)
            logits = np.where(rows, np.where(endless, 0.0, -np.inf), logits)
        return log_normalize(logits)

    def _tune(self, X: Matrix, labels: Labels, weight: FloatVector) -> Self:
        self.tuned_ = {}
        if self.rule != "nearest" and self.threshold == "auto":
            self.tuned_["threshold"] = self._best_threshold(X, labels, weight)
        if self.temperature == "auto":
            some = slice(None, None, max(1, -(-X.shape[0] // _ENOUGH_DOCUMENTS)))
            measures, empty = self._without_own(
                X[some], labels[some], np.minimum(weight[some], 1.0)
            )
            temperature = fitted_temperature(
                self._decided(measures, empty),
                self._own_class(labels[some], len(empty)),
                np.where(empty, 0.0, weight[some]),
            )
            if temperature is not None:
                self.tuned_["temperature"] = temperature
        return self

    def _best_threshold(self, X: Matrix, labels: Labels, weight: FloatVector) -> float:
        measures, _ = self._without_own(X, labels, np.minimum(weight, 1.0))
        value = rule_value(distances(measures, self.metric), self.rule)
        is_member = labels == self.classes_[1]
        # A class of one document is left without a prototype: nothing to learn.
        alone = (measures.docs <= 0).any(axis=1)
        best = best_threshold(
            value, is_member, np.where(alone, 0.0, weight), self.tune_for
        )
        return best if self.rule == "offset" else -best

    def _without_own(
        self, X: Matrix, labels: Labels, removed: FloatVector
    ) -> tuple[Measures, BoolVector]:
        """Measures with each document taken out, and which documents are empty."""
        rows = canonical_rows(X)
        own = self._own_class(labels, rows.shape[0])
        seen = np.bincount(own, weights=removed, minlength=len(self.classes_))
        if np.any(seen > self._docs() + 1e-9):
            raise DataError(
                "leave-one-out wants documents that were learned: y holds more "
                "documents of a class than the model has seen."
            )
        measures = without_own(
            self._docs(),
            self.rest_weight,
            self._sum_products(),
            rows,
            own,
            removed,
            unit=self.normalize,
        )
        if self.metric == "cosine" and not self.normalize:
            measures = measures.scaled(row_norms(rows))
        empty = np.diff(rows.indptr) == 0
        return measures, empty if self._is_scaled() else np.zeros_like(empty)

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
        zeros = np.zeros_like(self._squares)
        none = Measures(zeros, self._squares, self._docs(), np.zeros((1, 1)))
        return closeness(none, self.metric)
