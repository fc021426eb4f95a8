"""What few-labels learning costs on 20 Newsgroups, and how fast it answers.

    python -m benchmarks.few_labels

Needs EARMARK_DATA. CPU seconds of one process (set OMP_NUM_THREADS=1), best of n.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from earmark import TextClassifier
from earmark.documents import labelled_per_class, load_corpus
from earmark.features import WordCounter
from earmark.models import SemiSupervisedClassifier

N_LABELLED = 5


def newsgroups(split: str) -> tuple[list[str], Any]:
    """Subject and body of the messages, and their groups."""
    documents = load_corpus("20newsgroups", split, regions=["subject", "body"])
    columns: Any = documents.texts
    rows = zip(columns["subject"], columns["body"], strict=True)
    return ["\n".join(row) for row in rows], np.asarray(documents.labels)


def best_of(n: int, job: Callable[[], Any]) -> float:
    """Least CPU seconds of a few runs."""
    seconds = []
    for _ in range(n):
        started = time.process_time()
        job()
        seconds.append(time.process_time() - started)
    return min(seconds)


def learning_row(n: int = 3) -> dict[str, Any]:
    """Everything after counting: at most 5 s and 400 MB more than the counts."""
    texts, y = newsgroups("train")
    X = WordCounter(min_df=2).fit_transform(texts)
    labels = np.asarray(y, dtype=object)
    labels[labelled_per_class(y, N_LABELLED, random_state=0)[1]] = None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    SemiSupervisedClassifier().fit(X, labels)
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    seconds = best_of(n, lambda: SemiSupervisedClassifier().fit(X, labels))
    return {
        "job": "20 Newsgroups, 5 labels per class, views to calibrated student",
        "peer": None,
        "cpu_seconds": seconds,
        "megabytes": megabytes,
        "cpu_ratio": None,
        "memory_ratio": None,
        "target": "<= 5 s, <= 400 MB",
        "met": seconds <= 5.0 and megabytes <= 400.0,
    }


def answering_row(n: int = 5) -> dict[str, Any]:
    """Raw text to labels, against scikit-learn's tf-idf and linear model."""
    texts, y = newsgroups("train")
    test, _ = newsgroups("test")
    labelled, pool = labelled_per_class(y, N_LABELLED, random_state=0)
    known = [texts[i] for i in labelled]
    ours = TextClassifier("semi-supervised", random_state=0)
    ours.fit(known, y[labelled], unlabelled=[texts[i] for i in pool])
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(texts)
    linear = LogisticRegression(C=10.0, max_iter=300)
    linear.fit(vectorizer.transform(known), y[labelled])
    seconds = best_of(n, lambda: ours.predict(test))
    peer_seconds = best_of(n, lambda: linear.predict(vectorizer.transform(test)))
    ratio = peer_seconds / seconds
    return {
        "job": "20 Newsgroups, 7,532 test messages from text to label",
        "peer": "scikit-learn tf-idf + logistic regression",
        "cpu_ratio": ratio,
        "memory_ratio": None,
        "target": "at most its CPU",
        "met": ratio >= 1.0,
    }


def intents(n: int = 15_000, n_classes: int = 150) -> tuple[list[str], Any]:
    """Short texts of many classes, a third of the words their own; 5 have labels."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 4001)
    own = rng.choice(np.arange(50, 4000), (n_classes, 12))
    labels, texts = np.full(n, None, dtype=object), []
    for i in range(n):
        words = rng.choice(4000, rng.integers(5, 12), p=share / share.sum())
        mine = rng.random(len(words)) < 0.3
        words[mine] = own[i % n_classes, rng.integers(0, 12, mine.sum())]
        texts.append(" ".join(f"w{word}" for word in words))
        if i < N_LABELLED * n_classes:
            labels[i] = f"intent {i % n_classes:03d}"
    return texts, labels


def sums_of_words(n_dimensions: int = 384) -> Callable[[list[str]], Any]:
    """An encoder of these texts: the sum of a vector for each word, by lot."""
    table = np.random.default_rng(1).standard_normal((4000, n_dimensions))

    def encode(texts: list[str]) -> Any:
        rows = [[int(word[1:]) for word in text.split()] for text in texts]
        return np.array([table[row].sum(axis=0) for row in rows])

    return encode


def many_classes_row(
    n: int = 1, encoder: Any = None, least: float = 4.0
) -> dict[str, Any]:
    """150 classes, 15,000 short texts: 12 to 16 s before, over 60 s with vectors."""
    texts, labels = intents()
    options = {"encoder": encoder, "class_names": None, "random_state": 0}
    seconds = best_of(n, lambda: TextClassifier("auto", **options).fit(texts, labels))
    vectors = ", vectors of 384 numbers" if encoder else ""
    return {
        "job": f"150 classes, 15,000 short texts, 5 labels per class{vectors}",
        "peer": None,
        "cpu_seconds": seconds,
        "cpu_ratio": None,
        "memory_ratio": None,
        "target": f"<= {least:g} s",
        "met": seconds <= least,
    }


def many_vectors_row(n: int = 1) -> dict[str, Any]:
    """The same with an encoder's vectors."""
    return many_classes_row(n, sums_of_words(), 8.0)


ROWS = (learning_row, answering_row, many_classes_row, many_vectors_row)


def main() -> None:
    """Print every row."""
    for row in ROWS:
        print(row())


if __name__ == "__main__":
    main()
