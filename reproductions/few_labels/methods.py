"""What is compared: every method sees the same draw of labels and the same pool."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.evaluation import reliability
from earmark.models import SemiSupervisedClassifier, SemiSupervisedNaiveBayes
from earmark.typing import Labels
from reproductions.few_labels.draws import Draw

__all__ = ["auto", "baselines", "linear", "literature", "recipe", "scores"]

LINEAR = ("logistic regression", "linear SVM")


def scores(draw: Draw, predicted: Labels) -> dict[str, float]:
    """Accuracy and macro-F1 on the test part."""
    return {
        "accuracy": float(np.mean(predicted == draw.y_test)),
        "macro_f1": float(f1_score(draw.y_test, predicted, average="macro")),
    }


def linear(draw: Draw) -> dict[str, dict[str, float]]:
    """Logistic regression and a linear SVM on the labelled documents."""
    return _supervised(draw, LINEAR)


def baselines(draw: Draw) -> dict[str, dict[str, float]]:
    """Supervised models on the labelled documents."""
    return _supervised(draw, tuple(_models()))


def _models() -> dict[str, tuple[Any, bool]]:
    """Name -> model, and whether it looks at tf-idf."""
    naive = {"alpha": 0.1, "fit_prior": False}
    return {
        "logistic regression": (LogisticRegression(C=10.0, max_iter=1000), True),
        "linear SVM": (LinearSVC(C=1.0), True),
        "complement NB, tf-idf": (ComplementNB(alpha=0.3), True),
        "complement NB, counts": (ComplementNB(alpha=0.3), False),
        "multinomial NB, tf-idf": (MultinomialNB(**naive), True),
        "multinomial NB, counts": (MultinomialNB(**naive), False),
    }


def _supervised(draw: Draw, names: tuple[str, ...]) -> dict[str, dict[str, float]]:
    counts, tfidf, test_counts, test_tfidf = draw.matrices()
    n = len(draw.y)
    found = {}
    for name in names:
        model, weighted = _models()[name]
        X, X_test = (tfidf, test_tfidf) if weighted else (counts, test_counts)
        # Columns that no labelled document has get no weight: leave them out.
        used = np.flatnonzero(np.bincount(X[:n].indices, minlength=X.shape[1]))
        keep = used if name in LINEAR else slice(None)
        model.fit(X[:n][:, keep], draw.y)
        found[name] = scores(draw, model.predict(X_test[:, keep]))
    return found


def recipe(draw: Draw, branch: Any = "auto") -> dict[str, float]:
    """Ours: accuracy, macro-F1, calibration error (recalibrated and raw), seconds."""
    model = SemiSupervisedClassifier(recipe=branch)
    classifier = TextClassifier(model, random_state=0)
    started = time.process_time()
    classifier.fit(draw.texts, draw.y, unlabelled=draw.pool_texts)
    seconds = time.process_time() - started
    classes = classifier.classes_
    proba = classifier.predict_proba(draw.test_texts)
    found = scores(draw, classes[proba.argmax(axis=1)])
    fitted = classifier.model_
    raw = proba ** (1.0 / fitted.scale_)
    raw /= raw.sum(axis=1, keepdims=True)
    found["ece"] = reliability(draw.y_test, proba, classes=classes).ece
    found["ece_raw"] = reliability(draw.y_test, raw, classes=classes).ece
    found["seconds"] = seconds
    return found


def auto(draw: Draw) -> dict[str, Any]:
    """What ``TextClassifier("auto")`` chooses and how it does."""
    started = time.process_time()
    classifier = TextClassifier("auto", random_state=0)
    classifier.fit(draw.texts, draw.y, unlabelled=draw.pool_texts or None)
    seconds = time.process_time() - started
    found: dict[str, Any] = scores(draw, classifier.predict(draw.test_texts))
    return {**found, "chosen": classifier.model_name_, "seconds": seconds}


def literature(draw: Draw) -> dict[str, dict[str, float]]:
    """EM, label spreading and self-training, as the literature has them."""
    counts, tfidf, test_counts, test_tfidf = draw.matrices()
    none = np.full(len(draw.pool), None, dtype=object)
    mixed = np.concatenate([draw.y.astype(object), none])
    em = SemiSupervisedNaiveBayes(alpha=0.1).fit(counts, mixed)
    classes, index = np.unique(draw.y, return_inverse=True)
    marked = np.concatenate([index, np.full(len(draw.pool), -1)])
    svd = TruncatedSVD(100, random_state=0).fit(tfidf)
    dense, test_dense = (normalize(svd.transform(X)) for X in (tfidf, test_tfidf))
    spreading = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=50)
    training = SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        spreading.fit(dense, marked)
        training.fit(sparse.csr_matrix(tfidf), marked)
        spread = classes[spreading.predict(test_dense)]
    return {
        "EM naive Bayes": scores(draw, em.predict(test_counts)),
        "label spreading": scores(draw, spread),
        "self-training": scores(draw, classes[training.predict(test_tfidf)]),
    }
