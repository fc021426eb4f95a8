"""Which model: from the data to a model name and the reasons for it; name to engine."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from earmark.decision.any_of import AnyOfClassifier
from earmark.decision.decision import has_probabilities
from earmark.encoders.by_name import Encoder
from earmark.evaluation.duplicates import group_copies
from earmark.exceptions import DataError, EarmarkWarning
from earmark.features import TfidfWeighting, WordCounter
from earmark.folds import rows_by_lot, stratified_folds, take
from earmark.models.base.classifier import (
    check_parameters,
    document_weights,
    require_weighted,
)
from earmark.models.base.declaration import MODELS, fed_to, get_model
from earmark.models.semi_supervised import SemiSupervisedClassifier
from earmark.models.shared.naive_bayes import CountNaiveBayes
from earmark.models.shared.recipe import MIN_POOL, MIN_POOL_RATIO, pool_is_useful
from earmark.parameters import offers
from earmark.pipeline.count_engine import CountEngine
from earmark.pipeline.inputs import RegionTexts, Target, n_distinct, n_documents
from earmark.pipeline.matrix_engine import (
    AnyOfEngine,
    Engine,
    MatrixEngine,
    More,
    SemiEngine,
    cross_scores,
    is_unsure,
)
from earmark.pipeline.text_features import RegionFeatures, SemiFeatures, make_counter
from earmark.progress import tracked
from earmark.statistics.class_statistics import require_class_weight
from earmark.text.class_names import ClassNames
from earmark.text.tokens import mixes_languages
from earmark.typing import BoolVector, ClassWeightLike, Labels, SparseMatrix


@dataclass(frozen=True)
class BuildOptions:
    """What TextClassifier passes on to whichever estimator it builds."""

    class_weight: ClassWeightLike = None
    random_state: int | None = None
    n_jobs: int | None = None
    encoder: Encoder | None = None
    """From texts to vectors, for the models that use one."""
    verbose: int = 0
    names: ClassNames = field(default_factory=ClassNames)
    """What is said about classes, for the models that make use of it."""


def build_engine(
    model: Any, features: Any, options: BuildOptions, multi_label: bool = False
) -> Engine:
    """An unfitted engine for a model name or an estimator."""
    require_class_weight(options.class_weight)
    estimator, wanted, class_weight = _estimator(model, options)
    seed, n_jobs = options.random_state, options.n_jobs
    is_semi = isinstance(estimator, SemiSupervisedClassifier) and not multi_label
    if is_semi and (features is None or isinstance(features, Mapping)):
        # Words of a single document carry nothing from text to text: two at least.
        features = {"min_df": estimator.min_df, **(features or {})}
    counter = make_counter(features, n_jobs)
    if is_semi:
        return SemiEngine(
            SemiFeatures(counter, options.encoder),
            estimator,
            class_weight=options.class_weight,
            random_state=seed,
            names=options.names,
        )
    columns = _region_features(counter, wanted, features, estimator)
    if multi_label:
        several = AnyOfClassifier(
            estimator, random_state=seed or 0, n_jobs=n_jobs, verbose=options.verbose
        )
        return AnyOfEngine(columns, several, random_state=seed)
    if isinstance(estimator, CountNaiveBayes) and isinstance(counter, WordCounter):
        return CountEngine(estimator, counter, class_weight=options.class_weight)
    return MatrixEngine(
        columns, estimator, class_weight=class_weight, random_state=seed
    )


def _estimator(model: Any, options: BuildOptions) -> tuple[Any, str, Any]:
    """What is fitted, on what, and the class weights that are left to the engine."""
    if isinstance(model, str):
        declared = get_model(model)
        own = "class_weight" in declared.takes
        class_weight = None if own else options.class_weight
        return declared.build(**vars(options)), declared.fed, class_weight
    if not offers(model, "fit") or not is_classifier(model):
        raise TypeError(
            "TextClassifier.model must be a model name or a scikit-learn classifier, "
            f"got {model!r}."
        )
    return model, fed_to(model), options.class_weight


def _region_features(
    counter: Any, wanted: str, features: Any, estimator: Any = None
) -> RegionFeatures:
    """tf-idf for the models that want it, unless the user brings a vectorizer."""
    own = offers(features, "fit_transform")
    weighting = None if own or wanted != "tfidf" else TfidfWeighting()
    shared = getattr(estimator, "vocabulary", None) == "shared"
    return RegionFeatures(counter, weighting=weighting, shared=shared)


_SEMI = "semi-supervised"
# From so many labels per class on, whether the pool helps is left to the labels.
_MANY_LABELS = 50
# Seconds of this processor that comparing models and fitting the best may take.
_USUAL_BUDGET = 60.0
# The same for a pool, which is worth more time, unless a budget is set.
_POOL_BUDGET = 600.0
# What a model costs is measured on one of so many documents of the sample ...
_PROBE = 8
# ... if documents times classes are more than this; otherwise nothing is slow.
_WORTH_MEASURING = 50_000
# Fits that turn the scores of a model without probabilities into some.
_CALIBRATING_FITS = 2
_QUICK = "complement"
# What is counted where languages mix, if models are better with it.
_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (1, 3)}
_BY_CHARACTERS = (
    "several languages or scripts: runs of up to 3 characters within words are counted"
)
# The better of these is taken; in order of preference if they are equal.
_LINEAR = ("softmax", "svm")
# Each of these must be better by more than the standard error of its lead.
_CHALLENGERS = ("blended-svm", "complement", "hybrid")
# With fewer labels per class, folds that lack a label of a class mislead: models that
# ignore how many documents a class has win there, and lose on new documents.
_FEW_LABELS = 10
# More documents than this tell nothing new, only later.
_MOST_DOCUMENTS = 4000


@dataclass(frozen=True)
class Choice:
    """An engine, its name, and why it was chosen."""

    engine: Engine
    name: str
    reasons: list[str]
    is_fitted: bool = False
    counted: tuple[RegionFeatures, SparseMatrix] | None = None
    """Features and rows of the labelled texts, where they were counted already."""


@dataclass(frozen=True)
class Data:
    """What there is to choose by, and how engines are built."""

    features: Any
    options: BuildOptions
    texts: RegionTexts
    target: Target
    pool: RegionTexts
    weight: Any | None = None
    budget: float | None = None
    """Seconds for choosing and fitting; None: as long as is usual."""

    @property
    def n_pool(self) -> int:
        """Unlabelled documents."""
        return n_documents(self.pool)

    def labels_per_class(self) -> float:
        """Labelled documents for each class, in the mean."""
        return len(self.target.labels) / len(np.unique(self.target.labels))

    @property
    def unlabelled_classes(self) -> list[str]:
        """Classes asked for that no document has as its label."""
        known = set(self.target.labels.tolist())
        return [str(c) for c in self.options.names.labels if c not in known]

    def build(self, model: Any) -> Engine:
        """An unfitted engine."""
        several = self.target.multi_label
        return build_engine(model, self.features, self.options, several)


def model_name(model: Any) -> str:
    """How a model is called in summaries: its name, or its class."""
    return model if isinstance(model, str) else type(model).__name__


def choose(model: Any, data: Data) -> Choice:
    """The engine for the model asked for, or the choice of ``model="auto"``."""
    n_pool = data.n_pool
    if data.target.multi_label:
        name = "svm" if model == "auto" else model
        why = "the default for several labels per document"
        reasons = [why if model == "auto" else "chosen by you", *unused_pool(n_pool)]
        return Choice(data.build(name), model_name(name), reasons)
    if data.unlabelled_classes:
        return _from_names(model, data)
    useful, left_out = _pool_serves(model, data)
    if model == _SEMI and not useful:
        model = "auto"  # below the guard the pool is ignored
        left_out = left_out or ["no unlabelled documents were given"]
        left_out.append(f"so {_SEMI} learning, asked for, is the same as none")
    if model != "auto":
        return _named(model, data, left_out)
    y, class_weight = data.target.labels, data.options.class_weight
    require_weighted(y, document_weights(data.weight, y, class_weight))
    few = data.labels_per_class() < _MANY_LABELS
    if useful and (not few or data.budget is not None):
        useful, left_out = _pool_in_time(data)
    if useful and few:
        # A choice by few labels is worse than no choice.
        return Choice(data.build(_SEMI), _SEMI, _used(n_pool))
    trials = Trials(data)
    if useful:
        return _with_pool(trials, data)
    choice = trials.choice([*trials.words, *left_out])
    columns = (list(column) for column in data.texts.values())
    if data.features is None and any(mixes_languages(column) for column in columns):
        return _by_characters(trials, data, left_out) or choice
    return choice


def _by_characters(words: Trials, data: Data, left_out: list[str]) -> Choice | None:
    """The best model on characters, if it leads the best on words."""
    names = candidates(1, data.target.labels)
    names = [name for name in names if name in ("softmax", _QUICK)]
    characters = Trials(replace(data, features=_CHARACTERS), names, words.n_folds)
    if not characters.trials:
        return None
    best = best_trial(characters.trials)
    if words.trials and not _leads(best, best_trial(words.trials)):
        return None
    by_words = [f"by words, {line}" for line in words.words]
    return characters.choice([*characters.words, _BY_CHARACTERS, *by_words, *left_out])


def _pool_in_time(data: Data) -> tuple[bool, list[str]]:
    """Whether learning from the pool is within the budget, tried on a small part."""
    n_labelled, n_pool = len(data.target.labels), data.n_pool
    limit = _POOL_BUDGET if data.budget is None else data.budget
    n_classes = len(np.unique(data.target.labels))
    if (n_labelled + n_pool) * n_classes <= 20 * _WORTH_MEASURING:
        return True, []
    rows = rows_by_lot(n_labelled, 500)
    pool_rows = rows_by_lot(n_pool, 1500)
    y = data.target.labels[rows]
    if len(np.unique(y)) < 2:
        return True, []
    started = time.thread_time()
    engine = data.build(_SEMI)
    engine.fit(take(data.texts, rows), y, More(pool=take(data.pool, pool_rows)))
    spent = time.thread_time() - started
    seconds = spent * (n_labelled + n_pool) / (len(rows) + len(pool_rows))
    if seconds <= limit:
        return True, []
    return False, [
        f"{n_pool:,} unlabelled documents were not used: learning from them would take "
        f"about {_seconds(seconds)}, the budget is {_seconds(limit)}"
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def _from_names(model: Any, data: Data) -> Choice:
    """Some class has a name only: the recipe learns it from the pool."""
    model = _SEMI if model == "auto" else model
    engine = data.build(model)
    if not isinstance(engine, SemiEngine) or not data.n_pool:
        first = data.unlabelled_classes[0]
        raise DataError(
            f"no document has the label {first!r}, and a class is learned from its "
            "name by model='semi-supervised' and from unlabelled documents only; got "
            f"model={model_name(model)!r} and {data.n_pool:,} unlabelled documents."
        )
    return Choice(engine, model_name(model), _used(data.n_pool))


def _named(model: Any, data: Data, left_out: list[str]) -> Choice:
    engine = data.build(model)
    reasons = unused_pool(data.n_pool)
    if isinstance(engine, SemiEngine):
        reasons = left_out or _used(data.n_pool)
    elif isinstance(engine, MatrixEngine) and engine.uses_pool:
        reasons = _used(data.n_pool)
    return Choice(engine, model_name(model), ["chosen by you", *reasons])


def _with_pool(trials: Trials, data: Data) -> Choice:
    """Many labels tell whether the pool helps: both ways are tried."""
    engine = data.build(_SEMI)
    assert isinstance(engine, SemiEngine)
    engine.fit(data.texts, data.target.labels, More(data.weight, data.pool))
    right = engine.left_out_right(data.target.labels)
    alone = [f"without them, {line}" for line in trials.words]
    reasons = [*_used(data.n_pool), *alone]
    if right is None:
        return Choice(engine, _SEMI, reasons, is_fitted=True)
    accuracy = float(right.mean())
    error = np.sqrt(accuracy * (1.0 - accuracy) / len(right))
    best = max((trial.accuracy for trial in trials.trials), default=0.0)
    tried = with_pool(right)
    if best > accuracy + error:
        unused = f"so the {data.n_pool:,} unlabelled documents are left out"
        return trials.choice([*trials.words, tried, unused])
    if accuracy > best:
        reasons[0] = f"{data.n_pool:,} unlabelled documents help"
    return Choice(engine, _SEMI, [*reasons, tried], is_fitted=True)


def with_pool(right: BoolVector) -> str:
    """How many of the labelled documents, held out in turn, were answered rightly."""
    return f"cross-validated with the pool: {_SEMI} {right.mean():.3f}"


# -- supervised models, by cross-validation ----------------------------------------


@dataclass(frozen=True)
class Trial:
    """Cross-validated answers of one model."""

    name: str
    right: BoolVector
    """Whether each labelled document was answered correctly by a model without it."""

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return float(self.right.mean())


@dataclass
class Trials:
    """Every candidate, cross-validated on the same folds of the labelled documents."""

    data: Data
    names: Sequence[str] | None = None
    """What to try; None: all that suit the data."""
    n_folds: int | None = None
    n_documents: int | None = None
    """Documents to fit in the end; None: those of ``data``."""
    trials: list[Trial] = field(init=False)
    too_slow: dict[str, float] = field(init=False, default_factory=dict)
    """Seconds that models would take which are therefore left out."""

    def __post_init__(self) -> None:
        y = self.data.target.labels
        rows = rows_by_lot(len(y), _MOST_DOCUMENTS)
        self._is_whole = len(rows) == len(y)
        self._counts: Any = None
        self._counted: dict[str, tuple[RegionFeatures, SparseMatrix]] = {}
        y, texts = y[rows], take(self.data.texts, rows)
        copies = group_copies(texts)
        if self.n_folds is None:
            self.n_folds = 5 if len(y) <= 1000 and self.names is None else 3
        self.trials = []
        started = time.thread_time()
        names = self.names or candidates(len(texts), y)
        for name in tracked("model", names, len(names)):
            features, X = self._rows(MODELS[name].fed, texts)
            estimator = MODELS[name].build(**vars(self.data.options))
            takes = has_fit_parameter(estimator, "blocks")
            more: dict[str, Any] = {"blocks": features.blocks_} if takes else {}
            spent = time.thread_time() - started
            if not self._in_time(name, self._seconds(estimator, X, y, more), spent):
                continue
            before = time.thread_time()
            folds = stratified_folds(y, self.n_folds, 0, copies.group)
            scores = cross_scores(estimator, X, y, folds, **more)
            one_fit = (time.thread_time() - before) / (self.n_folds - 1)
            is_all = self._is_whole and self.n_documents is None
            if is_all or self._in_time(name, self._final(estimator, one_fit)):
                right = np.unique(y)[scores.argmax(axis=1)] == y
                self.trials.append(Trial(name, right[copies.first]))

    def _in_time(self, name: str, seconds: float, spent: float = 0.0) -> bool:
        """Whether a model is within the budget; if not, it is noted."""
        if spent + seconds <= self.limit:
            return True
        self.too_slow[name] = seconds
        return False

    def _seconds(self, estimator: Any, X: SparseMatrix, y: Labels, more: Any) -> float:
        """About what trying and fitting a model will take, from a small part."""
        rows = np.arange(0, len(y), _PROBE)
        small = len(y) * len(np.unique(y)) <= _WORTH_MEASURING
        if small or len(np.unique(y[rows])) < 2:
            return 0.0
        before = time.thread_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EarmarkWarning)
            clone(estimator).fit(X[rows], y[rows], **more)
        one_fit = (time.thread_time() - before) * _PROBE
        assert self.n_folds is not None
        return one_fit * (self.n_folds - 1) + self._final(estimator, one_fit)

    def _final(self, estimator: Any, one_fit: float) -> float:
        """Seconds of fitting all documents, from those of fitting the sample."""
        n_labels = self.n_documents or len(self.data.target.labels)
        is_ready = has_probabilities(estimator) and not is_unsure(estimator)
        fits = 1 if is_ready else 1 + _CALIBRATING_FITS
        return one_fit * fits * n_labels / min(n_labels, _MOST_DOCUMENTS)

    @property
    def limit(self) -> float:
        """Seconds that may be spent."""
        return _USUAL_BUDGET if self.data.budget is None else self.data.budget

    def _rows(
        self, kind: str, texts: RegionTexts
    ) -> tuple[RegionFeatures, SparseMatrix]:
        """The matrix that a model is fed: counts, or counts that are weighted."""
        if kind not in self._counted:
            data = self.data
            counter = make_counter(data.features, data.options.n_jobs)
            features = _region_features(counter, kind, data.features)
            if self._counts is None:
                self._counts = features.count(texts)
            X = features.fit_transform(texts, self._counts)
            self._counted[kind] = (features, X)
        return self._counted[kind]

    @property
    def words(self) -> list[str]:
        """What each model scored, and what was left out for its time."""
        listed = ", ".join(f"{t.name} {t.accuracy:.3f}" for t in self.trials)
        few = are_few(self.data.target.labels)
        caution = " (so few that it says little)" if few else ""
        scored = f"cross-validated on the labelled documents{caution}: {listed}"
        slow = ", ".join(
            f"{name} (about {_seconds(s)})" if s else name
            for name, s in self.too_slow.items()
        )
        skipped = (
            f"left out to stay within the budget of {_seconds(self.limit)}: {slow}"
        )
        skipped += f"; {_QUICK}, the fastest, is used" * (not self.trials)
        return [scored] * bool(self.trials) + [skipped] * bool(slow)

    def choice(self, reasons: list[str]) -> Choice:
        """The best in cross-validation, by rules that hold with few labels too."""
        if not self.trials:
            return Choice(self.data.build(_QUICK), _QUICK, reasons)
        best = best_trial(self.trials)
        counted = self._counted[MODELS[best.name].fed] if self._is_whole else None
        engine = self.data.build(best.name)
        if not isinstance(engine, MatrixEngine) or engine.features.shared:
            counted = None
        top = max(self.trials, key=lambda trial: trial.accuracy)
        if top.accuracy > best.accuracy:
            reasons = [
                *reasons,
                f"the lead of {top.name} is within its standard error, so "
                f"{best.name} is kept",
            ]
        return Choice(engine, best.name, reasons, counted=counted)


def are_few(y: Labels) -> bool:
    """Whether the labels are too few to tell much about a model."""
    return len(y) < _FEW_LABELS * len(np.unique(y))


def candidates(n_regions: int, y: Labels) -> list[str]:
    """Names to try; hybrid Bayes only where there are regions to weigh."""
    if are_few(y):
        return list(_LINEAR)
    names = [*_LINEAR, *_CHALLENGERS]
    return [name for name in names if name != "hybrid" or n_regions > 1]


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The better linear model, unless a challenger clearly leads."""
    linear = [trial for trial in trials if trial.name in _LINEAR]
    best = max(linear or trials, key=lambda trial: trial.accuracy)
    for trial in trials:
        if trial.name in _CHALLENGERS and _leads(trial, best):
            best = trial
    return best


def _leads(challenger: Trial, holder: Trial) -> bool:
    """Whether the challenger leads by more than the standard error of its lead."""
    gap = challenger.right.astype(float) - holder.right.astype(float)
    return bool(gap.mean() > gap.std() / np.sqrt(len(gap)))


# -- the pool ------------------------------------------------------------------------


def _used(n_pool: int) -> list[str]:
    return [f"{n_pool:,} unlabelled documents are used"] if n_pool else []


def unused_pool(n_pool: int) -> list[str]:
    """What to say of unlabelled documents that a model makes no use of."""
    if not n_pool:
        return []
    return [f"{n_pool:,} unlabelled documents were not used by this model"]


def _pool_serves(model: Any, data: Data) -> tuple[bool, list[str]]:
    """Whether the pool is large enough to be used, and if not, what to say."""
    min_pool, min_ratio = MIN_POOL, MIN_POOL_RATIO
    if isinstance(model, SemiSupervisedClassifier):
        check_parameters(model)
        min_pool, min_ratio = model.min_pool, model.min_pool_ratio
    n_pool = data.n_pool
    if not n_pool:
        return False, []
    n_different = n_distinct(data.pool)
    n_labelled = len(data.target.labels)
    if pool_is_useful(n_labelled, n_different, min_pool, min_ratio):
        return True, []
    same = "" if n_different == n_pool else f" ({n_different:,} different ones)"
    return False, [
        f"{n_pool:,} unlabelled documents{same} were not used: expected at "
        f"least {min_pool}, and at least {min_ratio:g} per labelled one"
    ]


# -- what was used, in words ---------------------------------------------------------


def encoder_words(engine: Any) -> str:
    """What the encoder that the user gave is worth, in words."""
    share = engine.model_.encoder_share_ if isinstance(engine, SemiEngine) else None
    if share is None:
        unused = (
            "the encoder was not used: it needs unlabelled text and the model "
            "semi-supervised"
        )
        warnings.warn(f"{unused}.", EarmarkWarning, stacklevel=3)
        return unused
    n_spared = engine.features.n_spared_
    rest = "were not encoded; their vectors are told from their words"
    spared = f"; {n_spared:,} documents of the pool {rest}" if n_spared else ""
    return f"the encoder has {share:.0%} of the vote{spared}"


_UNKNOWN = (
    "no labelled document: learned from class names alone, so its accuracy is unknown; "
    "label some of its answers (earmark label) to find out"
)


def class_name_words(engine: Any, names: ClassNames, labels: Labels) -> list[str]:
    """Which class names were used, in words, and what nobody knows without labels."""
    telling = engine.telling_ if isinstance(engine, SemiEngine) else {}
    if not telling:
        unused = "the class names were not used: they count beside unlabelled documents"
        return [unused] if names.labels else []
    described = [f"{label} ({', '.join(t)})" for label, t in telling.items()]
    more = f" and {len(described) - 5} more" if len(described) > 5 else ""
    used = f"class names used as weak documents: {'; '.join(described[:5])}{more}"
    if not len(labels):
        return [_UNKNOWN, used]
    known = set(labels.tolist())
    only = [str(label) for label in telling if label not in known]
    if not only:
        return [used]
    listed = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
    return [used, f"no labelled document of {listed}: no figure here speaks of them"]
