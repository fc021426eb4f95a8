"""The classifiers compared, each fitted on one split: name -> function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from earmark.models import HybridBayes, MultinomialNaiveBayes
from earmark.typing import FloatMatrix, Labels, Matrix
from reproductions.hybrid.pairs import Part

__all__ = [
    "ALPHAS",
    "HONEST",
    "METHODS",
    "Answer",
    "answer",
    "best_setting",
    "one_region",
    "tuned",
]

# Tried by leave-one-out, on training documents only.
ALPHAS = (0.01, 0.1, 1.0)

Answer = tuple[Labels, FloatMatrix | None]
"""Predicted labels, and log-probabilities where the method has them."""


def best_setting(
    estimator: Any, grid: Mapping[str, Sequence[float]], X: Matrix, y: Any
) -> Any:
    """The estimator, unfitted, with the value that does best on a third of X.

    Ties go to the earlier value.
    """
    ((name, values),) = grid.items()
    models = [clone(estimator).set_params(**{name: v}) for v in values]
    if len(models) == 1:
        return models[0]
    rest, held = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y
    )
    scores = [clone(m).fit(X[rest], y[rest]).score(X[held], y[held]) for m in models]
    return models[int(np.argmax(scores))]


def tuned(
    estimator: Any, grid: Mapping[str, Sequence[float]], X: Matrix, y: Any
) -> Any:
    """The estimator with its best setting, fitted on all of the training part."""
    return best_setting(estimator, grid, X, y).fit(X, y)


def answer(model: Any, X: Matrix) -> Answer:
    """Labels and log-probabilities of a fitted model."""
    if hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):
            log_proba = model.predict_log_proba(X)
    elif hasattr(model, "predict_proba"):
        with np.errstate(divide="ignore"):
            log_proba = np.log(model.predict_proba(X))
    else:
        return model.predict(X), None
    return model.classes_[log_proba.argmax(axis=1)], log_proba


def _naive_bayes(train: Part, test: Part) -> Answer:
    return answer(MultinomialNaiveBayes().fit(train.whole, train.y), test.whole)


def _naive_bayes_chosen(train: Part, test: Part) -> Answer:
    """Naive Bayes with the same choice of alpha that the hybrid has."""
    losses = {}
    for alpha in ALPHAS:
        model = MultinomialNaiveBayes(alpha=alpha).fit(train.whole, train.y)
        left_out = model.leave_one_out(train.whole, train.y)
        own = np.searchsorted(model.classes_, train.y)
        losses[alpha] = -left_out[np.arange(len(own)), own].mean()
    best = min(losses, key=lambda alpha: losses[alpha])
    model = MultinomialNaiveBayes(alpha=best).fit(train.whole, train.y)
    return answer(model, test.whole)


def _logistic_regression(train: Part, test: Part) -> Answer:
    model = tuned(
        LogisticRegression(solver="liblinear"),
        {"C": (0.01, 0.1, 1.0)},
        train.whole,
        train.y,
    )
    return answer(model, test.whole)


def one_region(**options: Any) -> Callable[[Part, Part], Answer]:
    """The hybrid on subject and body as one text."""

    def run(train: Part, test: Part) -> Answer:
        model = HybridBayes(**{"alpha": ALPHAS, **options})
        return answer(model.fit(train.whole, train.y), test.whole)

    return run


def _two_regions(**options: Any) -> Callable[[Part, Part], Answer]:
    """Subject and body with one vocabulary and one table of words, as in the paper."""

    def run(train: Part, test: Part) -> Answer:
        given = {"alpha": ALPHAS, "vocabulary": "shared", **options}
        model = HybridBayes(**given)
        model.fit(train.regions, train.y, columns=train.blocks)
        return answer(model, test.regions)

    return run


def _baseline(
    estimator: Any, grid: Mapping[str, Sequence[float]]
) -> Callable[[Part, Part], Answer]:
    def run(train: Part, test: Part) -> Answer:
        return answer(tuned(estimator, grid, train.whole, train.y), test.whole)

    return run


METHODS: Mapping[str, Callable[[Part, Part], Answer]] = {
    "naive Bayes": _naive_bayes,
    "logistic regression": _logistic_regression,
    "hybrid R=1": one_region(),
    "hybrid R=2": _two_regions(),
    "hybrid R=2, alpha=1": _two_regions(alpha=1.0),
    "hybrid R=2, unnormalised": _two_regions(normalize=False),
    "hybrid R=2, plug-in": _two_regions(fit_features="plug_in"),
    "hybrid R=2, a vocabulary each": _two_regions(vocabulary="per_region"),
}

# Not in the paper: what else one would try today.
HONEST: Mapping[str, Callable[[Part, Part], Answer]] = {
    "naive Bayes, alpha chosen": _naive_bayes_chosen,
    "Complement NB": _baseline(ComplementNB(), {"alpha": (0.03, 0.1, 0.3, 1.0)}),
    "tf-idf + linear SVM": _baseline(
        make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC()),
        {"linearsvc__C": (0.1, 0.3, 1.0, 3.0)},
    ),
    "tf-idf + logistic regression": _baseline(
        make_pipeline(
            TfidfTransformer(sublinear_tf=True), LogisticRegression(solver="liblinear")
        ),
        {"logisticregression__C": (1.0, 10.0, 100.0)},
    ),
}
