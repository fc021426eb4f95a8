"""Softmax regression and the perceptron against scikit-learn, and against fastText.

    python -m benchmarks networks [--repeats 3]

Twenty newsgroups by date as tf-idf over all words, and the IMDB reviews as lists of
str, shuffled. CPU of one thread, interleaved, best of the repeats. The peers' settings
are the ones that serve them best on the test set; ours are the defaults, except for the
number of passes where a row says so. The rows on fastText need its program (Debian:
apt-get install fasttext) and are left out, with a message, where it is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from benchmarks.text import imdb
from earmark import TextClassifier
from earmark.documents import load_corpus
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import MultilayerPerceptron, SoftmaxRegression

WANTED = 0.852  # test accuracy that both sides of the first row have to reach
EPOCHS = 1  # passes of both perceptrons


@cache
def newsgroups() -> tuple[Any, Any, Any, Any]:
    """tf-idf and labels of both halves, the training half shuffled."""
    train, test = (
        load_corpus("20newsgroups", "train"),
        load_corpus("20newsgroups", "test"),
    )
    counter, weighting = WordCounter(), TfidfWeighting()
    X = weighting.fit_transform(counter.fit_transform(train.texts))
    Xt = weighting.transform(counter.transform(test.texts))
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], np.asarray(train.labels)[order], Xt, np.asarray(test.labels)


def _cpu(job: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = job()
    return time.process_time() - started, result


def _side_by_side(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int
) -> tuple[float, float, Any, Any]:
    """Least CPU of both, measured in turn, and what each returned last."""
    fast = slow = np.inf
    for _ in range(repeats):
        seconds, mine = _cpu(ours)
        fast = min(fast, seconds)
        seconds, other = _cpu(theirs)
        slow = min(slow, seconds)
    return fast, slow, mine, other


def _row(
    job: str, peer: str, fast: float, slow: float, least: float, **more: Any
) -> dict[str, Any]:
    target = f">= {least:g}x, accuracy >= peer's"
    return {
        "job": job,
        "peer": peer,
        "cpu_seconds": fast,
        "peer_cpu_seconds": slow,
        "cpu_ratio": slow / fast,
        "memory_ratio": None,
        "target": target,
        "met": slow / fast >= least and more["accuracy"] >= more["peer_accuracy"],
        **more,
    }


# ---- scikit-learn --------------------------------------------------------------


def _sgd(alpha: float, epochs: int) -> Any:
    return SGDClassifier(
        loss="log_loss", alpha=alpha, max_iter=epochs, tol=None, random_state=0
    )


def _fewest_passes(make: Callable[..., Any], settings: tuple[Any, ...]) -> Any:
    """The model of the fewest passes that reaches the wanted test accuracy."""
    X, y, Xt, expected = newsgroups()
    for epochs in range(1, 21):
        for setting in settings:
            model = make(setting, epochs)
            if model.fit(X, y).score(Xt, expected) >= WANTED:
                return model
    raise AssertionError(f"no setting reaches {WANTED}")


def softmax_to_an_accuracy(repeats: int = 3) -> dict[str, Any]:
    """CPU to a wanted test accuracy; both sides with the fewest passes for it."""
    X, y, Xt, expected = newsgroups()
    peer = _fewest_passes(_sgd, (1e-4, 3e-5, 1e-5))
    model = _fewest_passes(lambda _, n: SoftmaxRegression(max_iter=n), (None,))
    fast, slow, *_ = _side_by_side(
        lambda: model.fit(X, y), lambda: peer.fit(X, y), repeats
    )
    setting = f"alpha={peer.alpha:g}, max_iter={peer.max_iter}"
    return _row(
        f"20 newsgroups tf-idf -> softmax regression, to accuracy {WANTED}",
        f"SGDClassifier(loss='log_loss', {setting})",
        fast,
        slow,
        3,
        passes=model.max_iter,
        accuracy=model.score(Xt, expected),
        peer_accuracy=peer.score(Xt, expected),
    )


def perceptron(repeats: int = 3) -> dict[str, Any]:
    """A pass of a network with 100 hidden units over the full vocabulary."""
    X, y, Xt, expected = newsgroups()

    def theirs() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return MLPClassifier((100,), max_iter=EPOCHS, random_state=0).fit(X, y)

    fast, slow, model, peer = _side_by_side(
        lambda: MultilayerPerceptron(hidden=(100,), max_iter=EPOCHS).fit(X, y),
        theirs,
        min(repeats, 1),
    )
    return _row(
        "20 newsgroups tf-idf -> perceptron (100), CPU per pass",
        "MLPClassifier((100,))",
        fast / EPOCHS,
        slow / EPOCHS,
        5,
        passes=EPOCHS,
        accuracy=model.score(Xt, expected),
        peer_accuracy=peer.score(Xt, expected),
    )


# ---- fastText ------------------------------------------------------------------

_TOKENS = re.compile(r"\w+|[^\w\s]")
_SETTINGS = ["-epoch", "5", "-lr", "0.5", "-wordNgrams", "1", "-thread", "1"]


def _has_fasttext() -> bool:
    if shutil.which("fasttext"):
        return True
    print(
        "fastText: no program of that name; its rows are left out "
        "(Debian: apt-get install fasttext)",
        file=sys.stderr,
    )
    return False


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _run_fasttext(*arguments: str) -> tuple[float, str]:
    """CPU seconds of the program, and what it printed."""
    before = _children_cpu()
    command = ["fasttext", *arguments]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return _children_cpu() - before, found.stdout


def _write_texts(folder: Path) -> None:
    """Both halves of IMDB, normalised as fastText wants its text."""
    for split in ("train", "test"):
        texts, labels = imdb(split)
        lines = (
            f"__label__{label} {' '.join(_TOKENS.findall(text.lower()))}\n"
            for text, label in zip(texts, labels, strict=True)
        )
        (folder / split).write_text("".join(lines))
    (folder / "one").write_text("a good film\n")


@cache
def _measured(repeats: int) -> dict[str, Any]:
    """Least CPU to train and to predict, with the accuracies, of both sides."""
    with tempfile.TemporaryDirectory(prefix="earmark-fasttext-") as folder:
        _write_texts(Path(folder))
        return _measured_in(Path(folder), repeats)


def _measured_in(folder: Path, repeats: int) -> dict[str, Any]:
    (texts, y), (test, expected) = imdb("train"), imdb("test")
    model, found = str(folder / "model"), []
    given = ["-input", str(folder / "train"), "-output", model, *_SETTINGS]
    for _ in range(repeats):
        seconds, classifier = _cpu(lambda: TextClassifier("softmax").fit(texts, y))
        peer_seconds, _ = _run_fasttext("supervised", *given)
        predicting, answers = _cpu(lambda c=classifier: c.predict(test))  # type: ignore[misc]
        loading, _ = _run_fasttext("predict", f"{model}.bin", str(folder / "one"))
        both, said = _run_fasttext("predict", f"{model}.bin", str(folder / "test"))
        found.append((seconds, peer_seconds, predicting, both - loading))
    names = [line.removeprefix("__label__") for line in said.split()]
    least = np.min(found, axis=0).tolist()
    return {
        "seconds": dict(
            zip(("fit", "peer_fit", "predict", "peer_predict"), least, strict=True)
        ),
        "accuracy": float((answers == expected).mean()),
        "peer_accuracy": float((np.array(names) == expected).mean()),
    }


def fasttext_training(repeats: int = 3) -> dict[str, Any] | None:
    """Raw strings to a model; fastText reads text that was normalised for it."""
    if not _has_fasttext():
        return None
    found = _measured(repeats)
    return _row(
        "IMDB raw text -> TextClassifier('softmax'), train",
        "fasttext supervised, 5 epochs, lr 0.5",
        found["seconds"]["fit"],
        found["seconds"]["peer_fit"],
        5,
        accuracy=found["accuracy"],
        peer_accuracy=found["peer_accuracy"],
    )


def fasttext_prediction(repeats: int = 3) -> dict[str, Any] | None:
    """25,000 reviews, raw strings to labels; fastText's loading is not counted."""
    if not _has_fasttext():
        return None
    found = _measured(repeats)
    seconds = found["seconds"]
    return _row(
        "IMDB raw text -> TextClassifier('softmax'), predict",
        "fasttext predict, without loading",
        seconds["predict"],
        seconds["peer_predict"],
        2,
        accuracy=found["accuracy"],
        peer_accuracy=found["peer_accuracy"],
        documents_a_second=25_000 / seconds["predict"],
        peer_documents_a_second=25_000 / seconds["peer_predict"],
    )


ROWS = (
    softmax_to_an_accuracy,
    perceptron,
    fasttext_training,
    fasttext_prediction,
)
