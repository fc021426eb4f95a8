"""What Rocchio tunes by leave-one-out: a temperature and a two-class threshold."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.kernels.rows import canonical_rows
from earmark.models._additive import AdditiveClassifier
from earmark.models._temperature import fitted_temperature
from earmark.models.rocchio.linear_form import LinearForm
from earmark.models.rocchio.prototypes import Measures, SumProducts, without_own
from earmark.models.rocchio.rules import best_threshold, distances, rule_value
from earmark.statistics import UnitVectorSums
from earmark.statistics._inputs import checked_weights
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    Labels,
    Matrix,
    MatrixLike,
)

__all__ = ["Tuning"]

# Typical of tf-idf text; serves while no documents are at hand to learn it from.
_USUAL_TEMPERATURE = 0.02
# The temperature is one number: more documents than this do not make it better.
_ENOUGH_DOCUMENTS = 500


class Tuning(LinearForm, AdditiveClassifier):
    """Temperature and threshold: given, tuned on learned documents, or usual."""

    rest_weight: float
    threshold: float | str
    tune_for: str
    temperature: float | str
    tuned_: dict[str, float]
    statistics_: UnitVectorSums
    classes_: Labels

    @abstractmethod
    def _decided(self, measures: Measures, empty: BoolVector) -> FloatMatrix:
        """Class scores under the rule."""

    def tune(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find temperature and threshold from the leave-one-out scores of X and y.

        X and y must have been learned; ``fit`` does this by itself. A document of
        weight 3 counts as three documents, of which one is left out.
        """
        check_is_fitted(self)
        X, labels = self._training_data(X, y, reset=False)
        return self._tune(X, labels, self._weights_of(X, sample_weight))

    def _tune(self, X: Matrix, labels: Labels, weight: FloatVector) -> Self:
        self.tuned_ = {}
        if self.rule != "nearest" and self.threshold == "auto":
            self.tuned_["threshold"] = self._best_threshold(X, labels, weight)
        if self.temperature == "auto":
            some = slice(None, None, max(1, -(-X.shape[0] // _ENOUGH_DOCUMENTS)))
            measures, empty = self._without_own(
                X[some], labels[some], np.minimum(weight[some], 1.0)
            )
            found = fitted_temperature(
                self._decided(measures, empty),
                self._own_class(labels[some], len(empty)),
                np.where(empty, 0.0, weight[some]),
            )
            if found is not None:
                self.tuned_["temperature"] = found
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

    def _weights_of(self, X: Matrix, sample_weight: Any | None) -> FloatVector:
        given = checked_weights(sample_weight, X.shape[0])
        return np.ones(X.shape[0]) if given is None else given.astype(np.float64)

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
            self._docs(), self.rest_weight, self._sum_products(), rows, own, removed
        )
        return measures, np.diff(rows.indptr) == 0

    def _sum_products(self) -> SumProducts:
        """Products with the class sums; by way of the prototypes where they suffice."""
        if self.rest_weight:
            return SumProducts.of(self.statistics_)
        docs = self._docs()
        length = np.sqrt(self._squares) if self.metric == "cosine" else 1.0
        return SumProducts(
            lambda rows: np.asarray(rows @ self._weights) * (docs * length),
            docs**2 * self._squares,
            np.zeros_like(docs),
        )
