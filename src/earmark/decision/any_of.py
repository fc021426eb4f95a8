"""Any number of labels per document: one yes/no decision per label (VS4)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import special
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from earmark.decision.decision import (
    Decision,
    Scores,
    any_of_decision,
    label_tuples,
    read_scores,
)
from earmark.decision.wrapping import FitParams, WrappingClassifier, checked_labels
from earmark.evaluation.duplicates import DuplicateGroups, group_copies
from earmark.evaluation.labels import (
    class_list,
    indicator_matrix,
    is_multi_label,
    label_array,
    label_matrix,
    label_sets,
)
from earmark.exceptions import DataError
from earmark.folds import n_rows, stratified_folds, take
from earmark.models.base import two_classes
from earmark.models.progress import FitProgress
from earmark.parameters import (
    offers,
    require_in_range,
    require_one_of,
    seed_of,
    with_parameters,
)
from earmark.typing import (
    ArrayLike,
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    Labels,
    WeightsLike,
)

__all__ = ["AnyOfClassifier", "best_cut"]


@with_parameters()
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
    random_state : int, RandomState, Generator or None, default=0
        Shuffles the folds.
    n_jobs : int or None, default=None
        Labels fitted at a time, each in a thread; never changes the result.
    verbose : int, default=0
        1 shows on a terminal how many labels are done.
    base : classifier
        The name of ``estimator`` before version 0.2; deprecated.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimators_ : list
        One fitted two-class classifier per label; None for a label that every
        training document carries.
    threshold_ : ndarray of shape (n_classes,)
        On the log-odds (or the margin) of each label.
    input_ : {"sets", "indicator", "one"}
        How labels were given, and are given back: label lists, a 0/1 matrix, or
        one label a document (then the best one is answered).

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X = [[4, 0], [3, 0], [5, 0], [0, 4], [0, 3], [0, 5], [2, 2], [3, 3]]
    >>> y = [["a"], ["a"], ["a"], ["b"], ["b"], ["b"], ["a", "b"], ["a", "b"]]
    >>> model = AnyOfClassifier(MultinomialNB(), scores="none").fit(X, y)
    >>> model.predict([[6, 0], [2, 2]]).tolist()
    [('a',), ('a', 'b')]

    """

    metric: str = "f1"
    precision_floor: float = 0.9
    scores: str = "auto"
    n_jobs: int | None = None
    verbose: int = 0

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
        self._use_new_name()
        params = FitParams(self, X, sample_weight, fit_params)
        require_one_of(self, "metric", ("f1", "precision"))
        require_in_range(self, "precision_floor", low=0.0, high=1.0, open_low=True)
        ways = ("auto", "leave_one_out", "cross_validated", "none")
        require_one_of(self, "scores", ways)
        self._require_folds()
        truth = self._read_labels(checked_labels(self, X, y, sample_weight))
        self.estimators_: list[Any] = []
        self.threshold_ = np.zeros(len(self.classes_))
        copies = group_copies(X)
        seed = seed_of(self.random_state)
        fits = Parallel(self.n_jobs, prefer="threads", return_as="generator")(
            delayed(self._fitted_label)(X, positive, copies, params, seed)
            for positive in truth.T
        )
        with FitProgress(
            self, len(self.classes_), "label", verbose=self.verbose
        ) as progress:
            for column, (fitted, cut) in enumerate(fits):
                self.estimators_.append(fitted)
                self.threshold_[column] = cut
                progress.task_done()
        for fitted in self.estimators_:
            if hasattr(fitted, "n_features_in_"):
                self.n_features_in_ = fitted.n_features_in_
        return self

    def decision_function(self, X: Any) -> FloatMatrix:
        """Score of each label minus its threshold: yes if at least 0.

        For two classes given as one label a document: the second minus the first.
        """
        margins = self._margins(X)
        if self.input_ == "one" and margins.shape[1] == 2:
            return margins[:, 1] - margins[:, 0]
        return margins

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probability of each label, (n_documents, n_classes); columns are independent.

        For one label a document the rows are made to add up to 1.
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
            scores - self.threshold_, special.expit(scores), self.classes_
        )

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

    def _fitted_label(
        self,
        X: Any,
        positive: BoolVector,
        copies: DuplicateGroups,
        params: FitParams,
        seed: int | None,
    ) -> tuple[Estimator, float]:
        """The model of one label and its threshold; None if every document has it."""
        if positive.all():
            return None, 0.0
        target = positive.astype(np.int64)
        fitted = clone(self.estimator).fit(X, target, **params.of())
        return fitted, self._tuned(X, positive, fitted, copies, params, seed)

    def _tuned(
        self,
        X: Any,
        positive: BoolVector,
        fitted: Estimator,
        copies: DuplicateGroups,
        params: FitParams,
        seed: int | None,
    ) -> float:
        n_positive = int(positive.sum())
        enough = min(n_positive, len(positive) - n_positive) >= 2
        if self.scores == "none" or self.input_ == "one" or not enough:
            return 0.0
        way = self.scores
        if way == "auto":
            # Leaving one of two copies out is leaving nothing out.
            exact = offers(fitted, "leave_one_out") and not copies.share
            way = "leave_one_out" if exact else "cross_validated"
        if way == "leave_one_out":
            weight = params.of().get("sample_weight")
            extra = {} if weight is None else {"sample_weight": weight}
            log_p = fitted.leave_one_out(X, positive.astype(np.int64), **extra)
            scores = _signed(Scores.from_log_proba(np.asarray(log_p)))
        else:
            scores = self._held_out(X, positive, copies, params, seed)
        floor = self.precision_floor if self.metric == "precision" else None
        return best_cut(scores, positive, floor)

    def _held_out(
        self,
        X: Any,
        positive: BoolVector,
        copies: DuplicateGroups,
        params: FitParams,
        seed: int | None,
    ) -> FloatVector:
        target = positive.astype(np.int64)
        scores = np.full(len(target), -np.inf)
        for train, test in stratified_folds(target, self.cv, seed, copies.group):
            if target[train].min() == target[train].max():
                continue  # all copies of one document: nothing to learn it from
            known = params.of(train)
            model = clone(self.estimator).fit(take(X, train), target[train], **known)
            scores[test] = _signed(read_scores(model, take(X, test)))
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
        margins: FloatMatrix = self._label_scores(X) - self.threshold_
        return margins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def best_cut(
    scores: FloatVector, positive: BoolVector, precision_floor: float | None = None
) -> float:
    """Threshold with the best F1, or the most answers at a precision floor.

    Answers are the scores >= threshold; it lies midway between two scores. Where
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
        return float(np.nextafter(ranked[cut], -np.inf))
    return _between(float(ranked[cut]), float(ranked[cut + 1]))


def _between(high: float, low: float) -> float:
    """Midway, also where one of the two is infinite."""
    if np.isfinite(high) and np.isfinite(low):
        middle = low + (high - low) / 2
        return middle if low < middle <= high else high
    if np.isfinite(high):
        return high
    return float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0


def _signed(scores: Any) -> FloatVector:
    """Confidence with a sign: positive for the second of two classes."""
    signed: FloatVector = np.where(
        scores.choice == 1, scores.certainty, -scores.certainty
    )
    return signed
