"""Choose among supervised models by cross-validation on one counted matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from earmark.models.registry import MODELS, BuildOptions
from earmark.pipeline.build import region_features
from earmark.pipeline.inputs import RegionTexts, take
from earmark.pipeline.matrix_engine import cross_scores
from earmark.typing import BoolVector, IntVector, Labels

__all__ = ["Trial", "are_few", "best_trial", "candidates", "try_models"]

# The better of these is taken; in order of preference if they are equal.
_LINEAR = ("softmax", "svm")
# Each of these must be better by more than the standard error of its lead.
_CHALLENGERS = ("blended-svm", "complement", "hybrid")
# With fewer labels a class, folds that lack a label of a class mislead: models that
# ignore how many documents a class has win there, and lose on new documents.
_FEW_LABELS = 10
# More documents than this tell nothing new, only later.
_MOST_DOCUMENTS = 4000


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


def are_few(y: Labels) -> bool:
    """Whether the labels are too few to tell much about a model."""
    return len(y) < _FEW_LABELS * len(np.unique(y))


def candidates(n_regions: int, y: Labels) -> list[str]:
    """Names to try; hybrid Bayes only where there are regions to weigh."""
    if are_few(y):
        return list(_LINEAR)
    names = [*_LINEAR, *_CHALLENGERS]
    return [name for name in names if name != "hybrid" or n_regions > 1]


def try_models(
    features: Any, options: BuildOptions, texts: RegionTexts, y: Labels
) -> list[Trial]:
    """Cross-validate every candidate on the same folds of the labelled documents.

    Texts are counted once; vocabulary and document frequencies are those of all
    labelled documents.
    """
    rows = _sample(y)
    y, texts = y[rows], take(texts, rows)
    n_folds = 5 if len(y) <= 1000 else 3
    matrices: dict[str, Any] = {}
    trials = []
    for name in candidates(len(texts), y):
        spec = MODELS[name]
        if spec.features not in matrices:
            made = region_features(spec, features, options)
            matrices[spec.features] = (made.fit_transform(texts), made.blocks_)
        X, blocks = matrices[spec.features]
        estimator = spec.build(options)
        more = {"blocks": blocks} if has_fit_parameter(estimator, "blocks") else {}
        scores = cross_scores(estimator, X, y, n_folds=n_folds, random_state=0, **more)
        trials.append(Trial(name, np.unique(y)[scores.argmax(axis=1)] == y))
    return trials


def _sample(y: Labels) -> IntVector:
    if len(y) <= _MOST_DOCUMENTS:
        return np.arange(len(y))
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(len(y), _MOST_DOCUMENTS, replace=False))


def best_trial(trials: list[Trial]) -> Trial:
    """The better linear model, unless a challenger clearly leads."""
    linear = [trial for trial in trials if trial.name in _LINEAR]
    best = max(linear, key=lambda trial: trial.accuracy)
    for trial in trials:
        if trial.name in _CHALLENGERS and _leads(trial, best):
            best = trial
    return best


def _leads(challenger: Trial, holder: Trial) -> bool:
    """Whether the challenger leads by more than the standard error of its lead."""
    gap = challenger.right.astype(float) - holder.right.astype(float)
    return bool(gap.mean() > gap.std() / np.sqrt(len(gap)))
