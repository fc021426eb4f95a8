"""Classifiers around another one: what they share, and any number of labels (VS4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sized
from copy import copy
from dataclasses import field
from functools import update_wrapper
from inspect import signature
from types import MethodType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import special
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, assert_all_finite, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from earmark.decision.decision import (
    Decision,
    Scores,
    any_of_decision,
    label_tuples,
    read_scores,
)
from earmark.exceptions import DataError, NotSupportedError
from earmark.features.scoring import OF_VECTORS, ScoreParts, VectorWeights
from earmark.folds import check_equal_length, n_rows, stratified_folds, take
from earmark.inputs.duplicates import DuplicateGroups, group_copies
from earmark.inputs.labels import (
    as_labels,
    class_list,
    indicator_matrix,
    is_multi_label,
    label_array,
    label_matrix,
    label_sets,
)
from earmark.inputs.weights import ClassWeight, require_known_labels
from earmark.models.base.classifier import score_parts, two_classes
from earmark.models.shared.fit_progress import fit_progress
from earmark.parameters import (
    Jobs,
    Limits,
    PositiveShare,
    Verbosity,
    check_declared,
    estimator,
    offers,
    require_number,
    seed_of,
    shape_of,
)
from earmark.stored import (
    OPTIONAL,
    classifier,
    either,
    floats,
    in_file,
    instance,
    labels,
    optional,
    sequence,
    size,
)
from earmark.typing import (
    ArrayLike,
    BoolMatrix,
    BoolVector,
    ClassWeightLike,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Label,
    Labels,
    LabelsLike,
    RandomStateLike,
    WeightsLike,
)

# A label that is found worse than this, left out, keeps its natural threshold.
_LEAST_F1 = 0.3


class offered_if:  # noqa: N801 - a decorator
    """Offer a method only where ``check(self)`` does not raise UnavailableError.

    As scikit-learn's ``available_if``, but the error that a caller sees says why.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> offered_if:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)


def require_weighable(model: Estimator) -> None:
    """Raise unless a model's ``fit`` takes weights of documents."""
    takes = signature(model.fit).parameters
    passes_on = any(p.kind is p.VAR_KEYWORD for p in takes.values())
    if not (passes_on or "sample_weight" in takes):
        raise NotSupportedError(
            f"{type(model).__name__} cannot weight documents or classes; leave out "
            "class_weight and sample_weight, or take another model."
        )


class FitParams:
    """Keywords of ``fit`` for the wrapped estimator: routed if so set, for any rows."""

    def __init__(
        self,
        owner: Estimator,
        X: DocumentsLike,
        sample_weight: WeightsLike,
        params: dict[str, Any],
    ) -> None:
        if sample_weight is not None:
            require_weighable(owner.estimator)
            params = {**params, "sample_weight": np.asarray(sample_weight)}
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(owner, "fit", **params).estimator.fit
        self._params = params
        self._n_rows = n_rows(X)

    def of(self, rows: IntVector | None = None) -> dict[str, Any]:
        """What belongs to each document is cut to the rows; the rest stays whole."""
        if rows is None:
            return dict(self._params)
        return {
            name: take(value, rows) if self._is_by_row(value) else value
            for name, value in self._params.items()
        }

    def weighted(
        self, model: Estimator, factors: ClassWeight, y: IntVector
    ) -> FitParams:
        """The same, with the classes' factors on the documents."""
        require_weighable(model)
        weighted = copy(self)
        weight = factors.of_documents(y, self._params.get("sample_weight"))
        weighted._params = {**self._params, "sample_weight": weight}
        return weighted

    def _is_by_row(self, value: object) -> bool:
        sized = bool(shape_of(value)) or isinstance(value, Sized)
        return sized and not isinstance(value, str) and n_rows(value) == self._n_rows


@estimator
class WrappingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """A classifier around another one, its ``estimator``."""

    estimator: Annotated[
        Estimator, in_file(either(classifier(fitted=False), instance()))
    ] = field(default=None, kw_only=False)
    cv: int | Iterable[tuple[ArrayLike, ArrayLike]] = 5
    random_state: RandomStateLike = 0

    @abstractmethod
    def decide(self, X: DocumentsLike) -> Decision:
        """Labels, scores, abstentions and confidence."""

    def _check_wrapping(self) -> None:
        """Raise unless there is something to fit, and ``cv`` folds or splits."""
        if self.estimator is None:
            raise TypeError(
                f"{type(self).__name__}.estimator must be a classifier, got None."
            )
        cv: object = self.cv
        if isinstance(cv, str) or not isinstance(cv, Iterable):
            require_number(self, "cv", Limits(2), whole=True)

    def get_metadata_routing(self) -> MetadataRouter:
        """Keywords of ``fit`` go to the ``fit`` of the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self.estimator, method_mapping=mapping
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:  # what is true of the wrapper as well
            inner = get_tags(self.estimator)
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.input_tags.positive_only = inner.input_tags.positive_only
            if inner.classifier_tags is not None:
                tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def checked_labels(
    owner: object, X: DocumentsLike, y: LabelsLike, sample_weight: WeightsLike = None
) -> LabelsLike:
    """The labels; raise unless each document has one and something can be learned."""
    name = type(owner).__name__
    if y is None:
        raise DataError(
            f"{name} requires y to be passed, but the target y is None; pass it."
        )
    shape = shape_of(X)
    if len(shape) == 2 and shape[1] == 0:
        raise DataError(
            f"{name} got 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            "required."
        )
    check_equal_length(X=np.empty(n_rows(X)), y=np.empty(n_rows(y)))
    if n_rows(X) == 0:
        raise DataError(f"{name} needs documents to learn from, got n_samples = 0.")
    if not is_multi_label(y):
        values = np.asarray(y)
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
            check_classification_targets(values)
        if sample_weight is not None:
            _require_weighted(name, values, np.asarray(sample_weight, dtype=float))
    is_column = isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1
    return column_or_1d(y, warn=True) if is_column else y


def _require_weighted(name: str, y: Labels, weight: FloatVector) -> None:
    """Raise unless the weights leave something to tell apart."""
    if weight.shape != (len(y),):
        raise DataError(
            f"{name}: sample_weight must have the shape ({len(y)},), one weight per "
            f"document, got {weight.shape}."
        )
    if not (weight > 0).any():
        raise DataError(f"{name}: sample_weight is zero for every document.")
    left = np.unique(y[weight > 0])
    if len(left) < 2 <= len(np.unique(y)):
        raise DataError(
            f"{name} needs at least 2 classes, but sample_weight is above 0 for the "
            f"class {left.tolist()!r} only."
        )


def listed(y: Any) -> Any:
    """Labels that can be taken by rows: arrays stay arrays, the rest becomes lists."""
    if shape_of(y) and not hasattr(y, "columns"):
        return y
    return as_labels(y)


class _Data(NamedTuple):
    """Documents, copies and settings that the models of all labels share."""

    X: DocumentsLike
    copies: DuplicateGroups
    params: FitParams
    seed: int


@estimator
class AnyOfClassifier(WrappingClassifier):
    """One two-class classifier and one threshold per label.

    Every label is decided on by itself, so a document may get none, one or
    many. Thresholds are tuned on scores that did not see their own label.

    Parameters
    ----------
    estimator : classifier
        Fitted once per label on "has it" against "has it not".
    metric : {"f1", "precision"}, default="f1"
        Tune each threshold for the F1 of its label, or for the most answers at
        a precision of at least ``precision_floor``.
    precision_floor : float in (0, 1], default=0.9
        For ``metric="precision"``.
    scores : {"auto", "leave_one_out", "cross_validated", "none"}, default="auto"
        Where tuning scores come from. "auto": exact leave-one-out if the base has
        it, else cross-validation. "none" keeps the natural threshold, P >= 1/2.
    cv : int or iterable of (train, test), default=5
        Folds of the cross-validation.
    class_weight : None, "balanced" or dict, default=None
        Factor on the documents that have a label, in the problem of that label.
        "balanced": those that have it count as much as those that do not.
    random_state : int, RandomState, Generator or None, default=0
        Shuffles the folds.
    n_jobs : int or None, default=None
        Labels fitted at a time, each in a thread; never changes the result.
    verbose : int, default=0
        1 shows on a terminal how many labels are done.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimators_ : list
        One fitted two-class classifier per label; None for a label that every
        training document carries.
    cuts_ : ndarray of shape (n_classes,)
        On the log-odds (or the margin) of each label.
    input_ : {"sets", "indicator", "one"}
        How labels were given, and are given back: label lists, a 0/1 matrix, or
        one label per document (then the best one is answered).

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X = [[4, 0], [3, 0], [5, 0], [0, 4], [0, 3], [0, 5], [2, 2], [3, 3]]
    >>> y = [["a"], ["a"], ["a"], ["b"], ["b"], ["b"], ["a", "b"], ["a", "b"]]
    >>> model = AnyOfClassifier(MultinomialNB(), scores="none").fit(X, y)
    >>> model.predict([[6, 0], [2, 2]]).tolist()
    [('a',), ('a', 'b')]

    """

    classes_: Annotated[Labels, labels("n_classes")] = field(init=False)
    estimators_: Annotated[
        list[Any],
        sequence(
            optional(classifier(fitted=True, n_features="n_features")), "n_classes"
        ),
    ] = field(init=False)
    input_: Literal["one", "indicator", "sets"] = field(init=False)
    cuts_: Annotated[FloatVector, floats("n_classes", finite=False)] = field(init=False)
    n_features_in_: Annotated[int, size("n_features"), OPTIONAL] = field(init=False)

    any_of_: ClassVar[bool] = True
    metric: Literal["f1", "precision"] = "f1"
    precision_floor: PositiveShare = 0.9
    scores: Literal["auto", "leave_one_out", "cross_validated", "none"] = "auto"
    class_weight: ClassWeightLike = None
    n_jobs: Jobs = None
    verbose: Verbosity = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: WeightsLike = None,
        **fit_params: Any,
    ) -> Self:
        """Fit one classifier per label and tune its threshold.

        ``sample_weight`` and other keywords are passed on to the estimator's ``fit``.
        """
        params = FitParams(self, X, sample_weight, fit_params)
        check_declared(self)
        self._check_wrapping()
        truth = self._read_labels(checked_labels(self, X, y, sample_weight))
        self.estimators_: list[Any] = []
        self.cuts_ = np.zeros(len(self.classes_))
        require_known_labels(self.class_weight, self.classes_.tolist())
        data = _Data(X, group_copies(X), params, seed_of(self.random_state))
        if offers(self.estimator, "fit_labels"):
            return self._fit_together(truth, data)
        fits = Parallel(self.n_jobs, prefer="threads", return_as="generator")(
            delayed(self._fitted_label)(label, positive, data)
            for label, positive in zip(self.classes_.tolist(), truth.T, strict=True)
        )
        with fit_progress(
            self, len(self.classes_), "label", verbose=self.verbose
        ) as task_done:
            for column, (fitted, cut) in enumerate(fits):
                self.estimators_.append(fitted)
                self.cuts_[column] = cut
                task_done()
        for fitted in self.estimators_:
            if hasattr(fitted, "n_features_in_"):
                self.n_features_in_ = fitted.n_features_in_
        return self

    def decision_function(self, X: Any) -> FloatMatrix:
        """Score of each label minus its threshold: yes if at least 0.

        For two classes given as one label per document: the second minus the first.
        """
        margins = self._margins(X)
        if self.input_ == "one" and margins.shape[1] == 2:
            return margins[:, 1] - margins[:, 0]
        return margins

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probability of each label, (n_documents, n_classes); columns are independent.

        For one label per document the rows are made to add up to 1.
        """
        check_is_fitted(self)
        proba: FloatMatrix = special.expit(self._label_scores(X))
        if self.input_ == "one":
            total = proba.sum(axis=1, keepdims=True)
            even = np.full_like(proba, 1 / proba.shape[1])
            proba = np.divide(proba, total, out=even, where=total > 0)
        return proba

    def predict(self, X: Any) -> Labels:
        """The labels of each document, in the form in which ``fit`` got them."""
        margins = self._margins(X)
        if self.input_ == "one":
            best: Labels = self.classes_[margins.argmax(axis=1)]
            return best
        if self.input_ == "indicator":
            return (margins >= 0).astype(np.int64)
        return label_tuples(margins >= 0, self.classes_)

    def decide(self, X: Any) -> Decision:
        """Labels with scores and confidence."""
        check_is_fitted(self)
        scores = self._label_scores(X)
        return any_of_decision(
            scores - self.cuts_, special.expit(scores), self.classes_
        )

    def score_parts(self, X: Any) -> list[ScoreParts]:
        """Each label's score over its threshold, taken apart."""
        check_is_fitted(self)
        each = [self._label_parts(c, X) for c in range(len(self.classes_))]
        parts = []
        for one, decided in zip(
            zip(*each, strict=True), self._label_scores(X), strict=True
        ):
            terms = np.stack([p.terms[:, 1] - p.terms[:, 0] for p in one], axis=1)
            bias = [_lead(*p.constants.values()) for p in one]
            # A similarity is a sum over terms, and decided on as log-odds: other units.
            total = terms.sum(axis=0) + bias
            unit = np.ones(len(one))
            np.divide(decided, total, unit, where=np.isfinite(decided) & (total != 0))
            constants = {"bias": unit * bias, "threshold": -self.cuts_}
            if OF_VECTORS in one[0].constants:
                own = unit * [_lead(p.constants[OF_VECTORS]) for p in one]
                constants |= {"bias": constants["bias"] - own, OF_VECTORS: own}
            parts.append(ScoreParts(one[0].columns, unit * terms, constants))
        return parts

    def vector_weights(self, row: Any) -> VectorWeights | None:
        """What the vector of a document is multiplied by."""
        each = [model.vector_weights(row) for model in self.estimators_]
        if any(one is None for one in each):
            return None
        weights = [one.weights[:, 1] - one.weights[:, 0] for one in each]
        return VectorWeights(np.stack(weights, axis=1))

    def _label_parts(self, c: int, X: Any) -> list[ScoreParts]:
        model = self.estimators_[c]
        if model is None:
            raise NotSupportedError(
                f"label {self.classes_[c]!r} is on every training document, so no "
                "word speaks for or against it."
            )
        return score_parts(model, X)

    def _read_labels(self, y: ArrayLike) -> BoolVector:
        """Set classes_ and input_; the labels as a 0/1 matrix."""
        if not is_multi_label(y):
            self.input_ = "one"
            column = column_or_1d(y)
            check_classification_targets(column)
            self.classes_, index = two_classes(self, column)
            one: BoolVector = index[:, None] == np.arange(len(self.classes_))
            return one
        matrix = indicator_matrix(y)
        if matrix is not None:
            self.input_ = "indicator"
            self.classes_ = np.arange(matrix.shape[1])
            truth: BoolVector = matrix != 0
        else:
            self.input_ = "sets"
            sets = [s if s is not None else frozenset() for s in label_sets(y)]
            labels = class_list(*sets)
            self.classes_ = label_array(labels)
            truth = label_matrix(sets, labels)
        if not truth.any():
            raise DataError(
                "no training document carries a label; at least one is needed."
            )
        return truth

    def _fit_together(self, truth: BoolMatrix, data: _Data) -> Self:
        """All labels at once, for an estimator that can."""
        some = np.flatnonzero(~truth.all(axis=0))
        factor = self._factors(truth)[:, some]
        self.estimators_ = [None] * len(self.classes_)
        X, rows = data.X, np.arange(len(truth))
        fitted = self._fitted_labels(X, truth[:, some], factor, data, rows)
        for label, model in zip(some.tolist(), fitted, strict=True):
            self.estimators_[label] = model
            self.n_features_in_ = model.n_features_in_
        if self.scores == "none" or self.input_ == "one":
            return self
        # Documents are dealt to the folds by the rarest label that they have.
        frequency = truth.sum(axis=0)
        rarest = np.where(truth, frequency, len(truth) + 1).argmin(axis=1)
        strata = np.where(truth.any(axis=1), rarest, -1)
        scores = np.full((len(truth), len(some)), -np.inf)
        folds = stratified_folds(strata, self.cv, data.seed, data.copies.group)
        for train, test in folds:
            known = np.flatnonzero(truth[train][:, some].any(axis=0))
            models = self._fitted_labels(
                take(X, train),
                truth[train][:, some[known]],
                factor[:, known],
                data,
                train,
            )
            rest = take(X, test)
            for column, model in zip(known.tolist(), models, strict=True):
                scores[test, column] = _signed(read_scores(model, rest))
        floor = self.precision_floor if self.metric == "precision" else None
        for column, label in enumerate(some.tolist()):
            if min(frequency[label], len(truth) - frequency[label]) >= 2:
                positive = truth[:, label]
                self.cuts_[label] = best_cut(scores[:, column], positive, floor)
        return self

    def _fitted_labels(
        self,
        X: Any,
        truth: BoolMatrix,
        factor: FloatMatrix,
        data: _Data,
        rows: IntVector,
    ) -> list[Estimator]:
        """A model for each label of some documents."""
        own = data.params.of(rows)
        fitted: list[Estimator] = clone(self.estimator).fit_labels(
            X, truth, factor=factor, **own
        )
        return fitted

    def _factors(self, truth: BoolMatrix) -> FloatMatrix:
        """Factors on documents without each label and with it, (2, n_labels)."""
        factor, n = np.ones((2, truth.shape[1])), len(truth)
        if self.class_weight is None:
            return factor
        if isinstance(self.class_weight, str):
            has = np.clip(truth.sum(axis=0), 1, n - 1) if n > 1 else np.ones(1)
            return np.stack([n / (2.0 * (n - has)), n / (2.0 * has)])
        for c, label in enumerate(self.classes_.tolist()):
            factor[1, c] = self.class_weight.get(label, 1.0)
        return factor

    def _fitted_label(
        self, label: Label, positive: BoolVector, data: _Data
    ) -> tuple[Estimator | None, float]:
        """The model of one label and its threshold; None if every document has it."""
        if positive.all():
            return None, 0.0
        target = positive.astype(np.int64)
        if self.class_weight is not None:
            factors = self.class_weight
            if not isinstance(factors, str):
                factors = {1: factors.get(label, 1.0)}
            own = ClassWeight(factors)
            params = data.params.weighted(self.estimator, own, target)
            data = data._replace(params=params)
        fitted = clone(self.estimator).fit(data.X, target, **data.params.of())
        scores = self._unseen_scores(target, fitted, data)
        if scores is None:
            return fitted, 0.0
        floor = self.precision_floor if self.metric == "precision" else None
        return fitted, best_cut(scores, positive, floor)

    def _unseen_scores(
        self, target: IntVector, fitted: Estimator, data: _Data
    ) -> FloatVector | None:
        """Scores by models fitted without the document; None if no cut is tuned."""
        enough = np.bincount(target, minlength=2).min() >= 2
        if self.scores == "none" or self.input_ == "one" or not enough:
            return None
        way = self.scores
        if way == "auto":
            # Leaving one of two copies out is leaving nothing out.
            exact = offers(fitted, "leave_one_out") and not data.copies.share
            way = "leave_one_out" if exact else "cross_validated"
        if way == "leave_one_out":
            weight = data.params.of().get("sample_weight")
            extra = {} if weight is None else {"sample_weight": weight}
            log_p = np.asarray(fitted.leave_one_out(data.X, target, **extra))
            return _signed(Scores.from_log_proba(log_p))
        scores = np.full(len(target), -np.inf)
        folds = stratified_folds(target, self.cv, data.seed, data.copies.group)
        for train, test in folds:
            if len(np.unique(target[train])) < 2:
                continue  # all copies of one document: nothing to learn it from
            known, own = take(data.X, train), data.params.of(train)
            model = clone(self.estimator).fit(known, target[train], **own)
            scores[test] = _signed(read_scores(model, take(data.X, test)))
        return scores

    def _label_scores(self, X: Any) -> FloatMatrix:
        """Log-odds (or margin) of every label."""
        columns = [
            None if model is None else _signed(read_scores(model, X))
            for model in self.estimators_
        ]
        n_documents = next((len(c) for c in columns if c is not None), None)
        if n_documents is None:
            n_documents = n_rows(X)
        always = np.full(n_documents, np.inf)  # a label that every document has
        return np.column_stack([always if c is None else c for c in columns])

    def _margins(self, X: Any) -> FloatMatrix:
        check_is_fitted(self)
        margins: FloatMatrix = self._label_scores(X) - self.cuts_
        return margins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def best_cut(
    scores: FloatVector, positive: BoolVector, precision_floor: float | None = None
) -> float:
    """Threshold with the best F1, or the most answers at a precision floor.

    Answers are the scores >= threshold; it lies midway between two scores. A label
    that no cut finds well (an F1 below 0.3) is given from the natural threshold on,
    0, and no sooner: the best of bad cuts is where the noise lies, and would give a
    rare label to every tenth document (Yang 2001, "SCutFBR"). Where
    no cut reaches the floor, it lies above all scores: the label is never given.
    Nor is it ever given to documents that cannot have it (a score of -inf), even
    where that is what the few positive documents got when they were left out.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if not ranked[0] > -np.inf:
        return float(np.finfo(np.float64).max)
    hits = np.cumsum(positive[order])
    last = np.r_[ranked[1:] != ranked[:-1], True]  # of each tie
    ends = np.flatnonzero(last & (ranked > -np.inf))
    said = ends + 1
    if precision_floor is None:
        value = 2 * hits[ends] / (said + hits[-1])
        best = int(value.argmax())
    else:
        good = np.flatnonzero(hits[ends] >= precision_floor * said - 1e-9)
        if not len(good):
            return float(np.nextafter(ranked[0], np.inf))
        best = int(good[-1])
    cut = int(ends[best])
    if cut + 1 == len(ranked):
        threshold = float(np.nextafter(ranked[cut], -np.inf))
    else:
        threshold = _between(float(ranked[cut]), float(ranked[cut + 1]))
    if precision_floor is None and value[best] < _LEAST_F1:
        return max(threshold, 0.0)
    return threshold


def _between(high: float, low: float) -> float:
    """A value halfway between two numbers, also if one of them is infinite."""
    if np.isfinite(high) and np.isfinite(low):
        middle = low + (high - low) / 2
        return middle if low < middle <= high else high
    if np.isfinite(high):
        return high
    return float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0


def _lead(*columns: FloatVector) -> float:
    """How much more the second of two classes gets than the first."""
    return float(sum(column[1] - column[0] for column in columns))


def _signed(scores: Any) -> FloatVector:
    """Confidence with a sign: positive for the second of two classes."""
    signed: FloatVector = np.where(
        scores.choice == 1, scores.certainty, -scores.certainty
    )
    return signed
