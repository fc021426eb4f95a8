"""Counting words, and raw text to naive Bayes, against scikit-learn.

    python -m benchmarks text [--repeats 3]

The 25,000 + 25,000 reviews of IMDB as lists of str, shuffled. CPU of one thread,
interleaved, best of the repeats; memory is the growth of the peak of a fresh process
that does the job once, beyond the texts and the imports.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from earmark import TextClassifier
from earmark.documents import load_corpus
from earmark.features import WordCounter


@cache
def imdb(split: str) -> tuple[list[str], Any]:
    """Shuffled reviews and labels."""
    documents: Any = load_corpus("imdb", split)
    order = np.random.default_rng(0).permutation(len(documents))
    labels = np.asarray(documents.labels)
    return [documents.texts[i] for i in order], labels[order]


def _cpu(job: Callable[[], Any]) -> float:
    gc.collect()  # what the other one left behind is not ours to clear
    started = time.process_time()
    job()
    return time.process_time() - started


def _growth(job: Callable[[], Any], answer: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    job()
    answer.put(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def _memory(job: Callable[[], Any]) -> float:
    """Megabytes by which the peak of a forked process grows while it does the job."""
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    process = context.Process(target=_growth, args=(job, answer))
    process.start()
    process.join()
    return float(answer.get()) / 1024


def _row(
    job: str,
    peer: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    repeats: int,
    least: float,
    most_memory: float | None = None,
) -> dict[str, Any]:
    # The child of a fork inherits the parent's peak: memory is measured first.
    memory = (_memory(ours), _memory(theirs)) if most_memory is not None else None
    times = [(_cpu(ours), _cpu(theirs)) for _ in range(repeats)]
    fast, slow = (min(column) for column in zip(*times, strict=True))
    ratio = slow / fast
    share = None if memory is None else memory[0] / max(memory[1], 1e-9)
    target = f">= {least:g}x"
    if most_memory is not None:
        target += f", memory <= {most_memory:g}"
    return {
        "job": job,
        "peer": peer,
        "cpu_seconds": fast,
        "peer_cpu_seconds": slow,
        "cpu_ratio": ratio,
        "memory_ratio": share,
        "megabytes": None if memory is None else memory[0],
        "target": target,
        "met": ratio >= least
        and (share is None or most_memory is None or share <= most_memory),
    }


def naive_bayes_from_text(repeats: int = 3) -> dict[str, Any]:
    """Train on one half, predict the other; the predictions must be the same."""
    texts, y = imdb("train")
    test, _ = imdb("test")

    def ours() -> Any:
        return TextClassifier("multinomial").fit(texts, y).predict(test)

    def theirs() -> Any:
        pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
        return pipeline.fit(texts, y).predict(test)

    row = _row(
        "IMDB raw text -> multinomial naive Bayes, train + predict",
        "CountVectorizer + MultinomialNB",
        ours,
        theirs,
        repeats,
        30,
        0.5,
    )
    if not np.array_equal(ours(), theirs()):
        raise AssertionError("predictions differ")
    return row


def unigrams(repeats: int = 3) -> dict[str, Any]:
    """Word counts of 25,000 reviews."""
    texts, _ = imdb("train")
    return _row(
        "IMDB unigram counts from list[str]",
        "CountVectorizer",
        lambda: WordCounter().fit_transform(texts),
        lambda: CountVectorizer().fit_transform(texts),
        repeats,
        20,
    )


def bigrams(repeats: int = 3) -> dict[str, Any]:
    """Counts of words and pairs of words."""
    texts, _ = imdb("train")
    return _row(
        "IMDB (1, 2)-gram counts from list[str]",
        "CountVectorizer",
        lambda: WordCounter(ngram_range=(1, 2)).fit_transform(texts),
        lambda: CountVectorizer(ngram_range=(1, 2)).fit_transform(texts),
        min(repeats, 3),
        12,
    )


def short_documents(n_classes: int, n_documents: int) -> tuple[list[str], Any]:
    """Twelve words each, four of them from the six that the class likes best."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(30_000)])
    share = 1.0 / np.arange(1, len(words) + 1)
    liked = rng.integers(0, len(words), (n_classes, 6))
    y = np.arange(n_documents) % n_classes
    common = rng.choice(len(words), (n_documents, 8), p=share / share.sum())
    own = liked[y[:, None], rng.integers(0, 6, (n_documents, 4))]
    return [" ".join(line) for line in words[np.hstack([common, own])]], y


def many_classes(repeats: int = 3) -> dict[str, Any]:
    """1,000 classes x 10,000 short documents, and what ten times of both costs us.

    At 10,000 x 100,000 ComplementNB does not fit here: the dense indicator of
    documents x classes alone takes 8 GB, each of its classes x terms tables 2.4 GB.
    """
    texts, y = short_documents(10_000, 100_000)
    tenth, y_tenth = short_documents(1_000, 10_000)
    some = texts[:500]

    def ours() -> Any:
        return TextClassifier("complement").fit(texts, y)

    def ours_tenth() -> Any:
        return TextClassifier("complement").fit(tenth, y_tenth).predict(some)

    def theirs() -> Any:
        pipeline = make_pipeline(CountVectorizer(), ComplementNB())
        return pipeline.fit(tenth, y_tenth).predict(some)

    megabytes = _memory(lambda: ours().predict(some))
    row = _row(
        "1,000 classes x 10,000 short documents, train + predict 500",
        "CountVectorizer + ComplementNB",
        ours_tenth,
        theirs,
        repeats,
        1,
        1.0,
    )
    fit_seconds = min(_cpu(ours) for _ in range(repeats))
    model = ours()
    per_document = min(_cpu(lambda: model.predict(some)) for _ in range(repeats)) / 500
    return row | {
        "target": "10,000 classes: < 60 s, < 1 GB, predict < 1 ms",
        "met": fit_seconds < 60 and megabytes < 1000 and per_document < 1e-3,
        "fit_seconds_of_10000_classes": fit_seconds,
        "megabytes_of_10000_classes": megabytes,
        "predict_ms_of_10000_classes": per_document * 1e3,
    }


def many_classes_sgd(repeats: int = 3) -> dict[str, Any]:
    """10,000 classes x 100,000 short documents against SGDClassifier, extrapolated.

    SGDClassifier learns one problem per class, each on all documents: 20 of the 10,000
    are measured and multiplied by 500. Its weights would take 2.4 GB.
    """
    texts, y = short_documents(10_000, 100_000)
    counting = _cpu(lambda: CountVectorizer().fit_transform(texts))
    X = CountVectorizer().fit_transform(texts)

    def theirs() -> None:
        for c in range(20):
            SGDClassifier(max_iter=5, tol=None).fit(X, y == c)

    row = _row(
        "10,000 classes x 100,000 short documents, train",
        "SGDClassifier, 5 passes: 20 of its 10,000 problems, times 500",
        lambda: TextClassifier("complement").fit(texts, y),
        theirs,
        min(repeats, 2),
        1,
    )
    whole = counting + 500 * row["peer_cpu_seconds"]
    return row | {
        "peer_cpu_seconds": whole,
        "cpu_ratio": whole / row["cpu_seconds"],
        "measured_peer_cpu_seconds": row["peer_cpu_seconds"],
    }


ROWS = (naive_bayes_from_text, unigrams, bigrams, many_classes, many_classes_sgd)
