"""What a comparison of classifiers shows: table, words, plain values."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from earmark.evaluation.intervals import bootstrap_splits
from earmark.evaluation.report.terminal import text_table
from earmark.evaluation.significance import (
    PairedTest,
    corrected_resampled_t,
    holm,
    mcnemar_exact,
)
from earmark.typing import BoolVector

__all__ = ["ComparedClassifier", "ComparedPair", "Comparison", "Trial", "summarize"]

_RESAMPLES = 4000


@dataclass(frozen=True, eq=False)
class Trial:
    """One classifier on one split."""

    name: str
    repeat: int
    correct: BoolVector
    macro_f1: float
    coverage: float | None
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    extra_mb: float | None


@dataclass(frozen=True)
class ComparedClassifier:
    """Figures of one classifier, means over the splits.

    ``low`` and ``high`` bound the accuracy: a bootstrap over splits and, within
    them, over test documents. Times are CPU seconds of one fit and one predict.
    """

    name: str
    accuracy: float
    low: float
    high: float
    macro_f1: float
    coverage: float | None
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    extra_mb: float | None
    scores: tuple[float, ...]


@dataclass(frozen=True)
class ComparedPair:
    """Two classifiers: ``difference`` is the accuracy of a minus that of b."""

    a: str
    b: str
    difference: float
    p_value: float
    p_adjusted: float
    shown: bool

    @property
    def words(self) -> str:
        """What the pair shows, in words."""
        p = f"p = {self.p_adjusted:.2g}" if self.p_adjusted >= 0.001 else "p < 0.001"
        if not self.shown:
            return f"no difference shown between {self.a} and {self.b} ({p})"
        better, worse = (self.a, self.b) if self.difference > 0 else (self.b, self.a)
        points = 100 * abs(self.difference)
        return f"{better} is better than {worse} by {points:.1f} points ({p})"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of classifiers; prints as a table.

    Attributes
    ----------
    classifiers : tuple of ComparedClassifier
        The most accurate first.
    pairs : tuple of ComparedPair
        Every pair, with Holm's correction over all of them.
    test : str
        The paired test used.

    """

    classifiers: tuple[ComparedClassifier, ...]
    pairs: tuple[ComparedPair, ...]
    test: str
    n_train: int
    n_test: int
    n_repeats: int
    target_accuracy: float
    level: float

    @property
    def best(self) -> ComparedClassifier:
        """The classifier with the highest mean accuracy."""
        return self.classifiers[0]

    def pair(self, a: str, b: str) -> ComparedPair:
        """The comparison of two classifiers by name."""
        for pair in self.pairs:
            if {pair.a, pair.b} == {a, b}:
                return pair
        raise KeyError(f"no comparison of {a!r} and {b!r}")

    @property
    def sentences(self) -> list[str]:
        """What the comparison shows, in words."""
        best = self.best
        found = [
            f"{best.name} has the highest accuracy: {best.accuracy:.3f} "
            f"({100 * self.level:.0f} % interval {best.low:.3f} to {best.high:.3f})."
        ]
        for other in self.classifiers[1:]:
            words = self.pair(best.name, other.name).words
            found.append(f"{words[0].upper()}{words[1:]}.")
        return found

    def __str__(self) -> str:
        memory = any(c.extra_mb is not None for c in self.classifiers)
        header = ["classifier", "accuracy", f"{100 * self.level:.0f} % interval"]
        header += ["macro F1", f"coverage at {100 * self.target_accuracy:.0f} %"]
        header += ["log loss", "fit, s", "predict, s"]
        header += ["extra MB"] if memory else []
        rows = []
        for c in self.classifiers:
            row = [c.name, f"{c.accuracy:.3f}", f"{c.low:.3f}–{c.high:.3f}"]
            row += [f"{c.macro_f1:.3f}", _or_dash(c.coverage), _or_dash(c.log_loss)]
            row += [f"{c.fit_seconds:.2f}", f"{c.predict_seconds:.2f}"]
            row += [_or_dash(c.extra_mb, 0)] if memory else []
            rows.append(row)
        how = (
            f"{self.n_train:,} training and {self.n_test:,} test documents, "
            f"{_splits(self.n_repeats)}; {self.test} test, Holm's correction over "
            f"{len(self.pairs)} pairs; CPU seconds."
        )
        lines = [textwrap.fill(line, 100) for line in (*self.sentences, how)]
        return "\n".join([text_table(header, rows), "", *lines])

    def to_dict(self, *, costs: bool = True) -> dict[str, Any]:
        """Plain values for JSON; without ``costs`` it depends on the seed alone."""
        rows = [asdict(c) for c in self.classifiers]
        for row in rows:
            row["scores"] = list(row["scores"])
            if not costs:
                for name in ("fit_seconds", "predict_seconds", "extra_mb"):
                    del row[name]
        return {
            "classifiers": rows,
            "pairs": [asdict(pair) for pair in self.pairs],
            "summary": self.sentences,
            "test": self.test,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "n_repeats": self.n_repeats,
            "target_accuracy": self.target_accuracy,
            "level": self.level,
        }


def summarize(
    trials: Sequence[Trial],
    *,
    n_train: int,
    fixed_test: bool,
    target_accuracy: float,
    level: float,
    random_state: int,
) -> Comparison:
    """Means, intervals and paired tests of the trials."""
    by_name: dict[str, list[Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.name, []).append(trial)
    rows = [_row(group, level, random_state) for group in by_name.values()]
    rows.sort(key=lambda row: (-row.accuracy, row.name))
    names = [row.name for row in rows]
    couples = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    n_test = len(trials[0].correct)
    tests = [
        _paired(by_name[a], by_name[b], n_train, n_test, fixed_test) for a, b in couples
    ]
    adjusted = holm([test.p_value for test in tests])
    pairs = tuple(
        ComparedPair(a, b, test.difference, test.p_value, float(p), bool(p < 1 - level))
        for (a, b), test, p in zip(couples, tests, adjusted, strict=True)
    )
    return Comparison(
        classifiers=tuple(rows),
        pairs=pairs,
        test="McNemar's exact" if fixed_test else "corrected resampled t",
        n_train=n_train,
        n_test=n_test,
        n_repeats=len(by_name[names[0]]),
        target_accuracy=target_accuracy,
        level=level,
    )


def _row(group: list[Trial], level: float, seed: int) -> ComparedClassifier:
    scores = tuple(float(trial.correct.mean()) for trial in group)
    low, high = _interval(group, level, seed)
    return ComparedClassifier(
        name=group[0].name,
        accuracy=float(np.mean(scores)),
        low=low,
        high=high,
        macro_f1=float(np.mean([trial.macro_f1 for trial in group])),
        coverage=_mean([trial.coverage for trial in group]),
        log_loss=_mean([trial.log_loss for trial in group]),
        fit_seconds=float(np.mean([trial.fit_seconds for trial in group])),
        predict_seconds=float(np.mean([trial.predict_seconds for trial in group])),
        extra_mb=_most([trial.extra_mb for trial in group]),
        scores=scores,
    )


def _interval(group: list[Trial], level: float, seed: int) -> tuple[float, float]:
    """Bootstrap over splits, then over the documents of each split drawn."""
    means = bootstrap_splits(
        [trial.correct.mean() for trial in group],
        [len(trial.correct) for trial in group],
        _RESAMPLES,
        seed,
    ).mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _paired(
    a: list[Trial], b: list[Trial], n_train: int, n_test: int, fixed_test: bool
) -> PairedTest:
    if fixed_test:
        return mcnemar_exact(a[0].correct, b[0].correct)
    return corrected_resampled_t(
        [trial.correct.mean() for trial in a],
        [trial.correct.mean() for trial in b],
        n_train=n_train,
        n_test=n_test,
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _most(values: list[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _or_dash(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _splits(n: int) -> str:
    return "one fixed split" if n == 1 else f"{n} random splits"
