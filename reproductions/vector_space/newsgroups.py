"""Exercise 14.8 on 20 Newsgroups, the choice of k, and feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from earmark.features import TermSelector
from earmark.models import (
    NeighborsClassifier,
    RocchioClassifier,
    SoftmaxRegression,
)
from reproductions.study import Progress
from reproductions.vector_space.features import Split, corpus

__all__ = ["exercise", "feature_selection", "weightings"]


# Options beside the defaults: no leave-one-out figures.
_OPTIONS = ("kNN, the book's P over k", "kNN, k = 10", "kNN, k = 10, approximate")


def exercise(data: Split, progress: Progress) -> dict[str, Any]:
    """One-of accuracy on the by-date test part; settings from the training part."""
    X, y, test, y_test = data
    models = {
        "Rocchio, Euclidean": RocchioClassifier(),
        "Rocchio, cosine": RocchioClassifier(metric="cosine"),
        "Rocchio, error-correcting codes": OutputCodeClassifier(
            RocchioClassifier(metric="cosine"), code_size=3, random_state=0
        ),
        "1NN": NeighborsClassifier(1, random_state=0),
        "kNN, k by leave-one-out": NeighborsClassifier("auto", random_state=0),
        "kNN, majority vote": NeighborsClassifier(
            "auto", vote="majority", random_state=0
        ),
        "kNN, the book's P over k": NeighborsClassifier(
            10, vote="majority", only_similar=False, random_state=0
        ),
        "kNN, k = 10": NeighborsClassifier(10, random_state=0),
        "kNN, k = 10, approximate": NeighborsClassifier(
            10, algorithm="approximate", random_state=0
        ),
        "complement NB on tf-idf": ComplementNB(alpha=0.3),
        # The exact optimum of scikit-learn's LogisticRegression(C=10), found sooner.
        "logistic regression": SoftmaxRegression(solver="dual", C=10.0),
        "linear SVM": LinearSVC(random_state=0),
    }
    found: dict[str, Any] = {}
    for name, model in models.items():
        model.fit(X, y)
        found[name] = {"accuracy": float(np.mean(model.predict(test) == y_test))}
        if hasattr(model, "recall_"):
            found[name]["recall"] = model.recall_
        if hasattr(model, "leave_one_out") and name not in _OPTIONS:
            left_out = model.classes_[model.leave_one_out(X, y).argmax(axis=1)]
            found[name]["leave-one-out accuracy"] = float(np.mean(left_out == y))
        if hasattr(model, "n_neighbors_"):
            found[name]["k"] = model.n_neighbors_
        progress(f"20 Newsgroups, {name}: {found[name]['accuracy']:.3f}")
    return {"training documents": len(y), "test documents": len(y_test), **found}


# SMART letters: the chapter's weighting, then with one part left out at a time.
_SMART = {
    "ltc": "the chapter's: logarithm, idf, length 1",
    "lnc": "without idf",
    "ntc": "counts times idf",
    "nnc": "counts, length 1",
    "nnn": "counts as they are",
}


def weightings(most: int | None, progress: Progress) -> list[dict[str, Any]]:
    """Why unweighted counts should not be used: accuracy by weighting."""
    rows = []
    for smart, words in _SMART.items():
        X, y, test, y_test = corpus("20newsgroups", most, smart=smart)
        scaled = smart.endswith("c")
        models: dict[str, Any] = {
            "Rocchio": RocchioClassifier(normalize=scaled),
            "kNN, k = 10": NeighborsClassifier(
                10, metric="cosine" if scaled else "euclidean", random_state=0
            ),
        }
        right = {
            name: float(np.mean(model.fit(X, y).predict(test) == y_test))
            for name, model in models.items()
        }
        rows.append({"smart": smart, "weights": words, **right})
        progress(f"weighting {smart}")
    return rows


def feature_selection(
    data: Split, sizes: tuple[int, ...], progress: Progress
) -> dict[str, Any]:
    """Accuracy with the k best terms by each score (VS7), chosen on the training part.

    Vectors are scaled to unit length again after terms have gone.
    """
    X, y, test, y_test = data
    rows = []
    for score in ("df", "chi2", "information_gain"):
        for size in sizes:
            selector = TermSelector(criterion=score, k=size).fit(X, y)
            kept, kept_test = selector.transform(X), selector.transform(test)
            row: dict[str, Any] = {"score": score, "terms": size}
            models: dict[str, Any] = {
                "Rocchio": RocchioClassifier(metric="cosine"),
                "kNN, k = 10": NeighborsClassifier(10, random_state=0),
            }
            for name, model in models.items():
                predicted = model.fit(kept, y).predict(kept_test)
                row[name] = float(np.mean(predicted == y_test))
            rows.append(row)
        progress(f"feature selection by {score}")
    return {"rows": rows, "all terms": int(X.shape[1])}
