"""How to fit a model to texts (``Plan``), and what answers then (``TextModel``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone, is_classifier

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
from earmark.exceptions import EarmarkWarning, NotSupportedError
from earmark.features import TfidfWeighting, WordCounter
from earmark.features.by_word import told_by_word
from earmark.features.columns import (
    Columns,
    ColumnsTemplate,
    Rows,
    TextScorer,
    make_counter,
)
from earmark.features.scoring import LinearRule, ScoreParts
from earmark.features.weighting import WHOLE
from earmark.features.word_counter import no_term_left
from earmark.folds import stratified_folds
from earmark.inputs.class_names import require_named
from earmark.inputs.regions import RegionTexts
from earmark.inputs.training import TrainingData
from earmark.inputs.weights import ClassWeight
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import (
    LogitClassifier,
    RankingClassifier,
    ScoringClassifier,
    check_parameters,
    class_scores,
    linear_rule,
    require_weighted,
    score_parts,
)
from earmark.models.base.declaration import Fed, Model, model_of
from earmark.parameters import offers
from earmark.statistics.class_statistics import label_positions
from earmark.statistics.term_sums import TermSums
from earmark.stored import DERIVED, classifier, floats, integers, none, sizes, stored
from earmark.typing import (
    BoolVector,
    Estimator,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    Labels,
    SparseMatrix,
    WeightsLike,
)

_MANY_DOCUMENTS = 10_000
# From so many documents on a scale for probabilities is worth having, ...
_LEAST_CALIBRATING = 30
# ... and one left-out quarter tells it: of a model with probabilities, or of any.
_QUARTER_CALIBRATES = 1000
_QUARTER_CALIBRATES_ANY = 4000


@stored
@dataclass(eq=False)
class TextModel:
    """Columns and a fitted model: from texts by region to scores and decisions."""

    columns: Columns
    model: Annotated[Estimator, classifier(fitted=True, n_classes="n_classes")]
    """One that decides on each label by itself is an ``AnyOfClassifier``."""
    calibrator: (
        Annotated[TemperatureCalibrator, sizes(n_classes="n_classes")] | None
    ) = None
    """From scores to probabilities, where the model has none."""
    class_factor: Annotated[FloatVector, floats("n_classes", low=0)] | None = None
    """What the documents of each class counted, where classes were weighted."""
    sums: Annotated[TermSums | None, none] = None
    """Where the model was made of term sums; columns and model follow from them."""
    training_rows: Annotated[IntVector, integers(None)] | None = None
    """Where the documents that the model remembers stood in what the user gave."""
    used_names: Annotated[Mapping[Hashable, list[str]], DERIVED] = field(
        default_factory=dict
    )
    """Texts of the classes whose names were learned from."""

    @cached_property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        return np.asarray(self.model.classes_)

    @cached_property
    def multi_label(self) -> bool:
        """Whether each label is decided on by itself."""
        return isinstance(self.model, AnyOfClassifier)

    # -- answering -------------------------------------------------------------

    @cached_property
    def rule(self) -> LinearRule | None:
        """How the scores are linear in a row; None where they are not."""
        return linear_rule(self.model)

    @cached_property
    def scorer(self) -> TextScorer | None:
        """What sums up scores while the text is read; None where nothing can."""
        return None if self.rule is None else self.columns.scorer(self.rule)

    def rows(self, texts: RegionTexts) -> Any:
        """The texts as the model takes them."""
        rows = self.columns.rows(texts)
        return rows if takes_rows(self.model) else rows.matrix

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """The model's own class scores, tokens straight to sums if linear (NB6)."""
        if self.scorer is not None:
            return self.scorer.scores(texts)
        if self.multi_label:
            return np.asarray(self.model.decision_function(self.rows(texts)))
        return class_scores(self.model, self.rows(texts))

    def decision_function(self, texts: RegionTexts) -> FloatMatrix:
        """Log-odds of each class against all others together, or its margin."""
        if self.has_log_odds and len(self.classes_) > 2:
            return class_log_odds(self.predict_log_proba(texts))
        return self.scores(texts)

    @property
    def has_log_odds(self) -> bool:
        """Whether the model's scores are logs of probabilities; else margins."""
        is_margin = isinstance(self.model, RankingClassifier)
        return isinstance(self.model, LogitClassifier) and not is_margin

    def predict_log_proba(self, texts: RegionTexts) -> FloatMatrix:
        """Log class probabilities, calibrated where the model has none.

        With several labels per document each label's own: rows do not sum to 1.
        """
        if self.calibrator is not None:
            return self.calibrator.transform(self.scores(texts))
        scorer = self.scorer
        if scorer is not None and scorer.rule.log_posteriors is not None:
            return scorer.rule.log_posteriors(scorer.scores(texts))
        if self.multi_label:
            proba = self.model.predict_proba(self.rows(texts))
            return np.asarray(np.log(np.maximum(proba, 1e-300)))
        return log_probabilities(self.model, self.rows(texts))

    def decide(self, texts: RegionTexts) -> Decision:
        """The likeliest label of each document, or all labels that it gets."""
        if self.multi_label:
            decision: Decision = self.model.decide(self.rows(texts))
            return decision
        scores = Scores.from_log_proba(self.predict_log_proba(texts))
        return one_of_decision(scores, self.classes_)

    # -- without a training document ---------------------------------------------

    @property
    def leaves_one_out(self) -> bool:
        """Whether there is an exact leave-one-out."""
        return offers(self.model, "leave_one_out")

    def leave_one_out(
        self, texts: RegionTexts, labels: Labels, weight: WeightsLike = None
    ) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on (NB8)."""
        own = None if weight is None else np.asarray(weight)
        if self.class_factor is not None:
            names = np.asarray(labels)
            place = label_positions(names, self.classes_, len(names))
            factor = self.class_factor[place]
            own = factor if own is None else factor * own
        weights = () if own is None else (own,)
        return np.asarray(self.model.leave_one_out(self.rows(texts), labels, *weights))

    def left_out(self, data: TrainingData) -> Callable[[IntVector], FloatMatrix] | None:
        """What judges training documents, by row, without refitting; None: nothing."""
        if self.left_out_answers is not None:
            rows, seen = self.left_out_answers
            log_proba = np.full((len(data.labels), len(self.classes_)), -np.inf)
            log_proba[rows] = seen
            return log_proba.__getitem__
        if not self.leaves_one_out:
            return None

        def judged(rows: IntVector) -> FloatMatrix:
            some = data.take(rows)
            return self.leave_one_out(some.texts, some.labels, some.weight)

        return judged

    @property
    def class_share(self) -> FloatVector | None:
        """Shares of the classes among documents without labels, if it saw some."""
        is_own = isinstance(self.model, ScoringClassifier)
        return self.model.pool_share if is_own else None

    @property
    def has_labels(self) -> bool:
        """Whether some document that it learned had a label; else nobody judged it."""
        return not isinstance(self.model, ScoringClassifier) or self.model.has_labels_

    @property
    def left_out_answers(self) -> tuple[IntVector, FloatMatrix] | None:
        """Labelled documents that fitting held out, and what was said of them."""
        if isinstance(self.model, ScoringClassifier):
            return self.model.left_out_
        return None

    def left_out_right(self, labels: Labels) -> BoolVector | None:
        """Whether documents held out in fitting were answered rightly; None: none."""
        if self.left_out_answers is None:
            return None
        rows, log_proba = self.left_out_answers
        right: BoolVector = self.classes_[log_proba.argmax(axis=1)] == labels[rows]
        return right

    # -- explaining ----------------------------------------------------------------

    def contributions(
        self, texts: RegionTexts, describe: Callable[[int], str]
    ) -> list[ScoreParts]:
        """The scores of each document, taken apart; of views by words of the text.

        ``describe`` says the term of a column.
        """
        rows = self.rows(texts)
        parts = score_parts(self.model, rows)
        if not takes_rows(self.model):
            return parts
        words, by_word = self.columns.words(texts), []
        for i, (part, text) in enumerate(
            zip(parts, self.columns.texts(texts), strict=True)
        ):
            vectors = None
            if self.columns.encoder is not None:
                vectors = self.model.vector_weights(rows[i : i + 1])
            by_word.append(
                told_by_word(self.columns, part, text, words[[i]], vectors, describe)
            )
        return by_word

    def term_weights(self) -> FloatMatrix | FloatTable | None:
        """Weight of each term for each class (n_terms, n_classes), if there is one."""
        if isinstance(self.model, ScoringClassifier):
            return self.model.term_weights()
        return None if self.rule is None else self.rule.weights

    def paths(self, texts: RegionTexts, top: int) -> list[list[Any]]:
        """The strongest paths from each document's terms into its label's documents."""
        if not offers(self.model, "strongest_paths"):
            raise NotSupportedError(
                f"{type(self.model).__name__} has no paths to show; "
                "model='higher-order' has."
            )
        paths: list[list[Any]] = self.model.strongest_paths(self.rows(texts), top)
        rows = self.training_rows
        if rows is None:
            return paths
        return [
            [
                p._replace(documents=tuple(rows[list(p.documents)].tolist()))
                for p in some
            ]
            for some in paths
        ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, used_names={})

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a model of other columns, or one that cannot say how sure it is."""
        if getattr(self.model, "n_features_in_", None) != self.columns.width:
            yield ".model is fitted on other columns"
        if not (self.calibrator or self.multi_label or has_probabilities(self.model)):
            yield ".calibrator is missing for its model"


def takes_rows(model: Estimator) -> bool:
    """Whether a model is fed its views apart, as ``Rows``."""
    if isinstance(model, AnyOfClassifier):
        return _together(model.estimator)
    return isinstance(model, ScoringClassifier) and model.takes_rows


# -- fitting -------------------------------------------------------------------------


@stored
@dataclass(frozen=True)
class Plan:
    """How a model is fitted to texts; fitting it again gives the same model."""

    name: str
    estimator: Annotated[Estimator, classifier(fitted=False)]
    """Unfitted; for several labels an ``AnyOfClassifier`` around it."""
    columns: ColumnsTemplate
    class_weight: ClassWeight = field(default_factory=ClassWeight)
    seed: int | None = None
    """Of the folds that tell how sure a model without probabilities is."""
    columns_from_pool: bool = False
    """Whether words of the pool become columns too."""

    @property
    def multi_label(self) -> bool:
        """Whether each label is decided on by itself."""
        return isinstance(self.estimator, AnyOfClassifier)

    @property
    def by_term(self) -> bool:
        """Whether text is learned as sums by term, without a matrix."""
        additive = isinstance(self.estimator, AdditiveClassifier)
        words = isinstance(self.columns.counter, WordCounter)
        return additive and words and self.estimator.by_term

    @property
    def uses_pool(self) -> bool:
        """Whether the model is set to learn from unlabelled documents."""
        if "unlabelled" not in signature(self.estimator.fit).parameters:
            return False
        is_own = isinstance(self.estimator, ScoringClassifier)
        return self.estimator.uses_pool if is_own else True

    def require_takes_shares(self) -> None:
        """Refuse labels that are shared where a document's copies would judge it."""
        model = self.estimator
        if isinstance(model, ScoringClassifier) and model.fits_left_out:
            raise NotSupportedError(
                f"{type(model).__name__} cannot learn shares of labels: it judges "
                "documents left out while it learns; give each its likeliest label, or "
                "take another model."
            )

    def refusals(self) -> dict[str, str]:
        """Methods that this model has not got, and what to do instead."""
        if self.by_term:
            return {}
        if self.multi_label:
            why = "is for one label per document; for several, fit again or "
            why += "cross-validate."
            names = ("partial_fit", "forget", "leave_one_out")
            return {name: f"{name} {why}" for name in names}
        name = type(self.estimator).__name__
        instead = (
            "train again, or train multinomial, bernoulli or complement, which change "
            "exactly."
        )
        refused = {
            "partial_fit": f"{name} cannot learn documents one by one; {instead}",
            "forget": f"{name} cannot forget documents exactly; {instead}",
        }
        if not offers(self.estimator, "leave_one_out"):
            refused["leave_one_out"] = (
                f"{name} has no closed-form leave-one-out; use cross-validation, or a "
                "count model."
            )
        return refused

    def sums(
        self, texts: RegionTexts, labels: Labels, classes: Labels, **known: Any
    ) -> TermSums:
        """What a count model learns of some documents."""
        return TermSums.of_texts(self.columns.counter, texts, labels, classes, **known)

    def fit(
        self,
        data: TrainingData,
        validation: tuple[RegionTexts, Labels] | None = None,
    ) -> TextModel:
        """Learn from the documents."""
        if self.by_term:
            sums = TermSums.of_texts(
                self.columns.counter, data.texts, data.labels, data.classes, data.weight
            )
            return self.from_sums(sums)
        columns, rows, pool = self._rows(data)
        model = self._unfitted(len(data.labels))
        weight = self._weight(model, data)
        used: dict[Hashable, list[str]] = {}
        offered: dict[str, Callable[[], object]] = {
            "columns": lambda: columns.region_numbers,
            "unlabelled": lambda: pool,
            "copies": lambda: data.copies.group,
            "names": lambda: _name_rows(columns, data, used),
        }
        if validation is not None:
            texts, labels = validation
            offered["validation"] = lambda: (columns.rows(texts).matrix, labels)
        X = rows if takes_rows(model) else rows.matrix
        arguments = {} if weight is None else {"sample_weight": weight}
        model.fit(X, data.labels, **arguments, **asked_for(model, offered))
        calibrator = self._calibrator(model, X, data, weight)
        factor = self._class_factor(model, data)
        fitted = TextModel(columns, model, calibrator, factor, used_names=used)
        if data.rows is not None and getattr(model, "documents_", None) is not None:
            fitted.training_rows = data.rows
        return fitted

    def from_sums(self, sums: TermSums, before: TextModel | None = None) -> TextModel:
        """The model that term sums describe: fit, update, forget and load end here."""
        columns, statistics = sums.columns(
            self.columns.counter, None if before is None else before.columns
        )
        factor = self.class_weight.of_classes(statistics.classes, statistics.docs)
        weighted = statistics if factor is None else statistics.scaled(factor)
        model = clone(self.estimator).finalise(weighted)
        return TextModel(columns, model, class_factor=factor, sums=sums)

    def _rows(self, data: TrainingData) -> tuple[Columns, Rows, Any]:
        """Columns, the rows of the labelled documents, and those of the pool."""
        n, template = len(data.labels), self.columns.at_most(len(data.classes))
        columns, rows = template.fit(
            data.texts, data.pool if self.columns_from_pool else None
        )
        if not any(b.width for b in columns.blocks if b.kind == "word"):
            raise no_term_left(template.counter)
        pool = None
        if data.n_pool and self.uses_pool:
            pool = rows[n:] if len(rows) > n else columns.rows(data.pool)
            pool = pool if takes_rows(self.estimator) else pool.matrix
        return columns, rows[:n] if len(rows) > n else rows, pool

    def _unfitted(self, n_documents: int) -> Estimator:
        """A new estimator, set up for so many documents."""
        model = clone(self.estimator)
        if self.multi_label and n_documents > _MANY_DOCUMENTS:
            # Thresholds of many documents are known from fewer folds.
            model.set_params(cv=3)
        return model

    def _weight(self, model: Estimator, data: TrainingData) -> Any:
        """The weight of each document, classes' factors included; None: all 1."""
        if self.multi_label:
            weight: Any = None if data.weight is None else np.asarray(data.weight)
        else:
            weight = self.class_weight.of_documents(data.labels, data.weight)
        if weight is not None:
            require_weighable(model)
        if not (isinstance(model, ScoringClassifier) or has_probabilities(model)):
            own = ClassWeight(model.get_params().get("class_weight"))
            mapping = isinstance(own.factors, Mapping)
            every = own.of_documents(data.labels, weight) if mapping else weight
            require_weighted(
                data.labels, np.ones(len(data.labels)) if every is None else every
            )
        return weight

    def _class_factor(self, model: Estimator, data: TrainingData) -> Any:
        if self.multi_label or not offers(model, "leave_one_out"):
            return None
        weight = None if data.weight is None else np.asarray(data.weight)
        _, y_index = np.unique(data.labels, return_inverse=True)
        docs = np.bincount(y_index, weights=weight)
        return self.class_weight.of_classes(data.classes, docs)

    def _calibrator(
        self, model: Estimator, X: Any, data: TrainingData, weight: Any
    ) -> TemperatureCalibrator | None:
        """One scale for the scores, from documents left out in three folds."""
        y, has_some = data.labels, has_probabilities(model)
        unsure = needs_calibration(model) and len(y) >= _LEAST_CALIBRATING
        if has_some and not unsure:
            return None
        judged = np.arange(len(y))
        copies = data.copies.group
        folds: Any = stratified_folds(y, 3, self.seed, copies)
        if len(y) > (_QUARTER_CALIBRATES if has_some else _QUARTER_CALIBRATES_ANY):
            folds = [next(stratified_folds(y, 4, self.seed, copies))]
            judged = folds[0][1]
        scores = cross_scores(model, X, y, folds, weight)[judged]
        y_index = np.searchsorted(model.classes_, y)[judged]
        if has_some or (scores.argmax(axis=1) == y_index).all():
            scores, y_index = _with_one_wrong(scores, y_index)
        return TemperatureCalibrator().fit(scores, y_index)


def _with_one_wrong(
    scores: FloatMatrix, y_index: IntVector
) -> tuple[FloatMatrix, IntVector]:
    """The answers, and one more that is wrong, at the middle lead.

    As in Laplace's rule: answers that are all right do not mean certainty.
    """
    best, second = np.argsort(-scores, axis=1)[:, :2].T
    lead = np.take_along_axis(scores, best[:, None], 1)[:, 0]
    lead = lead - np.take_along_axis(scores, second[:, None], 1)[:, 0]
    middle = np.argsort(lead, kind="stable")[len(lead) // 2]
    return np.vstack([scores, scores[middle]]), np.append(y_index, second[middle])


def needs_calibration(model: Estimator) -> bool:
    """Whether a model's probabilities are known to be far too low."""
    return isinstance(model, ScoringClassifier) and model.needs_calibration


def asked_for(
    model: Estimator, offered: Mapping[str, Callable[[], object]]
) -> dict[str, object]:
    """Of what is offered that which the model's ``fit`` has a parameter for."""
    takes = signature(model.fit).parameters
    values = {name: make() for name, make in offered.items() if name in takes}
    return {name: value for name, value in values.items() if value is not None}


def _name_rows(
    columns: Columns, data: TrainingData, used: dict[Hashable, list[str]]
) -> tuple[Rows, list[Hashable]] | None:
    """Rows of the class names that say something, and their labels."""
    known = set(data.labels.tolist())
    used |= data.names.telling(known, columns.knows, columns.encoder is not None)
    require_named(data.names.labels, known, used)
    labels = [label for label, texts in used.items() for _ in texts]
    if not labels:
        return None
    texts = [text for texts in used.values() for text in texts]
    return columns.rows({columns.regions[0]: texts}), labels


def cross_scores(
    estimator: Estimator,
    X: SparseMatrix,
    y: Labels,
    folds: Iterable[tuple[IntVector, IntVector]],
    weight: Any = None,
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
        weights = {} if weight is None else {"sample_weight": weight[train]}
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


# How the counts of the columns are weighted, by what the model is fed.
_WEIGHTINGS: Mapping[Fed, TfidfWeighting | None] = {
    "counts": None,
    "tfidf": TfidfWeighting(),
    "whole": TfidfWeighting(norm=WHOLE),
}


def _suited(
    wanted: Mapping[str, object], asked: Mapping[str, object]
) -> dict[str, object]:
    """Parameters of a counter: the user's, else those that suit the model."""
    if asked.get("analyzer", "word") != "word":
        words_only = ("token_pattern", "ngram_range")
        wanted = {name: v for name, v in wanted.items() if name not in words_only}
    if asked.get("tokenizer") is not None:
        wanted = {name: v for name, v in wanted.items() if name != "token_pattern"}
    return {**wanted, **asked}


def _together(estimator: Estimator) -> bool:
    """Whether the machines of several labels are fitted together, from views."""
    return offers(estimator, "fit_labels")


@dataclass(frozen=True)
class Planner:
    """From a model's name, or an estimator, to a plan: what the user chose beside."""

    features: Any = None
    """As in ``TextClassifier``; what was left open is chosen already."""
    encoder: Any = None
    class_weight: Any = None
    multi_label: bool = False
    seed: int | None = None
    n_jobs: int | None = None
    verbose: int = 0

    def plan(self, model: Any) -> Plan:
        """How a model of this name, or this estimator, is fitted."""
        declared, estimator = self._estimator(model)
        factors = ClassWeight(self.class_weight)
        views = () if self.multi_label and not _together(estimator) else declared.views
        features = self.features
        if views and (features is None or isinstance(features, Mapping)):
            features = _suited(estimator.wanted_of_counter, features or {})
        counter = make_counter(features, self.n_jobs)
        template = ColumnsTemplate(
            counter,
            # tf-idf for the models that want it, unless the user brings a vectorizer.
            None if counter is features else _WEIGHTINGS[declared.fed],
            shared=getattr(estimator, "vocabulary", None) == "shared",
            views=views,
            encoder=self.encoder if "vector" in views else None,
        )
        if self.multi_label:
            estimator = AnyOfClassifier(
                estimator,
                class_weight=self.class_weight,
                random_state=self.seed or 0,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        return Plan(
            declared.name,
            estimator,
            template,
            factors,
            self.seed,
            declared.columns_from_pool and not self.multi_label,
        )

    def _estimator(self, model: Any) -> tuple[Model, Estimator]:
        """The declaration of a model, and what is fitted."""
        if isinstance(model, str):
            declared = model_of(model)
            options = {
                "random_state": self.seed,
                "n_jobs": self.n_jobs,
                "verbose": self.verbose,
            }
            return declared, declared.build(**options)
        if not offers(model, "fit") or not is_classifier(model):
            raise TypeError(
                "TextClassifier.model must be a model name or a scikit-learn "
                f"classifier, got {model!r}."
            )
        if isinstance(model, ScoringClassifier):
            check_parameters(model)
        return model_of(model), model
