"""Does the promise of AbstainingClassifier hold? A simulation.

    python -m benchmarks.guarantee [--repeats 2000] [--write docs/decisions.md]

Documents are drawn from known distributions; a classifier is fitted on 300 of them
and calibrated on n others. Its true error and coverage come from other documents,
four times n and at least 5,000, and their true class probabilities: with fewer, the
noise of the judgement would be counted as broken promises. The promise, at most 5 %
wrong answers with 95 % confidence, is broken when the true error of the answers
exceeds 5 %: at most 5 % of the repetitions may break it. Beside it: the estimate from
leave-one-out scores, calibration documents of which 30 % are near-duplicates (not
grouped, and grouped), and a shifted test set.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from earmark.decision import (
    AbstainingClassifier,
    estimated_threshold,
    guaranteed_threshold,
)
from earmark.decision.scores import Scores, read_scores
from earmark.models import BernoulliNaiveBayes, MultinomialNaiveBayes

MAX_ERROR = 0.05
N_TRAIN = 300
N_TEST = 5_000  # documents that judge, at least; and four times n
N_ORACLE = 200  # repetitions in which the oracle's coverage is looked up as well
N_POOL = 200_000  # documents in all sets that judge; repetitions take turns


@dataclass
class Tally:
    """What the repetitions of one setting gave."""

    broken: int = 0
    answered: int = 0
    repeats: int = 0
    coverage: list[float] = field(default_factory=list)
    oracle: list[float] = field(default_factory=list)

    def add(self, coverage: float, error: float, oracle: float | None) -> None:
        """Count one repetition."""
        self.repeats += 1
        self.answered += coverage > 0
        self.broken += coverage > 0 and error > MAX_ERROR
        self.coverage.append(coverage)
        if oracle is not None:
            self.oracle.append(oracle)

    @property
    def row(self) -> str:
        """The cells of the table."""
        share = self.broken / self.repeats
        noise = 1.96 * np.sqrt(share * (1 - share) / self.repeats)
        ratio = np.mean(self.coverage) / max(np.mean(self.oracle), 1e-9)
        return (
            f"{100 * share:.1f} ± {100 * noise:.1f} | "
            f"{100 * self.answered / self.repeats:.0f} | "
            f"{100 * np.mean(self.coverage):.1f} | {100 * ratio:.0f}"
        )


class Counts:
    """Word counts of three classes; lengths vary, and so does the confidence."""

    def __init__(self, shift: float = 0.0) -> None:
        rates = np.full((3, 24), 1.0)
        for c in range(3):
            rates[c, 8 * c : 8 * c + 8] += 1.1 * (1 - shift)
        self.rates = rates / rates.sum(axis=1, keepdims=True)

    def draw(self, rng, n):
        """Documents and their classes."""
        y = rng.integers(0, 3, n)
        length = rng.gamma(2.0, 14.0, n)
        return rng.poisson(length[:, None] * self.rates[y]).astype(np.float64), y

    def joint(self, X):
        """Log P(x, c) up to a constant of x."""
        return X @ np.log(self.rates).T


class Presence:
    """Which of 30 words occur."""

    def __init__(self, shift: float = 0.0) -> None:
        self.p = np.full((3, 30), 0.25)
        for c in range(3):
            self.p[c, 10 * c : 10 * c + 10] += 0.33 * (1 - shift)

    def draw(self, rng, n):
        """Documents and their classes."""
        y = rng.integers(0, 3, n)
        return (rng.random((n, 30)) < self.p[y]).astype(np.float64), y

    def joint(self, X):
        """Log P(x, c) up to a constant of x."""
        return X @ np.log(self.p).T + (1 - X) @ np.log(1 - self.p).T


class Numbers:
    """Four numbers, normal, with two classes apart in the first."""

    def __init__(self, shift: float = 0.0) -> None:
        self.apart = 2.2 * (1 - shift)

    def draw(self, rng, n):
        """Documents and their classes."""
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 4))
        X[:, 0] += self.apart * y
        return X, y

    def joint(self, X):
        """Log P(x, c) up to a constant of x."""
        means = np.array([0.0, self.apart])
        return -0.5 * (X[:, :1] - means) ** 2


MODELS = {
    "multinomial": (MultinomialNaiveBayes(), Counts),
    "bernoulli": (BernoulliNaiveBayes(), Presence),
    "gaussian": (GaussianNB(), Numbers),
}


class Population:
    """Fresh documents with their true class probabilities: errors without noise."""

    def __init__(self, source, rng, size) -> None:
        self.size = size
        self.X, _ = source.draw(rng, size)
        joint = source.joint(self.X)
        self.posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        if not isinstance(source, Numbers):
            self.X = sparse.csr_array(self.X)

        self.last: Any = (None, None)

    def scored(self, model):
        """Confidence and summed probability of being wrong, most confident first."""
        if self.last[0] is model:
            return self.last[1]
        scores = read_scores(model, self.X)
        wrong = 1 - self.posterior[np.arange(self.size), scores.choice]
        order = np.argsort(-scores.certainty, kind="stable")
        self.last = model, (scores.certainty[order], wrong[order].cumsum())
        return self.last[1]


def judged(test, model, threshold, with_oracle):
    """True coverage and error of the answers, and the oracle's coverage or None."""
    if threshold == np.inf and not with_oracle:
        return 0.0, 0.0, None
    confidence, wrong = test.scored(model)
    n_given = int(np.count_nonzero(confidence >= threshold))
    error = float(wrong[n_given - 1] / n_given) if n_given else 0.0
    good = np.flatnonzero(wrong <= MAX_ERROR * np.arange(1, test.size + 1))
    oracle = (good[-1] + 1) / test.size if len(good) else 0.0
    return n_given / test.size, error, oracle


def with_duplicates(rng, X, y, share=0.3):
    """Overwrite a share of the rows by copies of a twentieth of them."""
    X, y = X.copy(), y.copy()
    n = len(y)
    places = rng.permutation(n)
    copies, originals = places[: int(share * n)], places[int(share * n) :]
    source = rng.choice(originals[: max(1, n // 20)], len(copies))
    X[copies], y[copies] = X[source], y[source]
    return X, y


def repetition(rng, name, n, test, shifted, tallies, with_oracle):
    base, source = MODELS[name]
    X_train, y_train = source().draw(rng, N_TRAIN)
    X_cal, y_cal = source().draw(rng, n)
    wrapped = AbstainingClassifier(base, max_error=MAX_ERROR)
    wrapped.fit(X_train, y_train, calibration=(X_cal, y_cal))
    model = wrapped.base_
    value = wrapped.thresholds_[0].value
    tallies["guaranteed"].add(*judged(test, model, value, with_oracle))
    tallies["shifted test set"].add(*judged(shifted, model, value, with_oracle))

    X_dup, y_dup = with_duplicates(rng, X_cal, y_cal)
    scores = read_scores(model, X_dup)
    right = model.classes_[scores.choice] == y_dup
    loose = guaranteed_threshold(scores.certainty, right, MAX_ERROR)
    found = judged(test, model, loose.value, with_oracle)
    tallies["30 % duplicates, not grouped"].add(*found)
    wrapped.fit(X_train, y_train, calibration=(X_dup, y_dup))
    found = judged(test, model, wrapped.thresholds_[0].value, with_oracle)
    tallies["30 % duplicates, grouped"].add(*found)

    if hasattr(base, "leave_one_out"):  # fitted on the n documents themselves
        whole = clone(base).fit(X_cal, y_cal)
        scores = Scores.from_log_proba(whole.leave_one_out(X_cal, y_cal))
        right = whole.classes_[scores.choice] == y_cal
        value = estimated_threshold(scores.certainty, right, MAX_ERROR).value
        found = judged(test, whole, value, with_oracle)
        tallies["leave-one-out estimate"].add(*found)


KINDS = (
    "guaranteed",
    "30 % duplicates, grouped",
    "30 % duplicates, not grouped",
    "leave-one-out estimate",
    "shifted test set",
)


def simulate(name, n, repeats, seed):
    """Tallies of one model and one number of calibration documents."""
    rng = np.random.default_rng([seed, n, list(MODELS).index(name)])
    tallies = {kind: Tally() for kind in KINDS}
    source = MODELS[name][1]
    size = max(N_TEST, 4 * n)
    tests = [Population(source(), rng, size) for _ in range(N_POOL // size)]
    shifted = Population(source(shift=0.25), rng, N_TEST)
    for number in range(repeats):
        test = tests[number % len(tests)]
        repetition(rng, name, n, test, shifted, tallies, number < N_ORACLE)
    return tallies


def table(options) -> str:
    lines: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in options.models:
        for n in options.sizes:
            tallies = simulate(name, n, options.repeats, options.seed)
            for kind, tally in tallies.items():
                if tally.repeats:
                    lines[kind].append(f"| {kind} | {name} | {n:,} | {tally.row} |")
    head = (
        "| setting | model | n | broken, % | answers at all, % | coverage, % | "
        "of the oracle's, % |\n|---|---|--:|--:|--:|--:|--:|"
    )
    return "\n".join([head, *(line for kind in KINDS for line in lines[kind])])


def write_between_marks(path: Path, text: str) -> None:
    begin, end = "<!-- guarantee:begin -->", "<!-- guarantee:end -->"
    before, rest = path.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 1000, 5000])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="document whose table to renew")
    options = parser.parse_args()
    start = time.process_time()
    found = table(options)
    spent = time.process_time() - start
    print(found)
    print(f"\n{options.repeats:,} repetitions each, seed {options.seed}, "
          f"{spent:.0f} CPU seconds")  # fmt: skip
    if options.write is not None:
        write_between_marks(options.write, found)


if __name__ == "__main__":
    main()
