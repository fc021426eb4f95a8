"""Which model ``TextClassifier`` takes: from the data to a plan and the reasons for it.

``choose`` is a pure function. With a model that the user named there is nothing to
choose; ``"auto"`` compares those whose declarations say that they take part.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.decision.decision import has_probabilities
from earmark.exceptions import DataError, EarmarkWarning
from earmark.features.columns import Columns, ColumnTable, Counted, Rows
from earmark.features.tokens import mixes_languages
from earmark.folds import rows_by_lot, stratified_folds, take
from earmark.inputs.class_names import ClassNames
from earmark.inputs.regions import n_distinct
from earmark.inputs.training import TrainingData
from earmark.inputs.weights import ClassWeight
from earmark.models.base.classifier import check_parameters, require_weighted
from earmark.models.base.declaration import MODELS, Model
from earmark.models.semi_supervised import SemiSupervisedClassifier
from earmark.models.shared.recipe import MIN_POOL, MIN_POOL_RATIO, pool_is_useful
from earmark.pipeline.text_model import (
    Plan,
    Planner,
    TextModel,
    asked_for,
    cross_scores,
    needs_calibration,
)
from earmark.progress import tracked
from earmark.typing import BoolVector, Estimator, Labels, Matrix

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
# What is counted where languages mix, if models are better with it.
_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (1, 3)}
_BY_CHARACTERS = (
    "several languages or scripts: runs of up to 3 characters within words are counted"
)
# With fewer labels per class, folds that lack a label of a class mislead: models that
# ignore how many documents a class has win there, and lose on new documents.
_FEW_LABELS = 10
# More documents than this tell nothing new, only later.
_MOST_DOCUMENTS = 4000


@dataclass(frozen=True)
class Choice:
    """A plan, and why it was chosen."""

    plan: Plan
    reasons: list[str]
    fitted: TextModel | None = None
    """The fitted model, where choosing has made it."""
    counted: tuple[Columns, Rows] | None = None
    """Columns and rows of the labelled texts, where they were counted already."""


def choose(
    model: Any, data: TrainingData, planner: Planner, budget: float | None = None
) -> Choice:
    """The plan for the model asked for, or the choice of ``model="auto"``.

    ``budget`` is in seconds, for choosing and fitting; None: as long as is usual.
    """
    if data.multi_label:
        name = "svm" if model == "auto" else model
        why = "the default for several labels per document"
        chosen = why if model == "auto" else "chosen by you"
        return Choice(planner.plan(name), [chosen, *unused_pool(data.n_pool)])
    if data.names.labels and unlabelled_classes(data):
        return _from_names(model, data, planner)
    useful, left_out = _pool_serves(model, data) if data.n_pool else (False, [])
    if model == _SEMI and not useful:
        model = "auto"  # below the guard the pool is ignored
        left_out = left_out or ["no unlabelled documents were given"]
        left_out.append(f"so {_SEMI} learning, asked for, is the same as none")
    if model != "auto":
        return _named(model, data, planner, left_out)
    weight = ClassWeight(planner.class_weight).of_documents(data.labels, data.weight)
    if weight is not None:
        require_weighted(data.labels, weight)
    few = len(data.labels) / len(data.classes) < _MANY_LABELS
    if useful and (not few or budget is not None):
        useful, left_out = _pool_in_time(data, planner, budget)
    if useful and few:
        # A choice by few labels is worse than no choice.
        return Choice(planner.plan(_SEMI), _used(data.n_pool))
    trials = Trials(data, planner, budget)
    if useful:
        return _with_pool(trials)
    choice = trials.choice([*trials.words, *left_out])
    columns = (list(column) for column in data.texts.values())
    if planner.features is None and any(mixes_languages(column) for column in columns):
        return _by_characters(trials, left_out) or choice
    return choice


def unlabelled_classes(data: TrainingData) -> list[str]:
    """Classes asked for that no document has as its label."""
    known = set(data.labels.tolist())
    return [str(label) for label in data.names.labels if label not in known]


def _by_characters(words: Trials, left_out: list[str]) -> Choice | None:
    """The best model on characters, if it leads the best on words."""
    tried = [model for model in candidates(1, words.data.labels) if _is_quick(model)]
    planner = replace(words.planner, features=_CHARACTERS)
    characters = Trials(words.data, planner, words.budget, tried, words.n_folds)
    if not characters.trials:
        return None
    best = best_trial(characters.trials)
    if words.trials and not _leads(best, best_trial(words.trials)):
        return None
    by_words = [f"by words, {line}" for line in words.words]
    return characters.choice([*characters.words, _BY_CHARACTERS, *by_words, *left_out])


def _is_quick(model: Model) -> bool:
    """Whether a model is tried a second time, on characters."""
    return model.auto is not None and (
        model.auto.fallback or (model.auto.role == "default" and not model.auto.order)
    )


def _pool_in_time(
    data: TrainingData, planner: Planner, budget: float | None
) -> tuple[bool, list[str]]:
    """Whether learning from the pool is within the budget, tried on a small part."""
    n_labelled, n_pool = len(data.labels), data.n_pool
    limit = _POOL_BUDGET if budget is None else budget
    if (n_labelled + n_pool) * len(data.classes) <= 20 * _WORTH_MEASURING:
        return True, []
    some = data.take(rows_by_lot(n_labelled, 500))
    if len(np.unique(some.labels)) < 2:
        return True, []
    small = replace(
        some,
        weight=None,
        pool=take(data.pool, rows_by_lot(n_pool, 1500)),
        names=ClassNames(),
    )
    started = time.thread_time()
    planner.plan(_SEMI).fit(small)
    spent = time.thread_time() - started
    seconds = spent * (n_labelled + n_pool) / (len(small.labels) + small.n_pool)
    if seconds <= limit:
        return True, []
    return False, [
        f"{n_pool:,} unlabelled documents were not used: learning from them would take "
        f"about {_seconds(seconds)}, the budget is {_seconds(limit)}"
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def _from_names(model: Any, data: TrainingData, planner: Planner) -> Choice:
    """Some class has a name only: the few-label method learns it from the pool."""
    plan = planner.plan(_SEMI if model == "auto" else model)
    if not plan.columns.joined or not data.n_pool:
        first = unlabelled_classes(data)[0]
        raise DataError(
            f"no document has the label {first!r}, and a class is learned from its "
            "name by model='semi-supervised' and from unlabelled documents only; got "
            f"model={plan.name!r} and {data.n_pool:,} unlabelled documents."
        )
    return Choice(plan, _used(data.n_pool))


def _named(
    model: Any, data: TrainingData, planner: Planner, left_out: list[str]
) -> Choice:
    plan = planner.plan(model)
    reasons = unused_pool(data.n_pool)
    if plan.columns.joined:
        reasons = left_out or _used(data.n_pool)
    elif plan.uses_pool:
        reasons = _used(data.n_pool)
    return Choice(plan, ["chosen by you", *reasons])


def _with_pool(trials: Trials) -> Choice:
    """Many labels tell whether the pool helps: both ways are tried."""
    data = trials.data
    plan = trials.planner.plan(_SEMI)
    fitted = plan.fit(data)
    right = fitted.left_out_right(data.labels)
    alone = [f"without them, {line}" for line in trials.words]
    reasons = [*_used(data.n_pool), *alone]
    if right is None:
        return Choice(plan, reasons, fitted)
    accuracy = float(right.mean())
    error = np.sqrt(accuracy * (1.0 - accuracy) / len(right))
    best = max((trial.accuracy for trial in trials.trials), default=0.0)
    tried = with_pool(right)
    if best > accuracy + error:
        unused = f"so the {data.n_pool:,} unlabelled documents are left out"
        return trials.choice([*trials.words, tried, unused])
    if accuracy > best:
        reasons[0] = f"{data.n_pool:,} unlabelled documents help"
    return Choice(plan, [*reasons, tried], fitted)


def with_pool(right: BoolVector) -> str:
    """How many of the labelled documents, held out in turn, were answered rightly."""
    return f"cross-validated with the pool: {_SEMI} {right.mean():.3f}"


# -- supervised models, by cross-validation ----------------------------------------


@dataclass(frozen=True)
class Trial:
    """Cross-validated answers of one model."""

    model: Model
    right: BoolVector
    """Whether each labelled document was answered correctly by a model without it."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return float(self.right.mean())


@dataclass
class Trials:
    """Every candidate, cross-validated on the same folds of the labelled documents."""

    data: TrainingData
    planner: Planner
    budget: float | None = None
    models: Sequence[Model] | None = None
    """What to try; None: all that suit the data."""
    n_folds: int | None = None
    n_documents: int | None = None
    """Documents to fit in the end; None: those of ``data``."""
    trials: list[Trial] = field(init=False)
    too_slow: dict[str, float] = field(init=False, default_factory=dict)
    """Seconds that models would take which are therefore left out."""

    def __post_init__(self) -> None:
        rows = rows_by_lot(len(self.data.labels), _MOST_DOCUMENTS)
        self._is_whole = len(rows) == len(self.data.labels)
        self._counts: Counted | None = None
        self._rows_fed: dict[str, tuple[Columns, Rows]] = {}
        sample = self.data if self._is_whole else self.data.take(rows)
        self._sample, y = sample, sample.labels
        if self.n_folds is None:
            self.n_folds = 5 if len(y) <= 1000 and self.models is None else 3
        self.trials = []
        started = time.thread_time()
        models = self.models or candidates(len(sample.texts), y)
        for model in tracked("model", models, len(models)):
            plan = self.planner.plan(model.name)
            columns, fed = self._fed(plan, model.fed)
            more = asked_for(plan.estimator, {"columns": partial(_table, columns)})
            weight = plan.class_weight.of_documents(y, sample.weight)
            task = _Fits(plan.estimator, fed.matrix, y, weight, more)
            spent = time.thread_time() - started
            if not self._in_time(model.name, self._seconds(task), spent):
                continue
            before = time.thread_time()
            folds = stratified_folds(y, self.n_folds, 0, sample.copies.group)
            scores = cross_scores(plan.estimator, fed.matrix, y, folds, weight, **more)
            one_fit = (time.thread_time() - before) / (self.n_folds - 1)
            is_all = self._is_whole and self.n_documents is None
            if is_all or self._in_time(model.name, self._final(task, one_fit)):
                right = np.unique(y)[scores.argmax(axis=1)] == y
                self.trials.append(Trial(model, right[sample.copies.first]))

    def _in_time(self, name: str, seconds: float, spent: float = 0.0) -> bool:
        """Whether a model is within the budget; if not, it is noted."""
        if spent + seconds <= self.limit:
            return True
        self.too_slow[name] = seconds
        return False

    def _seconds(self, task: _Fits) -> float:
        """About what trying and fitting a model will take, from a small part."""
        rows = np.arange(0, len(task.y), _PROBE)
        small = len(task.y) * len(np.unique(task.y)) <= _WORTH_MEASURING
        if small or len(np.unique(task.y[rows])) < 2:
            return 0.0
        before = time.thread_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EarmarkWarning)
            clone(task.estimator).fit(task.X[rows], task.y[rows], **task.more)
        one_fit = (time.thread_time() - before) * _PROBE
        assert self.n_folds is not None
        return one_fit * (self.n_folds - 1) + self._final(task, one_fit)

    def _final(self, task: _Fits, one_fit: float) -> float:
        """Seconds of fitting all documents, from those of fitting the sample."""
        n_labels = self.n_documents or len(self.data.labels)
        ready = has_probabilities(task.estimator) and not needs_calibration(
            task.estimator
        )
        fits = 1 if ready else 1 + _CALIBRATING_FITS
        return one_fit * fits * n_labels / min(n_labels, _MOST_DOCUMENTS)

    @property
    def limit(self) -> float:
        """Seconds that may be spent."""
        return _USUAL_BUDGET if self.budget is None else self.budget

    def _fed(self, plan: Plan, fed: str) -> tuple[Columns, Rows]:
        """Columns and rows as a model is fed: counts, or counts that are weighted."""
        if fed not in self._rows_fed:
            template = replace(plan.columns, shared=False)
            if self._counts is None:
                self._counts = template.count(self._sample.texts)
            self._rows_fed[fed] = template.weigh(self._counts)
        return self._rows_fed[fed]

    @property
    def words(self) -> list[str]:
        """What each model scored, and what was left out for its time."""
        listed = ", ".join(f"{t.name} {t.accuracy:.3f}" for t in self.trials)
        few = are_few(self.data.labels)
        caution = " (so few that it says little)" if few else ""
        scored = f"cross-validated on the labelled documents{caution}: {listed}"
        slow = ", ".join(
            f"{name} (about {_seconds(s)})" if s else name
            for name, s in self.too_slow.items()
        )
        skipped = (
            f"left out to stay within the budget of {_seconds(self.limit)}: {slow}"
        )
        skipped += f"; {fallback().name}, the fastest, is used" * (not self.trials)
        return [scored] * bool(self.trials) + [skipped] * bool(slow)

    def choice(self, reasons: list[str]) -> Choice:
        """The best in cross-validation, by rules that hold with few labels too."""
        if not self.trials:
            return Choice(self.planner.plan(fallback().name), reasons)
        best = best_trial(self.trials)
        plan = self.planner.plan(best.name)
        counted = None
        if self._is_whole and not plan.by_term and not plan.columns.shared:
            counted = self._rows_fed[best.model.fed]
        top = max(self.trials, key=lambda trial: trial.accuracy)
        if top.accuracy > best.accuracy:
            reasons = [
                *reasons,
                f"the lead of {top.name} is within its standard error, so "
                f"{best.name} is kept",
            ]
        return Choice(plan, reasons, counted=counted)


def _table(columns: Columns) -> ColumnTable:
    return columns.table


@dataclass(frozen=True, eq=False)
class _Fits:
    """What every fold of a trial is fitted to."""

    estimator: Estimator
    X: Matrix
    y: Labels
    weight: Any
    more: dict[str, object]


def are_few(y: Labels) -> bool:
    """Whether the labels are too few to tell much about a model."""
    return len(y) < _FEW_LABELS * len(np.unique(y))


def fallback() -> Model:
    """The model that is taken where none is within the budget."""
    return next(model for model in MODELS if model.auto and model.auto.fallback)


def candidates(n_regions: int, y: Labels) -> list[Model]:
    """Models to try: the defaults, and where labels are enough their challengers."""
    taking_part = sorted(
        ((m.auto.role == "challenger", m.auto.order, m.name) for m in MODELS if m.auto),
    )
    models = [MODELS[name] for _, _, name in taking_part]
    return [model for model in models if _suits(model, n_regions, are_few(y))]


def _suits(model: Model, n_regions: int, few: bool) -> bool:
    """Whether ``auto`` tries a model on documents with so many regions."""
    assert model.auto is not None
    if model.auto.role == "challenger":
        return not few and (n_regions > 1 or not model.auto.regions_only)
    return model.auto.role == "default"


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The better default model, unless a challenger clearly leads."""
    defaults = [trial for trial in trials if _role(trial) == "default"]
    best = max(defaults or trials, key=lambda trial: trial.accuracy)
    for trial in trials:
        if _role(trial) == "challenger" and _leads(trial, best):
            best = trial
    return best


def _role(trial: Trial) -> str | None:
    return None if trial.model.auto is None else trial.model.auto.role


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


def _pool_serves(model: Any, data: TrainingData) -> tuple[bool, list[str]]:
    """Whether the pool is large enough to be used, and if not, what to say."""
    min_pool, min_ratio = MIN_POOL, MIN_POOL_RATIO
    if isinstance(model, SemiSupervisedClassifier):
        check_parameters(model)
        min_pool, min_ratio = model.min_pool, model.min_pool_ratio
    n_pool = data.n_pool
    if not n_pool:
        return False, []
    n_different = n_distinct(data.pool)
    n_labelled = len(data.labels)
    if pool_is_useful(n_labelled, n_different, min_pool, min_ratio):
        return True, []
    same = "" if n_different == n_pool else f" ({n_different:,} different ones)"
    return False, [
        f"{n_pool:,} unlabelled documents{same} were not used: expected at "
        f"least {min_pool}, and at least {min_ratio:g} per labelled one"
    ]


# -- what was used, in words ---------------------------------------------------------


def encoder_words(fitted: TextModel) -> str:
    """What the encoder that the user gave is worth, in words."""
    share = getattr(fitted.model, "encoder_share_", None)
    if share is None:
        unused = (
            "the encoder was not used: it needs unlabelled text and the model "
            "semi-supervised"
        )
        warnings.warn(f"{unused}.", EarmarkWarning, stacklevel=3)
        return unused
    assert fitted.columns.encoder is not None
    n_spared = fitted.columns.encoder.n_spared
    rest = "were not encoded; their vectors are told from their words"
    spared = f"; {n_spared:,} documents of the pool {rest}" if n_spared else ""
    return f"the encoder has {share:.0%} of the vote{spared}"


_UNKNOWN = (
    "no labelled document: learned from class names alone, so its accuracy is unknown; "
    "label some of its answers (earmark label) to find out"
)


def class_name_words(
    used: Mapping[Hashable, list[str]], names: ClassNames, labels: Labels
) -> list[str]:
    """Which class names were used, in words, and what nobody knows without labels."""
    if not used:
        unused = "the class names were not used: they count beside unlabelled documents"
        return [unused] if names.labels else []
    described = [f"{label} ({', '.join(t)})" for label, t in used.items()]
    more = f" and {len(described) - 5} more" if len(described) > 5 else ""
    words = f"class names used as weak documents: {'; '.join(described[:5])}{more}"
    if not len(labels):
        return [_UNKNOWN, words]
    known = set(labels.tolist())
    only = [str(label) for label in used if label not in known]
    if not only:
        return [words]
    listed = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
    return [words, f"no labelled document of {listed}: no figure here speaks of them"]
