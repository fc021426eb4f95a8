"""Compare classifiers on the same splits, and say what the comparison shows."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed

from earmark.evaluation.confusion import ConfusionMatrix, multi_label_scores
from earmark.evaluation.coverage import accuracy_coverage, reliability
from earmark.evaluation.result import Progress, Result, all_fits, fitted_with, fresh
from earmark.evaluation.significance import (
    bootstrap_splits,
    corrected_resampled_t,
    holm,
    mcnemar_exact,
    p_words,
    percentile_interval,
)
from earmark.exceptions import DataError, Try
from earmark.folds import stratified_split, take
from earmark.inputs.duplicates import copied_texts
from earmark.inputs.labels import (
    all_known,
    as_labels,
    class_list,
    index_of,
    label_array,
    label_column,
    right_answers,
)
from earmark.parameters import offers
from earmark.tables import WIDTH, html_block, text_table, wrapped
from earmark.typing import (
    ArrayLike,
    BoolVector,
    DocumentsLike,
    Estimator,
    FloatVector,
    JsonObject,
    Label,
    LabelsLike,
)

_RESAMPLES = 4000


@dataclass(frozen=True, eq=False)
class Trial:
    """One classifier on one split."""

    name: str
    correct: BoolVector
    macro_f1: float
    coverage: float | None
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    extra_mb: float | None


@dataclass(frozen=True)
class ComparedClassifier(Result):
    """Means over the splits, CPU seconds, and a bootstrap interval of the accuracy."""

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
class ComparedPair(Result):
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
        p = p_words(self.p_adjusted)
        if self.difference == 0:
            return f"{self.a} and {self.b} have the same accuracy"
        if not self.shown:
            return f"no difference shown between {self.a} and {self.b} ({p})"
        better, worse = (self.a, self.b) if self.difference > 0 else (self.b, self.a)
        points = 100 * abs(self.difference)
        return f"{better} is better than {worse} by {points:.1f} points ({p})"


@dataclass(frozen=True, eq=False)
class Comparison(Result):
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
        interval = (
            f"{100 * self.level:.0f} % interval {best.low:.3f} to {best.high:.3f}"
        )
        if best.low == best.high:
            interval = "on every split, so there is no interval"
        tied = [c.name for c in self.classifiers if c.accuracy == best.accuracy]
        who = f"{', '.join(tied[:-1])} and {tied[-1]} have"
        who = who if len(tied) > 1 else f"{best.name} has"
        lines = [f"{who} the highest accuracy: {best.accuracy:.3f} ({interval})."]
        others = self.classifiers[len(tied) :]
        pairs = [(other.name, self.pair(best.name, other.name)) for other in others]
        lines += [f"{pair.words}." for _, pair in pairs if pair.shown]
        alike = [(name, pair.p_adjusted) for name, pair in pairs if not pair.shown]
        if alike:
            names = [name for name, _ in alike]
            listed = " and ".join([", ".join(names[:-1]), names[-1]][len(names) < 2 :])
            p = p_words(min(p_value for _, p_value in alike))
            least = p if len(alike) == 1 else f"smallest {p}"
            lines.append(
                f"No difference shown between {best.name} and {listed} ({least})."
            )
        return lines

    def _table(self) -> tuple[list[str], list[list[str]]]:
        memory = any(c.extra_mb is not None for c in self.classifiers)
        header = ["classifier", "accuracy", "interval", "macro F1", "coverage"]
        header += ["log loss", "fit", "predict"]
        header += ["extra MB"] if memory else []
        rows = []
        for c in self.classifiers:
            interval = "–" if c.low == c.high else f"{c.low:.3f}–{c.high:.3f}"
            row = [c.name, f"{c.accuracy:.3f}", interval]
            row += [f"{c.macro_f1:.3f}", _or_dash(c.coverage), _or_dash(c.log_loss)]
            row += [f"{c.fit_seconds:.2f}", f"{c.predict_seconds:.2f}"]
            row += [_or_dash(c.extra_mb, 0)] if memory else []
            rows.append(row)
        return header, rows

    def _repr_html_(self) -> str:
        return html_block("Comparison", self.sentences, *self._table())

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = WIDTH) -> str:
        """Table and sentences for a terminal of so many columns."""
        header, rows = self._table()
        split = f"{self.n_repeats} random splits"
        how = (
            f"{self.n_train:,} training and {self.n_test:,} test documents, "
            f"{split if self.n_repeats > 1 else 'one fixed split'}; {self.test} test, "
            f"Holm's correction over {len(self.pairs)} pairs. "
            f"Intervals: {100 * self.level:.0f} %. Coverage: "
            f"answered at {100 * self.target_accuracy:.0f} % accuracy. Fit and "
            "predict: CPU seconds."
        )
        lines = [wrapped(line, width) for line in (*self.sentences, how)]
        return "\n".join([text_table(header, rows), "", *lines])

    def to_dict(self, *, costs: bool = True) -> JsonObject:
        """Plain values for JSON; without ``costs`` it depends on the seed alone."""
        content = super().to_dict() | {"summary": self.sentences}
        left_out = () if costs else ("fit_seconds", "predict_seconds", "extra_mb")
        for row, name in itertools.product(content["classifiers"], left_out):
            del row[name]
        return content


def _summarized(
    trials: Sequence[Trial], n_train: int, fixed_test: bool, level: float, seed: int
) -> tuple[tuple[ComparedClassifier, ...], tuple[ComparedPair, ...]]:
    """Means and intervals, the best first, and paired tests of the trials."""
    by_name: dict[str, list[Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.name, []).append(trial)
    rows = [_row(group, level, seed) for group in by_name.values()]
    rows.sort(key=lambda row: (-row.accuracy, row.name))
    couples = list(itertools.combinations(rows, 2))
    tests = []
    for a, b in couples:
        if fixed_test:
            pair = by_name[a.name][0].correct, by_name[b.name][0].correct
            tests.append(mcnemar_exact(*pair))
        else:
            sizes = {"n_train": n_train, "n_test": len(trials[0].correct)}
            tests.append(corrected_resampled_t(a.scores, b.scores, **sizes))
    adjusted = holm([test.p_value for test in tests]).tolist()
    pairs = tuple(
        ComparedPair(a.name, b.name, test.difference, test.p_value, p, p < 1 - level)
        for (a, b), test, p in zip(couples, tests, adjusted, strict=True)
    )
    return tuple(rows), pairs


def _row(group: list[Trial], level: float, seed: int) -> ComparedClassifier:
    scores = tuple(float(trial.correct.mean()) for trial in group)
    # Bootstrap over splits, then over the documents of each split drawn.
    sizes = [len(trial.correct) for trial in group]
    means = bootstrap_splits(scores, sizes, _RESAMPLES, seed).mean(axis=1)
    low, high = percentile_interval(means, level)
    row: JsonObject = {"accuracy": float(np.mean(scores)), "low": low, "high": high}
    for name in ("macro_f1", "coverage", "log_loss", "fit_seconds", "predict_seconds"):
        values = [getattr(trial, name) for trial in group]
        known = [value for value in values if value is not None]
        row[name] = float(np.mean(known)) if known else None
    memory = [trial.extra_mb for trial in group if trial.extra_mb is not None]
    row["extra_mb"] = max(memory, default=None)
    return ComparedClassifier(group[0].name, **row, scores=scores)


def _or_dash(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


class MemoryMeter(contextlib.AbstractContextManager["MemoryMeter"]):
    """Measures nothing; one that does sets ``extra_mb``."""

    extra_mb: float | None = None

    def __exit__(self, *error: object) -> None:
        pass


def compare_classifiers(
    estimators: Mapping[str, Any],
    X: DocumentsLike,
    y: ArrayLike,
    *,
    test: tuple[DocumentsLike, ArrayLike] | None = None,
    unlabelled: DocumentsLike = None,
    n_repeats: int = 5,
    test_size: float = 0.3,
    target_accuracy: float = 0.95,
    level: float = 0.95,
    measure_memory: Callable[[], MemoryMeter] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Fit every classifier on the same training sets and compare them fairly.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Anything with ``fit`` and ``predict``. Copies are fitted; the originals
        stay as they are. A ``random_state`` of None is set from ``random_state``.
    X : list of str, matrix, frame or dict of columns
        The documents, as the estimators take them.
    y : array-like of shape (n_documents,)
        One label per document, or for all documents a list of labels: an answer is
        then right if all of them are.
    test : tuple (X_test, y_test), optional
        A fixed test set: every classifier is fitted once on (X, y), and pairs
        are tested by McNemar's exact test. Default: ``n_repeats`` stratified
        random splits, near-duplicates on one side, and the corrected resampled t test.
    unlabelled : like X, optional
        Documents without labels, given to every classifier whose ``fit`` takes
        ``unlabelled``.
    n_repeats, test_size : int and float, default=5 and 0.3
        Number of splits, and the share of documents tested in each.
    target_accuracy : float, default=0.95
        Coverage is given at this accuracy.
    level : float, default=0.95
        Of the intervals, and 1 - level of the tests (after Holm's correction).
    measure_memory : callable, optional
        Gives a context manager that is open while a classifier is fitted and
        predicts; its ``extra_mb`` is then reported. The repository has one for Linux,
        ``benchmarks._memory.PeakMemory``.
    n_jobs : int, optional
        Processes. The figures do not depend on it.
    random_state : int, default=0
        Same seed, same splits, same figures.
    progress : callable (done, total, name), optional
        Called after each trial.

    Returns
    -------
    Comparison
        Prints as a table followed by what it shows in words.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X = np.array([[3, 0], [4, 1], [0, 3], [1, 5]] * 20)
    >>> y = ["a", "a", "b", "b"] * 20
    >>> found = compare_classifiers(
    ...     {"nb": MultinomialNB(), "guess": DummyClassifier()}, X, y
    ... )
    >>> found.best.name
    'nb'

    """
    labels = _check(estimators, X, y)
    if test is None and n_repeats < 2:
        raise ValueError(
            f"n_repeats must be >= 2 for a paired test, got {n_repeats!r}; "
            "or give a fixed test set."
        )
    if test is None and not 0 < test_size < 1:
        raise ValueError(f"test_size must be in (0, 1), got {test_size!r}.")
    splits = _splits(X, labels, test, n_repeats, test_size, random_state)
    fits = (
        delayed(_trial)(
            estimators[name], name, repeat, train, held_out, unlabelled,
            target_accuracy, measure_memory or MemoryMeter, random_state + repeat,
        )
        for repeat, (train, held_out) in enumerate(splits)
        for name in estimators
    )  # fmt: skip
    names = [*estimators] * (n_repeats if test is None else 1)
    trials = all_fits(fits, names, n_jobs, progress)
    n_test, fixed = len(trials[0].correct), test is not None
    n_train = len(labels) - (0 if fixed else n_test)
    rows, pairs = _summarized(trials, n_train, fixed, level, random_state)
    return Comparison(
        classifiers=rows,
        pairs=pairs,
        test="McNemar's exact" if fixed else "corrected resampled t",
        n_train=n_train,
        n_test=n_test,
        n_repeats=1 if fixed else n_repeats,
        target_accuracy=target_accuracy,
        level=level,
    )


def _check(
    estimators: Mapping[str, Any], X: DocumentsLike, y: ArrayLike
) -> list[Label]:
    if not isinstance(estimators, Mapping):
        raise TypeError(
            "estimators must be a dict of name to classifier, got "
            f"{type(estimators).__name__}."
        )
    if not estimators:
        raise DataError("estimators must hold at least one classifier, got none.")
    return all_known(label_column(y), "y", X=X)


def _splits(
    X: DocumentsLike,
    labels: list[Label],
    test: tuple[DocumentsLike, ArrayLike] | None,
    n_repeats: int,
    test_size: float,
    random_state: int,
) -> Iterator[
    tuple[tuple[DocumentsLike, LabelsLike], tuple[DocumentsLike, list[Label]]]
]:
    """Per repeat: training documents and labels, test documents and labels."""
    target = label_array(labels)
    if test is not None:
        held_out = all_known(label_column(test[1]), "y_test", X_test=test[0])
        yield (X, target), (test[0], held_out)
        return
    several = isinstance(labels[0], frozenset)
    classes = class_list([] if several else labels)
    y_index = index_of(labels, classes)  # sets of labels are split at random
    groups = copied_texts(X)
    rng = np.random.default_rng(random_state)
    for _ in range(n_repeats):
        train, rest = stratified_split(y_index, test_size, rng, groups)
        if not len(rest):
            raise DataError(
                f"no document is left for testing: {len(labels)} documents in "
                f"{len(classes)} classes, near-duplicates on one side; label more",
                Try("or raise", test_size=...),
            )
        held_out = [labels[row] for row in rest]
        yield (take(X, train), target[train]), (take(X, rest), held_out)


def _trial(
    estimator: Estimator,
    name: str,
    repeat: int,
    train: tuple[DocumentsLike, LabelsLike],
    held_out: tuple[DocumentsLike, list[Label]],
    unlabelled: DocumentsLike,
    target_accuracy: float,
    memory_meter: Callable[[], MemoryMeter],
    seed: int,
) -> Trial:
    """Fit one classifier on one training set and judge it on the test part."""
    X_test, truth = held_out
    several = isinstance(truth[0], frozenset)
    memory = memory_meter()
    try:
        with memory:
            start = time.process_time()
            model = fitted_with(fresh(estimator, seed), *train, unlabelled)
            fitted = time.process_time()
            outputs = model.predict(X_test)
            predicted = time.process_time()
        answers = label_column(outputs) if several else as_labels(outputs)
        sure, log_loss = None, None
        if not several:
            sure, log_loss = _confidence(model, X_test, truth)
    except Exception as error:
        error.add_note(f"while comparing classifiers: {name!r}, repeat {repeat + 1}")
        raise
    coverage = None
    if sure is not None:
        curve = accuracy_coverage(truth, answers, sure)
        coverage = curve.coverage_at(target_accuracy)
    scored = multi_label_scores if several else ConfusionMatrix.from_predictions
    return Trial(
        name,
        right_answers(truth, answers),
        scored(truth, answers).macro.f1,
        coverage,
        log_loss,
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        extra_mb=memory.extra_mb,
    )


def _confidence(
    model: Estimator, X: DocumentsLike, truth: list[Label]
) -> tuple[FloatVector | None, float | None]:
    """How sure the model is of each document, and its log loss if it has one."""
    if offers(model, "predict_proba"):
        proba = np.asarray(model.predict_proba(X))
        return proba.max(axis=1), reliability(truth, proba, model.classes_).log_loss
    if offers(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
        if scores.ndim == 1:
            return np.abs(scores), None
        best = np.partition(scores, -2, axis=1)[:, -2:]
        return best[:, 1] - best[:, 0], None
    return None, None
