"""A classifier that says "I don't know" where it cannot keep its promise (AB1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from scipy import special
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from earmark.decision.any_of import (
    AnyOfClassifier,
    FitParams,
    WrappingClassifier,
    checked_labels,
    listed,
)
from earmark.decision.calibration import LearnedConfidence
from earmark.decision.decision import (
    Decision,
    Scores,
    has_probabilities,
    indicator_answers,
    one_of_decision,
    read_scores,
    with_abstain_label,
)
from earmark.decision.evidence import Evidence, Judge
from earmark.decision.guarantee import (
    Coverages,
    Threshold,
    checked_coverages,
    several_words,
    words_per_label,
)
from earmark.decision.left_out import LeftOut, calibration_evidence, split_rows
from earmark.exceptions import DataError, Named, NotSupportedError, Try
from earmark.folds import check_equal_length, take
from earmark.inputs.labels import (
    as_labels,
    is_multi_label,
    label_column,
    right_answers,
)
from earmark.parameters import Limits, check_declared, estimator, offers, seed_of
from earmark.stored import DERIVED, OPTIONAL, classifier, floats, integers, labels, size
from earmark.typing import (
    ArrayLike,
    DocumentsLike,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    LabelsLike,
    WeightsLike,
)

# What a promise may be: the share of wrong answers, and how sure it is.
ErrorRate: TypeAlias = Annotated[
    float, Limits(0.0, 0.999, True, "a share of wrong answers, such as 0.05")
]
Level: TypeAlias = Annotated[float, Limits(0.0, 0.999999, open_low=True)]


def _base_has(name: str) -> Any:
    """Offer a method only if the base classifier has it."""

    def check(self: AbstainingClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return available_if(check)


class Promising(ABC):
    """A classifier that abstains to keep a promise; what the promise comes to.

    ``max_error`` and ``level`` may be set anew without fitting again: thresholds
    follow from ``evidence_`` when they are asked for.
    """

    classes_: Annotated[Labels, labels("n_classes")]
    max_error: float | None
    level: float
    min_coverage: Coverages
    max_novelty: float | None = None
    evidence_: Evidence | None = None
    learned_confidence_: LearnedConfidence | None = None
    class_sizes_: Annotated[IntVector, integers("n_classes")] | None = None
    _how_to_set: ClassVar[str] = " set"
    _how_to_measure: ClassVar[tuple[Try, ...]] = ()
    # Evidence, parameters of the promise and its thresholds: once, not for each text.
    _promised: Annotated[
        tuple[Evidence, tuple[object, ...], list[Threshold]] | None, DERIVED
    ] = None

    @abstractmethod
    def summary(self) -> str:
        """What is promised, in plain words."""

    @property
    def thresholds_(self) -> list[Threshold]:
        """From which certainty on it answers; empty when it always does.

        One threshold, or one for each label where each is decided on by itself.
        ``summary()`` says in words what is promised.
        """
        evidence, known = self.evidence_, self._promised
        if self.max_error is None or evidence is None:
            return []
        promise = (self.max_error, self.level, self.min_coverage)
        key = (*promise, self.max_novelty)
        if known is None or known[0] is not evidence or known[1] != key:
            thresholds = evidence.among_ordinary(self.max_novelty).thresholds(*promise)
            known = self._promised = (evidence, key, thresholds)
        return list(known[2])

    @property
    def min_confidence_(self) -> float | FloatVector:
        """The confidence from which on it answers: 0 always, inf never.

        With several labels per document an array: the distance of each label's score
        from its cut.
        """
        values, evidence = np.array([t.value for t in self.thresholds_]), self.evidence_
        if evidence is None or not len(values):
            return 0.0
        if evidence.probabilistic and not evidence.about_labels:
            values = np.where(np.isposinf(values), np.inf, special.expit(values))
        return float(values[0]) if evidence.group is None else values

    @property
    def coverage_(self) -> float:
        """Share of the calibration documents (or label decisions) answered."""
        if not self.thresholds_:
            return 1.0
        n_documents = sum(t.n_documents for t in self.thresholds_)
        return sum(t.n_answered for t in self.thresholds_) / max(n_documents, 1)

    @property
    def guaranteed_error_(self) -> float | None:
        """``max_error`` if it is promised, else None."""
        answering = [t for t in self.thresholds_ if t.n_answered]
        is_promised = answering and all(t.guaranteed for t in answering)
        return self.max_error if is_promised else None

    @property
    def estimated_error_(self) -> float | None:
        """Share of wrong answers among those seen, when nothing is promised."""
        n_answered = sum(t.n_answered for t in self.thresholds_)
        if not n_answered or self.guaranteed_error_ is not None:
            return None
        return sum(t.n_errors for t in self.thresholds_) / n_answered

    @property
    def n_missing_(self) -> int | None:
        """Labelled documents missing when nothing is answered; None: no use."""
        thresholds = self.thresholds_
        if not thresholds or any(t.n_answered for t in thresholds):
            return 0
        missing = [t.n_missing for t in thresholds if t.n_missing is not None]
        return min(missing, default=None)

    def _within_promise(self, decision: Decision) -> Decision:
        """The decision without the answers that the promise does not allow."""
        if self.max_error is None:
            return decision
        if self.evidence_ is None:
            named = Named("max_error")
            needs = " needs to know how accurate the answers are: fit with "
            ways = self._how_to_measure
            fault: list[str | Named] = [named, needs, named, self._how_to_set]
            raise DataError(fault, *ways, about="max_error")
        return decision.at(self.thresholds_)

    def _ranked(self, scores: Scores, X: DocumentsLike) -> Scores:
        """Scores with the learned certainty, if there is one."""
        if self.learned_confidence_ is None:
            return scores
        assert self.class_sizes_ is not None
        return self.learned_confidence_.ranked(scores, self.class_sizes_, X)

    def _check_promise(self) -> None:
        """Raise unless ``max_error`` and ``level`` are valid."""
        check_declared(self)
        checked_coverages(self.min_coverage, f"{type(self).__name__}.")

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report evidence that is about other classes."""
        evidence = self.evidence_
        if evidence is not None:
            grouped = evidence.group is not None
            if evidence.n_groups != (sizes["n_classes"] if grouped else 1):
                yield ".evidence_ is about other classes"


@estimator
class AbstainingClassifier(Promising, WrappingClassifier):
    """Answer only where at most ``max_error`` of the answers are wrong.

    With calibration documents that took no part in fitting, given or split off,
    the promise is exact: the probability, over the draw of the calibration
    documents, that more than ``max_error`` of the answers to new documents of the
    same kind are wrong is at most ``1 - level``. If it cannot be kept, the
    classifier abstains on everything and says how many labels are missing.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``. A copy is fitted.
    max_error : float in (0, 1) or None, default=0.05
        Largest share of wrong answers; None never abstains.
    level : float in (0, 1), default=0.95
        How surely the promise holds.
    per_class : bool, default=False
        One threshold per predicted class: then the promise holds for the answers
        of every class, and for all of them together. Classes with too few calibration
        documents share one, and the promise is about their answers together.
    cost : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Instead of ``max_error``: row true class, column answer, last column
        abstaining; the answer with the smallest expected cost is given.
    method : {"split", "leave_one_out", "cross_validated"}, default="split"
        Where confidence is measured when ``fit`` gets no calibration documents.
        Only "split" gives a guarantee; the other two fit on all documents and
        give an estimate.
    calibration_size : float in (0, 1), default=0.3
        Share of the documents split off.
    min_coverage : float or sequence of float in [0, 1], optional
        Smallest shares of documents worth answering, 0.1, 0.25 and 0.5 by default:
        there testing starts, see ``guaranteed_threshold``.
    learn_confidence : bool, default=False
        Learn from the training documents, each left out, how likely the best label is
        right (from its log-odds, margin, entropy, length, class size), and rank by
        that where it was measured to help. For one label per document and an
        estimator with probabilities; one without ``leave_one_out`` is fitted ``cv``
        times more.
    abstain_label : label, default=None
        What ``predict`` gives where it abstains. Metrics of scikit-learn take labels
        of one type only: "" for texts, -1 for numbers.
    cv : int or iterable of (train, test), default=5
        Folds for "cross_validated" and ``learn_confidence``.
    random_state : int, RandomState, Generator or None, default=0
        For the split and the folds.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    min_confidence_ : float or ndarray of shape (n_classes,)
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
    thresholds_ : list of Threshold
        Every threshold with its counts; empty when it always answers.
    learned_confidence_ : LearnedConfidence or None
        What ranks the answers instead of log-odds, where it helps.
    evidence_ : Evidence or None
        What the thresholds rest on.

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

    any_of_: bool = field(init=False)
    estimator_: Annotated[Estimator, classifier(fitted=True, n_classes="n_classes")] = (
        field(init=False)
    )
    n_features_in_: Annotated[int, size("n_features"), OPTIONAL] = field(init=False)
    cost_: Annotated[FloatMatrix, floats(None, None)] | None = None
    _fit_params: Annotated[Any, DERIVED] = None

    max_error: ErrorRate | None = 0.05
    level: Level = 0.95
    per_class: bool = False
    cost: Any = None
    method: Literal["split", "leave_one_out", "cross_validated"] = "split"
    calibration_size: Annotated[float, Limits(0.0, 0.99, open_low=True)] = 0.3
    min_coverage: Coverages = None
    learn_confidence: bool = False
    abstain_label: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        calibration: tuple[Any, ArrayLike] | None = None,
        sample_weight: WeightsLike = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the base and choose the thresholds.

        Parameters
        ----------
        X, y
            Documents and labels, as the base takes them; label lists for any-of.
        calibration : tuple (X, y), optional
            Labelled documents that are used for the thresholds only. The promise
            holds for all of them, and for those that repeat neither a training document
            nor each other.
        sample_weight : array-like of shape (n_documents,), optional
            Passed on to the estimator.
        **fit_params : dict
            Passed on to the estimator's ``fit``; with metadata routing switched on,
            what it has asked for.

        """
        self._check_parameters()
        self._fit_params = FitParams(self, X, sample_weight, fit_params)
        y = checked_labels(self, X, y, sample_weight)
        self.any_of_ = is_multi_label(y)
        if self.any_of_ and self.cost is not None:
            raise NotSupportedError(
                "a cost matrix is for one label per document, got label lists; set "
                "max_error, or AnyOfClassifier(metric='precision')."
            )
        self.evidence_ = None
        self.learned_confidence_ = None
        if self.cost is not None or self.max_error is None:
            self._fit_base(X, y)
            if self.cost is not None:
                checked_costs(self.cost, len(self.classes_))
            return self
        if calibration is not None:
            self._fit_base(X, y)
            self._learn_confidence(X, y)
            unseen, known = calibration
            model, judge = self.estimator_, self._judge()
            self.evidence_ = calibration_evidence(
                judge, model, X, unseen, listed(known)
            )
        elif self.method == "split":
            rng = np.random.default_rng(seed_of(self.random_state))
            train, rows = split_rows(X, y, self.calibration_size, rng)
            training = take(X, train), take(listed(y), train), train
            self._fit_base(*training)
            self._learn_confidence(*training)
            unseen = take(X, rows), take(listed(y), rows)
            self.evidence_ = calibration_evidence(
                self._judge(), self.estimator_, training[0], *unseen
            )
        else:
            self._estimate(X, y)
        return self

    def predict(self, X: Any) -> Labels:
        """The label of each document; None, or ``abstain_label``, where it abstains.

        Any-of: a tuple of labels, None where no label could be decided on; for a
        0/1 matrix in ``fit`` a matrix with NaN where it abstains.
        """
        check_is_fitted(self)
        if self.max_error is None and self.cost is None:
            labels: Labels = self.estimator_.predict(X)
            return labels
        decision = self.decide(X)
        if self.any_of_ and self.estimator_.input_ == "indicator":
            return indicator_answers(decision, len(self.classes_))
        return with_abstain_label(decision.labels, self.abstain_label)

    def decide(self, X: Any) -> Decision:
        """Labels, scores, abstentions and confidence."""
        check_is_fitted(self)
        self._check_promise()
        if self.any_of_:
            return self._within_promise(self.estimator_.decide(X))
        scores = self._ranked(read_scores(self.estimator_, X), X)
        decision = one_of_decision(scores, self.classes_)
        if self.cost is None:
            return self._within_promise(decision)
        if not scores.probabilistic:
            raise NotSupportedError(
                "a cost matrix needs probabilities; "
                f"{type(self.estimator_).__name__} has no predict_proba."
            )
        costs = checked_costs(self.cost, len(self.classes_))
        choice = cheapest(scores.readable, costs)
        labels = self.classes_.astype(object)[choice]
        labels[choice < 0] = None
        return replace(decision, labels=labels, abstained=choice < 0)

    @_base_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probabilities of the base, also where it abstains."""
        check_is_fitted(self)
        proba: FloatMatrix = self.estimator_.predict_proba(X)
        return proba

    @_base_has("decision_function")
    def decision_function(self, X: Any) -> FloatMatrix:
        """Scores of the base."""
        check_is_fitted(self)
        scores: FloatMatrix = self.estimator_.decision_function(X)
        return scores

    def score(
        self, X: DocumentsLike, y: LabelsLike, sample_weight: WeightsLike = None
    ) -> float:
        """Accuracy over all documents, as ``accuracy_score(y, predict(X))``.

        An abstention is not right. Any-of: all labels of a document must be right.
        Documents without a label in y are left out. ``decide(X)`` tells the answers
        given from the abstentions.
        """
        labels = with_abstain_label(self.decide(X).labels, self.abstain_label)
        read = label_column if self.any_of_ else as_labels
        truth, answers = read(y), read(labels)
        check_equal_length(X=answers, y=truth)
        labelled = np.flatnonzero([label is not None for label in truth])
        if not len(labelled):
            raise DataError(
                "AbstainingClassifier.score: y holds no label at all; label a few "
                "documents of each class."
            )
        right = right_answers(take(truth, labelled), take(answers, labelled))
        weight = None if sample_weight is None else np.asarray(sample_weight, float)
        weights = None if weight is None else weight[labelled]
        return float(np.average(right, weights=weights))

    def summary(self) -> str:
        """What is promised, in plain words."""
        check_is_fitted(self)
        if self.cost is not None:
            return "Gives the answer with the smallest expected cost."
        if self.max_error is None:
            return "Answers every document; nothing is promised about errors."
        words = several_words(self.thresholds_)
        evidence = self.evidence_
        if evidence is not None and evidence.n_copies:
            held_out = "Calibration documents that repeat others"
            kind = held_out if evidence.held_out else "Near-duplicates left out"
            words += f" {kind}: {evidence.n_copies:,}."
        if not self.per_class and not self.any_of_:
            return words
        return f"{words}\n{words_per_label(self.thresholds_, as_labels(self.classes_))}"

    def _check_parameters(self) -> None:
        self._check_promise()
        self._check_wrapping()

    def _fit_base(self, X: Any, y: Any, rows: IntVector | None = None) -> None:
        self.estimator_ = self._fitted(X, y, rows)
        self.classes_ = self.estimator_.classes_
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_

    def _fitted(self, X: Any, y: Any, rows: IntVector | None = None) -> Estimator:
        estimator = clone(self.estimator)
        if self.any_of_ and not isinstance(estimator, AnyOfClassifier):
            estimator = AnyOfClassifier(estimator)
        return estimator.fit(X, y, **self._fit_params.of(rows))

    def _judge(self) -> Judge:
        return Judge(self.classes_, self.any_of_, self.per_class, self._ranked)

    def _training(
        self, X: DocumentsLike, y: LabelsLike, rows: IntVector | None, exact: bool
    ) -> LeftOut:
        """Documents that the estimator was fitted on; ``rows`` of what fit got."""
        labels, weight = listed(y), self._fit_params.of(rows).get("sample_weight")

        def fitted(train: IntVector) -> Estimator:
            known = train if rows is None else rows[train]
            return self._fitted(take(X, train), take(labels, train), known)

        def left_out(some: IntVector) -> FloatMatrix:
            known = take(X, some), take(labels, some)
            weighted = {} if weight is None else {"sample_weight": weight[some]}
            left = self.estimator_.leave_one_out(*known, **weighted)
            return np.asarray(left, dtype=np.float64)

        seed, judged = seed_of(self.random_state), left_out if exact else None
        return LeftOut(X, labels, fitted, judged, False, self.cv, seed, weight)

    def _estimate(self, X: DocumentsLike, y: LabelsLike) -> None:
        """Learn thresholds from training documents, each scored without itself."""
        self._fit_base(X, y)
        exact = self.method == "leave_one_out"
        if exact and (self.any_of_ or not offers(self.estimator_, "leave_one_out")):
            raise NotSupportedError(
                f"{type(self.estimator_).__name__} has no leave_one_out; use "
                "method='cross_validated' or 'split'."
            )
        self.evidence_ = self._training(X, y, None, exact).evidence(self._judge())

    def _learn_confidence(
        self, X: DocumentsLike, y: LabelsLike, rows: IntVector | None = None
    ) -> None:
        """Learn a confidence from training documents, each judged without itself."""
        if not self.learn_confidence or self.any_of_:
            return
        if not has_probabilities(self.estimator_):
            raise NotSupportedError(
                "learn_confidence needs probabilities; "
                f"{type(self.estimator_).__name__} has no predict_proba."
            )
        exact = offers(self.estimator_, "leave_one_out")
        training = self._training(X, y, rows, exact)
        learned = training.learned_confidence(self.classes_)
        self.learned_confidence_, self.class_sizes_ = learned


def checked_costs(cost: ArrayLike, n_classes: int) -> FloatMatrix:
    """A cost matrix (n_classes, n_classes), or with one more column for abstaining."""
    costs = np.asarray(cost, dtype=np.float64)
    if costs.shape not in ((n_classes, n_classes), (n_classes, n_classes + 1)):
        raise DataError(
            f"cost must be of shape ({n_classes}, {n_classes}), row: true class, "
            f"column: answer, or ({n_classes}, {n_classes + 1}) with the cost of "
            f"abstaining in the last column; got shape {costs.shape}."
        )
    if not np.isfinite(costs).all():
        raise DataError("cost must hold finite numbers only.")
    return costs


def cheapest(proba: FloatMatrix, costs: FloatMatrix) -> IntVector:
    """The answer with the smallest expected cost per document; -1: abstain.

    Examples
    --------
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> cheapest(proba, np.array([[0.0, 1.0, 0.3], [5.0, 0.0, 0.3]])).tolist()
    [-1, -1]
    >>> cheapest(proba, np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [0, 0]

    """
    answer = (proba @ costs).argmin(axis=1).astype(np.int64)
    return np.where(answer == costs.shape[0], -1, answer)
