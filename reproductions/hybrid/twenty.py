"""Beyond the paper: all twenty newsgroups, the by-date split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from earmark.documents import load_corpus
from earmark.evaluation import accuracy_coverage, mcnemar_exact, reliability
from earmark.features import WordCounter
from earmark.models import HybridBayes, MultinomialNaiveBayes
from earmark.typing import BoolVector, Matrix
from reproductions.hybrid.methods import answer, best_setting, tuned
from reproductions.hybrid.pairs import REGIONS, Part
from reproductions.study import Progress, log_odds

__all__ = ["twenty_newsgroups"]

OURS = "hybrid R=2"
_ALPHAS = (0.01, 0.03, 0.1, 0.3)


class _News:
    """Counts of the by-date split: a vocabulary for each region, and a shared one."""

    def __init__(self) -> None:
        train: Any = load_corpus("20newsgroups", "train", regions=list(REGIONS))
        test: Any = load_corpus("20newsgroups", "test", regions=list(REGIONS))
        own: list[list[Matrix]] = [[], []]
        shared: list[list[Matrix]] = [[], []]
        every = WordCounter().fit([t for r in REGIONS for t in train.texts[r]])
        for region in REGIONS:
            counter = WordCounter().fit(train.texts[region])
            for i, part in enumerate((train, test)):
                own[i].append(counter.transform(part.texts[region]))
                shared[i].append(every.transform(part.texts[region]))
        widths = [part.shape[1] for part in own[0]]
        self.own_blocks = np.repeat([0, 1], widths)
        self.own = [sparse.hstack(parts, format="csr") for parts in own]
        labels = [np.asarray(train.labels), np.asarray(test.labels)]
        self.train, self.test = (
            Part(parts[0], parts[1], y) for parts, y in zip(shared, labels, strict=True)
        )


def twenty_newsgroups(progress: Progress, quick: bool = False) -> dict[str, Any]:
    """Accuracy, log loss, calibration and coverage of each method; paired tests."""
    news = _News()
    found: dict[str, Any] = {}
    right: dict[str, BoolVector] = {}
    for name, run in _METHODS.items():
        if quick and "tf-idf" in name:
            continue
        labels, log_proba, facts = run(news)
        right[name] = labels == news.test.y
        found[name] = {"accuracy": float(right[name].mean()), **facts}
        if log_proba is not None:
            proba = np.exp(log_proba)
            fit = reliability(news.test.y, proba, np.unique(news.train.y))
            curve = accuracy_coverage(news.test.y, labels, log_odds(log_proba))
            rounded = accuracy_coverage(news.test.y, labels, proba.max(axis=1))
            found[name] |= {
                "log_loss": fit.log_loss,
                "ece": fit.ece,
                "coverage_at_95": curve.coverage_at(0.95),
                "coverage_at_95_by_probability": rounded.coverage_at(0.95),
                "probability_is_1": float(np.mean(proba.max(axis=1) == 1.0)),
                "area": curve.area,
            }
        progress(f"twenty newsgroups: {name}")
    for name in found:
        if name != OURS:
            test = mcnemar_exact(right[OURS], right[name])
            found[name]["p_against_R2"] = test.p_value
    return {"n_train": len(news.train.y), "n_test": len(news.test.y), "methods": found}


def _answer(model: Any, X: Matrix, **facts: Any) -> tuple[Any, Any, dict[str, Any]]:
    return *answer(model, X), facts


def _hybrid_facts(model: HybridBayes) -> dict[str, Any]:
    return {
        "alpha": model.alpha_,
        "left_out_log_loss": model.log_loss_[model.alpha_],
        "table": model.region_table(
            list(REGIONS) if len(model.region_weight_) == 2 else ["text"]
        ),
    }


def _naive_bayes(alpha: float) -> Callable[[_News], Any]:
    def run(news: _News) -> Any:
        model = MultinomialNaiveBayes(alpha=alpha).fit(news.train.whole, news.train.y)
        return _answer(model, news.test.whole)

    return run


def _one_region(**options: Any) -> Callable[[_News], Any]:
    def run(news: _News) -> Any:
        model = HybridBayes(**options)
        model.fit(news.train.whole, news.train.y)
        return _answer(model, news.test.whole, **_hybrid_facts(model))

    return run


def _shared(**options: Any) -> Callable[[_News], Any]:
    def run(news: _News) -> Any:
        model = HybridBayes(vocabulary="shared", **options)
        model.fit(news.train.regions, news.train.y, columns=news.train.blocks)
        return _answer(model, news.test.regions, **_hybrid_facts(model))

    return run


def _own(**options: Any) -> Callable[[_News], Any]:
    def run(news: _News) -> Any:
        model = HybridBayes(**options)
        model.fit(news.own[0], news.train.y, columns=news.own_blocks)
        return _answer(model, news.own[1], **_hybrid_facts(model))

    return run


def _baseline(estimator: Any, grid: Any, calibrate: bool = False) -> Any:
    def run(news: _News) -> Any:
        X, y = news.train.whole, news.train.y
        if calibrate:
            chosen = best_setting(estimator, grid, X, y)
            model = CalibratedClassifierCV(chosen, cv=3, ensemble=False).fit(X, y)
        else:
            model = tuned(estimator, grid, X, y)
        return _answer(model, news.test.whole)

    return run


def _tfidf(model: Any) -> Any:
    return make_pipeline(TfidfTransformer(sublinear_tf=True), model)


_METHODS: Mapping[str, Callable[[_News], Any]] = {
    "naive Bayes, alpha=1": _naive_bayes(1.0),
    "naive Bayes, alpha=0.1": _naive_bayes(0.1),
    "hybrid R=1, unnormalised": _one_region(normalize=False),
    "hybrid R=1": _one_region(),
    "hybrid R=2, one vocabulary": _shared(),
    "hybrid R=2, plug-in": _own(fit_features="plug_in"),
    OURS: _own(),
    "hybrid R=2, alpha chosen": _own(alpha=_ALPHAS),
    "Complement NB": _baseline(ComplementNB(), {"alpha": (0.03, 0.1, 0.3, 1.0)}),
    "tf-idf + linear SVM": _baseline(_tfidf(LinearSVC()), {"linearsvc__C": (0.3, 1.0)}),
    "tf-idf + linear SVM, calibrated": _baseline(
        _tfidf(LinearSVC()), {"linearsvc__C": (0.3, 1.0)}, calibrate=True
    ),
    "tf-idf + logistic regression": _baseline(
        _tfidf(LogisticRegression(tol=1e-3)),
        {"logisticregression__C": (10.0,)},
    ),
    "tf-idf + logistic regression, calibrated": _baseline(
        _tfidf(LogisticRegression(tol=1e-3)),
        {"logisticregression__C": (10.0,)},
        calibrate=True,
    ),
}
