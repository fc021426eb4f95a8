"""What is compared: every method sees the same draw of labels and the same pool."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from earmark import TextClassifier
from earmark.documents import labelled_per_class
from earmark.evaluation import reliability
from earmark.models import SemiSupervisedClassifier, SemiSupervisedNaiveBayes
from earmark.reproductions.few_labels._tasks import Task
from earmark.typing import Labels

__all__ = ["Draw", "baselines", "literature", "recipe", "scores"]


class Draw:
    """Labelled documents and pool of one draw, as text and as matrices."""

    def __init__(self, task: Task, n: int, seed: int) -> None:
        self.task = task
        self.labelled, self.pool = labelled_per_class(task.y, n, random_state=seed)
        self.y = task.y[self.labelled]
        self.texts = [task.train[i] for i in self.labelled]
        self.pool_texts = [task.train[i] for i in self.pool]

    def matrices(self) -> tuple[Any, Any, Any, Any]:
        """Counts and tf-idf (vocabulary and idf from all training text), and tests."""
        counter = CountVectorizer(min_df=2)
        counts = counter.fit_transform([*self.texts, *self.pool_texts])
        tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
        test = counter.transform(self.task.test)
        return counts, tfidf.transform(counts), test, tfidf.transform(test)


def scores(draw: Draw, predicted: Labels) -> dict[str, float]:
    """Accuracy and macro-F1 on the test part."""
    truth = draw.task.y_test
    return {
        "accuracy": float(np.mean(predicted == truth)),
        "macro_f1": float(f1_score(truth, predicted, average="macro")),
    }


def baselines(draw: Draw) -> dict[str, dict[str, float]]:
    """Supervised models on the labelled documents."""
    counts, tfidf, test_counts, test_tfidf = draw.matrices()
    n = len(draw.y)
    naive = {"alpha": 0.1, "fit_prior": False}
    models: dict[str, tuple[Any, bool]] = {
        "logistic regression": (LogisticRegression(C=10.0, max_iter=1000), True),
        "linear SVM": (LinearSVC(C=1.0), True),
        "complement NB, tf-idf": (ComplementNB(alpha=0.3), True),
        "complement NB, counts": (ComplementNB(alpha=0.3), False),
        "multinomial NB, tf-idf": (MultinomialNB(**naive), True),
        "multinomial NB, counts": (MultinomialNB(**naive), False),
    }
    found = {}
    for name, (model, weighted) in models.items():
        X, X_test = (tfidf, test_tfidf) if weighted else (counts, test_counts)
        # Columns that no labelled document has get no weight: leave them out.
        used = np.flatnonzero(np.bincount(X[:n].indices, minlength=X.shape[1]))
        keep = (
            used if isinstance(model, LogisticRegression | LinearSVC) else slice(None)
        )
        model.fit(X[:n][:, keep], draw.y)
        found[name] = scores(draw, model.predict(X_test[:, keep]))
    return found


def recipe(draw: Draw, branch: str = "auto") -> dict[str, float]:
    """Ours: accuracy, macro-F1, calibration error (recalibrated and raw), seconds."""
    model = SemiSupervisedClassifier(recipe=branch)
    classifier = TextClassifier(model, random_state=0)
    started = time.process_time()
    classifier.fit(draw.texts, draw.y, unlabelled=draw.pool_texts)
    seconds = time.process_time() - started
    truth, classes = draw.task.y_test, classifier.classes_
    proba = classifier.predict_proba(draw.task.test)
    found = scores(draw, classes[proba.argmax(axis=1)])
    fitted = classifier.engine_.model_
    raw = proba ** (1.0 / fitted.scale_)
    raw /= raw.sum(axis=1, keepdims=True)
    found["ece"] = reliability(truth, proba, classes=classes).ece
    found["ece_raw"] = reliability(truth, raw, classes=classes).ece
    found["seconds"] = seconds
    return found


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
    training = SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=300))
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
