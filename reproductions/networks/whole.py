"""Whole training sets: the networks and the default on IMDB and on newsgroups.

Published figures are those of Wang and Manning (2012). Nothing is tuned on a test set:
our models run with their defaults, and the one setting of each baseline is chosen on
a fifth of the training documents, then fitted on all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.documents import load_corpus
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import (
    BernoulliNaiveBayes,
    MultilayerPerceptron,
    MultinomialNaiveBayes,
    SoftmaxRegression,
)
from earmark.typing import Labels, SparseMatrix
from reproductions.networks.curves import INDICATORS
from reproductions.study import Progress, best_on_validation

__all__ = ["newsgroups", "reviews_by_default", "sentiment"]

# Wang and Manning (2012), IMDB column, with word pairs.
PUBLISHED = {
    "multinomial naive Bayes": 0.8659,
    "linear SVM on indicators": 0.8916,
}
DEFAULT = "earmark's default, three views"
# Words of one letter count: "I" and the t of "don't" carry sentiment.
_PATTERN = r"(?u)\b\w+\b"
_TFIDF = TfidfWeighting()
_BOOLEAN = TfidfWeighting(tf="boolean", idf="none", norm=None)

Grid = Mapping[str, Sequence[float]]
Method = tuple[Any, TfidfWeighting | None, Grid]
# Same optimum, found many times faster: C is chosen with ours, then theirs is fitted.
_STAND_INS = {LogisticRegression: SoftmaxRegression(solver="dual")}
_PEERS: Mapping[str, Method] = {
    "tf-idf + linear SVM": (LinearSVC(), _TFIDF, {"C": (0.1, 0.3, 1.0, 3.0)}),
    "tf-idf + logistic regression": (
        LogisticRegression(max_iter=1000),
        _TFIDF,
        {"C": (1.0, 10.0, 100.0)},
    ),
    "Complement NB": (ComplementNB(), None, {"alpha": (0.03, 0.1, 0.3, 1.0)}),
}
# "Exact" is the optimum of scikit-learn's LogisticRegression(C=10) on the same rows.
_NETWORKS: Mapping[str, Method] = {
    "softmax regression on tf-idf": (SoftmaxRegression(), _TFIDF, {}),
    "softmax regression, exact (C = 10)": (
        SoftmaxRegression(solver="dual"),
        _TFIDF,
        {},
    ),
    "perceptron (100) on tf-idf": (MultilayerPerceptron(), _TFIDF, {}),
}
_SENTIMENT: Mapping[str, Method] = {
    "multinomial naive Bayes": (MultinomialNaiveBayes(), _BOOLEAN, {}),
    "linear SVM on indicators": (LinearSVC(C=10.0), INDICATORS, {}),
}
_TOPICS: Mapping[str, Method] = {
    "Bernoulli naive Bayes": (BernoulliNaiveBayes(alpha=0.01), None, {}),
}


def sentiment(ngrams: int, n_train: int | None, tell: Progress) -> list[dict[str, Any]]:
    """Test accuracy on the IMDB reviews: words, or words and word pairs."""
    counter = WordCounter(ngram_range=(1, ngrams), token_pattern=_PATTERN)
    # Of the networks the perceptron is left out where the columns are millions.
    networks = dict(_NETWORKS) if ngrams == 1 else dict(list(_NETWORKS.items())[:2])
    methods = {**_SENTIMENT, **networks, **_PEERS}
    return _measured(_Split("imdb", n_train), counter, ngrams, methods, tell)


def newsgroups(n_train: int | None, tell: Progress) -> list[dict[str, Any]]:
    """Test accuracy on the twenty newsgroups split by date, words."""
    methods = {**_TOPICS, **_NETWORKS, **_PEERS}
    split = _Split("20newsgroups", n_train)
    rows = _measured(split, WordCounter(), 1, methods, tell)
    return [*rows, _by_default(split, tell)]


def reviews_by_default(n_train: int | None, tell: Progress) -> dict[str, Any]:
    """Test accuracy of the default on the IMDB reviews."""
    return _by_default(_Split("imdb", n_train), tell)


class _Split:
    """A corpus, and the documents of its training part that are learned from."""

    def __init__(self, corpus: str, n_train: int | None) -> None:
        train, test = load_corpus(corpus, "train"), load_corpus(corpus, "test")
        chosen = np.random.default_rng(0).permutation(len(train))[:n_train]
        self.corpus, self.test = corpus, test.texts
        self.train = [train.texts[i] for i in chosen]
        self.labels = np.asarray(train.labels)[chosen]
        self.expected = np.asarray(test.labels)

    def row(
        self, method: str, ngrams: int, answers: Labels, **more: Any
    ) -> dict[str, Any]:
        """What is noted of one method."""
        return {
            "corpus": self.corpus,
            "method": method,
            "ngrams": ngrams,
            "n_train": len(self.labels),
            "accuracy": float((answers == self.expected).mean()),
            "published": PUBLISHED.get(method) if ngrams == 2 else None,
            **more,
        }


def _by_default(split: _Split, tell: Progress) -> dict[str, Any]:
    """What comes out without any choice, from text to label."""
    started = time.process_time()
    classifier = TextClassifier().fit(split.train, split.labels)
    seconds = time.process_time() - started
    answers, more = classifier.predict(split.test), {"cpu_seconds_to_fit": seconds}
    row = split.row(DEFAULT, 0, answers, setting={}, **more)
    tell(f"{split.corpus}: {DEFAULT} {row['accuracy']:.4f}")
    return row


def _measured(
    split: _Split,
    counter: WordCounter,
    ngrams: int,
    methods: Mapping[str, Method],
    tell: Progress,
) -> list[dict[str, Any]]:
    counts = counter.fit_transform(split.train)
    test_counts = counter.transform(split.test)
    rows = []
    for name, (estimator, weighting, grid) in methods.items():
        X, Xt = counts, test_counts
        if weighting is not None:
            X = weighting.fit(counts).transform(counts)
            Xt = weighting.transform(test_counts)
        model = _tuned(estimator, grid, X, split.labels)
        started = time.process_time()
        model.fit(X, split.labels)
        more = {
            "n_features": int(X.shape[1]),
            "setting": {key: model.get_params()[key] for key in grid},
            "cpu_seconds_to_fit": time.process_time() - started,
        }
        rows.append(split.row(name, ngrams, model.predict(Xt), **more))
        tell(f"{split.corpus}, {ngrams}-grams: {name} {rows[-1]['accuracy']:.4f}")
    return rows


def _tuned(estimator: Any, grid: Grid, X: SparseMatrix, y: Labels) -> Any:
    """The estimator, unfitted, with the setting that a fifth of the rows likes best."""
    if not grid:
        return clone(estimator)
    held = len(y) // 5  # rows come shuffled
    tried = _STAND_INS.get(type(estimator), estimator)
    best = best_on_validation(tried, grid, (X[held:], y[held:]), (X[:held], y[:held]))
    return clone(estimator).set_params(**{name: getattr(best, name) for name in grid})
