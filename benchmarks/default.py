"""The default with all labels, beside what people would write with scikit-learn.

    python -m benchmarks.default                      # every corpus and method
    python -m benchmarks.default --corpora trec,ag --methods default,union

Needs EARMARK_DATA. Each method is fitted to the training part and judged on the test
part, which nothing else sees. ``union`` is tf-idf of words 1-2 and characters 2-5 under
LinearSVC; ``tfidf-lr`` is tf-idf of words 1-2 under logistic regression, its C chosen
among 1, 10 and 100 by three folds of 4,000 documents at most; ``fasttext`` is its
command with pairs of words, 25 epochs and the better of two rates on a quarter;
``nbsvm`` is LinearSVC on words and pairs times the log-ratios of naive Bayes. MiniLM's
vectors are read from EARMARK_DATA. CPU seconds are of one process (set
OMP_NUM_THREADS=1). Results go to benchmarks/results/default.json, row by row: what is
there of other rows stays.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks._memory import PeakMemory
from benchmarks.few_labels_views import TASKS, Task, minilm, plain, two_files
from earmark import TextClassifier

RESULTS = Path(__file__).parent / "results" / "default.json"


CORPORA: dict[str, Callable[[], Task]] = {
    **{n: TASKS[n] for n in ("sms", "trec", "webkb", "ag", "r8", "r52", "20ng")},
    "trec_fine": lambda: two_files("trec", plain, "label_fine"),
    "imdb": TASKS["imdb"],
    "hwu64": TASKS["hwu64"],
    "pros_cons": TASKS["pros_cons"],
    "20ng_lines": lambda: newsgroup_lines(90_000, 10_000),
}
# Those that the default was developed on; means are over these.
NINE = ("sms", "trec", "trec_fine", "webkb", "ag", "r8", "r52", "20ng", "imdb")


def newsgroup_lines(n_train: int, n_test: int) -> Task:
    """Lines of 20 to 200 characters of newsgroup messages, by group: many and short."""
    whole = TASKS["20ng"]()

    def lines(texts: list[str], y: Any, n: int) -> tuple[list[str], Any]:
        every = [
            (line.strip(), label)
            for text, label in zip(texts, y, strict=True)
            for line in text.splitlines()
            if 20 <= len(line.strip()) <= 200
        ]
        order = np.random.default_rng(0).permutation(len(every))[:n]
        return [every[i][0] for i in order], np.array([every[i][1] for i in order])

    train, test = (
        lines(whole.train, whole.y, n_train),
        lines(whole.test, whole.y_test, n_test),
    )
    return Task(*train, *test)


class Answers(NamedTuple):
    """Labels of the test part, and where there are probabilities, these by class."""

    labels: Any
    proba: Any = None
    classes: Any = None
    megabytes: float = 0.0
    notes: Any = None


def earmark(**options: Any) -> Callable[[Task], tuple[Callable[[], Any], Any]]:
    """TextClassifier with these parameters."""

    def method(task: Task) -> Any:
        classifier = TextClassifier(**options)

        def answers() -> Answers:
            proba = classifier.predict_proba(task.test)
            classes = classifier.classes_
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model"
                classifier.save(path, allow_callables=True)
                size = path.stat().st_size / 1e6
            labels = classes[proba.argmax(axis=1)]
            return Answers(labels, proba, classes, size, classifier.reasons_)

        return lambda: classifier.fit(task.train, task.y), answers

    return method


def union(task: Task) -> Any:
    """Ten lines of scikit-learn."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.svm import LinearSVC

    model = make_pipeline(
        make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        ),
        LinearSVC(),
    )

    def answers() -> Answers:
        labels = model.predict(task.test)
        return Answers(labels, megabytes=model[-1].coef_.nbytes / 1e6)

    return lambda: model.fit(task.train, task.y), answers


def tfidf_lr(task: Task) -> Any:
    """tf-idf and logistic regression, C chosen by three folds."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        LogisticRegression(max_iter=300),
    )
    search = GridSearchCV(model, {"logisticregression__C": [1, 10, 100]}, cv=3)

    def fit() -> None:
        some = np.random.default_rng(0).permutation(len(task.y))[:4000]
        search.fit([task.train[i] for i in some], task.y[some])
        model.set_params(**search.best_params_).fit(task.train, task.y)

    def answers() -> Answers:
        proba = model.predict_proba(task.test)
        labels = model.classes_[proba.argmax(axis=1)]
        size = model[-1].coef_.nbytes / 1e6
        return Answers(labels, proba, model.classes_, size)

    return fit, answers


def fasttext(task: Task) -> Any:
    """The command fasttext, on lower-cased words and marks."""
    folder = Path(tempfile.mkdtemp())
    names = {label: f"__label__{i}" for i, label in enumerate(np.unique(task.y))}
    labels = {name: label for label, name in names.items()}

    def line(text: str) -> str:
        return " ".join(re.findall(r"\w+|[^\w\s]", text.lower())) or "nothing"

    def call(*words: str) -> str:
        done = subprocess.run(
            ["fasttext", *words], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout

    def train(lines: list[str], rate: float) -> None:
        (folder / "train").write_text("\n".join(lines) + "\n", encoding="utf-8")
        call(
            *["supervised", "-input", "train", "-output", "model", "-thread", "1"],
            *["-wordNgrams", "2", "-epoch", "25", "-lr", str(rate)],
        )

    def fit() -> None:
        both = zip(task.y, task.train, strict=True)
        lines = [f"{names[label]} {line(text)}" for label, text in both]
        lines = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]
        n = len(lines) // 4
        (folder / "held_out").write_text("\n".join(lines[:n]) + "\n", encoding="utf-8")
        right = {}
        for rate in (0.1, 0.5):
            train(lines[n:], rate)
            right[rate] = float(
                call("test", "model.bin", "held_out").split("P@1")[1].split()[0]
            )
        train(lines, max(right, key=right.__getitem__))

    def answers() -> Answers:
        lines = "\n".join(map(line, task.test)) + "\n"
        (folder / "test").write_text(lines, encoding="utf-8")
        said = call("predict", "model.bin", "test").split("\n")
        size = (folder / "model.bin").stat().st_size / 1e6
        answers = [labels.get(name) for name in said[: len(task.test)]]
        return Answers(np.array(answers, dtype=object), megabytes=size)

    return fit, answers


def nbsvm(task: Task) -> Any:
    """Words and pairs, each class's log-ratios of naive Bayes, LinearSVC (NBSVM)."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.svm import LinearSVC

    words = CountVectorizer(ngram_range=(1, 2), binary=True, min_df=2)
    machines: list[tuple[Any, Any]] = []

    def fit() -> None:
        counts = words.fit_transform(task.train).astype(float)
        for label in np.unique(task.y):
            own = task.y == label
            ratio = log_share(counts[own]) - log_share(counts[~own])
            machine = LinearSVC().fit(counts @ sparse.diags(ratio), own)
            machines.append((ratio, machine))

    def log_share(counts: Any) -> Any:
        sums = np.asarray(counts.sum(axis=0)).ravel() + 1.0
        return np.log(sums / sums.sum())

    def answers() -> Answers:
        counts = words.transform(task.test).astype(float)
        scores = [m.decision_function(counts @ sparse.diags(r)) for r, m in machines]
        size = sum(machine.coef_.nbytes for _, machine in machines) / 1e6
        best = np.argmax(scores, axis=0)
        return Answers(np.unique(task.y)[best], megabytes=size)

    return fit, answers


def minilm_lr(task: Task) -> Any:
    """MiniLM's vectors under logistic regression."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=10, max_iter=300)

    def answers() -> Answers:
        proba = model.predict_proba(minilm(task.test))
        labels = model.classes_[proba.argmax(axis=1)]
        return Answers(labels, proba, model.classes_, model.coef_.nbytes / 1e6)

    return lambda: model.fit(minilm(task.train), task.y), answers


def minilm_svc(task: Task) -> Any:
    """tf-idf beside MiniLM's vectors under LinearSVC."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    words, model = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC()

    def rows(counts: Any, texts: list[str]) -> Any:
        return sparse.hstack([counts, minilm(texts)], format="csr")

    def fit() -> None:
        model.fit(rows(words.fit_transform(task.train), task.train), task.y)

    def answers() -> Answers:
        return Answers(model.predict(rows(words.transform(task.test), task.test)))

    return fit, answers


METHODS: dict[str, Callable[[Task], Any]] = {
    "default": earmark(),
    "no vectors": earmark(encoder=None),
    "union": union,
    "tfidf-lr": tfidf_lr,
    "fasttext": fasttext,
    "nbsvm": nbsvm,
    "MiniLM + LR": minilm_lr,
    "MiniLM": earmark(encoder=minilm),
    "tfidf+MiniLM SVC": minilm_svc,
    "complement": earmark(model="complement"),
    "softmax": earmark(model="softmax"),
}


def measured(task: Task, method: Callable[[Task], Any]) -> dict[str, Any]:
    """One row."""
    from sklearn.metrics import f1_score

    fit, answer = method(task)
    started = cpu_seconds()
    with PeakMemory() as memory:
        fit()
    fitted = cpu_seconds()
    answers = answer()
    done = cpu_seconds()
    right = answers.labels == task.y_test
    row = {
        "accuracy": float(right.mean()),
        "macro_f1": float(f1_score(task.y_test, answers.labels, average="macro")),
        "fit_cpu": fitted - started,
        "predict_cpu": done - fitted,
        "megabytes": answers.megabytes,
        "extra_megabytes": memory.extra_mb,
    }
    if answers.proba is not None:
        row |= probabilities(answers, task.y_test, right)
    if answers.notes is not None:
        row["reasons"] = answers.notes
    return row


def cpu_seconds() -> float:
    """Of this process and of the commands that it has run."""
    used = [resource.getrusage(who) for who in (0, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def probabilities(answers: Answers, truth: Any, right: Any) -> dict[str, float]:
    """Log loss over the documents of known classes; expected calibration error."""
    place = {label: i for i, label in enumerate(answers.classes.tolist())}
    known = np.array([label in place for label in truth])
    columns = [place[label] for label in truth[known]]
    own = answers.proba[known][np.arange(len(columns)), columns]
    confidence = answers.proba.max(axis=1)
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = np.bincount(bins, weights=confidence - right, minlength=10)
    return {
        "log_loss": float(-np.log(np.maximum(own, 1e-15)).mean()),
        "ece": float(np.abs(gaps).sum() / len(right)),
    }


SHOWN = {
    "default": "**earmark**",
    "no vectors": "without vectors",
    "union": "union",
    "tfidf-lr": "tf-idf + LR",
    "fasttext": "fastText",
    "nbsvm": "NBSVM",
    "MiniLM + LR": "MiniLM + LR",
    "MiniLM": "**earmark** + MiniLM",
}


def mean(method: str, figure: str, corpora: Iterable[str] = NINE) -> float | None:
    """The mean of a stored figure over some corpora; None where one is missing."""
    stored = json.loads(RESULTS.read_text())["corpora"]
    figures = [stored.get(c, {}).get(method, {}).get(figure) for c in corpora]
    return None if None in figures else float(np.mean(figures))


def table() -> str:
    """What the page of the method shows, as Markdown."""
    stored = json.loads(RESULTS.read_text())["corpora"]
    every = [*NINE, *(n for n in CORPORA if n not in NINE and n in stored)]
    known = [m for m in SHOWN if any(m in stored[c] for c in every)]
    lines = [
        ["accuracy", *(SHOWN[method] for method in known)],
        ["---"] * (len(known) + 1),
    ]
    for corpus in every:
        rows = (stored[corpus].get(method) for method in known)
        cells = ["–" if row is None else f"{row['accuracy']:.3f}" for row in rows]
        lines.append([corpus, *cells])
    for name, figure, places in (
        ("mean of the first nine", "accuracy", 3),
        ("macro-F1", "macro_f1", 3),
        ("log loss", "log_loss", 3),
        ("calibration error", "ece", 3),
        ("CPU s to train", "fit_cpu", 1),
        ("CPU s to predict", "predict_cpu", 2),
        ("MB", "megabytes", 1),
    ):
        means = (mean(method, figure) for method in known)
        cells = ["–" if value is None else f"{value:.{places}f}" for value in means]
        lines.append([name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--methods", default=",".join(METHODS))
    given = parser.parse_args()
    for corpus in given.corpora.split(","):
        task = CORPORA[corpus]()
        for method in given.methods.split(","):
            row = measured(task, METHODS[method])
            store(corpus, method, row)
            told = (f"{k} {v:.3f}" for k, v in row.items() if isinstance(v, float))
            print(corpus, method, *told, sep="  ", flush=True)


def store(corpus: str, method: str, row: dict[str, Any]) -> None:
    """Put one row into the results."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known["command"] = f"python -m benchmarks.default {' '.join(sys.argv[1:])}".strip()
    known["machine"] = f"{platform.machine()}, Python {platform.python_version()}"
    known.setdefault("corpora", {}).setdefault(corpus, {})[method] = row
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
