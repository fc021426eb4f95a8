"""Compare classifiers on the same splits, and say what the comparison shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from earmark.evaluation._labels import (
    as_labels,
    check_equal_length,
    check_true_labels,
    class_list,
    index_of,
    is_multi_label,
)
from earmark.evaluation._memory import PeakMemory
from earmark.evaluation._splits import fresh
from earmark.evaluation.comparison_result import Comparison, Trial, summarize
from earmark.evaluation.coverage import accuracy_coverage
from earmark.evaluation.rates import averages, score_classes
from earmark.evaluation.reliability import reliability
from earmark.exceptions import DataError, NotSupportedError
from earmark.folds import n_rows, stratified_split, take
from earmark.typing import ArrayLike, FloatVector

__all__ = ["compare_classifiers"]

Progress = Callable[[int, int, str], None]


def compare_classifiers(
    estimators: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    test: tuple[Any, ArrayLike] | None = None,
    n_repeats: int = 5,
    test_size: float = 0.3,
    target_accuracy: float = 0.95,
    level: float = 0.95,
    measure_memory: bool = False,
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
        One label a document.
    test : tuple (X_test, y_test), optional
        A fixed test set: every classifier is fitted once on (X, y), and pairs
        are tested by McNemar's exact test. Default: ``n_repeats`` stratified
        random splits and the corrected resampled t test.
    n_repeats, test_size : int and float, default=5 and 0.3
        Number of splits, and the share of documents tested in each.
    target_accuracy : float, default=0.95
        Coverage is given at this accuracy.
    level : float, default=0.95
        Of the intervals, and 1 - level of the tests (after Holm's correction).
    measure_memory : bool, default=False
        Also watch resident memory while fitting and predicting (Linux).
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
    total = len(estimators) * (n_repeats if test is None else 1)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_trial)(
            estimators[name], name, repeat, train, held, target_accuracy,
            measure_memory, random_state + repeat,
        )
        for repeat, (train, held) in enumerate(splits)
        for name in estimators
    )  # fmt: skip
    trials: list[Trial] = []
    for trial in results:
        trials.append(trial)
        if progress is not None:
            progress(len(trials), total, trial.name)
    return summarize(
        trials,
        n_train=len(labels) - (0 if test is not None else len(trials[0].correct)),
        fixed_test=test is not None,
        target_accuracy=target_accuracy,
        level=level,
        random_state=random_state,
    )


def _check(estimators: Mapping[str, Any], X: Any, y: ArrayLike) -> list[Any]:
    if not isinstance(estimators, Mapping):
        raise TypeError(
            "estimators must be a dict of name to classifier, got "
            f"{type(estimators).__name__}."
        )
    if not estimators:
        raise DataError("estimators must hold at least one classifier, got none.")
    if is_multi_label(y):
        raise NotSupportedError(
            "compare_classifiers takes one label a document, got label lists; "
            "compare the micro F1 of multi_label_scores instead."
        )
    labels = as_labels(y)
    check_equal_length(X=np.empty(n_rows(X)), y=labels)
    check_true_labels(labels)
    return labels


def _splits(
    X: Any,
    labels: list[Any],
    test: tuple[Any, ArrayLike] | None,
    n_repeats: int,
    test_size: float,
    random_state: int,
) -> Iterator[tuple[tuple[Any, Any], tuple[Any, list[Any]]]]:
    """Per repeat: training documents and labels, test documents and labels."""
    target = _as_array(labels)
    if test is not None:
        held = as_labels(test[1])
        check_equal_length(X_test=np.empty(n_rows(test[0])), y_test=held)
        check_true_labels(held)
        yield (X, target), (test[0], held)
        return
    classes = class_list(labels)
    y_index = index_of(labels, classes)
    rng = np.random.default_rng(random_state)
    for _ in range(n_repeats):
        train, rest = stratified_split(y_index, test_size, rng)
        if not len(rest):
            raise DataError(
                f"no document is left for testing: {len(labels)} documents in "
                f"{len(classes)} classes; label more, or raise test_size."
            )
        held = [labels[row] for row in rest]
        yield (take(X, train), target[train]), (take(X, rest), held)


def _as_array(labels: list[Any]) -> Any:
    """Labels as an array, without turning mixed types into text."""
    if len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return np.asarray(labels)


def _trial(
    estimator: Any,
    name: str,
    repeat: int,
    train: tuple[Any, Any],
    held: tuple[Any, list[Any]],
    target_accuracy: float,
    measure_memory: bool,
    seed: int,
) -> Trial:
    """Fit one classifier on one training set and judge it on the test part."""
    X_test, truth = held
    memory = PeakMemory()
    try:
        if measure_memory:
            memory.__enter__()
        start = time.process_time()
        model = fresh(estimator, seed).fit(*train)
        fitted = time.process_time()
        answers = as_labels(model.predict(X_test))
        predicted = time.process_time()
        if measure_memory:
            memory.__exit__(None, None, None)
        sure, log_loss = _confidence(model, X_test, truth)
    except Exception as error:
        error.add_note(f"while comparing classifiers: {name!r}, repeat {repeat + 1}")
        raise
    coverage = None
    if sure is not None:
        curve = accuracy_coverage(truth, answers, sure)
        coverage = curve.coverage_at(target_accuracy)
    correct = np.fromiter(
        (t == a for t, a in zip(truth, answers, strict=True)), bool, len(truth)
    )
    return Trial(
        name=name,
        repeat=repeat,
        correct=correct,
        macro_f1=_macro_f1(truth, answers),
        coverage=coverage,
        log_loss=log_loss,
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        extra_mb=memory.extra_mb,
    )


def _confidence(
    model: Any, X: Any, truth: list[Any]
) -> tuple[FloatVector | None, float | None]:
    """How sure the model is of each document, and its log loss if it has one."""
    if hasattr(model, "predict_proba"):
        proba = np.asarray(model.predict_proba(X))
        return proba.max(axis=1), reliability(truth, proba, model.classes_).log_loss
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
        if scores.ndim == 1:
            return np.abs(scores), None
        best = np.partition(scores, -2, axis=1)[:, -2:]
        return best[:, 1] - best[:, 0], None
    return None, None


def _macro_f1(truth: list[Any], answers: list[Any]) -> float:
    classes = class_list(truth, answers)
    row, column = index_of(truth, classes), index_of(answers, classes)
    size = len(classes)
    scores = score_classes(
        classes,
        np.bincount(row[row == column], minlength=size),
        np.bincount(column[column >= 0], minlength=size),
        np.bincount(row, minlength=size),
    )
    return averages(scores)[1].f1
