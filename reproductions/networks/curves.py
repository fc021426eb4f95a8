"""Learning curves: naive Bayes against softmax regression and the network.

A generative model needs few documents to be as good as it gets; a discriminative one
gets better in the end (Ng and Jordan 2002). All models see the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from earmark.documents import load_corpus
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import (
    BernoulliNaiveBayes,
    MultilayerPerceptron,
    MultinomialNaiveBayes,
    SoftmaxRegression,
)
from earmark.typing import IntVector, Labels, SparseMatrix
from reproductions.study import Progress, mean_and_error

__all__ = ["GENERATIVE", "crossing", "learning_curves"]

GENERATIVE = ("Bernoulli naive Bayes", "multinomial naive Bayes")
# Small samples differ a lot from draw to draw, and cost little.
_SMALL, _MORE_DRAWS = 300, 2

_ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01)
INDICATORS = TfidfWeighting(tf="boolean", idf="none", norm="cosine")


def _naive_bayes(X: SparseMatrix, y: Labels, kind: Any = BernoulliNaiveBayes) -> Any:
    """The alpha of the best leave-one-out accuracy; ties go to the larger."""
    best, chosen = -1.0, None
    for alpha in _ALPHAS:
        model = kind(alpha=alpha).fit(X, y)
        left_out = model.leave_one_out(X, y)
        accuracy = float((model.classes_[left_out.argmax(axis=1)] == y).mean())
        if accuracy > best:
            best, chosen = accuracy, model
    return chosen


# Name -> (weighting of the counts, how to fit).
METHODS: Mapping[str, tuple[TfidfWeighting | None, Callable[..., Any]]] = {
    "Bernoulli naive Bayes": (None, _naive_bayes),
    "multinomial naive Bayes": (
        None,
        lambda X, y: _naive_bayes(X, y, MultinomialNaiveBayes),
    ),
    "softmax regression on indicators": (
        INDICATORS,
        lambda X, y: SoftmaxRegression().fit(X, y),
    ),
    "softmax regression on tf-idf": (
        TfidfWeighting(),
        lambda X, y: SoftmaxRegression().fit(X, y),
    ),
    "perceptron (100) on tf-idf": (
        TfidfWeighting(),
        lambda X, y: MultilayerPerceptron().fit(X, y),
    ),
}


def learning_curves(
    corpus: str, sizes: Sequence[int], n_draws: int, tell: Progress
) -> list[dict[str, Any]]:
    """Test accuracy of each method for each number of training documents."""
    train, test = load_corpus(corpus, "train"), load_corpus(corpus, "test")
    texts, labels = list(train.texts), np.asarray(train.labels)
    test_texts, expected = list(test.texts), np.asarray(test.labels)
    rows = []
    for size in sizes:
        n_repeats = n_draws * (_MORE_DRAWS if size <= _SMALL else 1)
        found: dict[str, list[float]] = {name: [] for name in METHODS}
        for draw in range(1 if size >= len(labels) else n_repeats):
            chosen = _drawn(labels, min(size, len(labels)), draw)
            counter = WordCounter()
            X = counter.fit_transform([texts[i] for i in chosen])
            Xt = counter.transform(test_texts)
            for name, accuracy in _accuracies(X, labels[chosen], Xt, expected):
                found[name].append(accuracy)
        rows.append(_row(corpus, min(size, len(labels)), found))
        tell(f"{corpus}: {size:,} documents")
    return rows


def _accuracies(
    X: SparseMatrix, y: Labels, Xt: SparseMatrix, expected: Labels
) -> list[tuple[str, float]]:
    found = []
    for name, (weighting, fit) in METHODS.items():
        if weighting is None:
            model, rows = fit(X, y), Xt
        else:
            weighting.fit(X)
            model, rows = fit(weighting.transform(X), y), weighting.transform(Xt)
        found.append((name, float((model.predict(rows) == expected).mean())))
    return found


def _drawn(labels: Labels, size: int, draw: int) -> IntVector:
    """Random documents, in the corpus's proportions, at least one of each class."""
    rng = np.random.default_rng(draw)
    order = rng.permutation(len(labels))
    first = np.unique(labels[order], return_index=True)[1]
    rest = np.delete(order, first)[: size - len(first)]
    return np.concatenate([order[first], rest])


def _row(corpus: str, size: int, found: dict[str, list[float]]) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "size": size,
        "methods": {name: mean_and_error(values) for name, values in found.items()},
    }


def crossing(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The smallest size from which on each method stays above a generative one."""
    return [
        {
            "corpus": corpus,
            "method": name,
            "above": generative,
            "from_size": _from_size(
                [
                    row["methods"] | {"size": row["size"]}
                    for row in rows
                    if row["corpus"] == corpus
                ],
                name,
                generative,
            ),
        }
        for corpus in dict.fromkeys(row["corpus"] for row in rows)
        for generative in GENERATIVE
        for name in METHODS
        if name not in GENERATIVE
    ]


def _from_size(
    rows: Sequence[Mapping[str, Any]], name: str, generative: str
) -> int | None:
    best = None
    for row in reversed(rows):
        if row[name]["mean"] <= row[generative]["mean"]:
            break
        best = row["size"]
    return best
