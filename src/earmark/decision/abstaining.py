"""A classifier that says "I don't know" where it cannot keep its promise (AB1)."""

from __future__ import annotations

import functools
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from earmark._checks import require_in_range, require_integer, require_one_of
from earmark.decision._calibration_data import (
    folds,
    independent_rows,
    listed,
    split_rows,
    strata,
)
from earmark.decision._deciding import any_of_decision, one_of_decision
from earmark.decision._evidence import (
    Evidence,
    any_of_evidence,
    joined,
    one_of_evidence,
)
from earmark.decision._inputs import copy_tags, require_labels
from earmark.decision._scores import (
    Scores,
    read_scores,
    scores_from_log_proba,
    to_shown,
)
from earmark.decision.any_of import AnyOfClassifier
from earmark.decision.costs import cheapest, checked_costs
from earmark.decision.decision import Decision
from earmark.decision.guarantee import (
    Threshold,
    estimated_threshold,
    guaranteed_threshold,
    several_words,
)
from earmark.evaluation._labels import as_labels, is_multi_label, label_sets
from earmark.evaluation._splits import n_rows, take
from earmark.exceptions import NotSupportedError
from earmark.typing import ArrayLike, FloatMatrix, FloatVector, Labels

__all__ = ["AbstainingClassifier"]

_METHODS = ("split", "leave_one_out", "cross_validated")


def _base_has(name: str) -> Any:
    """Offer a method only if the base classifier has it."""

    def check(self: AbstainingClassifier) -> bool:
        getattr(getattr(self, "base_", self.base), name)
        return True

    return available_if(check)


class AbstainingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Answer only where at most ``max_error`` of the answers are wrong.

    With calibration documents that took no part in fitting, given or split off,
    the promise is exact: the probability, over the draw of the calibration
    documents, that more than ``max_error`` of the answers to new documents of the
    same kind are wrong is at most ``1 - confidence``. If it cannot be kept, the
    classifier abstains on everything and says how many labels are missing.

    Parameters
    ----------
    base : classifier
        With ``predict_proba`` or ``decision_function``. A copy is fitted.
    max_error : float in (0, 1) or None, default=0.05
        Largest share of wrong answers; None never abstains.
    confidence : float in (0, 1), default=0.95
        How surely the promise holds.
    per_class : bool, default=False
        One threshold per predicted class: then the promise holds for the answers
        of every class, and for all of them together.
    cost : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Instead of ``max_error``: row true class, column answer, last column
        abstaining; the answer with the smallest expected cost is given.
    method : {"split", "leave_one_out", "cross_validated"}, default="split"
        Where confidence is measured when ``fit`` gets no calibration documents.
        Only "split" gives a guarantee; the other two fit on all documents and
        give an estimate.
    calibration_size : float in (0, 1), default=0.3
        Share of the documents split off.
    min_coverage : float in [0, 1], default=0.1
        Smallest share of documents worth answering. A smaller one lets harder
        problems be answered in part, but needs more labels.
    cv : int, default=5
        Folds for "cross_validated".
    random_state : int, default=0
        For the split and the folds.

    Attributes
    ----------
    base_ : classifier
        The fitted base.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    threshold_ : float or ndarray of shape (n_classes,)
        Confidence from which on a label is answered, as a probability (or a
        margin): inf never, 0 always. For any-of in log-odds from the label's cut.
    coverage_ : float
        Share of the calibration documents (any-of: label decisions) answered.
    guaranteed_error_ : float or None
        ``max_error`` if it is promised.
    estimated_error_ : float or None
        Share of wrong answers among the calibration documents answered, when
        only an estimate can be given.
    n_missing_ : int or None
        Labelled documents still missing when nothing is answered; None if more
        would not help.
    thresholds_ : list of dict
        Every threshold with its counts.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> X = rng.normal(2.0 * y, 1.0).reshape(-1, 1)
    >>> model = AbstainingClassifier(GaussianNB(), max_error=0.1).fit(X, y)
    >>> model.guaranteed_error_
    0.1
    >>> model.predict([[3.0], [1.0]])
    array([1, None], dtype=object)

    """

    def __init__(
        self,
        base: Any,
        *,
        max_error: float | None = 0.05,
        confidence: float = 0.95,
        per_class: bool = False,
        cost: Any = None,
        method: str = "split",
        calibration_size: float = 0.3,
        min_coverage: float = 0.1,
        cv: int = 5,
        random_state: int = 0,
    ) -> None:
        self.base = base
        self.max_error = max_error
        self.confidence = confidence
        self.per_class = per_class
        self.cost = cost
        self.method = method
        self.calibration_size = calibration_size
        self.min_coverage = min_coverage
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        calibration: tuple[Any, ArrayLike] | None = None,
    ) -> Self:
        """Fit the base and choose the thresholds.

        Parameters
        ----------
        X, y
            Documents and labels, as the base takes them; label lists for any-of.
        calibration : tuple (X, y), optional
            Labelled documents that are used for the thresholds only. Those that
            nearly repeat a training document or each other are left out.

        """
        self._check_parameters()
        require_labels(self, X, y)
        if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self.any_of_ = is_multi_label(y)
        if self.any_of_ and self.cost is not None:
            raise NotSupportedError(
                "a cost matrix is for one label a document, got label lists; set "
                "max_error, or AnyOfClassifier(metric='precision')."
            )
        self._forget_thresholds()
        if self.cost is not None or self.max_error is None:
            self._fit_base(X, y)
            if self.cost is not None:
                self.cost_ = checked_costs(self.cost, len(self.classes_))
            return self
        if calibration is not None:
            self._fit_base(X, y)
            rows = independent_rows(X, calibration[0])
            held = take(calibration[0], rows)
            self._calibrate(held, take(listed(calibration[1]), rows))
        elif self.method == "split":
            rng = np.random.default_rng(self.random_state)
            train, rows = split_rows(X, strata(y), self.calibration_size, rng)
            self._fit_base(take(X, train), take(listed(y), train))
            self._calibrate(take(X, rows), take(listed(y), rows))
        else:
            self._estimate(X, y)
        return self

    def predict(self, X: Any) -> Labels:
        """The label of each document, None where it abstains.

        Any-of: a tuple of labels, None where no label could be decided on; for a
        0/1 matrix in ``fit`` a matrix with NaN where it abstains.
        """
        check_is_fitted(self)
        if not self._abstains():
            labels: Labels = self.base_.predict(X)
            return labels
        made = self.decide(X)
        if self.any_of_ and self.base_.input_ == "indicator":
            return np.where(made.abstained, np.nan, self.base_.predict(X))
        return made.labels

    def decide(self, X: Any) -> Decision:
        """Labels, scores, abstentions and confidence."""
        check_is_fitted(self)
        return self._decide_any_of(X) if self.any_of_ else self._decide_one_of(X)

    @_base_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probabilities of the base, also where it abstains."""
        check_is_fitted(self)
        proba: FloatMatrix = self.base_.predict_proba(X)
        return proba

    @_base_has("decision_function")
    def decision_function(self, X: Any) -> FloatMatrix:
        """Scores of the base."""
        check_is_fitted(self)
        scores: FloatMatrix = self.base_.decision_function(X)
        return scores

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Share of right answers among the answers given; 0 when none is given."""
        labels = self.decide(X).labels if self._abstains() else self.predict(X)
        truth = label_sets(y, self.classes_) if self.any_of_ else as_labels(y)
        found = label_sets(labels, self.classes_) if self.any_of_ else as_labels(labels)
        weight = np.ones(len(truth)) if sample_weight is None else sample_weight
        given = np.array([label is not None for label in found]) * np.asarray(weight)
        right = np.array([t == a for t, a in zip(truth, found, strict=True)])
        return float(given @ right / given.sum()) if given.any() else 0.0

    def summary(self) -> str:
        """What is promised, in plain words."""
        check_is_fitted(self)
        if self.cost is not None:
            return "Gives the answer with the smallest expected cost."
        if self.max_error is None:
            return "Answers every document; nothing is promised about errors."
        return several_words([Threshold(**values) for values in self.thresholds_])

    def _check_parameters(self) -> None:
        if self.max_error is not None:
            hint = "a share of wrong answers, such as 0.05"
            require_in_range(
                self, "max_error", low=0, high=0.999, open_low=True, hint=hint
            )
        require_in_range(self, "confidence", low=0.0, high=0.999999, open_low=True)
        require_in_range(self, "calibration_size", low=0.0, high=0.99, open_low=True)
        require_in_range(self, "min_coverage", low=0.0, high=1.0)
        require_one_of(self, "method", _METHODS)
        require_integer(self, "cv", low=2)

    def _abstains(self) -> bool:
        return self.max_error is not None or self.cost is not None

    def _forget_thresholds(self) -> None:
        self.threshold_: Any = 0.0
        self.coverage_: float = 1.0
        self.guaranteed_error_: float | None = None
        self.estimated_error_: float | None = None
        self.n_missing_: int | None = 0
        self.thresholds_: list[dict[str, Any]] = []
        self.raw_threshold_: FloatVector = np.array([-np.inf])
        self.probabilistic_ = True

    def _fit_base(self, X: Any, y: Any) -> None:
        self.base_ = self._fitted(X, y)
        self.classes_ = self.base_.classes_
        if hasattr(self.base_, "n_features_in_"):
            self.n_features_in_ = self.base_.n_features_in_

    def _fitted(self, X: Any, y: Any) -> Any:
        base = clone(self.base)
        if self.any_of_ and not isinstance(base, AnyOfClassifier):
            base = AnyOfClassifier(base)
        return base.fit(X, y)

    def _calibrate(self, X: Any, y: Any) -> None:
        """Guaranteed thresholds from documents that took no part in fitting (AB1)."""
        assert self.max_error is not None
        if n_rows(X) == 0:
            self._keep([guaranteed_threshold([], [], self.max_error, self.confidence)])
            return
        found = self._evidence(self.base_, X, y)
        choose = functools.partial(
            guaranteed_threshold,
            max_error=self.max_error,
            # Several thresholds share the risk, so that all of them hold together.
            confidence_level=1 - (1 - self.confidence) / found.n_groups,
            min_coverage=self.min_coverage,
        )
        self._keep(found.thresholds(choose))

    def _estimate(self, X: Any, y: ArrayLike) -> None:
        """Estimated thresholds: every document is fitted on, and scored without."""
        self._fit_base(X, y)
        if self.method == "leave_one_out":
            if self.any_of_ or not hasattr(self.base_, "leave_one_out"):
                raise NotSupportedError(
                    f"{type(self.base_).__name__} has no leave_one_out; use "
                    "method='cross_validated' or 'split'."
                )
            log_proba = np.asarray(self.base_.leave_one_out(X, y))
            scores = scores_from_log_proba(log_proba)
            found = self._one_of_evidence(self.base_, scores, y)
        else:
            groups = None if self.any_of_ else strata(y)
            labels = listed(y)
            parts = []
            for train, held in folds(X, groups, self.cv, self.random_state):
                model = self._fitted(take(X, train), take(labels, train))
                parts.append(self._evidence(model, take(X, held), take(labels, held)))
            found = joined(parts)
        choose = functools.partial(estimated_threshold, max_error=self.max_error or 0)
        self._keep(found.thresholds(choose))

    def _evidence(self, model: Any, X: Any, y: Any) -> Evidence:
        if self.any_of_:
            margins = model.decision_function(X)
            return any_of_evidence(margins, model.classes_, y, self.classes_)
        return self._one_of_evidence(model, read_scores(model, X), y)

    def _one_of_evidence(self, model: Any, scores: Scores, y: Any) -> Evidence:
        self.probabilistic_ = scores.probabilistic
        return one_of_evidence(scores, model.classes_, y, self.classes_, self.per_class)

    def _keep(self, found: list[Threshold]) -> None:
        self.thresholds_ = [threshold.to_dict() for threshold in found]
        self.raw_threshold_ = np.array([threshold.value for threshold in found])
        answered = sum(t.n_answered for t in found)
        self.coverage_ = answered / max(sum(t.n_documents for t in found), 1)
        if not answered:
            missing = [t.n_missing for t in found if t.n_missing is not None]
            self.n_missing_ = min(missing, default=None)
        elif found[0].guaranteed:
            self.guaranteed_error_ = self.max_error
        else:
            self.estimated_error_ = sum(t.n_errors for t in found) / answered
        shown = self.raw_threshold_
        if not self.any_of_:
            shown = np.asarray(to_shown(shown, self.probabilistic_))
        single = not self.per_class and not self.any_of_
        self.threshold_ = float(shown[0]) if single else shown

    def _decide_one_of(self, X: Any) -> Decision:
        scores = read_scores(self.base_, X)
        if self.cost is None:
            raw = self.raw_threshold_
            cut = raw[scores.choice] if len(raw) > 1 else raw[0]
            unsure = scores.confidence < cut
            return one_of_decision(scores, scores.choice, unsure, self.classes_)
        if not scores.probabilistic:
            raise NotSupportedError(
                f"a cost matrix needs probabilities; {type(self.base_).__name__} has "
                "no predict_proba."
            )
        choice = cheapest(scores.shown, self.cost_)
        return one_of_decision(scores, choice, choice < 0, self.classes_)

    def _decide_any_of(self, X: Any) -> Decision:
        return any_of_decision(
            self.base_.decision_function(X),
            self.base_.predict_proba(X),
            self.classes_,
            self.raw_threshold_,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.base is not None:
            copy_tags(tags, get_tags(self.base))
        return tags
