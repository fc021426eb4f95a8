"""The classifiers compared: functions from a trial to the test documents right."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from earmark.models import (
    BernoulliNaiveBayes,
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
    MultinomialNaiveBayes,
)
from earmark.typing import BoolVector
from reproductions.higher_order.data import Trial

__all__ = ["BASELINES", "CURVES", "METHODS", "UNSCALED"]

Method = Callable[[Trial], BoolVector]

_COSTS = tuple(10.0**k for k in range(-4, 5))


def _plain(make: Callable[[], Any]) -> Method:
    """An estimator as it comes."""

    def right(trial: Trial) -> BoolVector:
        model = make().fit(trial.train, trial.y_train)
        return np.asarray(model.predict(trial.test) == trial.y_test)

    return right


def _smallest_best_cost(make: Callable[[float], Any]) -> Method:
    """Footnote 6: of the costs with the best training accuracy, the smallest."""

    def right(trial: Trial) -> BoolVector:
        train = (trial.train > 0).astype(np.float64)
        best = -1.0
        chosen: Any = None
        for cost in _COSTS:
            model = make(cost).fit(train, trial.y_train)
            reached = float(model.score(train, trial.y_train))
            if reached > best:
                best, chosen = reached, model
            if reached == 1.0:
                break
        test = (trial.test > 0).astype(np.float64)
        return np.asarray(chosen.predict(test) == trial.y_test)

    return right


def _cross_validated(make: Callable[[], Any], grid: Mapping[str, Any]) -> Method:
    """The grid's best in 3-fold cross-validation of the training part."""

    def right(trial: Trial) -> BoolVector:
        parts = StratifiedKFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(make(), dict(grid), cv=parts)
        search.fit(trial.train, trial.y_train)
        return np.asarray(search.predict(trial.test) == trial.y_test)

    return right


def _quiet(method: Method) -> Method:
    """Costs of 10^4 need not converge: they are rarely chosen."""

    def right(trial: Trial) -> BoolVector:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return method(trial)

    return right


def _tfidf() -> TfidfTransformer:
    return TfidfTransformer(sublinear_tf=True)


CURVES: Mapping[str, Method] = {
    "NB": _plain(BernoulliNaiveBayes),
    "HONB": _plain(HigherOrderNaiveBayes),
    "SVM": _quiet(
        _smallest_best_cost(
            lambda cost: OneVsOneClassifier(LinearSVC(C=cost, random_state=0))
        )
    ),
    "HOSVM": _quiet(_plain(lambda: HigherOrderClassifier(random_state=0))),
}

BASELINES: Mapping[str, Method] = {
    "multinomial NB": _plain(MultinomialNaiveBayes),
    "Complement NB": _cross_validated(ComplementNB, {"alpha": (0.03, 0.1, 0.3, 1.0)}),
    "tf-idf + linear SVM": _cross_validated(
        lambda: make_pipeline(_tfidf(), LinearSVC(random_state=0)),
        {"linearsvc__C": (0.1, 0.3, 1.0, 3.0)},
    ),
    "tf-idf + logistic regression": _cross_validated(
        lambda: make_pipeline(_tfidf(), LogisticRegression(max_iter=1000, tol=1e-3)),
        {"logisticregression__C": (1.0, 10.0, 100.0)},
    ),
}

# Footnote 5: values of the transform that are not divided by the root of their size.
UNSCALED: Mapping[str, Method] = {
    "HOSVM, log-ratios as they are": _quiet(
        _plain(lambda: HigherOrderClassifier(normalize=False, random_state=0))
    )
}

METHODS: Mapping[str, Method] = {
    **CURVES,
    "pure HONB": _plain(lambda: HigherOrderNaiveBayes(pure=True)),
    "NBSVM": _quiet(
        _plain(lambda: HigherOrderClassifier(source="first_order", random_state=0))
    ),
    "HONB, third order": _plain(lambda: HigherOrderNaiveBayes(order=3)),
    "HOSVM, third order": _quiet(
        _plain(lambda: HigherOrderClassifier(order=3, random_state=0))
    ),
    "HOSVM, C cross-validated": _quiet(
        _plain(
            lambda: HigherOrderClassifier(C="cross_validation", cv=3, random_state=0)
        )
    ),
    "SVM, unpenalized intercept": _smallest_best_cost(
        lambda cost: SVC(C=cost, kernel="linear")
    ),
    "HOSVM, unpenalized intercept": _plain(
        lambda: HigherOrderClassifier(SVC(kernel="linear"))
    ),
    "SVM, RBF kernel": _smallest_best_cost(lambda cost: SVC(C=cost)),
    "HOSVM, RBF kernel": _plain(lambda: HigherOrderClassifier(SVC())),
    **BASELINES,
}
