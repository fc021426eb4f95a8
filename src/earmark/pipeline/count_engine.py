"""Raw text -> class statistics -> count model, without a document-term matrix.

Statistics are keyed by term and unpruned; columns appear when the model is
finalised. So learning, forgetting and merging agree whatever the vocabulary
was when each document came.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from earmark.exceptions import DataError
from earmark.features import WordCounter
from earmark.features.analysis import count_by_class
from earmark.features.word_counter import no_term_left, prunes, term_mask
from earmark.kernels.text import Documents
from earmark.models.base.classifier import check_parameters
from earmark.parameters import with_parameters
from earmark.pipeline.inputs import RegionTexts, column_of
from earmark.pipeline.matrix_engine import ALONE, Engine, More
from earmark.pipeline.text_features import RegionFeatures
from earmark.statistics import ClassStatistics
from earmark.statistics.class_statistics import (
    label_positions,
    require_known_labels,
    require_same_classes,
)
from earmark.typing import FloatMatrix, FloatVector, Labels, WeightsLike


def text_statistics(
    counter: WordCounter,
    texts: Documents,
    y: Labels,
    classes: Labels,
    weight: WeightsLike,
) -> ClassStatistics:
    """Class statistics of raw texts, keyed by term and unpruned (CS1)."""
    # Unweighted documents go straight from tokens to sums, without a matrix. Terms of
    # a given vocabulary count even where no document has them.
    if weight is None and not counter.binary and counter.vocabulary is None:
        y_index = label_positions(y, classes, len(texts))
        terms, tokens, presence = count_by_class(counter, texts, y_index, len(classes))
        docs = np.bincount(y_index, minlength=len(classes)).astype(np.int64)
        return ClassStatistics.from_sums(classes, docs, tokens, presence, terms)
    every = clone(counter).set_params(min_df=1, max_df=1.0, max_features=None)
    X = every.fit_transform(texts)
    terms = every.get_feature_names_out()
    if counter.vocabulary is not None:  # in an order of its own
        order = np.argsort(terms)
        X, terms = X[:, order], terms[order]
    return ClassStatistics(classes, terms=terms).add(X, y, weight)


def kept_statistics(
    counter: WordCounter, statistics: ClassStatistics
) -> ClassStatistics:
    """The columns that the counter's limits on frequency leave."""
    if not prunes(counter):
        return statistics
    totals = statistics.presence if counter.binary else statistics.tokens
    mask = term_mask(
        counter,
        int(statistics.docs.sum()),
        statistics.document_frequency(),
        np.asarray(totals.sum(axis=0)).ravel(),
    )
    return statistics.select(np.flatnonzero(mask))


def class_factors(
    class_weight: Any, classes: Labels, docs: FloatVector
) -> FloatVector | None:
    """What ``class_weight`` multiplies each class by, or None for no weighting."""
    # Balanced as in scikit-learn, to the last bit; a class without documents counts 0.
    known = classes.tolist()
    require_known_labels(class_weight, known)
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        seen = docs > 0
        factors: FloatVector = np.zeros(len(docs))
        np.divide(docs.sum(), seen.sum() * docs, out=factors, where=seen)
        return factors
    return np.asarray([float(class_weight.get(label, 1.0)) for label in known])


# Counts beyond this are added up at once: a sum that int64 cannot hold is refused then.
_LARGE_COUNT = 2.0**40
_MOST_WAITING = 256


@with_parameters()
class CountEngine(Engine):
    """A count model over raw text, exact to update."""

    estimator: Any = field(kw_only=False)
    """The model, unfitted."""
    counter: WordCounter = field(kw_only=False)
    """How text becomes terms; its limits on document frequency apply when the model is
    finalised."""
    class_weight: Any = None
    """None, "balanced" or a dict: factor on each class's statistics."""

    _transient = ("_waiting", "model_", "terms_", "_columns", "_fused")
    _columns: RegionFeatures | None = None
    # Made from the statistics and the batches that wait, when they are asked for.
    _from_waiting = ("statistics_", "model_", "terms_")

    # -- learning ------------------------------------------------------------

    def fit(self, texts: RegionTexts, y: Labels, more: More = ALONE) -> Self:
        """Learn afresh from the texts; the rest has no part in it."""
        check_parameters(self.estimator)
        self.regions_ = list(texts)
        classes = np.unique(y)
        self.statistics_ = self._counted(texts, y, more.weight, classes)
        return self.finalise()

    def partial_fit(self, texts: RegionTexts, y: Labels, classes: Any | None) -> Self:
        """Learn more documents, as one ``fit`` on all; they wait until asked for."""
        if not {"statistics_", "_waiting"} & vars(self).keys():
            self.regions_ = list(texts)
            known = np.unique(y if classes is None else np.asarray(classes))
            self.statistics_ = self._counted(texts, y, None, known)
            return self.finalise()
        require_same_classes(classes, self.classes_)
        return self._wait(self._counted(texts, y, None, self.classes_))

    def _wait(self, batch: list[ClassStatistics]) -> Self:
        """Put a batch of known classes aside until the sums are asked for."""
        own = vars(self)
        if "_waiting" not in own:
            asked = {k: own.pop(k) for k in self._from_waiting if k in own}
            self._waiting: tuple[dict[str, Any], list[Any]] = (asked, [])
        self._waiting[1].append(batch)
        most = max(float(s.tokens.data.max(initial=0)) for s in batch)
        if most > _LARGE_COUNT or len(self._waiting[1]) >= _MOST_WAITING:
            self._settle()
        return self

    def _settle(self) -> None:
        """Add up what waits; on an error the model is that of before."""
        asked, batches = vars(self).get("_waiting", ({}, []))
        if not batches:
            return
        try:
            merged = [old.copy() for old in asked["statistics_"]]
            for batch in batches:
                for old, new in zip(merged, batch, strict=True):
                    old.merge(new)
            vars(self).update(asked, statistics_=merged)
            self.finalise()
        except DataError:
            vars(self).update(asked)
            raise
        finally:
            vars(self).pop("_waiting", None)

    def __getattr__(self, name: str) -> Any:
        if name in type(self)._from_waiting and "_waiting" in vars(self):
            self._settle()
            return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def forget(self, texts: RegionTexts, y: Labels) -> Self:
        """Unlearn documents that were learned; more than that is a DataError."""
        batch = self._counted(texts, y, None, self.classes_)
        pairs = zip(self.statistics_, batch, strict=True)
        rest = [old.copy().subtract(new) for old, new in pairs]
        if not sum(s.docs.sum() for s in rest):
            raise DataError(
                "these are all the documents that the model has learned; nothing was "
                "changed. Delete the model instead."
            )
        before = dict(vars(self))
        try:
            self.statistics_ = rest
            return self.finalise()
        except DataError:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _counted(
        self, texts: RegionTexts, y: Labels, weight: WeightsLike, classes: Labels
    ) -> list[ClassStatistics]:
        """Statistics of each region; an unknown label is an error (CS1)."""
        return [
            text_statistics(
                self.counter, column_of(texts, region), np.asarray(y), classes, weight
            )
            for region in self.regions_
        ]

    def finalise(self) -> Self:
        """Choose columns, put the regions side by side, derive the parameters."""
        self.classes_ = self.statistics_[0].classes
        pruned = [kept_statistics(self.counter, s) for s in self.statistics_]
        before, self.terms_ = self.__dict__.get("terms_", []), [s.terms for s in pruned]
        if not sum(s.n_features for s in pruned):
            raise DataError(no_term_left(self.counter))
        joined = ClassStatistics.from_sums(
            self.classes_,
            self.statistics_[0].docs,
            sparse.hstack([s.tokens for s in pruned], format="csr"),
            sparse.hstack([s.presence for s in pruned], format="csr"),
        )
        factor = class_factors(
            self.class_weight, self.classes_, joined.docs.astype(np.float64)
        )
        self.model_ = clone(self.estimator).finalise(
            joined if factor is None else joined.scaled(factor)
        )
        is_same = [new is old for new, old in zip(self.terms_, before, strict=False)]
        if not before or not all(is_same):  # else the look-up tables still serve
            self._columns = None
        return self

    # -- answering -------------------------------------------------------------

    @property
    def region_names(self) -> list[str]:
        """The regions that the model knows; nothing that waits is added up for that."""
        return list(self.regions_)

    @property
    def columns(self) -> RegionFeatures:
        """Counters of the terms, made at first use."""
        terms = dict(zip(self.regions_, self.terms_, strict=True))
        if self._columns is None:
            self._columns = RegionFeatures.of_terms(self.counter, terms)
        return self._columns

    def refusals(self) -> dict[str, str]:
        """None: these models can do it all."""
        return {}

    def leave_one_out(
        self, texts: RegionTexts, y: Labels, sample_weight: WeightsLike = None
    ) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on (NB8)."""
        weight = self._factor_weights(y, sample_weight)
        return np.asarray(self.model_.leave_one_out(self.matrix(texts), y, weight))

    def _factor_weights(self, y: Labels, sample_weight: WeightsLike) -> Any | None:
        docs = self.statistics_[0].docs.astype(np.float64)
        factor = class_factors(self.class_weight, self.classes_, docs)
        if factor is None:
            return sample_weight
        scale = factor[label_positions(np.asarray(y), self.classes_, len(y))]
        return scale if sample_weight is None else scale * np.asarray(sample_weight)

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "statistics_" in state:
            self.finalise()
