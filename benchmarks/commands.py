"""What people wait for: CPU seconds of commands, beside the same done by hand.

    python -m benchmarks.commands --before ../earlier/.venv/bin/earmark

Needs EARMARK_DATA. 10,000 messages of 20 Newsgroups and 10,000 short requests to an
assistant (HWU64, 64 intents), 7,500 to learn from and 2,500 to test. Every command is a
fresh process. "By hand" is a script of scikit-learn that does the job: tf-idf of words
1-2 and characters 2-5 under LinearSVC, or tf-idf under other classifiers where models
are compared; it says less (no intervals, tests, copies or words). ``--before`` is an
earlier earmark, run in turns. The best of ``--repeats``; set OMP_NUM_THREADS=1, which
holds for all. Figures go to benchmarks/results/commands.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.few_labels_views import read

RESULTS = Path(__file__).parent / "results" / "commands.json"
N_TRAIN, N_TEST, N_FEW, N_SMALL = 7_500, 2_500, 200, 2_500

# Scripts of scikit-learn: the same job, by hand.
_START = """
import csv, sys, joblib
csv.field_size_limit(10**9)
def read(name):
    with open(name, newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [row[0] for row in rows], [row[-1] for row in rows]
def tfidf(**options):
    from sklearn.feature_extraction.text import TfidfVectorizer
    return TfidfVectorizer(sublinear_tf=True, **options)
def union():
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.svm import LinearSVC
    pieces = tfidf(analyzer="char_wb", ngram_range=(2, 5))
    return make_pipeline(make_union(tfidf(ngram_range=(1, 2)), pieces), LinearSVC())
"""
_TRAIN = """
from sklearn.model_selection import train_test_split
X, y = read("train.csv")
a, b, c, d = train_test_split(X, y, random_state=0)
print(union().fit(a, c).score(b, d))
joblib.dump(union().fit(X, y), "hand.joblib")
"""
_PREDICT = """
X, _ = read({file!r})
answers = joblib.load("hand.joblib").predict(X)
with open("hand.csv", "w", newline="") as file:
    csv.writer(file).writerows(zip(answers))
"""
_EVALUATE = """
from sklearn.metrics import classification_report, confusion_matrix
X, y = read("test.csv")
answers = joblib.load("hand.joblib").predict(X)
print(classification_report(y, answers), confusion_matrix(y, answers))
"""
_EXPLAIN = """
import numpy as np
X, _ = read("ten.csv")
model = joblib.load("hand.joblib")
row, best = model[0].transform(X[:1]), model.predict(X[:1])[0]
parts = row.toarray()[0] * model[-1].coef_[list(model.classes_).index(best)]
names = model[0].get_feature_names_out()
print([(names[k], parts[k]) for k in np.argsort(-np.abs(parts))[:10]])
"""
_COMPARE = """
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
X, y = read("small.csv")
for model in LinearSVC(), LogisticRegression(C=10, max_iter=300), ComplementNB():
    print(cross_val_score(make_pipeline(tfidf(), model), X, y, cv=3))
"""
_CURVE = """
from sklearn.model_selection import learning_curve
X, y = read("small.csv")
print(learning_curve(union(), X, y, cv=3, train_sizes=[.1, .2, .4, .7, 1.0]))
"""
# What people do, earmark's command, and the script; None: scikit-learn has nothing
# like it.
JOBS: list[tuple[str, str, str | None]] = [
    ("train, with an estimate", "train train.csv --label label -o m.earmark", _TRAIN),
    (
        f"train on {N_FEW} labels and the rest without",
        "train few.csv --label label --unlabelled rest.csv -o few.earmark",
        None,
    ),
    ("check for problems", "check train.csv --label label", None),
    ("evaluate", "evaluate m.earmark test.csv", _EVALUATE),
    (
        "evaluate, with a report",
        "evaluate m.earmark test.csv --report r.html",
        None,
    ),
    (
        "predict 2,500",
        "predict m.earmark test.csv -o out.csv",
        _PREDICT.format(file="test.csv"),
    ),
    (
        "predict 10",
        "predict m.earmark ten.csv -o out.csv",
        _PREDICT.format(file="ten.csv"),
    ),
    ("explain one", "explain m.earmark @ten", _EXPLAIN),
    (
        "compare three models on 2,500",
        "compare small.csv --label label --models complement,softmax --repeats 3",
        _COMPARE,
    ),
    ("learning curve of 2,500", "learning-curve small.csv --label label", _CURVE),
]


def write(path: Path, rows: Iterable[tuple[str, ...]], *names: str) -> None:
    """A csv file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows(rows)


def corpora() -> dict[str, list[tuple[str, str]]]:
    """10,000 texts and labels each, shuffled."""
    news = [read(f"20newsgroups_bydate_{part}") for part in ("train", "test")]
    frames = {
        "news": [row for one in news for row in zip(one.text, one.label, strict=True)],
        "short": list(zip(*(read("hwu64")[c] for c in ("text", "label")), strict=True)),
    }
    every = {}
    for name, rows in frames.items():
        order = np.random.default_rng(0).permutation(len(rows))[: N_TRAIN + N_TEST]
        every[name] = [(str(rows[i][0]), str(rows[i][1])) for i in order]
    return every


def prepare(folder: Path, rows: list[tuple[str, str]]) -> None:
    """The files that the jobs read."""
    train, test = rows[:N_TRAIN], rows[N_TRAIN:]
    names = ("text", "label")
    write(folder / "train.csv", train, *names)
    write(folder / "test.csv", test, *names)
    write(folder / "few.csv", train[:N_FEW], *names)
    write(folder / "rest.csv", [(text,) for text, _ in train[N_FEW:5_000]], "text")
    write(folder / "small.csv", train[:N_SMALL], *names)
    write(folder / "ten.csv", test[:10], *names)


def cpu_of(command: list[str], folder: Path) -> float | None:
    """CPU seconds of a fresh process; None if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(command, done.stderr.decode()[-500:], file=sys.stderr)
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(
    folder: Path, test: str, programs: dict[str, str], repeats: int
) -> dict[str, dict[str, float]]:
    """CPU seconds by job and program; each works in a folder of its own."""
    figures: dict[str, dict[str, float]] = {}
    for job, command, script in JOBS:
        words = [test if word == "@ten" else word for word in command.split()]
        calls = {who: [path, *words] for who, path in programs.items()}
        if script is not None:
            calls["by hand"] = [sys.executable, "-c", _START + script]
        times: dict[str, list[float]] = {}
        for _ in range(repeats):
            for who, call in calls.items():
                seconds = cpu_of(call, folder / who)
                if seconds is not None:
                    times.setdefault(who, []).append(seconds)
        figures[job] = {who: min(several) for who, several in times.items()}
        print(job, {k: round(v, 2) for k, v in figures[job].items()}, flush=True)
    return figures


def table() -> str:
    """What the page of performance shows, as Markdown."""
    stored = json.loads(RESULTS.read_text("utf-8"))
    lines = [
        "| CPU s | news: **earmark** | by hand | short: **earmark** | by hand |",
        "|---|---|---|---|---|",
    ]
    for job, _, _ in JOBS:
        cells = [job]
        for name in ("news", "short"):
            for who in ("now", "by hand"):
                seconds = stored["figures"][name][job].get(who)
                cells.append("–" if seconds is None else f"{seconds:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", help="the command of an earlier earmark")
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    programs = {"now": str(Path(sys.executable).parent / "earmark")}
    if asked.before:
        programs["before"] = str(Path(asked.before).absolute())
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    figures = {}
    for name, rows in corpora().items():
        with tempfile.TemporaryDirectory() as place:
            for who in (*programs, "by hand"):
                (Path(place) / who).mkdir()
                prepare(Path(place) / who, rows)
            print(name)
            ten = rows[N_TRAIN][0].replace("\0", " ")[:2_000]
            figures[name] = measure(Path(place), ten, programs, asked.repeats)
    result = {
        "command": f"python -m benchmarks.commands {' '.join(sys.argv[1:])}".strip(),
        "load_average": os.getloadavg()[0],
        "figures": figures,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
