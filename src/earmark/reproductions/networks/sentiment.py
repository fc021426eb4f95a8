"""NBSVM on the IMDB reviews, beside its parts and the published figures."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from earmark.documents import load_corpus
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import NBSVM, MultinomialNaiveBayes, SoftmaxRegression
from earmark.reproductions._common import Progress
from earmark.reproductions.networks.curves import INDICATORS

__all__ = ["sentiment"]

# Wang and Manning (2012), IMDB column.
PUBLISHED = {
    "multinomial naive Bayes": 0.8659,
    "linear SVM on indicators": 0.8916,
    "NBSVM": 0.9122,
}
# Words of one letter count: "I" and the t of "don't" carry sentiment.
_PATTERN = r"(?u)\b\w+\b"


def sentiment(ngrams: int, n_train: int | None, tell: Progress) -> list[dict[str, Any]]:
    """Test accuracy on words, or on words and word pairs; no setting is tuned here."""
    train, test = load_corpus("imdb", "train"), load_corpus("imdb", "test")
    labels, expected = np.asarray(train.labels), np.asarray(test.labels)
    chosen = np.random.default_rng(0).permutation(len(labels))[:n_train]
    counter = WordCounter(ngram_range=(1, ngrams), token_pattern=_PATTERN)
    counts = counter.fit_transform([train.texts[i] for i in chosen])
    test_counts = counter.transform(test.texts)
    methods: dict[str, tuple[Any, TfidfWeighting | None]] = {
        "multinomial naive Bayes": (MultinomialNaiveBayes(), _BOOLEAN),
        "linear SVM on indicators": (LinearSVC(C=10.0), INDICATORS),
        "softmax regression on tf-idf": (SoftmaxRegression(), TfidfWeighting()),
        "NBSVM, published settings": (NBSVM(C=1.0, beta=0.25, rows="indicators"), None),
        "NBSVM, logistic": (NBSVM(loss="log"), None),
        "NBSVM": (NBSVM(), None),
    }
    rows = []
    for name, (model, weighting) in methods.items():
        X, Xt = counts, test_counts
        if weighting is not None:
            X = weighting.fit(counts).transform(counts)
            Xt = weighting.transform(test_counts)
        started = time.process_time()
        model.fit(X, labels[chosen])
        rows.append(
            {
                "method": name,
                "ngrams": ngrams,
                "n_features": int(X.shape[1]),
                "n_train": len(chosen),
                "cpu_seconds_to_fit": time.process_time() - started,
                "accuracy": float((model.predict(Xt) == expected).mean()),
                "published": PUBLISHED.get(name) if ngrams == 2 else None,
            }
        )
        tell(f"IMDB, {ngrams}-grams: {name} {rows[-1]['accuracy']:.4f}")
    return rows


_BOOLEAN = TfidfWeighting(tf="boolean", idf="none", norm="none")
