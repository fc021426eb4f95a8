"""Does the promise about errors hold, and how much is answered? A simulation.

    python -m benchmarks.guarantee [--repeats 2000]

In each setting classifiers are fitted on documents from a known distribution, and
each scores 20,000 others: these are the documents that may come. A calibration draws n
of them, with replacement, so the error and coverage of its threshold are known without
noise. The promise is broken when more than the promised share of the answers is wrong,
which may happen in at most 5 % of the calibrations. Beside it stand a plain rule with
the same guarantee (maximum probability, the same exact test, one sequence that starts
at 10 %) and the best threshold in hindsight. Then documents that repeat others: a text
that recurs and whose label varies, training documents among the calibration documents,
and copies that a collector planted. Then what is not promised: a shifted test set, and
leave-one-out scores. With
EARMARK_DATA set, calibrations are drawn from test sets of real corpora as well.

Results: benchmarks/results/guarantee.json; the tables of the document are made from it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from scipy import sparse, stats
from sklearn.naive_bayes import GaussianNB

from earmark import TextClassifier
from earmark.decision import AnyOfClassifier, guaranteed_threshold
from earmark.decision.calibration import confidence_features, learn_confidence
from earmark.decision.decision import Scores, read_scores
from earmark.decision.guarantee import (
    estimated_threshold,
    guaranteed_thresholds,
    smallest_sample,
)
from earmark.documents import load_corpus
from earmark.features import WordCounter
from earmark.models import BernoulliNaiveBayes, MultinomialNaiveBayes

RESULTS = Path(__file__).parent / "results" / "guarantee.json"
RISK = 0.05
N_POOL = 20_000  # documents that may come
N_MODELS = 8  # fitted classifiers of each setting; calibrations take turns
SIZES = ((20, 0.2), (50, 0.1), (200, 0.05), (1000, 0.05))  # n, promised error


# -- documents ---------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    """Word counts: each class has words that it uses more often."""

    n_classes: int = 3
    n_words: int = 24
    telling: float = 1.1
    length: float = 28.0
    burst: int = 1  # a word comes so many times at once: models grow too sure
    flipped: float = 0.0  # share of labels drawn anew
    n_train: int = 300
    model: Any = MultinomialNaiveBayes

    def draw(self, rng: np.random.Generator, n: int, shift: float = 0.0) -> Any:
        """Documents and their classes."""
        rates = np.ones((self.n_classes, self.n_words))
        own = self.n_words // self.n_classes
        for c in range(self.n_classes):
            rates[c, own * c : own * (c + 1)] += self.telling * (1 - shift)
        rates /= rates.sum(axis=1, keepdims=True)
        y = rng.integers(0, self.n_classes, n)
        length = rng.gamma(2.0, self.length / 2, n) / self.burst
        X = self.burst * rng.poisson(length[:, None] * rates[y]).astype(np.float64)
        again = rng.random(n) < self.flipped
        y[again] = rng.integers(0, self.n_classes, int(again.sum()))
        return sparse.csr_array(X), y


@dataclass(frozen=True)
class Presence:
    """Which of 30 words occur."""

    n_train: int = 300
    model: Any = BernoulliNaiveBayes

    def draw(self, rng: np.random.Generator, n: int, shift: float = 0.0) -> Any:
        """Documents and their classes."""
        p = np.full((3, 30), 0.25)
        for c in range(3):
            p[c, 10 * c : 10 * c + 10] += 0.33 * (1 - shift)
        y = rng.integers(0, 3, n)
        return sparse.csr_array((rng.random((n, 30)) < p[y]).astype(np.float64)), y


@dataclass(frozen=True)
class Numbers:
    """Four numbers, normal, with two classes apart in the first."""

    n_train: int = 300
    model: Any = GaussianNB

    def draw(self, rng: np.random.Generator, n: int, shift: float = 0.0) -> Any:
        """Documents and their classes."""
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 4))
        X[:, 0] += 2.2 * (1 - shift) * y
        return X, y


@dataclass(frozen=True)
class SeveralLabels:
    """Word counts of documents with any of six labels, some of them rare."""

    n_train: int = 600

    @staticmethod
    def model() -> AnyOfClassifier:
        """Not yet fitted."""
        return AnyOfClassifier(MultinomialNaiveBayes())

    def draw(self, rng: np.random.Generator, n: int, shift: float = 0.0) -> Any:
        """Documents and their classes."""
        Y = rng.random((n, 6)) < np.array([0.5, 0.3, 0.3, 0.2, 0.1, 0.05])
        rates = np.full((n, 48), 0.6)
        for label in range(6):
            rates[:, 8 * label : 8 * label + 8] += 1.2 * (1 - shift) * Y[:, [label]]
        X = rng.poisson(rates).astype(np.float64)
        return sparse.csr_array(X), Y.astype(np.int64)


SETTINGS: dict[str, Any] = {
    "2 classes, numbers": Numbers(),
    "3 classes, counts": Counts(),
    "3 classes, presence": Presence(),
    "20 classes": Counts(20, 120, 6.0, 30.0, n_train=400),
    "77 classes": Counts(77, 308, 22.0, 16.0, n_train=770),
    "long documents, saturated": Counts(length=560.0, burst=20),
    "2 % of the labels wrong": Counts(flipped=0.03),
    "8 scores, tied": Counts(),
    "any of 6 labels": SeveralLabels(),
}


# -- pools and thresholds ------------------------------------------------------------


@dataclass(frozen=True)
class Pool:
    """Scored documents that may come: columns are labels (one column for one-of)."""

    certainty: Any
    probability: Any
    wrong: Any

    def columns(self, attribute: str, rows: Any = slice(None)) -> Iterator[Any]:
        """One after the other, of some documents."""
        return iter(getattr(self, attribute)[rows].T)


def scored(model: Any, X: Any, y: Any) -> Pool:
    if isinstance(model, AnyOfClassifier):
        margins, proba = model.decision_function(X), model.predict_proba(X)
        wrong = (margins >= 0) != (y == 1)
        return Pool(np.abs(margins), np.maximum(proba, 1 - proba), wrong)
    scores = read_scores(model, X)
    wrong = model.classes_[scores.choice] != y
    # What a user of predict_proba has, and not the log-odds put back.
    probability = np.exp(scores.matrix).max(axis=1)
    return Pool(scores.certainty[:, None], probability[:, None], wrong[:, None])


def tied(pool: Pool) -> Pool:
    """Eight scores only."""
    cuts = np.quantile(pool.certainty, np.linspace(0, 1, 9)[1:-1])
    coarse = np.searchsorted(cuts, pool.certainty).astype(np.float64)
    return Pool(coarse, coarse, pool.wrong)


def pools(name: str, rng: np.random.Generator, shift: float = 0.0) -> list[Any]:
    source = SETTINGS[name]
    found = []
    for _ in range(N_MODELS):
        model = source.model().fit(*source.draw(rng, source.n_train))
        pool = scored(model, *source.draw(rng, N_POOL))
        if name.endswith("tied"):
            pool = tied(pool)
        moved = scored(model, *source.draw(rng, N_POOL, shift)) if shift else None
        found.append((pool, moved))
    return found


class Judge:
    """Coverage and error of thresholds on one column of scores."""

    def __init__(self, score: Any, wrong: Any) -> None:
        order = np.argsort(-score, kind="stable")
        self.falling = -score[order]
        self.errors = np.r_[0, np.cumsum(wrong[order])]

    def __call__(self, value: float) -> tuple[float, float]:
        """What the answers from ``value`` on come to."""
        n_answered = int(np.searchsorted(self.falling, -value, side="right"))
        error = self.errors[n_answered] / n_answered if n_answered else 0.0
        return n_answered / len(self.falling), float(error)

    def best(self, max_error: float) -> float:
        """Coverage of the best threshold in hindsight."""
        ends = np.flatnonzero(np.r_[self.falling[1:] != self.falling[:-1], True]) + 1
        good = ends[self.errors[ends] <= max_error * ends]
        return float(good[-1] / len(self.falling)) if len(good) else 0.0


def plain_threshold(
    score: Any, right: Any, max_error: float, risk: float = RISK
) -> float:
    """The same exact test in one sequence from a tenth of the documents on."""
    order = np.argsort(-score, kind="stable")
    ranked, errors = score[order], np.cumsum(~right[order])
    ends = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True]) + 1
    start = max(smallest_sample(max_error, 1 - risk), int(np.ceil(0.1 * len(score))))
    ends = ends[ends >= start]
    failed = stats.binom.cdf(errors[ends - 1], ends, max_error) > risk + 1e-12
    ends = ends[: failed.argmax()] if failed.any() else ends
    if not len(ends):
        return np.inf
    return -np.inf if ends[-1] == len(score) else np.nextafter(ranked[ends[-1]], np.inf)


def ours(pool: Pool, rows: Any, max_error: float) -> list[float]:
    sure, right = pool.certainty[rows], ~pool.wrong[rows]
    n_labels = sure.shape[1]
    if n_labels == 1:
        return [guaranteed_threshold(sure[:, 0], right[:, 0], max_error).value]
    label = np.tile(np.arange(n_labels), len(sure))
    thresholds = guaranteed_thresholds(
        sure.ravel(), right.ravel(), label, n_labels, max_error
    )
    return [threshold.value for threshold in thresholds]


def plain(pool: Pool, rows: Any, max_error: float) -> list[float]:
    columns = zip(
        pool.columns("probability", rows), pool.columns("wrong", rows), strict=True
    )
    risk = RISK / pool.wrong.shape[1]
    return [plain_threshold(s, ~w, max_error, risk) for s, w in columns]


# -- calibrations --------------------------------------------------------------------


def with_copies(rng: np.random.Generator, rows: Any, share: float = 0.3) -> Any:
    """Overwrite a share of the rows by copies of a twentieth of them."""
    rows = rows.copy()
    n = len(rows)
    places = rng.permutation(n)
    copies, originals = places[: int(share * n)], places[int(share * n) :]
    rows[copies] = rows[rng.choice(originals[: max(1, n // 20)], len(copies))]
    return rows


def judges(pool: Pool, attribute: str) -> list[Judge]:
    columns = zip(pool.columns(attribute), pool.columns("wrong"), strict=True)
    return [Judge(score, wrong) for score, wrong in columns]


def outcome(judged: list[Judge], values: list[float], max_error: float) -> Any:
    """Mean coverage, and whether the promise of some label is broken."""
    found = [judge(value) for judge, value in zip(judged, values, strict=True)]
    coverage = float(np.mean([share for share, _ in found]))
    return coverage, any(share > 0 and error > max_error for share, error in found)


def compare(name: str, n: int, max_error: float, repeats: int, seed: int) -> Any:
    """Ours, the plain rule and hindsight on the same calibrations."""
    rng = np.random.default_rng([seed, n, list(SETTINGS).index(name)])
    drawn = [
        (pool, judges(pool, "certainty"), judges(pool, "probability"))
        for pool, _ in pools(name, rng)
    ]
    best = [np.mean([j.best(max_error) for j in sure]) for _, sure, _ in drawn]
    found = []
    for number in range(repeats):
        pool, sure, probable = drawn[number % N_MODELS]
        rows = rng.integers(0, N_POOL, n)
        found.append(
            (*outcome(sure, ours(pool, rows, max_error), max_error),
             *outcome(probable, plain(pool, rows, max_error), max_error))
        )  # fmt: skip
    coverage, broken, plain_coverage, plain_broken = np.array(found, float).T
    gain = coverage - plain_coverage
    return {
        "setting": name,
        "n": n,
        "max_error": max_error,
        "repeats": repeats,
        "broken": broken.mean(),
        "coverage": coverage.mean(),
        "plain_broken": plain_broken.mean(),
        "plain_coverage": plain_coverage.mean(),
        "hindsight": float(np.mean(best)),
        "gain": gain.mean(),
        "gain_error": gain.std() / np.sqrt(repeats),
    }


def repeated(n: int, repeats: int, seed: int) -> list[Any]:
    """Documents that repeat others: both tests must pass, or one of them."""
    rng = np.random.default_rng([seed, n, 97])
    source = SETTINGS["3 classes, counts"]
    found: dict[str, list[Any]] = {}

    def note(kind: str, pool: Pool, sure: Any, right: Any, distinct: Any) -> None:
        judged = judges(pool, "certainty")
        for how, value in (
            ("both tests", guaranteed_threshold(sure, right, distinct=distinct).value),
            ("all counted", guaranteed_threshold(sure, right).value),
            (
                "each counted once",
                guaranteed_threshold(sure[distinct], right[distinct]).value,
            ),
        ):
            case = outcome(judged, [value], 0.05)
            found.setdefault(f"{kind}: {how}", []).append(case)

    models = []
    for _ in range(N_MODELS):
        X, y = source.draw(rng, source.n_train)
        model = source.model().fit(X, y)
        pool, known = scored(model, *source.draw(rng, N_POOL)), scored(model, X, y)
        models.append((pool, known, recurring(rng, pool)))
    for number in range(repeats):
        pool, known, (stream, is_text) = models[number % N_MODELS]
        rows = rng.integers(0, N_POOL, n)
        text = is_text[rows]
        distinct = ~text | (np.cumsum(text) == 1)
        sure, right = stream.certainty[rows, 0], ~stream.wrong[rows, 0]
        note("a text recurs, its label varies", stream, sure, right, distinct)
        # Three in ten are training documents.
        own = rng.integers(0, len(known.wrong), n)
        is_own = rng.random(n) < 0.3
        sure = np.where(is_own, known.certainty[own, 0], pool.certainty[rows, 0])
        right = ~np.where(is_own, known.wrong[own, 0], pool.wrong[rows, 0])
        note("training documents among them", pool, sure, right, ~is_own)
        copied = with_copies(rng, rows)
        distinct = np.zeros(n, dtype=bool)
        distinct[np.unique(copied, return_index=True)[1]] = True
        sure, right = pool.certainty[copied, 0], ~pool.wrong[copied, 0]
        note("copies planted by a collector", pool, sure, right, distinct)
    return [_tally(kind, n, cases) for kind, cases in found.items()]


def recurring(rng: np.random.Generator, pool: Pool) -> tuple[Pool, Any]:
    """The pool with one text in three of ten places, wrong in 30 % of them."""
    is_text = rng.random(N_POOL) < 0.3
    certainty, wrong = pool.certainty.copy(), pool.wrong.copy()
    certainty[is_text] = np.quantile(certainty, 0.4)
    wrong[is_text, 0] = rng.random(is_text.sum()) < 0.3
    return Pool(certainty, pool.probability, wrong), is_text


def not_promised(n: int, repeats: int, seed: int) -> list[Any]:
    """A shifted test set."""
    rng = np.random.default_rng([seed, n, 99])
    drawn = [
        (pool, judges(moved, "certainty"))
        for pool, moved in pools("3 classes, counts", rng, shift=0.25)
    ]
    found: dict[str, list[Any]] = {}
    for number in range(repeats):
        pool, moved = drawn[number % N_MODELS]
        rows = rng.integers(0, N_POOL, n)
        case = outcome(moved, ours(pool, rows, 0.05), max_error=0.05)
        found.setdefault("shifted test set", []).append(case)
    return [_tally(kind, n, cases) for kind, cases in found.items()]


def left_out(n: int, repeats: int, seed: int) -> Any:
    """Thresholds estimated from leave-one-out scores of the training documents."""
    rng = np.random.default_rng([seed, n, 98])
    source = SETTINGS["3 classes, counts"]
    X, y = source.draw(rng, N_POOL)
    cases = []
    for _ in range(repeats):
        X_train, y_train = source.draw(rng, n)
        model = source.model().fit(X_train, y_train)
        scores = Scores.from_log_proba(model.leave_one_out(X_train, y_train))
        right = model.classes_[scores.choice] == y_train
        value = estimated_threshold(scores.certainty, right, 0.05).value
        cases.append(outcome(judges(scored(model, X, y), "certainty"), [value], 0.05))
    return _tally("leave-one-out estimate", n, cases)


def _tally(kind: str, n: int, cases: list[Any]) -> Any:
    coverage, broken = np.array(cases, dtype=float).T
    return {
        "setting": kind,
        "n": n,
        "repeats": len(cases),
        "broken": broken.mean(),
        "coverage": coverage.mean(),
    }


# -- real documents --------------------------------------------------------------------


def corpus_pool(name: str, n_per_class: int, seed: int = 0) -> tuple[Pool, Any]:
    """A scored test set, and the log-odds of a learned confidence on it."""
    train, test = (load_corpus(name, part) for part in ("train", "test"))
    rng = np.random.default_rng(seed)
    labels = np.array(train.labels)
    of_class = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    rows = np.concatenate([rng.permutation(each)[:n_per_class] for each in of_class])
    counter = WordCounter()
    X = counter.fit_transform([train.texts[i] for i in rows])
    X_test, y = counter.transform(test.texts), labels[rows]
    model = MultinomialNaiveBayes().fit(X, y)
    sizes = np.unique(y, return_counts=True)[1]
    lengths, test_lengths = (np.asarray(m.sum(axis=1)).ravel() for m in (X, X_test))
    left = Scores.from_log_proba(model.leave_one_out(X, y))
    learned = learn_confidence(
        confidence_features(left, sizes, lengths),
        left.certainty,
        model.classes_[left.choice] == y,
    )
    pool = scored(model, X_test, np.array(test.labels))
    if learned is None:
        return pool, pool.certainty[:, 0]
    scores = read_scores(model, X_test)
    return pool, learned.log_odds(confidence_features(scores, sizes, test_lengths))


CORPORA = (("r8", 100), ("trec", 200), ("20newsgroups", 40))


def on_corpora(n: int, max_error: float, repeats: int, seed: int) -> list[Any]:
    """The plain rule, ours, and ours with a learned confidence on test sets."""
    rows = []
    for name, n_per_class in CORPORA:
        pool, learned = corpus_pool(name, n_per_class)
        better = Pool(learned[:, None], pool.probability, pool.wrong)
        rng = np.random.default_rng([seed, n])
        found: dict[str, list[Any]] = {}
        sure, probable = judges(pool, "certainty"), judges(pool, "probability")
        best = judges(better, "certainty")
        for _ in range(repeats):
            some = rng.integers(0, len(learned), n)
            for kind, judge, values in (
                ("plain rule", probable, plain(pool, some, max_error)),
                ("several starts, log-odds", sure, ours(pool, some, max_error)),
                ("several starts, learned", best, ours(better, some, max_error)),
            ):
                found.setdefault(kind, []).append(outcome(judge, values, max_error))
        hindsight = dict(zip(found, (probable, sure, best), strict=True))
        rows += [
            {
                **_tally(f"{name}, {n_per_class} per class: {kind}", n, cases),
                "max_error": max_error,
                "hindsight": hindsight[kind][0].best(max_error),
            }
            for kind, cases in found.items()
        ]
    return rows


PER_CLASS = (
    ("r8", "multinomial"),
    ("trec", "linear"),
    ("r52", "linear"),
    ("20newsgroups", "linear"),
)


def per_class(
    name: str, model: str, n: int, max_error: float, repeats: int, seed: int
) -> Any:
    """A threshold per predicted class of a test set, and with the rare ones pooled."""
    train, test = (load_corpus(name, part) for part in ("train", "test"))
    rows = np.random.default_rng(seed).permutation(len(train))[:3000]
    known = train.take(rows)
    fitted = TextClassifier(model, random_state=0).fit(known.joined(), known.labels)
    decision = fitted.decide(test.joined())
    sure, wrong = decision.certainty, decision.best != np.array(test.labels)
    predicted = decision.scores.argmax(axis=1)
    rng = np.random.default_rng([seed, n])
    cases: dict[bool, list[Any]] = {False: [], True: []}
    for _ in range(repeats):
        some = rng.integers(0, len(wrong), n)
        for pool, outcomes in cases.items():
            thresholds = guaranteed_thresholds(
                sure[some],
                ~wrong[some],
                predicted[some],
                len(fitted.classes_),
                max_error,
                pool_rare=pool,
            )
            answered = sure >= np.array([t.value for t in thresholds])[predicted]
            is_pooled = np.array([t.n_pooled > 1 for t in thresholds])[predicted]
            group = np.where(is_pooled, -1, predicted)
            broken = any(
                wrong[answered & (group == g)].mean() > max_error
                for g in np.unique(group[answered])
            )
            outcomes.append((broken, answered.mean()))
    (_, alone), (broken, pooled) = (np.mean(c, axis=0) for c in cases.values())
    return {
        "setting": f"{name}, {model}, {len(fitted.classes_)} classes",
        "n": n,
        "max_error": max_error,
        "repeats": repeats,
        "broken": broken,
        "coverage": pooled,
        "not_pooled": alone,
    }


# -- tables --------------------------------------------------------------------------


def _noise(share: float, repeats: int) -> str:
    return f"{100 * share:.1f} ± {196 * np.sqrt(share * (1 - share) / repeats):.1f}"


def tables(results: Any) -> str:
    """The stored results as text."""
    lines = [
        "| setting | n | promised, % | broken, % | coverage, % | plain rule, % | "
        "gain, points | in hindsight, % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r['setting']} | {r['n']:,} | {100 * r['max_error']:g} | "
        f"{_noise(r['broken'], r['repeats'])} | {100 * r['coverage']:.1f} | "
        f"{100 * r['plain_coverage']:.1f} | "
        f"{100 * r['gain']:+.1f} ± {196 * r['gain_error']:.1f} | "
        f"{100 * r['hindsight']:.1f} |"
        for r in results["promised"]
    ]
    if results["corpora"]:
        lines += [
            "",
            "| real documents | n | promised, % | broken, % | coverage, % | "
            "in hindsight, % |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        lines += [
            f"| {r['setting']} | {r['n']:,} | {100 * r['max_error']:g} | "
            f"{_noise(r['broken'], r['repeats'])} | {100 * r['coverage']:.1f} | "
            f"{100 * r['hindsight']:.1f} |"
            for r in results["corpora"]
        ]
    if results.get("per_class"):
        lines += [
            "",
            "| for every predicted class | n | promised, % | broken, % | coverage, % | "
            "rare ones not pooled, % |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        lines += [
            f"| {r['setting']} | {r['n']:,} | {100 * r['max_error']:g} | "
            f"{_noise(r['broken'], r['repeats'])} | {100 * r['coverage']:.1f} | "
            f"{100 * r['not_pooled']:.1f} |"
            for r in results["per_class"]
        ]
    lines += [
        "",
        "| documents that repeat others | n | broken, % | coverage, % |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {r['setting']} | {r['n']:,} | {_noise(r['broken'], r['repeats'])} | "
        f"{100 * r['coverage']:.1f} |"
        for r in results.get("repeated", [])
    ]
    lines += [
        "",
        "| not promised | n | broken, % | coverage, % |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {r['setting']} | {r['n']:,} | {_noise(r['broken'], r['repeats'])} | "
        f"{100 * r['coverage']:.1f} |"
        for r in results["not_promised"]
    ]
    return "\n".join(lines)


def by_class(repeats: int, seed: int) -> list[Any]:
    """Real documents with a promise per predicted class."""
    if "EARMARK_DATA" not in os.environ:
        return []
    return [
        per_class(*one, n, 0.1, max(1, repeats // 10), seed)
        for one in PER_CLASS
        for n in (500, 1000)
    ]


def simulate(repeats: int, seed: int) -> Any:
    started = time.process_time()
    promised = []
    for name in SETTINGS:
        for n, max_error in SIZES:
            promised.append(compare(name, n, max_error, repeats, seed))
            print(json.dumps(promised[-1], default=float), flush=True)
    others, again = [], []
    for n in (200, 1000):
        again += repeated(n, repeats, seed)
        others += not_promised(n, repeats, seed)
        others.append(left_out(n, max(1, repeats // 10), seed))
    corpora = (
        on_corpora(500, 0.1, repeats, seed) if "EARMARK_DATA" in os.environ else []
    )
    return {
        "command": f"python -m benchmarks.guarantee --repeats {repeats} --seed {seed}",
        "cpu_seconds": round(time.process_time() - started),
        "promised": promised,
        "corpora": corpora,
        "per_class": by_class(repeats, seed),
        "repeated": sorted(again, key=lambda row: row["setting"]),
        "not_promised": sorted(others, key=lambda row: row["setting"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Does the promise about errors hold?")
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stored", action="store_true", help="only print the tables")
    parser.add_argument("--per-class", action="store_true", help="renew that part only")
    options = parser.parse_args()
    if options.per_class:
        results = json.loads(RESULTS.read_text())
        results["per_class"] = by_class(options.repeats, options.seed)
        RESULTS.write_text(json.dumps(results, indent=1, default=float) + "\n")
    elif not options.stored:
        results = simulate(options.repeats, options.seed)
        RESULTS.write_text(json.dumps(results, indent=1, default=float) + "\n")
    results = json.loads(RESULTS.read_text())
    print(tables(results))


if __name__ == "__main__":
    main()
