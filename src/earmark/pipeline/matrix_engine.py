"""Raw text -> one matrix -> any estimator: one label, several, or a pool to use."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field, replace
from inspect import signature
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from earmark.decision.any_of import AnyOfClassifier, require_weighable
from earmark.decision.calibration import TemperatureCalibrator
from earmark.decision.decision import (
    Decision,
    Scores,
    class_log_odds,
    has_probabilities,
    log_probabilities,
    one_of_decision,
)
from earmark.evaluation.duplicates import group_copies
from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError
from earmark.features.word_counter import no_term_left
from earmark.folds import stratified_folds, take
from earmark.kernels.rows import log_normalize
from earmark.models import SemiSupervisedNaiveBayes
from earmark.models.base import (
    LinearRule,
    LogitClassifier,
    RankingClassifier,
    ScoreParts,
    ScoringClassifier,
    class_columns,
    document_weights,
    linear_parts,
    linear_rule_of,
    require_weighted,
)
from earmark.models.descent import DescentClassifier
from earmark.models.semi_supervised import SemiSupervisedClassifier
from earmark.models.semi_supervised.views import encoder_by_words
from earmark.parameters import offers, with_parameters
from earmark.pipeline.inputs import RegionTexts, n_documents
from earmark.pipeline.text_features import (
    FusedScorer,
    RegionFeatures,
    SemiFeatures,
    fused_scorer,
)
from earmark.text.class_names import ClassNames, require_named
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)

_MANY_DOCUMENTS = 10_000
# From so many documents on a scale for probabilities is worth having, ...
_LEAST_CALIBRATING = 30
# ... and one left-out quarter tells it: of a model with probabilities, or of any.
_QUARTER_CALIBRATES = 1000
_QUARTER_CALIBRATES_ANY = 4000


def is_unsure(estimator: Estimator) -> bool:
    """Whether its probabilities are known to be far too low: its weights are small."""
    return isinstance(estimator, DescentClassifier)


def linear_rule(estimator: Estimator) -> LinearRule | None:
    """How the class scores are linear in a row, or None where they are not."""
    rule = linear_rule_of(estimator)
    if rule is None or isinstance(estimator, ScoringClassifier):
        return rule
    from sklearn.linear_model import LogisticRegression  # costs much, used here only

    is_logistic = isinstance(estimator, LogisticRegression)
    return replace(rule, log_posteriors=log_normalize) if is_logistic else rule


def class_scores(estimator: Estimator, X: MatrixLike) -> FloatMatrix:
    """The estimator's own scores, (n_samples, n_classes)."""
    if isinstance(estimator, ScoringClassifier):
        return estimator.class_scores(X)
    if offers(estimator, "decision_function"):
        return class_columns(estimator.decision_function(X))
    return log_probabilities(estimator, X)


def cross_scores(
    estimator: Estimator,
    X: SparseMatrix,
    y: Labels,
    folds: Iterable[tuple[IntVector, IntVector]],
    weight: FloatVector | None = None,
    **more: Any,
) -> FloatMatrix:
    """Class scores of the rows of each fold, by a model fitted on the others."""
    # A class that a fold lacks scores as low as the lowest class there.
    classes = np.unique(y)
    scores = np.zeros((X.shape[0], len(classes)))
    for train, rest in folds:
        train = train if weight is None else train[weight[train] > 0]
        if len(np.unique(y[train])) < 2:
            continue
        weights = _weights(None if weight is None else weight[train])
        with warnings.catch_warnings():
            # What a fold lacks is no news about the documents.
            warnings.simplefilter("ignore", EarmarkWarning)
            model = clone(estimator).fit(X[train], y[train], **weights, **more)
        answer = class_scores(model, X[rest])
        columns = np.searchsorted(classes, model.classes_)
        lowest = answer.min(axis=1, keepdims=True)
        scores[rest] = np.broadcast_to(lowest, (len(rest), len(classes)))
        scores[np.ix_(rest, columns)] = answer
    return scores


def _weights(weight: FloatVector | None) -> dict[str, Any]:
    return {} if weight is None else {"sample_weight": weight}


def score_parts(model: Any, X: SparseMatrix) -> list[ScoreParts]:
    """The scores of each document, taken apart, for a model that is a sum."""
    if isinstance(model, ScoringClassifier):
        return model.score_parts(X)
    form = linear_rule(model)
    if form is None:
        raise NotSupportedError(
            f"{type(model).__name__} is not a sum over terms, so it cannot be "
            "explained term by term."
        )
    return linear_parts(X, form.weights, {"bias": form.offset})


class More(NamedTuple):
    """What there may be to learn from beside texts and labels."""

    weight: FloatVector | None = None
    pool: RegionTexts | None = None
    validation: tuple[RegionTexts, Labels] | None = None
    counted: tuple[RegionFeatures, SparseMatrix] | None = None
    """Features and rows of the labelled texts, where they are known already."""


ALONE = More()


class Engine(ABC):
    """Texts by region to a fitted model: as a classifier, whose X are such texts."""

    estimator: Any
    """Unfitted."""
    model_: Any
    """Fitted."""
    classes_: Labels
    calibrator_: TemperatureCalibrator | None = None
    multi_label = False
    _transient: tuple[str, ...] = ("_fused",)
    # The model and its scorer, which the model's weights are copied into.
    _fused: tuple[Any, FusedScorer | None] | None = None
    # Rows of the training documents in what the user gave; None: all, in order.
    rows_: IntVector | None = None

    @abstractmethod
    def fit(self, texts: RegionTexts, y: Labels, more: More = ALONE) -> Self:
        """Learn afresh from the texts, and from what more the estimator takes."""

    @abstractmethod
    def refusals(self) -> dict[str, str]:
        """Methods that this model has not got, and what to do instead."""

    @property
    @abstractmethod
    def columns(self) -> Any:
        """The fitted features, which turn texts into rows."""

    def matrix(self, texts: RegionTexts) -> SparseMatrix:
        """The feature matrix of some texts."""
        return self.columns.transform(texts)

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """The model's own class scores, tokens straight to sums if linear (NB6)."""
        scorer = self._scorer()
        if scorer is not None:
            return scorer.scores(texts)
        return class_scores(self.model_, self.matrix(texts))

    def decision_function(self, texts: RegionTexts) -> FloatMatrix:
        """Log-odds of each class against all others together, or its margin."""
        if self.has_log_odds and len(self.classes_) > 2:
            return class_log_odds(self.predict_log_proba(texts))
        return self.scores(texts)

    @property
    def has_log_odds(self) -> bool:
        """Whether the model's scores are logs of probabilities; else margins."""
        is_margin = isinstance(self.model_, RankingClassifier)
        return isinstance(self.model_, LogitClassifier) and not is_margin

    def _scorer(self) -> FusedScorer | None:
        """What sums up scores while reading, made at first use; None if not linear."""
        if self._fused is None or self._fused[0] is not self.model_:
            rule = linear_rule(self.model_)
            scorer = None if rule is None else fused_scorer(self.columns, rule)
            self._fused = (self.model_, scorer)
        return self._fused[1]

    def predict_log_proba(self, texts: RegionTexts) -> FloatMatrix:
        """Log class probabilities, calibrated where the model has none."""
        if self.calibrator_ is not None:
            return self.calibrator_.transform(self.scores(texts))
        scorer = self._scorer()
        if scorer is not None and scorer.rule.log_posteriors is not None:
            return scorer.rule.log_posteriors(scorer.scores(texts))
        return log_probabilities(self.model_, self.matrix(texts))

    def leave_one_out(
        self, texts: RegionTexts, y: Labels, sample_weight: WeightsLike = None
    ) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on."""
        weights = () if sample_weight is None else (sample_weight,)
        return np.asarray(self.model_.leave_one_out(self.matrix(texts), y, *weights))

    @property
    def region_names(self) -> list[str]:
        """The regions that the model knows."""
        return list(self.columns.regions_)

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term and region of a column; the region is None when there is only one."""
        described: tuple[str, str | None] = self.columns.describe(column)
        return described

    @property
    def leaves_one_out(self) -> bool:
        """Whether the fitted model has an exact leave-one-out."""
        return offers(self.estimator, "leave_one_out")

    def left_out(
        self, texts: RegionTexts, y: Labels, weight: FloatVector | None
    ) -> Callable[[IntVector], FloatMatrix] | None:
        """What judges training documents, by row, without refitting; None: nothing."""
        if not self.leaves_one_out:
            return None

        def judged(rows: IntVector) -> FloatMatrix:
            known = None if weight is None else weight[rows]
            return self.leave_one_out(take(texts, rows), y[rows], known)

        return judged

    def left_out_right(self, y: Labels) -> BoolVector | None:
        """Whether documents held out in fitting were answered rightly; None: none."""
        return None

    def decide(self, texts: RegionTexts) -> Decision:
        """The likeliest label of each document."""
        scores = Scores.from_log_proba(self.predict_log_proba(texts))
        return one_of_decision(scores, self.classes_)

    def parts(self, texts: RegionTexts) -> list[ScoreParts]:
        """The scores of each document, taken apart."""
        return score_parts(self.model_, self.matrix(texts))

    def term_weights(self) -> FloatMatrix | None:
        """Weight of each term for each class (n_terms, n_classes), if there is one."""
        if isinstance(self.model_, ScoringClassifier):
            return self.model_.term_weights()
        rule = linear_rule(self.model_)
        return None if rule is None else rule.weights

    def paths(self, texts: RegionTexts, top: int) -> list[list[Any]]:
        """The strongest paths from each document's terms into its label's documents."""
        if not offers(self.model_, "strongest_paths"):
            raise NotSupportedError(
                f"{type(self.model_).__name__} has no paths to show; "
                "model='higher-order' has."
            )
        paths: list[list[Any]] = self.model_.strongest_paths(self.matrix(texts), top)
        if self.rows_ is None:
            return paths
        return [[self._renumbered(path) for path in some] for some in paths]

    def _renumbered(self, path: Any) -> Any:
        assert self.rows_ is not None
        return path._replace(documents=tuple(self.rows_[list(path.documents)].tolist()))

    def keep_rows(self, rows: IntVector) -> None:
        """Remember which rows of what the user gave the training documents were."""
        in_order = np.array_equal(rows, np.arange(len(rows)))
        if getattr(self.model_, "documents_", None) is not None and not in_order:
            self.rows_ = rows

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in self._transient}


@with_parameters()
class MatrixEngine(Engine):
    """Features, and an estimator on the matrix they make."""

    features: RegionFeatures = field(kw_only=False)
    """Unfitted."""
    estimator: Any = field(kw_only=False)
    """Unfitted; a ``fit`` that takes ``blocks`` is told the region of each column."""
    class_weight: Any = None
    """Turned into sample weights; None where the estimator has its own."""
    random_state: int | None = None
    """Seed of the folds that calibrate an estimator without probabilities."""

    @property
    def columns(self) -> RegionFeatures | SemiFeatures:
        """The features, fitted."""
        return self.features

    @property
    def uses_pool(self) -> bool:
        """Whether the estimator is set to learn from unlabelled documents."""
        takes = has_fit_parameter(self.estimator, "unlabelled")
        return takes and getattr(self.estimator, "unlabelled_weight", 1.0) > 0.0

    def fit(self, texts: RegionTexts, y: Labels, more: More = ALONE) -> Self:
        """A pool goes to an estimator that asks for it, see ``uses_pool``."""
        pool = more.pool
        if more.counted is None:
            X = self._fitted_features(texts, pool)
        else:
            self.features, X = more.counted
        if X.shape[1] == 0:
            raise DataError(no_term_left(self.features.counter))
        model = self._new_model(len(y))
        weight = self._weighted(y, more.weight)
        if weight is not None:
            require_weighable(model)
        takes = signature(model.fit).parameters
        if not (isinstance(model, ScoringClassifier) or has_probabilities(model)):
            own = model.get_params().get("class_weight")  # scikit-learn's own
            own = own if isinstance(own, Mapping) else None
            require_weighted(y, document_weights(weight, y, own))
        arguments = _weights(weight)
        if "blocks" in takes:
            arguments["blocks"] = self.features.blocks_
        if more.validation is not None and "validation" in takes:
            held_out, labels = more.validation
            arguments["validation"] = (self.features.transform(held_out), labels)
        if self.uses_pool and pool is not None and n_documents(pool):
            arguments["unlabelled"] = self.features.transform(pool)
        self.model_ = model.fit(X, y, **arguments)
        vars(self).pop("rows_", None)
        self.classes_ = np.asarray(self.model_.classes_)
        self.calibrator_ = None
        unsure = is_unsure(self.model_) and len(y) >= _LEAST_CALIBRATING
        if unsure or not has_probabilities(self.model_):
            copies = group_copies(texts).group
            self.calibrator_ = self._calibrated(X, y, weight, copies)
        return self

    def _new_model(self, n_documents: int) -> Any:
        """The estimator to fit to so many documents."""
        return clone(self.estimator)

    def _fitted_features(
        self, texts: RegionTexts, pool: RegionTexts | None
    ) -> SparseMatrix:
        """Columns from the texts, and from the pool where its words are learned."""
        learns_words = isinstance(self.estimator, SemiSupervisedNaiveBayes)
        if not learns_words or pool is None or not n_documents(pool):
            return self.features.fit_transform(texts)
        both: RegionTexts = {
            region: [*column, *pool[region]] for region, column in texts.items()
        }
        return self.features.fit_transform(both)[: n_documents(texts)]

    def _weighted(self, y: Labels, weight: WeightsLike) -> FloatVector | None:
        weights = None if weight is None else np.asarray(weight)
        if self.class_weight is None:
            return weights
        factor: FloatVector = compute_sample_weight(self.class_weight, y)
        return factor if weights is None else factor * weights

    def _calibrated(
        self, X: SparseMatrix, y: Labels, weight: FloatVector | None, copies: IntVector
    ) -> TemperatureCalibrator:
        """One scale for the scores, from documents left out in three folds."""
        model, seed = self.model_, self.random_state
        has_some, judged = has_probabilities(model), np.arange(len(y))
        folds: Any = stratified_folds(y, 3, seed, copies)
        if len(y) > (_QUARTER_CALIBRATES if has_some else _QUARTER_CALIBRATES_ANY):
            folds = [next(stratified_folds(y, 4, seed, copies))]
            judged = folds[0][1]
        scores = cross_scores(model, X, y, folds, weight)[judged]
        y_index = np.searchsorted(self.classes_, y)[judged]
        if has_some or (scores.argmax(axis=1) == y_index).all():
            # One wrong answer is added, as in Laplace's rule: answers that are all
            # right do not mean certainty.
            best, second = np.argsort(-scores, axis=1)[:, :2].T
            lead = np.take_along_axis(scores, best[:, None], 1)[:, 0]
            lead = lead - np.take_along_axis(scores, second[:, None], 1)[:, 0]
            middle = np.argsort(lead, kind="stable")[len(lead) // 2]
            scores = np.vstack([scores, scores[middle]])
            y_index = np.append(y_index, second[middle])
        return TemperatureCalibrator().fit(scores, y_index)

    def refusals(self) -> dict[str, str]:
        """Methods that this model has not got, and what to do instead."""
        name = type(self.estimator).__name__
        instead = (
            "train again, or train multinomial, bernoulli or complement, which change "
            "exactly."
        )
        refused = {
            "partial_fit": f"{name} cannot learn documents one by one; {instead}",
            "forget": f"{name} cannot forget documents exactly; {instead}",
        }
        if not self.leaves_one_out:
            refused["leave_one_out"] = (
                f"{name} has no closed-form leave-one-out; use cross-validation, or a "
                "count model."
            )
        return refused


class AnyOfEngine(MatrixEngine):
    """A matrix engine whose estimator is an ``AnyOfClassifier``."""

    multi_label = True
    model_: AnyOfClassifier

    def _new_model(self, n_documents: int) -> Any:
        """Thresholds of many documents are known from fewer folds."""
        model = clone(self.estimator)
        return model.set_params(cv=3) if n_documents > _MANY_DOCUMENTS else model

    def decide(self, texts: RegionTexts) -> Decision:
        """The labels of each document, each decided on by itself."""
        return self.model_.decide(self.matrix(texts))

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Score of each label over its threshold: yes if at least 0."""
        return self.model_.decision_function(self.matrix(texts))

    def predict_log_proba(self, texts: RegionTexts) -> FloatMatrix:
        """Log probability of each label by itself; rows do not sum to 1."""
        proba = self.model_.predict_proba(self.matrix(texts))
        return np.asarray(np.log(np.maximum(proba, 1e-300)))

    def parts(self, texts: RegionTexts) -> list[ScoreParts]:
        """Each label's score over its threshold, taken apart."""
        X = self.matrix(texts)
        columns = [self._label_parts(c, X) for c in range(len(self.classes_))]
        threshold = self.model_.threshold_
        parts = []
        for d, decided in enumerate(self.model_.decision_function(X) + threshold):
            one = [column[d] for column in columns]
            terms = np.stack([p.terms[:, 1] - p.terms[:, 0] for p in one], axis=1)
            bias = [sum(v[1] - v[0] for v in p.constants.values()) for p in one]
            # A similarity is a sum over terms, and decided on as log-odds: other units.
            total = terms.sum(axis=0) + bias
            unit = np.ones(len(one))
            np.divide(decided, total, unit, where=np.isfinite(decided) & (total != 0))
            constants = {"bias": unit * bias, "threshold": -threshold}
            parts.append(ScoreParts(one[0].columns, unit * terms, constants))
        return parts

    def refusals(self) -> dict[str, str]:
        """Nothing is learned or left out one by one."""
        why = "is for one label per document; for several, fit again or cross-validate."
        names = ("partial_fit", "forget", "leave_one_out")
        return {name: f"{name} {why}" for name in names}

    def _label_parts(self, c: int, X: Any) -> list[ScoreParts]:
        model = self.model_.estimators_[c]
        if model is None:
            raise NotSupportedError(
                f"label {self.classes_[c]!r} is on every training document, so no "
                "word speaks for or against it."
            )
        return score_parts(model, X)


@with_parameters()
class SemiEngine(MatrixEngine):
    """Words, phrases and vectors of all texts, and a model that uses the pool."""

    features: SemiFeatures = field(kw_only=False)
    model_: SemiSupervisedClassifier = field(init=False)
    _transient = ("_fused", "names", "telling_")
    names: ClassNames = ClassNames()
    """What is said about classes: weak documents in ``fit``, and not stored."""
    # Texts of the classes whose names were used.
    telling_: Mapping[Hashable, list[str]] = MappingProxyType({})

    def fit(self, texts: RegionTexts, y: Labels, more: More = ALONE) -> Self:
        """Learn afresh from labelled texts and a pool; the rest has no part in it."""
        pool = {name: [] for name in texts} if more.pool is None else more.pool
        X = self.features.fit_transform(texts, pool)
        if not np.any(self.features.kinds_ == 0):
            raise DataError(no_term_left(self.features.counter))
        labels = np.full(X.shape[0], None, dtype=object)
        labels[: n_documents(texts)] = y
        model: SemiSupervisedClassifier = clone(self.estimator)
        weight = self._weighted(y, more.weight)
        if weight is not None:  # the pool is weighted by the model
            weight = np.concatenate([weight, np.ones(X.shape[0] - len(y))])
        self.model_ = model.fit(
            X,
            labels,
            weight,
            kinds=self.features.kinds_,
            terms=self.features.terms_,
            copies=group_copies(texts).group,
            names=self._names(y),
        )
        self.classes_ = self.model_.classes_
        self.calibrator_ = None
        return self

    def _names(self, y: Labels) -> tuple[SparseMatrix, list[Hashable]] | None:
        """Rows of the names that say something, and their labels."""
        known = set(y.tolist())
        encoded = self.features.encoder is not None
        self.telling_ = self.names.telling(known, self.features.knows, encoded)
        require_named(self.names.labels, known, self.telling_)
        labels = [label for label, texts in self.telling_.items() for _ in texts]
        if not labels:
            return None
        texts = [text for texts in self.telling_.values() for text in texts]
        return self.features.transform({self.region_names[0]: texts}), labels

    def parts(self, texts: RegionTexts) -> list[ScoreParts]:
        """The scores taken apart; an encoder of words is told word by word."""
        parts, table = super().parts(texts), self.features.table_
        if table is None or "encoder" not in self.model_.students_:
            return parts
        n_words = len(table)
        words = self.features.word_weights(self.matrix(texts)[:, :n_words])
        return [
            encoder_by_words(self.model_, part, words[[i]], table)
            for i, part in enumerate(parts)
        ]

    def left_out(
        self, texts: RegionTexts, y: Labels, weight: FloatVector | None
    ) -> Callable[[IntVector], FloatMatrix] | None:
        """What fitting judged with documents and their copies held out."""
        if self.model_.left_out_ is None:
            return None
        rows, seen = self.model_.left_out_
        log_proba = np.full((len(y), len(self.classes_)), -np.inf)
        log_proba[rows] = seen
        return log_proba.__getitem__

    def left_out_right(self, y: Labels) -> BoolVector | None:
        """Whether each of those was answered rightly."""
        if self.model_.left_out_ is None:
            return None
        rows, log_proba = self.model_.left_out_
        right: BoolVector = self.classes_[log_proba.argmax(axis=1)] == y[rows]
        return right
